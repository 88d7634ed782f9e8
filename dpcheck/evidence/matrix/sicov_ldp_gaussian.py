"""Users' noisy outer products, attacked. Claims: bounds/library/matrix/sicov_ldp_gaussian.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP, Guarantee
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solver import Calibration
from dpcheck.solvers.matrix.sicov_ldp_gaussian import SicovLdpGaussian


def attacked(calibration: Calibration) -> tuple[Any, Any, Guarantee]:
    solver, claimed = SicovLdpGaussian(), ApproxDP(1.0, 1e-2, relation=LOCAL)
    return solver.mechanism(claimed, calibration, transcript=True), solver.worst_pair(), claimed


CHECKS = {
    "dwang20.theorem6.3.8.privacy": [AuditCheck(lambda: attacked("stated"), "as published; e₁ to e₂", at={"n": 2})],
    "dwang20.theorem6.3.8.privacy.corrected": [
        AuditCheck(lambda: attacked("certified"), "certified noise; e₁ to e₂", at={"n": 2})
    ],
}
