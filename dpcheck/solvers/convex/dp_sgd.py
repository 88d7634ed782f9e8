"""DP-SGD with the noise of Lemma 2.1.7 (dwang20, baseline [29]). Claims: bounds/library/convex/dp_sgd.py."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_sgd as theory
from dpcheck.evidence.checks import AuditCheck
from dpcheck.problems.losses import must_be_positive
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, must_meet
from dpcheck.solvers.convex.bassily_sgd import BassilySGD


@dataclass(frozen=True)
class DPSGD(BassilySGD):
    """Noisy steps on `batch` random records each, by default (n / batch)^2 of them; the last iterate is released.

    "stated" is the noise of Lemma 2.1.7 with its constants `c` and `c1` (an eps above c1 q^2 T is refused): as
    printed, or, with `over_batch`, over the batch as its source has it.
    """

    c: float = field(default=1.0, kw_only=True)
    c1: float = field(default=math.inf, kw_only=True)
    over_batch: bool = field(default=False, kw_only=True)
    name: ClassVar[str] = "dp_sgd"

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_positive("c", self.c)

    def noise(
        self, problem: Problem, guarantee: ApproxDP, batch: int, steps: int, calibration: Calibration
    ) -> tuple[float, tuple[str, ...]]:
        """Deviation on a batch's MEAN gradient."""
        must_meet(theory.privacy, problem)
        if calibration == "certified":
            return super().noise(problem, guarantee, batch, steps, calibration)
        values = {
            "n": problem.n, "batch": batch, "T": steps, "eps": guarantee.eps, "delta": guarantee.delta, "c": self.c,
            "c1": min(self.c1, 1e300), "G": problem.data_lipschitz,
        }  # fmt: skip
        must_meet(theory.privacy, problem, **values)
        factor = problem.n / batch if self.over_batch else 1.0
        return factor * float(theory.privacy.evaluate(**values)), (theory.privacy.id,)


# Checks that run the solver -------------------------------------------------------------------------
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
