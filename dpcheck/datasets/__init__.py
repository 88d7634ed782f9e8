"""Public data sets: small ones and generators (embedded.py), and the documents' own by name (openml.py)."""

from dpcheck.datasets.embedded import (
    Dataset,
    breast_cancer,
    diabetes,
    digits,
    in_unit_ball,
    linear_synthetic,
    logistic_synthetic,
    wine,
)
from dpcheck.datasets.openml import load

__all__ = [
    "Dataset",
    "breast_cancer",
    "diabetes",
    "digits",
    "in_unit_ball",
    "linear_synthetic",
    "load",
    "logistic_synthetic",
    "wine",
]
