"""What runs of DP-SGD with the noise of Lemma 2.1.7 show. Claims: bounds/library/convex/dp_sgd.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.evidence.checks import AuditCheck
from dpcheck.solver import Calibration
from dpcheck.solvers.convex.dp_sgd import DPSGD


def attacked(calibration: Calibration, over_batch: bool = False) -> Any:
    """Single records out of ten, twenty steps, the last iterate seen."""
    solver = DPSGD(batch=1, steps=20, c=3.0, over_batch=over_batch)
    guarantee = ApproxDP(0.2 if over_batch else 1.0, 1e-2)
    pair = DPSGD(batch=5).worst_pair()
    return solver.mechanism(guarantee, calibration), pair, guarantee


CHECKS = {
    "dwang20.section3.1.5.dp_sgd": [
        AuditCheck(lambda: attacked("stated"), "(G/n)·σ as printed, c = 3, its output seen")
    ],
    "dwang20.section3.1.5.dp_sgd.corrected": [
        AuditCheck(lambda: attacked("stated", over_batch=True), "(G/b)·σ with c = 3 at ε = q²T, its output seen"),
        AuditCheck(lambda: attacked("certified"), "certified calibration, its output seen"),
    ],
}
