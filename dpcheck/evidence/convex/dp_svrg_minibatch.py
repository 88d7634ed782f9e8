"""What runs of DP-SVRG on batches show. Claims: bounds/library/convex/dp_svrg_minibatch.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.evidence.checks import AuditCheck
from dpcheck.solvers.convex.dp_svrg_minibatch import DPSVRGMinibatch


def attacked() -> Any:
    """Twenty records, one epoch of five steps on the least batches, the mean of the iterates seen."""
    solver, guarantee = DPSVRGMinibatch(epochs=1, inner=5, step_size=4.0), ApproxDP(1.0, 1e-2)
    return solver.mechanism(guarantee, "stated"), solver.worst_pair(), guarantee


CHECKS = {
    "dwang20.theorem3.1.1.minibatch": [
        AuditCheck(
            attacked, "the noise of (3.3) with c = 72 and the least batch, its output seen",
            at={"n": 20, "T": 1, "inner": 5, "batch": 9},
        )
    ],
}  # fmt: skip
