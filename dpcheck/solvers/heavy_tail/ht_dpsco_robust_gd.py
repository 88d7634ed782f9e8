"""Descent by private robust means of gradients. Claims: bounds/library/heavy_tail/ht_dpsco_robust_gd.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.heavy_tail import ht_dpsco_robust_gd as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.robust_means import printed_truncation, robust_average
from dpcheck.families.unbounded_records import HELD, UnboundedRecords, another_record, must_be_records, turned_record
from dpcheck.kernels.gradient_steps import GradientSteps
from dpcheck.kernels.method import Array, Asked, Drawn, State
from dpcheck.settings import count, fraction, positive
from dpcheck.solver import Calibration, Example, Solver, approximate, must_meet


@dataclass(frozen=True, eq=False)
class RobustSteps(GradientSteps):
    """Gradient steps by the robust mean of each coordinate; the regulariser is public, and stays outside of it."""

    l2: float = 0.0
    truncation: float = 1.0
    kappa: float = 1.0

    def query(self, data: Any, state: State, t: int, drawn: Drawn) -> Array:
        return robust_average(data.record_gradients(state[0]), self.truncation, self.kappa)

    def update(self, state: State, answer: Array, t: int) -> State:
        return super().update(state, answer + self.l2 * state[0], t)

    def asked_of(self, data: Any, k: int) -> Asked:
        return partial(self.query, data)

    def block(self, data: UnboundedRecords) -> int:
        return max(1, min(2048, HELD // (data.n * data.d)))


@dataclass(frozen=True)
class HtDpscoRobustGD(Solver):
    """`steps` gradient steps from 0, each by the private robust mean of every coordinate; the last iterate is released.

    Gradients may be of any size; `second_moment` is v, a bound on E (∇_jℓ)², and a wrong one costs accuracy alone.
    `failure` is γ (printed δ'). `step_size` is 1/β of the population risk. "stated" is the noise of Algorithm 3.2.8.
    """

    steps: int = count(20)
    step_size: float = positive(0.1)
    second_moment: float = positive(1.0)
    failure: float = fraction(0.05)
    name: ClassVar[str] = "ht_dpsco_robust_gd"
    any_size: ClassVar[bool] = True
    minimises: ClassVar[bool] = False  # the population risk: what its data bring is not a Problem

    def must_suit(self, data: UnboundedRecords, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_records(data)

    def plan(self, data: UnboundedRecords, guarantee: Guarantee) -> float:
        return printed_truncation(data.n, self.second_moment, self.failure)

    def release(self, data: UnboundedRecords, plan: float) -> Release:
        # privacy: dwang20.equation3.80.sensitivity, in each of d coordinates
        return theory.released.at(s_grad=plan, n=data.n, d=data.d, T=self.steps)

    def method(self, data: UnboundedRecords, plan: float, released: Released) -> RobustSteps:
        etas, kappa = np.full(self.steps, self.step_size), math.log(1 / self.failure)
        return RobustSteps(etas, np.zeros(data.d), data.constraint, l2=data.l2, truncation=plan, kappa=kappa)

    def stated(self, data: UnboundedRecords, guarantee: Guarantee, plan: float) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.privacy
        values = {"n": data.n, "d": data.d, "T": self.steps, "v_grad": self.second_moment, "gamma": self.failure}
        values |= aim.parameters
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: UnboundedRecords, plan: float) -> Sequence[Claim]:
        return [theory.sensitivity]

    def worst_pair(self) -> tuple[UnboundedRecords, UnboundedRecords]:
        """A record whose gradient turns from far below to far above in every coordinate, at every w."""
        return turned_record(4, 2, 1e6)

    @classmethod
    def example(cls) -> Example:
        # φ averaged over η stays 8% below its end at β = log 20
        return Example(cls(steps=3), neighbour=another_record, reaches=0.9)
