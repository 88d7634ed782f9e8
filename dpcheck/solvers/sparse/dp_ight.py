"""DP-IGHT (lwang21, Algorithm 1): noisy gradients and hard thresholding. Claims: bounds/library/sparse/dp_ight.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ZCDP, Guarantee
from dpcheck.bounds.library.sparse import dp_ight as theory
from dpcheck.bounds.privacy.release import Released
from dpcheck.families.thresholded_descent import ThresholdedDescent
from dpcheck.problems.problem import Problem
from dpcheck.solver import approximate, must_meet


@dataclass(frozen=True)
class DPIGHT(ThresholdedDescent):
    """Noisy thresholded descent; by default the step size is the theorem's, 2/(β+μ), for the worst records allowed.

    "stated" is the noise of Theorem 2.5.2 for zCDP, of Remark 2.5.3 for (ε, δ): half the variance that it takes.
    """

    name: ClassVar[str] = "dp_ight"

    def default_step(self, problem: Problem) -> float:
        return 2 / (problem.smoothness + problem.strong_convexity)

    def stated(self, data: Problem, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        values = {"n": data.n, "G": data.data_lipschitz, "T": self.steps}
        if isinstance(guarantee, ZCDP):
            claim, values = theory.theorem2, {**values, "budget": guarantee.rho}
        else:
            claim, values = theory.remark3, {**values, **approximate(guarantee).parameters}
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: Problem, plan: None) -> Sequence[Claim]:
        return [theory.theorem2_corrected]
