"""What runs of the Gaussian mechanism show. Claims: bounds/library/mechanisms/gaussian.py and zcdp.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, Guarantee
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.problems.extreme_pairs import turned_row
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.mechanisms.gaussian import GaussianMechanism

LARGE, SMALL = ApproxDP(6.0, 0.5), ApproxDP(1.0, 1e-2)


def attacked(
    guarantee: Guarantee, calibration: Calibration, row_bound: float = 1.0
) -> tuple[Any, tuple[Problem, Problem], Guarantee]:
    """One dimension, four records."""
    return GaussianMechanism().mechanism(guarantee, calibration), turned_row(1, row_bound=row_bound), guarantee


CHECKS = {
    "dwang20.definition2.1.3": [AuditCheck(lambda: attacked(LARGE, "stated"), "as printed, at ε = 6 and δ = 0.5")],
    "dwang20.definition2.1.3.corrected": [AuditCheck(lambda: attacked(SMALL, "stated"), "at ε = 1 and δ = 0.01")],
    "dwang20.lemma2.1.9": [
        AuditCheck(lambda: attacked(ZCDP(0.5), "stated", row_bound=8.0), "as printed, for a sensitivity of 4")
    ],
    "dwang20.lemma2.1.9.corrected": [
        AuditCheck(lambda: attacked(ZCDP(0.5), "certified", row_bound=8.0), "for a sensitivity of 4")
    ],
}
