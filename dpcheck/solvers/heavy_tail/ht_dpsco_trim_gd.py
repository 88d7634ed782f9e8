"""Descent by private trimmed means of gradients. Claims: bounds/library/heavy_tail/ht_dpsco_trim_gd.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.heavy_tail import ht_dpsco_trim_gd as theory
from dpcheck.bounds.library.heavy_tail.ht_trim_arsinh_mean import privacy as one_mean
from dpcheck.bounds.privacy.laws import SmoothNoise
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families import trimmed_means
from dpcheck.families.unbounded_records import HELD, UnboundedRecords, another_record, must_be_records
from dpcheck.kernels.gradient_steps import GradientSteps
from dpcheck.kernels.method import Array, Asked, Drawn, State
from dpcheck.problems.constraints import L2Ball
from dpcheck.settings import count, positive
from dpcheck.solver import Calibration, Example, Solver, approximate, must_meet


@dataclass(frozen=True, eq=False)
class TrimmedSteps(GradientSteps):
    """Gradient steps by the trimmed mean of each coordinate in [-bound, bound], beside the widths of their noise."""

    l2: float = 0.0
    trim: int = 1
    smoothness: float = 1.0
    bound: float = 1.0
    smooth: bool = True

    @property
    def width(self) -> int:  # type: ignore[override]
        return 2 * self.begin.shape[-1]

    def query(self, data: Any, state: State, t: int, drawn: Drawn) -> Array:
        rows = np.sort(data.record_gradients(state[0]), axis=0)
        width = trimmed_means.smooth_width if self.smooth else trimmed_means.printed_width
        mean = trimmed_means.trimmed(rows, self.trim, -self.bound, self.bound)
        return np.hstack([mean, width(rows, self.trim, self.smoothness, -self.bound, self.bound)])

    def update(self, state: State, answer: Array, t: int) -> State:
        return super().update(state, answer + self.l2 * state[0], t)

    def asked_of(self, data: Any, k: int) -> Asked:
        return partial(self.query, data)

    def block(self, data: UnboundedRecords) -> int:
        return max(1, min(2048, HELD // (data.n * data.d)))

    def grain(self, scale: float) -> float:
        least = trimmed_means.least_width(self.trim, self.smoothness, -self.bound, self.bound)
        return super().grain(scale * least)


@dataclass(frozen=True)
class HtDpscoTrimGD(Solver):
    """`steps` gradient steps from 0, each by private trimmed means of every coordinate; the last iterate is released.

    `bound` is known to hold the coordinates of the mean gradient over W; gradients may be of any size. `trim` records
    are left out at each end. "stated" is Algorithm 3.2.7 with the printed width, which outliers widen without limit.
    """

    steps: int = count(5)
    step_size: float = positive(0.1)
    bound: float = positive(1.0)
    trim: int | None = count()
    name: ClassVar[str] = "ht_dpsco_trim_gd"
    any_size: ClassVar[bool] = True
    minimises: ClassVar[bool] = False

    def must_suit(self, data: UnboundedRecords, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_records(data)
        if self.trim is not None and 2 * self.trim >= data.n:
            raise InvalidInput("trim", self.trim, f"below half of n = {data.n}", "Leave it out for the default.")

    def plan(self, data: UnboundedRecords, guarantee: Guarantee) -> tuple[int, float]:
        smoothness = trimmed_means.printed_smoothness(guarantee, self.steps * data.d)
        return self.trim or trimmed_means.enough_trimmed(data.n, smoothness), smoothness

    def release(self, data: UnboundedRecords, plan: tuple[int, float]) -> Release:
        # privacy: dwang20.theorem3.2.4.corrected
        return theory.released.at(t_smooth=plan[1], d=data.d, T=self.steps)

    def method(self, data: UnboundedRecords, plan: tuple[int, float], released: Released) -> TrimmedSteps:
        law = released.parts[0].law
        smooth = isinstance(law, SmoothNoise) and math.isfinite(law.smoothness)
        etas, begin = np.full(self.steps, self.step_size), np.zeros(data.d)
        own: dict[str, Any] = {"trim": plan[0], "smoothness": plan[1], "bound": self.bound, "smooth": smooth}
        return TrimmedSteps(etas, begin, data.constraint, l2=data.l2, **own)

    def stated(
        self, data: UnboundedRecords, guarantee: Guarantee, plan: tuple[int, float]
    ) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.privacy
        values = {"d": data.d, "T": self.steps, **aim.parameters}
        must_meet(claim, data, **values)
        noise = float(one_mean.evaluate(eps=float(claim.evaluate(**values))))
        released = theory.released.at(t_smooth=math.inf, d=data.d, T=self.steps)  # the printed width is smooth to no t
        return released.with_noise(noise), [claim, one_mean]

    def certifying(self, data: UnboundedRecords, plan: tuple[int, float]) -> Sequence[Claim]:
        return [theory.corrected]

    def worst_pair(self) -> tuple[UnboundedRecords, UnboundedRecords]:
        """Gradients of -1 and 1, half of each at every w, one of which turns round."""
        records = UnboundedRecords(np.full((60, 1), 1e-3), np.repeat([-1e3, 1e3], 30), constraint=L2Ball(1e-3))
        return records, records.replace(0, [1e-3], 1e3)

    @classmethod
    def example(cls) -> Example:
        # The account has slack in shift and dilation, and most of it at a small epsilon.
        return Example(cls(steps=1, bound=0.07), ApproxDP(3.0, 1e-2), neighbour=another_record, bug=0.1)
