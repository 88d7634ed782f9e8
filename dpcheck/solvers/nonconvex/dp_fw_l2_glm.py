"""DP-FW-L2 for the population risk (dwang20, Algorithm 4.2.21). Claims: bounds/library/nonconvex/dp_fw_l2_glm.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_fw_l2_glm as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.glm_losses import Biweight, must_be_of_section_4_2, steepest_pair
from dpcheck.kernels.frank_wolfe_steps import VertexSteps
from dpcheck.kernels.method import before_random_iterate
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, positive, share
from dpcheck.solver import Calibration, Example, Solver, approximate, must_meet


@dataclass(frozen=True)
class DPFWL2GLM(Solver):
    """Frank-Wolfe steps over the unit l2 ball for SquaredLogistic or Biweight losses; w_R of a random R in 1..T.

    `steps` and `step_size` are T and gamma of Theorem 4.2.5 unless given. "stated" noise is by that theorem with its
    hidden `c2`, C_sigma = B = 1 or the least C_psi; certified noise uses the gradients' own bound.
    """

    steps: int | None = count()
    step_size: float | None = share()  # a longer step leaves the ball
    c2: float = positive(32.0, kw_only=True)
    name: ClassVar[str] = "dp_fw_l2_glm"
    for_estimators: ClassVar[bool] = False  # its losses are not convex: no estimator has them

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_of_section_4_2(data, L2Ball)
        if data.row_bound > 1:
            raise InvalidInput("row_bound", data.row_bound, "at most 1", "Scale the rows.")

    def plan(self, data: Problem, guarantee: Guarantee) -> int:
        """T = n eps / sqrt(d log(1/delta)), from 1 to 1000."""
        if self.steps is not None:
            return self.steps
        aim = approximate(guarantee)
        return int(min(1000, max(1, round(data.n * aim.eps / math.sqrt(data.d * math.log(1 / aim.delta))))))

    def release(self, data: Problem, plan: int) -> Release:
        """All T noisy gradients, more than w_R shows."""
        # privacy: dwang20.theorem4.2.5.privacy.corrected
        return theory.released.at(G=data.data_lipschitz, n=data.n, T=plan)

    def method(self, data: Problem, plan: int, released: Released) -> VertexSteps:
        """gamma = 1/sqrt(T), which is what Theorem 4.2.5 takes at its own T."""
        gamma = self.step_size or 1 / math.sqrt(plan)
        return VertexSteps(data.d, data.constraint, gamma, plan, before_random_iterate(plan))

    def stated(self, data: Problem, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        aim = approximate(guarantee)
        robust = isinstance(data.loss, Biweight)
        claim = theory.privacy_robust if robust else theory.privacy
        values = {"n": data.n, "eps": aim.eps, "delta": aim.delta, "T": plan, "c2": self.c2}
        values |= {"C_res": max(1.0, data.data_lipschitz)} if robust else {"C_slope": 1.0, "B_link": 1.0}
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: Problem, plan: int) -> Sequence[Claim]:
        return [theory.privacy_robust_corrected if isinstance(data.loss, Biweight) else theory.privacy_corrected]

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=8, step_size=0.3))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """All gradients are 0 but one record's, which turns round, where the biweight is steepest on all of [-1, 1]."""
        return steepest_pair(L2Ball(1.0))
