"""A private mean of heavy-tailed numbers. Claims: bounds/library/heavy_tail/ht_robust_mean.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.heavy_tail import ht_robust_mean as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.robust_means import must_be_rows, printed_truncation, robust_average
from dpcheck.kernels.method import Array
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.settings import fraction, positive
from dpcheck.solver import Calibration, Example, Solver, approximate, must_meet

FAR = 1e9  # a record so far out that φ is at its end, whatever s


@dataclass(frozen=True)
class HtRobustMean(Solver):
    """The mean of numbers of any size with E x² at most `second_moment`, which may be wrong at the cost of accuracy.

    `failure` is γ (printed δ'), which s and β are made of. "stated" is (3.80) with its hidden constant `c`.
    """

    second_moment: float = positive(1.0)
    failure: float = fraction(0.05)
    c: float = positive(8.0, kw_only=True)
    name: ClassVar[str] = "ht_robust_mean"
    any_size: ClassVar[bool] = True
    minimises: ClassVar[bool] = False

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        if must_be_rows(data).shape[1] != 1:
            raise InvalidInput("x", np.shape(data), "one number a record", "Use dpcheck.robust_mean for rows.")

    def plan(self, data: Array, guarantee: Guarantee) -> float:
        return printed_truncation(len(data), self.second_moment, self.failure)

    def release(self, data: Array, plan: float) -> Release:
        return theory.released.at(s_trunc=plan, n=len(data))  # privacy: dwang20.equation3.80.sensitivity

    def method(self, data: Array, plan: float, released: Released) -> OneAnswer:
        kappa = 2 * math.log(1 / self.failure)
        return OneAnswer(lambda x: robust_average(np.reshape(x, (-1, 1)), plan, kappa), 1)

    def stated(self, data: Array, guarantee: Guarantee, plan: float) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.privacy
        values = {"n": len(data), "s_trunc": plan, "c": self.c, **aim.parameters}
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: Array, plan: float) -> Sequence[Claim]:
        return [theory.sensitivity]

    def worst_pair(self) -> tuple[Array, Array]:
        """One record moves from far below to far above."""
        other = np.full(10, -FAR)
        other[0] = FAR
        return np.full(10, -FAR), other

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), neighbour=another_number)


def another_number(data: Array, rng: np.random.Generator) -> Array:
    """One record is another number, of any size."""
    found = np.array(data)
    found[rng.integers(len(data))] = rng.choice([-1, 1]) * 10 ** rng.uniform(-3, 12)
    return found
