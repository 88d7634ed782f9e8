"""Hard thresholding on users' reported gradients, block after block: what protocols with private records share.

Claims: bounds/library/local/ldp_iht.py and ldp_iht_nonlinear.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP, Relation
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.hard_thresholding import (
    LINEAR,
    Link,
    SparseRecords,
    gradients,
    must_be_records,
    other_record,
    step_size,
    thresholded,
)
from dpcheck.families.user_numbers import must_be_pure
from dpcheck.kernels.method import Array, Drawn, Method, State
from dpcheck.kernels.one_answer import HELD
from dpcheck.kernels.reports import unbiased_radius
from dpcheck.settings import count, positive
from dpcheck.solver import Calibration, Example, Solver

FARTHEST = 1 + math.sqrt(8)  # ‖θ*‖₁ + ‖θ_t‖₁ over √nonzeros, at most
ROOM = 1e-12  # of the radius, for how norms are rounded


class Blocks(NamedTuple):
    """How many users answer in a step, which norm their gradients have at most, and the step size."""

    users: int
    radius: float
    eta: float


@dataclass(frozen=True, eq=False)
class Reported(Method):
    """Step t asks the users of block t for their gradients, side by side, and takes the mean of their reports."""

    users: int
    d: int
    steps: int
    kept: int
    eta: float
    length: float  # of a report, which makes it unbiased

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.users * self.d

    def start(self, k: int) -> State:
        return (np.zeros((k, self.d)),)

    def query(self, data: SparseRecords, state: State, t: int, drawn: Drawn) -> Array:
        block = slice(t * self.users, (t + 1) * self.users)
        residuals = gradients(state[0], data.X[block], data.y[block], data.link)
        return (residuals[:, :, None] * data.X[block]).reshape(len(residuals), -1)

    def update(self, state: State, answer: Array, t: int) -> State:
        mean = self.length * answer.reshape(len(answer), self.users, self.d).mean(axis=1)
        return (thresholded(state[0] - self.eta * mean, self.kept),)

    def grain(self, scale: float) -> float:
        return 0.0  # the server sees the reports themselves: rounding what it makes of them hides nothing

    def block(self, data: SparseRecords) -> int:
        return max(1, HELD // self.width)


@dataclass(frozen=True)
class ReportedGradients(Solver):
    """8·nonzeros entries are kept. n/steps users answer in each step; those that are left over are not asked."""

    steps: int = count(4)
    step_size: float | None = positive(None)

    relations: ClassVar[tuple[Relation, ...]] = (LOCAL,)
    minimises: ClassVar[bool] = False
    links: ClassVar[tuple[Link, ...]] = (LINEAR,)
    theory: ClassVar[Any]  # with `released`, `printed` and `corrected`

    def must_suit(self, data: SparseRecords, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_pure(guarantee)
        must_be_records(data, self.links)
        if not np.all(np.abs(data.X) == 1) or data.label_bound is not None:
            raise InvalidInput("rows", "others", "rows of -1 and 1", "Round them, or take private labels alone.")
        if data.n < self.steps:
            raise InvalidInput("users", data.n, f"at least steps={self.steps}", "Each step asks users of its own.")

    def plan(self, data: SparseRecords, guarantee: Guarantee) -> Blocks:
        slope, eta = data.link.high, step_size(data.link) if self.step_size is None else self.step_size
        farthest = slope * FARTHEST * math.sqrt(data.nonzeros) + data.noise
        return Blocks(data.n // self.steps, slope * math.sqrt(data.d) * farthest, eta)

    def release(self, data: SparseRecords, plan: Blocks) -> Release:
        known: Release = self.theory.released
        return known.at(r_ball=plan.radius * (1 + ROOM), d=data.d, T=self.steps)

    def method(self, data: SparseRecords, plan: Blocks, released: Released) -> Reported:
        length = float(released.parts[0].law.scale) * unbiased_radius(data.d)
        return Reported(plan.users, data.d, self.steps, min(8 * data.nonzeros, data.d), plan.eta, length)

    def stated(self, data: SparseRecords, guarantee: Guarantee, plan: Blocks) -> tuple[Released, Sequence[Claim]]:
        """r = bC√d, the printed order with constant 1: longer gradients are reported as if they had that norm."""
        radius, claims = data.link.high * data.noise * math.sqrt(data.d), self.theory.printed
        noise = claims[0].evaluate(r_ball=radius, eps=guarantee.parameters["eps"])
        return self.release(data, plan._replace(radius=radius)).with_noise(float(noise)), claims

    def certifying(self, data: SparseRecords, plan: Blocks) -> Sequence[Claim]:
        return list(self.theory.corrected)

    def worst_pair(self) -> tuple[SparseRecords, SparseRecords]:
        """One user in the first step, at the two ends of her labels, whose noise is most of them."""
        link = self.links[0]
        data = SparseRecords(np.ones((self.steps, 2)), np.full(self.steps, link.f(np.zeros(1))[0]), 1, 1000.0, link)
        low, high = data.labels
        return data.with_label(0, low), data.with_label(0, high)

    @classmethod
    def example(cls) -> Example:
        link = cls.links[0]  # the worst pair stands at θ₀ = 0, where the slope is not the largest
        steepness = float(link.slope(np.zeros(1))[0]) / link.high
        return Example(cls(steps=2), PureDP(1.0, relation=LOCAL), neighbour=other_record, reaches=0.95 * steepness)
