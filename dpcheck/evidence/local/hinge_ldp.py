"""The polynomial of the smoothed hinge outside its interval. Claims: bounds/library/local/hinge_ldp.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.library.local import hinge_ldp as theory
from dpcheck.evidence.property_checks import Property
from dpcheck.families.bernstein import bernstein_basis

DEGREES = range(1, 41)  # from there on the error grows by a factor with every degree
PLACES = np.linspace(-1, 1, 201)


def slope(x: np.ndarray, smoothing: float) -> np.ndarray:
    """f_β'(x) = ((x-1/2)/√((x-1/2)²+β²) - 1)/2."""
    return np.asarray(((x - 0.5) / np.hypot(x - 0.5, smoothing) - 1) / 2)


def error(degree: int, smoothing: float) -> float:
    """max over [-1, 1] of |P_d - f_β'|, P_d from values at j/d."""
    at_nodes = slope(np.arange(degree + 1) / degree, smoothing)
    return float(np.abs(bernstein_basis(PLACES, degree) @ at_nodes - slope(PLACES, smoothing)).max())


def best_degree(case: Mapping[str, Any]) -> tuple[float, float]:
    """The least error of any degree against α/4, at β = α/4: no constant in d = c/(β²α) is left out."""
    alpha = float(case["target_error"])
    found = min(error(degree, alpha / 4) for degree in DEGREES)
    return found, float(theory.approximated.evaluate(target_error=alpha))


CHECKS = {
    "dwang20.section5.1.4.approximation": [
        Property(
            best_degree, {"target_error": (0.05, 0.5)}, "degrees up to 40; after that the error grows", examples=5
        )
    ]
}
