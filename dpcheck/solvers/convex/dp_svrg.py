"""DP-SVRG (dwang20, Algorithm 3.1.1). Claims: bounds/library/convex/dp_svrg.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_svrg as theory
from dpcheck.kernels.variance_reduced_solver import VarianceReduced
from dpcheck.kernels.variance_reduction import Plan
from dpcheck.problems.conditioning import condition, must_be_strong, shrinking
from dpcheck.problems.extreme_pairs import turning_pair
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration


@dataclass(frozen=True)
class DPSVRG(VarianceReduced):
    """Epochs of noisy variance-reduced steps on single records, each from the mean of the last epoch's iterates.

    By default eta = 1/(48 L), m = 193 L/mu and T halves the start's risk down to the noise (Theorem 3.1.2).
    `adaptive` sets eta by Barzilai and Borwein's rule from exact gradients, as the experiments of the source do: to
    be attacked, and refused under certified calibration.
    """

    adaptive: bool = False
    name: ClassVar[str] = "dp_svrg"
    stated: ClassVar[Claim] = theory.theorem1

    def plan(self, problem: Problem, guarantee: ApproxDP) -> Plan:
        must_be_strong(problem, given=None not in (self.epochs, self.inner, self.step_size))
        eta = self.step_size or 1 / (48 * condition(problem)[0])
        inner = self.inner or math.ceil(193 * condition(problem)[1])
        epochs = self.epochs or max(1, math.ceil(shrinking(problem, guarantee) / math.log(2)))
        return Plan((inner,) * epochs, eta)

    @property
    def adapts(self) -> bool:
        return self.adaptive

    def noise(
        self, problem: Problem, guarantee: ApproxDP, plan: Plan, calibration: Calibration
    ) -> tuple[float, tuple[str, ...]]:
        if self.adaptive and calibration == "certified":
            raise InvalidInput("adaptive", True, "False", "A step size read off the data is not private.")
        return super().noise(problem, guarantee, plan, calibration)

    def worst_pair(self) -> tuple[Problem, Problem]:
        """All gradients are 1 at the snapshot 0; one record's turns to -1 below -2, where large steps lead."""
        return turning_pair(20)
