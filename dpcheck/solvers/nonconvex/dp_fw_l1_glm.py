"""DP-FW-L1 for the population risk (dwang20, Algorithm 4.2.22). Claims: bounds/library/nonconvex/dp_fw_l1_glm.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_fw_l1
from dpcheck.bounds.library.nonconvex import dp_fw_l1_glm as theory
from dpcheck.bounds.privacy.random_iterate import at_least_two
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.glm_losses import must_be_of_section_4_2, steepest_pair
from dpcheck.kernels.frank_wolfe_steps import CornerSteps
from dpcheck.kernels.method import before_random_iterate
from dpcheck.problems.constraints import L1Ball
from dpcheck.problems.polytopes import corners_of
from dpcheck.problems.problem import ROUNDING, Problem, largest_entry
from dpcheck.settings import count, share
from dpcheck.solver import Calibration, Example, Solver, approximate

FAILURE = 0.05  # η in the theorem's number of steps


@dataclass(frozen=True)
class DPFWL1GLM(Solver):
    """Frank-Wolfe steps over the unit l1 ball to corners that are selected privately; w_R of a random R in 1..T.

    For SquaredLogistic or Biweight losses and rows with entries in [-1, 1]. `steps` and `step_size` are T (with η =
    0.05) and gamma of Theorem 4.2.6 unless given.
    """

    steps: int | None = count()
    step_size: float | None = share()  # above 1 iterates leave the ball
    name: ClassVar[str] = "dp_fw_l1_glm"
    for_estimators: ClassVar[bool] = False  # its losses are not convex: no estimator has them

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_of_section_4_2(data, L1Ball)
        approximate(guarantee)
        if largest_entry(data.X) > 1 + ROUNDING:
            raise InvalidInput("largest entry of a row", "larger", "at most 1", "Scale or clip them.")

    def plan(self, data: Problem, guarantee: Guarantee) -> int:
        """T = n eps / (sqrt(log(1/delta)) log(n d / η)), from 2 to 1000."""
        if self.steps is not None:
            return at_least_two(self.steps)
        aim = approximate(guarantee)
        logs = math.sqrt(math.log(1 / aim.delta)) * math.log(data.n * data.d / FAILURE)
        return int(min(1000, max(2, round(data.n * aim.eps / logs))))

    def release(self, data: Problem, plan: int) -> Release:
        """The slope's bound over margins up to 1 bounds each entry of a gradient."""
        slope = data.loss.derivative_bound(1.0, 1.0 if data.loss.labels == "sign" else data.label_bound)
        # privacy: dwang20.theorem4.1.6.sensitivity.corrected
        return dp_fw_l1.released.at(G=slope, size_1=1.0, n=data.n, T=plan)

    def method(self, data: Problem, plan: int, released: Released) -> CornerSteps:
        """gamma = sqrt(2/T), at most 1."""
        pace = self.step_size or min(1.0, math.sqrt(2 / plan))
        return CornerSteps(corners_of(data.constraint, data.d), pace, plan, before_random_iterate(plan))

    def stated(self, data: Problem, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        aim = approximate(guarantee)
        eps0 = float(theory.privacy.evaluate(eps=aim.eps, delta=aim.delta, T=plan))
        return self.release(data, plan).at(eps0=eps0), [theory.privacy]

    def certifying(self, data: Problem, plan: int) -> Sequence[Claim]:
        return [dp_fw_l1.sensitivity_corrected, dp_fw_l1.bounded_range]

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=8, step_size=0.3))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """All gradients are 0 but one record's, which turns round, where the biweight is steepest on all of [-1, 1]."""
        return steepest_pair(L1Ball(1.0))
