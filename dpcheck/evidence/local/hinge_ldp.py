"""Noisy copies attacked, and the polynomial of the smoothed hinge. Claims: bounds/library/local/hinge_ldp.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP, Guarantee
from dpcheck.bounds.library.local import hinge_ldp as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.families.bernstein import bernstein_basis
from dpcheck.families.noisy_copies import another_row
from dpcheck.solvers.local.hinge_ldp import HingeLdp

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


def attacked() -> tuple[Any, Any, Guarantee]:
    solver, claimed = HingeLdp(degree=2), ApproxDP(1.0, 1e-3, relation=LOCAL)
    return solver.mechanism(claimed, "stated", transcript=True), solver.worst_pair(), claimed


def movement(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far the copies of any two records are apart, against the sensitivity of the release."""
    rng, p = np.random.default_rng(int(case["seed"])), int(case["p"])
    solver = HingeLdp(degree=int(case["hinge_d"]))
    first = another_row(np.zeros((1, p + 1)), rng)
    second = -first if case["turned"] else another_row(np.zeros((1, p + 1)), rng)
    gap = np.linalg.norm(solver.asked(first) - solver.asked(second))
    return float(gap), float(solver.release(first, None).sensitivity)


AUDIT = AuditCheck(attacked, "all copies seen, d = 2; a record and its negative", at={"hinge_d": 2.0})
SEARCH = Property(
    movement, {"seed": (0, 10_000), "p": (1, 5), "hinge_d": (2, 6), "turned": (0, 1)}, "any two records of the domain"
)

CHECKS = {
    "dwang20.theorem5.1.7.approximation": [
        Property(of_degree, {"hinge_d": (1, 40), "hinge_beta": (0.05, 1.0)}, "201 places of [-1, 1]")
    ],
    "dwang20.theorem5.1.8.privacy.corrected": [AUDIT, SEARCH],
    "dwang20.theorem5.1.9.privacy": [AUDIT, SEARCH],
}
