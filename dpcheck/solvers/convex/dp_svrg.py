"""DP-SVRG (dwang20, Algorithm 3.1.1). Claims: bounds/library/convex/dp_svrg.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.convex import dp_svrg as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.variance_reduced import EqualEpochs
from dpcheck.kernels.method import Array, State
from dpcheck.kernels.variance_reduction import Epochs, ReducedSteps
from dpcheck.problems.problem import Problem
from dpcheck.settings import flag
from dpcheck.solver import Calibration, Example


@dataclass(frozen=True)
class DPSVRG(EqualEpochs):
    """Epochs of noisy variance-reduced steps on single records, each from the mean of the last epoch's iterates.

    By default eta = 1/(48 L), m = 193 L/mu and T halves the start's risk down to the noise (Theorem 3.1.2).
    `adaptive` sets eta by Barzilai and Borwein's rule from exact gradients, as the experiments of the source do: to
    be attacked, and refused under certified calibration.
    """

    adaptive: bool = flag()
    name: ClassVar[str] = "dp_svrg"
    published: ClassVar[Claim] = theory.theorem1
    corrected: ClassVar[Claim] = theory.theorem1_corrected
    released: ClassVar[Release] = theory.released

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        if self.adaptive and calibration == "certified":
            raise InvalidInput("adaptive", True, "False", "A step size read off the data is not private.")

    def method(self, data: Problem, plan: Epochs, released: Released) -> ReducedSteps:
        plain = super().method(data, plan, released)
        return AdaptiveSteps(plan, plain.begin, plain.constraint, plain.l2, plain.l1) if self.adaptive else plain

    @classmethod
    def example(cls) -> Example:
        return Example(cls(epochs=2, inner=5, step_size=10.0))


class AdaptiveSteps(ReducedSteps):
    """The same, each later epoch's step size read off the exact full gradients, which is not private.

    A state also holds the step size, the last snapshot and the gradient there.
    """

    def start(self, k: int) -> State:
        x, snap, mean = super().start(k)
        return x, snap, mean, np.full((k, 1), self.epochs.step_size), snap, np.zeros_like(x)

    def peek(self, data: Problem, state: State, t: int, asked: Array) -> State:
        if t > 0 and t - 1 not in self.ends:
            return state
        x, snap, mean, eta, before, slope = state
        here = data.gradient(snap)
        if t > 0:
            length = self.epochs.lengths[sum(end < t for end in self.ends)]
            eta = barzilai_borwein(snap - before, here - slope, eta, length)
        return x, snap, mean, eta, snap, here

    def update(self, state: State, answer: Array, t: int) -> State:
        *plain, eta, before, slope = state
        return (*self.moved(tuple(plain), answer, eta, t), eta, before, slope)


def barzilai_borwein(dx: Array, dg: Array, eta: Array, length: int) -> Array:
    """||dx||^2 / (m <dx, dg>), one a trial (Tan et al. 2016); the old step where that is no number."""
    bend = np.einsum("kd,kd->k", dx, dg)
    steps = np.einsum("kd,kd->k", dx, dx) / (length * np.where(bend > 0, bend, 1.0))
    return np.where((bend > 0) & (steps > 0), steps, eta[:, 0])[:, None]
