"""Gaussian noise on moments, attacked. Claims: bounds/library/matrix/sicov_cov_gaussian.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solver import Calibration
from dpcheck.solvers.matrix.sicov_cov_gaussian import SicovCovGaussian


def attacked(calibration: Calibration) -> tuple[Any, Any, Guarantee]:
    solver, claimed = SicovCovGaussian(), ApproxDP(1.0, 1e-2)
    return solver.mechanism(claimed, calibration, transcript=True), solver.worst_pair(), claimed


CHECKS = {
    "dwang20.theorem6.3.7.privacy": [AuditCheck(lambda: attacked("stated"), "as published; e₁ to e₂", at={"n": 2})],
    "dwang20.theorem6.3.7.privacy.corrected": [
        AuditCheck(lambda: attacked("certified"), "certified noise; e₁ to e₂", at={"n": 2})
    ],
}
