"""Private labels with a link, attacked. Claims: bounds/library/local/label_ldp_iht_nonlinear.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import LABEL_ONLY, ApproxDP, Guarantee
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solver import Calibration
from dpcheck.solvers.local.label_ldp_iht_nonlinear import LabelLDPIHTNonlinear


def attacked(calibration: Calibration) -> tuple[Any, tuple[Any, Any], Guarantee]:
    """One user's noisy label under f(u) = 8u + cos u, from one end of all labels to the other."""
    solver, claimed = LabelLDPIHTNonlinear(), ApproxDP(1.0, 1e-2, relation=LABEL_ONLY)
    return solver.mechanism(claimed, calibration, transcript=True), solver.worst_pair(), claimed


at = {"noise_C": 0.05, "s_star": 1, "slope_b": 9}
CHECKS = {
    "dwang20.theorem5.3.11.any_label": [
        AuditCheck(lambda: attacked("stated"), "as published, f(u) = 8u + cos u", at=at)
    ],
    "dwang20.theorem5.3.11.any_label.corrected": [AuditCheck(lambda: attacked("certified"), "certified", at=at)],
}
