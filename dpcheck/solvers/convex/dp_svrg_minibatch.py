"""DP-SVRG on batches, the corrected DP-SVRG. Claims: bounds/library/convex/dp_svrg_minibatch.py."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_svrg_minibatch as theory
from dpcheck.bounds.privacy.release import Release
from dpcheck.families.variance_reduced import EqualEpochs
from dpcheck.kernels.variance_reduction import Epochs
from dpcheck.problems.problem import Problem
from dpcheck.settings import count
from dpcheck.solver import Example


@dataclass(frozen=True)
class DPSVRGMinibatch(EqualEpochs):
    """DP-SVRG whose inner steps draw `batch` records each, by default n eps / sqrt(T m), the least that Theorem
    3.1.1's noise allows. Other parameters are those of DP-SVRG.
    """

    batch: int | None = count()
    name: ClassVar[str] = "dp_svrg_minibatch"
    published: ClassVar[Claim] = theory.privacy
    corrected: ClassVar[Claim] = theory.privacy
    released: ClassVar[Release] = theory.released

    def epochs_for(self, problem: Problem, guarantee: ApproxDP) -> Epochs:
        plan = super().epochs_for(problem, guarantee)
        least = math.ceil(problem.n * guarantee.eps / math.sqrt(plan.steps))
        return replace(plan, batch=min(problem.n, self.batch or max(1, least)))

    @classmethod
    def example(cls) -> Example:
        return Example(cls(epochs=2, inner=5, step_size=10.0), bug=0.3)  # the pair differs in the later steps alone
