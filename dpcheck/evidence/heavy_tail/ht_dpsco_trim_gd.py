"""Descent by trimmed means, attacked by an outlier. Claims: bounds/library/heavy_tail/ht_dpsco_trim_gd.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.families.unbounded_records import UnboundedRecords
from dpcheck.problems.constraints import L2Ball
from dpcheck.solvers.heavy_tail.ht_dpsco_trim_gd import HtDpscoTrimGD

CLAIMED = ApproxDP(1.0, 1e-2)


def with_outlier(calibration: Any) -> tuple[Any, Any, Guarantee]:
    """Twenty labels of 0, one of which becomes 10⁹: trimmed gradients are equal, printed widths are not."""
    records = UnboundedRecords(np.ones((20, 1)), np.zeros(20), constraint=L2Ball(1e12))
    solver = HtDpscoTrimGD(steps=1, trim=1)
    return solver.mechanism(CLAIMED, calibration), (records, records.replace(0, [1.0], 1e9)), CLAIMED


CHECKS = {
    "dwang20.theorem3.2.4": [
        AuditCheck(lambda: with_outlier("stated"), "one of twenty labels becomes 10⁹", at={"d": 1, "T": 1})
    ],
    "dwang20.theorem3.2.4.corrected": [
        AuditCheck(lambda: with_outlier("certified"), "one of twenty labels becomes 10⁹", at={"d": 1, "T": 1})
    ],
}
