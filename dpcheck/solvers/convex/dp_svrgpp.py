"""DP-SVRG++ (dwang20, Algorithm 3.1.3). Claims: bounds/library/convex/dp_svrgpp.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_svrgpp as theory
from dpcheck.bounds.privacy.release import Release
from dpcheck.families.variance_reduced import VarianceReduced
from dpcheck.kernels.variance_reduction import Epochs
from dpcheck.problems.conditioning import condition, shrinking
from dpcheck.problems.problem import Problem
from dpcheck.solver import Example

MOST_EPOCHS = 20  # by default: the last epoch has 2^T m steps


@dataclass(frozen=True)
class DPSVRGpp(VarianceReduced):
    """Noisy variance-reduced steps in epochs that double: epoch s has 2^s m steps, and goes on where the last ended.

    By default eta = 1/(13 L), m = 1 (the source asks for m of the order of L, which is no number) and T balances
    noise and convergence (Theorem 3.1.5).
    """

    name: ClassVar[str] = "dp_svrgpp"
    published: ClassVar[Claim] = theory.theorem4
    corrected: ClassVar[Claim] = theory.theorem4_corrected
    released: ClassVar[Release] = theory.released

    def epochs_for(self, problem: Problem, guarantee: ApproxDP) -> Epochs:
        eta = self.step_size or 1 / (13 * condition(problem)[0])
        inner = self.inner or 1
        epochs = self.epochs or min(MOST_EPOCHS, max(1, math.ceil(shrinking(problem, guarantee) / (2 * math.log(2)))))
        return Epochs(tuple(2**s * inner for s in range(1, epochs + 1)), eta, restart=False)

    def sizes(self, plan: Epochs) -> dict[str, float]:
        return super().sizes(plan) | {"inner": plan.lengths[0] // 2}

    @classmethod
    def example(cls) -> Example:
        return Example(cls(epochs=1, inner=5, step_size=4.0))
