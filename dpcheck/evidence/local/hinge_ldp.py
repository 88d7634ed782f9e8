"""The polynomial of the smoothed hinge outside its interval. Claims: bounds/library/local/hinge_ldp.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.library.local import hinge_ldp as theory
from dpcheck.evidence.property_checks import Property
from dpcheck.families.bernstein import bernstein_basis

PLACES = np.linspace(-1, 1, 201)


def slope(x: np.ndarray, smoothing: float) -> np.ndarray:
    """f_β'(x) = ((x-1/2)/√((x-1/2)²+β²) - 1)/2."""
    return np.asarray(((x - 0.5) / np.hypot(x - 0.5, smoothing) - 1) / 2)


def error(degree: int, smoothing: float) -> float:
    """max over [-1, 1] of |P_d - f_β'|, P_d from values at j/d."""
    at_nodes = slope(np.arange(degree + 1) / degree, smoothing)
    return float(np.abs(bernstein_basis(PLACES, degree) @ at_nodes - slope(PLACES, smoothing)).max())


def of_degree(case: Mapping[str, Any]) -> tuple[float, float]:
    """The error against what the claim says at this degree and smoothing."""
    degree, smoothing = int(case["hinge_d"]), float(case["hinge_beta"])
    return error(degree, smoothing), float(theory.approximated.evaluate(hinge_d=degree, hinge_beta=smoothing))


CHECKS = {
    "dwang20.theorem5.1.7.approximation": [
        Property(of_degree, {"hinge_d": (1, 40), "hinge_beta": (0.05, 1.0)}, "201 places of [-1, 1]")
    ]
}
