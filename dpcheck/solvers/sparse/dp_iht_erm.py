"""DP-IHT: noisy gradients, then the largest entries alone. Claims: bounds/library/sparse/dp_iht_erm.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.sparse import dp_iht_erm as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.gradient_steps import GradientSteps
from dpcheck.kernels.method import Array, State
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, positive
from dpcheck.solver import Calibration, Example, Solver, approximate, must_meet


@dataclass(frozen=True, eq=False)
class ThresholdedSteps(GradientSteps):
    """Gradient steps that keep the `kept` entries of largest size, or all that there are."""

    kept: int = 1

    def update(self, state: State, answer: Array, t: int) -> State:
        (w,) = super().update(state, answer, t)
        if self.kept < w.shape[1]:
            small = np.argpartition(np.abs(w), -self.kept, axis=1)[:, : -self.kept]
            np.put_along_axis(w, small, 0.0, axis=1)
        return (w,)


@dataclass(frozen=True)
class DPIHT(Solver):
    """`steps` noisy full gradients from 0, each followed by hard thresholding to `kept` entries.

    By default the step size is half of 1/(L + mu). "stated" is the published noise with its constant `c`.
    """

    kept: int = count(10)
    steps: int = count(20)
    step_size: float | None = positive()
    c: float = positive(8.0, kw_only=True)
    name: ClassVar[str] = "dp_iht_erm"
    minimises: ClassVar[bool] = False  # over sparse points, not over the problem's own set

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        if not isinstance(data.constraint, WholeSpace):
            limit = "the whole space, as the sparse points are what it is restricted to"
            raise InvalidInput("constraint", data.constraint, limit, "Leave it out, or use dp_fw_l1 over an l1 ball.")

    def release(self, data: Problem, plan: None) -> Release:
        # privacy: dwang20.theorem5.3.8.privacy
        return theory.released.at(G=data.data_lipschitz, n=data.n, T=self.steps)

    def method(self, data: Problem, plan: None, released: Released) -> ThresholdedSteps:
        eta = self.step_size or 1 / (2 * data.smoothness)
        return ThresholdedSteps(np.full(self.steps, eta), np.zeros(data.d), data.constraint, kept=self.kept)

    def stated(self, data: Problem, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.theorem8_privacy
        values = {"n": data.n, "G": data.data_lipschitz, "T": self.steps, "c": self.c, **aim.parameters}
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: Problem, plan: None) -> Sequence[Claim]:
        return [theory.theorem8_privacy]

    @classmethod
    def example(cls) -> Example:
        return Example(cls(kept=2, steps=5, step_size=0.5))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses, one of which turns round: full gradients differ by 2G/n everywhere."""
        return opposite_pair(5)
