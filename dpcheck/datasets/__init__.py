"""Public data sets: small ones and generators (embedded.py), and the documents' own by name (openml.py)."""

from typing import Any

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


def load(name: str, **settings: Any) -> Dataset:
    """One of the documents' own data sets, from OpenML: `openml.load` takes the same settings."""
    from dpcheck.datasets.openml import load as load_from_openml

    return load_from_openml(name, **settings)
