"""Private labels, attacked. Claims: bounds/library/local/label_ldp_iht.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import LABEL_ONLY, ApproxDP, Guarantee
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.families.hard_thresholding import LabelPrivate
from dpcheck.solver import Calibration
from dpcheck.solvers.local.label_ldp_iht import LabelLDPIHT


def attacked(solver: LabelPrivate, calibration: Calibration) -> tuple[Any, tuple[Any, Any], Guarantee]:
    """One user's noisy label, from one end of all labels to the other; C = 0.05 and s* = 1."""
    claimed = ApproxDP(1.0, 1e-2, relation=LABEL_ONLY)
    return solver.mechanism(claimed, calibration, transcript=True), solver.worst_pair(), claimed


at = {"noise_C": 0.05, "s_star": 1}
CHECKS = {
    "dwang20.theorem5.3.6.any_label": [
        AuditCheck(lambda: attacked(LabelLDPIHT(), "stated"), "as published, on labels of C = 0.05, s* = 1", at=at)
    ],
    "dwang20.theorem5.3.6.any_label.corrected": [
        AuditCheck(lambda: attacked(LabelLDPIHT(), "certified"), "certified, on the same labels", at=at)
    ],
}
