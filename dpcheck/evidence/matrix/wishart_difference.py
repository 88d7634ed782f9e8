"""Wishart noise less a copy, searched, attacked and measured. Claims: bounds/library/matrix/wishart_difference.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import Guarantee, PureDP
from dpcheck.bounds.library.matrix import wishart_difference as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.matrix.naive_gaussian_cov import BALL, replaced
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.rate_checks import Within
from dpcheck.families.covariances import mean_triangle
from dpcheck.families.outer_products import symmetric
from dpcheck.kernels.noise import wishart_difference
from dpcheck.solvers.matrix.wishart_difference import WishartDifferenceCov

CLAIMED = PureDP(1.0)


def moved(case: Mapping[str, Any]) -> tuple[float, float]:
    """The nuclear norm of what one record changes."""
    gap = symmetric(np.subtract(*map(mean_triangle, replaced(case)))[None], case["d"])
    bound = float(theory.sensitivity.evaluate(r_outer=1.0, n=case["n"]))
    return float(np.abs(np.linalg.eigvalsh(gap)).sum()), bound


def attacked() -> tuple[Any, tuple[Any, Any], Guarantee]:
    solver = WishartDifferenceCov()
    return solver.mechanism(CLAIMED), solver.worst_pair(), CLAIMED


def squares(case: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
    """The squared Frobenius norm of the noise."""
    d = int(case["d"])
    drawn = wishart_difference(np.random.default_rng(seed), case["sigma"], trials, d)
    return np.asarray((symmetric(drawn, d) ** 2).sum(axis=(1, 2)))


def at_most(case: Mapping[str, float]) -> float:
    """The stated mean and a fiftieth more, so that a mean over runs can lie below it."""
    return 1.02 * float(theory.error.evaluate(**case))


CASES = [{"d": 1, "sigma": 1.0}, {"d": 3, "sigma": 0.1}, {"d": 20, "sigma": 1.0}]
CHECKS = {
    "dwang20.lemma6.3.2.difference.sensitivity": [Property(moved, BALL, "a record of the ball for another")],
    "dwang20.lemma6.3.2.difference": [AuditCheck(attacked, "e₁ for e₂, output on its grid")],
    "dwang20.lemma6.3.2.difference.error": [Within(squares, CASES, "noise as drawn", at_most, trials=4000)],
}
