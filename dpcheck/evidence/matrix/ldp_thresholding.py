"""Users' noisy outer products, attacked. Claims: bounds/library/matrix/ldp_thresholding.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP, Guarantee
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solver import Calibration
from dpcheck.solvers.matrix.ldp_thresholding import LdpThresholding

CLAIMED = ApproxDP(1.0, 1e-2, relation=LOCAL)


def attacked(calibration: Calibration) -> Any:
    def setting() -> tuple[Any, tuple[Any, Any], Guarantee]:
        solver = LdpThresholding()
        return solver.mechanism(CLAIMED, calibration, transcript=True), solver.worst_pair(), CLAIMED

    return setting


CHECKS = {
    "dwang20.algorithm6.2.49.privacy": [AuditCheck(attacked("stated"), "as published; a user at e₁ or at e₂")],
    "dwang20.algorithm6.2.49.privacy.corrected": [AuditCheck(attacked("certified"), "certified; e₁ or e₂")],
}
