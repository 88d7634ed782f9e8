"""Sample and aggregate on records of any size. Claims: bounds/library/heavy_tail/ht_sample_aggregate.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.heavy_tail import ht_sample_aggregate as theory
from dpcheck.bounds.privacy.laws import SmoothNoise
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.aggregated import centre_and_width, least_width, printed_beta, subsets
from dpcheck.families.robust_means import must_be_rows
from dpcheck.families.smooth_answers import SmoothAnswer
from dpcheck.kernels.method import Array
from dpcheck.problems.constraints import L2Ball
from dpcheck.settings import allowing, positive
from dpcheck.solver import Calibration, Example, Solver, approximate, must_meet


def is_square(value: int) -> bool:
    """A square number above 1, as √m subsets are counted."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 1 and math.isqrt(value) ** 2 == value


ORDER = 7  # of records in the worst pair: the centre moves by 0.64 of the width, where it is 0.17 if they are sorted


@dataclass(frozen=True)
class HtSampleAggregate(Solver):
    """The centre of `sets` minimisers of (1/2)‖w-x‖² over the ball of this radius, each on its subset of the records.

    Which subset holds whom is drawn from `design` without a look at the records: public, and the same for neighbours.
    "stated" widens the noise by the largest distances, as line 5 may be read, which one record moves too far;
    "certified" by the least ones, and needs ⌈√m/β⌉ ≤ m/2 subsets.
    """

    sets: int = allowing(144, "a square number above 1", is_square, refuses=(1, 10, -4, 2.5, True, "4"))
    radius: float = positive(1.0)
    design: int = allowing(0, "a whole number >= 0", lambda v: isinstance(v, int) and v >= 0, refuses=(-1, 0.5, "a"))
    name: ClassVar[str] = "ht_sample_aggregate"
    any_size: ClassVar[bool] = True
    minimises: ClassVar[bool] = False

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        rows, aim = must_be_rows(data), approximate(guarantee)
        if len(rows) < self.sets:
            raise InvalidInput("x", f"{len(rows)} records", f"{self.sets} or more, one a subset", "Lower sets.")
        averaged = math.ceil(math.isqrt(self.sets) / printed_beta(aim.eps, aim.delta, rows.shape[1]))
        if calibration == "certified" and averaged > self.sets / 2:
            raise InvalidInput("sets", self.sets, f"{4 * averaged**2 // self.sets + 1} or more here", "Raise sets.")

    def plan(self, data: Array, guarantee: Guarantee) -> float:
        aim = approximate(guarantee)
        return printed_beta(aim.eps, aim.delta, must_be_rows(data).shape[1])

    def release(self, data: Array, plan: float) -> Release:
        d = must_be_rows(data).shape[1]
        return theory.released.at(beta_sm=plan, d=d)  # privacy: dwang20.theorem3.2.1.privacy

    def method(self, data: Array, plan: float, released: Released) -> SmoothAnswer:
        law, d = released.parts[0].law, must_be_rows(data).shape[1]
        printed = isinstance(law, SmoothNoise) and math.isinf(law.smoothness)
        held, ball = subsets(len(data), self.sets, self.design), L2Ball(self.radius)

        def ask(records: Array) -> Array:
            points = ball.project(must_be_rows(records)[held].mean(axis=1))
            return centre_and_width(points, plan, 2 * self.radius, largest=printed)

        return SmoothAnswer(ask, d, least_width(self.sets, plan, 2 * self.radius))

    def stated(self, data: Array, guarantee: Guarantee, plan: float) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.largest
        values = {"m_sets": self.sets, "d": must_be_rows(data).shape[1], **aim.parameters}
        must_meet(claim, data, **values)
        noise = float(claim.evaluate(**values))
        law = SmoothNoise(noise, math.inf, values["d"], "gaussian")  # the printed width is smooth to no β
        return Release(1.0, law), [claim]

    def certifying(self, data: Array, plan: float) -> Sequence[Claim]:
        return [theory.smooth, theory.privacy]

    def worst_pair(self) -> tuple[Array, Array]:
        """Records spread evenly; that of most subsets moves from one end to the other, and the centre after it."""
        n = self.sets
        counts = np.bincount(subsets(n, n, self.design).ravel(), minlength=n)
        data = self.radius * np.random.default_rng(ORDER).permutation(np.linspace(-1, 1, n))
        data[np.argmax(counts)] = -self.radius
        other = data.copy()
        other[np.argmax(counts)] = self.radius
        return data, other

    @classmethod
    def example(cls) -> Example:
        # The sensitivity is for a record of √m subsets, which a random design does not have.
        return Example(cls(), ApproxDP(5.0, 1e-2), neighbour=another_record, reaches=0.0, bug=0.03)


def another_record(data: Array, rng: np.random.Generator) -> Array:
    """One record is another number, of any size."""
    found = np.array(data)
    found[rng.integers(len(data))] = rng.choice([-1, 1]) * 10 ** rng.uniform(-3, 6)
    return found
