"""DP-LSAdam (lwang21, section 5.4.2; lssgd20, section 4.2). Claims: bounds/library/nonconvex/dp_lsadam.py."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.privacy.release import Released
from dpcheck.families.sampled_descent import Batches
from dpcheck.families.smoothed import SmoothedSolver
from dpcheck.kernels.method import Array, State
from dpcheck.kernels.smoothing import LaplacianSmoothing, SmoothedSteps
from dpcheck.problems.problem import Problem
from dpcheck.settings import allowing, positive


def kept(default: float) -> Any:
    """The share that a running mean keeps of itself in a step."""
    refused = (1.0, -0.1, math.nan, "1")
    return allowing(default, "a number in [0, 1)", lambda share: 0 <= share < 1, refuses=refused, kw_only=True)


@dataclass(frozen=True)
class DPLSAdam(SmoothedSolver):
    """Adam on smoothed noisy gradients of random batches, from 0; smoothing = 0 is DP-Adam.

    Steps of size `rate` along m/(√s + `floor`), m and s running means of the gradients and of their squares. What
    Adam makes of the noisy gradients is post-processing: the noise is that of DP-LSSGD.
    """

    rate: float = positive(1e-3)
    first: float = kept(0.9)
    second: float = kept(0.999)
    floor: float = positive(1e-8, kw_only=True)
    name: ClassVar[str] = "dp_lsadam"

    def method(self, data: Problem, plan: Batches, released: Released) -> SmoothedSteps:
        etas, operator = np.full(plan.steps, self.rate), LaplacianSmoothing(self.smoothing, data.d)
        return AdamSteps(etas, np.zeros(data.d), data.constraint, operator=operator, adam=self)


@dataclass(frozen=True, eq=False)
class AdamSteps(SmoothedSteps):
    """Kingma and Ba, Algorithm 1: the state is w, m and s."""

    adam: DPLSAdam = field(kw_only=True)

    def start(self, k: int) -> State:
        (w,) = super().start(k)
        return w, np.zeros_like(w), np.zeros_like(w)

    def update(self, state: State, answer: Array, t: int) -> State:
        (w, m, s), smooth = state, self.operator.solve(answer)
        first, second = self.adam.first, self.adam.second
        m *= first
        m += (1 - first) * smooth
        s *= second
        s += (1 - second) * smooth**2
        mean, square = m / (1 - first ** (t + 1)), s / (1 - second ** (t + 1))
        w -= self.etas[t] * mean / (np.sqrt(square) + self.adam.floor)
        return w, m, s
