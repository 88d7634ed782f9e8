"""DP-IHT: noisy gradients, then the largest entries alone. Claims: bounds/library/sparse/dp_iht_erm.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.sparse import dp_iht_erm as theory
from dpcheck.bounds.privacy.release import Released
from dpcheck.families.thresholded_descent import ThresholdedDescent
from dpcheck.problems.problem import Problem
from dpcheck.settings import positive
from dpcheck.solver import approximate, must_meet


@dataclass(frozen=True)
class DPIHT(ThresholdedDescent):
    """Noisy thresholded descent; by default the step size is the theorem's, 1/(2L).

    "stated" is the published noise with its constant `c`.
    """

    c: float = positive(8.0, kw_only=True)
    name: ClassVar[str] = "dp_iht_erm"

    def default_step(self, problem: Problem) -> float:
        return 1 / (2 * problem.smoothness)

    def stated(self, data: Problem, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.theorem8_privacy
        values = {"n": data.n, "G": data.data_lipschitz, "T": self.steps, "c": self.c, **aim.parameters}
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: Problem, plan: None) -> Sequence[Claim]:
        return [theory.theorem8_privacy]
