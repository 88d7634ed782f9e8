"""DP-Katyusha (dwang20, Algorithm 3.1.2), as printed and with noise. Claims: bounds/library/convex/dp_katyusha.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.convex import dp_katyusha as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.variance_reduced import VarianceReduced
from dpcheck.kernels.variance_reduction import Epochs
from dpcheck.problems.conditioning import condition, must_be_strong, shrinking
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import flag
from dpcheck.solver import Calibration, Example


@dataclass(frozen=True)
class DPKatyusha(VarianceReduced):
    """DP-SVRG with negative momentum: gradients are taken at theta x + (1 - theta) x~, epochs go on where they ended.

    Parameters are those of Theorem 3.1.3: for n <= L/mu, m = 3n/4 steps; else m = 3/4 L/mu, eta = 2/(3L), theta = 1/2.
    `noised=False` is the algorithm as printed, which adds no noise: to be attacked, and refused when certified.
    """

    noised: bool = flag(True)
    name: ClassVar[str] = "dp_katyusha"
    published: ClassVar[Claim] = theory.privacy
    corrected: ClassVar[Claim] = theory.privacy_corrected
    released: ClassVar[Release] = theory.released

    def epochs_for(self, problem: Problem, guarantee: ApproxDP) -> Epochs:
        must_be_strong(problem, given=None not in (self.epochs, self.inner, self.step_size))
        mu, eta, theta, rate = problem.l2, 2.0, 0.5, math.log(1.5)
        inner = self.inner or 1
        if mu > 0:
            L, kappa = condition(problem)
            few = problem.n <= kappa
            inner = self.inner or max(1, math.floor(0.75 * problem.n) if few else math.ceil(0.75 * kappa))
            eta = math.sqrt(1 / (3 * mu * inner * L)) if few else 2 / (3 * L)
            theta = min(0.5, math.sqrt(inner / (3 * kappa))) if few else 0.5
            rate = inner * math.log1p(eta * mu) if few else rate
        eta = self.step_size or eta
        epochs = self.epochs or max(1, math.ceil(shrinking(problem, guarantee) / rate))
        return Epochs((inner,) * epochs, eta, theta, 1 + eta * mu, restart=False)

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        if not self.noised and calibration == "certified":
            raise InvalidInput("noised", False, "True", "Algorithm 3.1.2 as printed adds no noise.")

    def stated(self, data: Problem, guarantee: Guarantee, plan: Epochs) -> tuple[Released, Sequence[Claim]]:
        if self.noised:
            return super().stated(data, guarantee, plan)
        return self.release(data, plan).with_noise(0.0), [theory.privacy]

    @classmethod
    def example(cls) -> Example:
        return Example(cls(epochs=1, inner=5, step_size=4.0))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """As for DP-SVRG; without noise any difference of the full gradients at 0 tells."""
        return super().worst_pair() if self.noised else opposite_pair(20)
