"""DP-SVRG on batches, the corrected DP-SVRG. Claims: bounds/library/convex/dp_svrg_minibatch.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_svrg_minibatch as theory
from dpcheck.kernels.variance_reduced_solver import VarianceReduced
from dpcheck.kernels.variance_reduction import Plan
from dpcheck.problems.extreme_pairs import turning_pair
from dpcheck.problems.problem import Problem
from dpcheck.solver import must_be_whole
from dpcheck.solvers.convex.dp_svrg import DPSVRG


@dataclass(frozen=True)
class DPSVRGMinibatch(VarianceReduced):
    """DP-SVRG whose inner steps draw `batch` records each, by default n eps / sqrt(T m), the least that Theorem
    3.1.1's noise allows. Other parameters are those of DP-SVRG.
    """

    batch: int | None = None
    name: ClassVar[str] = "dp_svrg_minibatch"
    stated: ClassVar[Claim] = theory.privacy

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(batch=self.batch)

    def plan(self, problem: Problem, guarantee: ApproxDP) -> Plan:
        return DPSVRG(self.epochs, self.inner, self.step_size, self.l1).plan(problem, guarantee)

    def batch_of(self, problem: Problem, guarantee: ApproxDP, plan: Plan) -> int:
        least = math.ceil(problem.n * guarantee.eps / math.sqrt(plan.steps))
        return min(problem.n, self.batch or max(1, least))

    def values(self, problem: Problem, guarantee: ApproxDP, plan: Plan) -> dict[str, float]:
        return super().values(problem, guarantee, plan) | {"batch": self.batch_of(problem, guarantee, plan)}

    def worst_pair(self) -> tuple[Problem, Problem]:
        """As for DP-SVRG."""
        return turning_pair(20)
