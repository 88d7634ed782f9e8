"""DP-LSSGD (lwang21, Algorithm 5; lssgd20, Algorithm 1). Claims: bounds/library/nonconvex/dp_lssgd.py and its kin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from dpcheck.bounds.privacy.release import Released
from dpcheck.families.sampled_descent import Batches
from dpcheck.families.smoothed import SmoothedSolver
from dpcheck.kernels.method import Array, State
from dpcheck.kernels.smoothing import LaplacianSmoothing, SmoothedSteps
from dpcheck.problems.problem import Problem
from dpcheck.settings import one_of


@dataclass(frozen=True)
class DPLSSGD(SmoothedSolver):
    """w <- w - η A_σ⁻¹ (gradient of a random batch + noise), from 0; smoothing = 0 is DP-SGD.

    Step sizes fall as rate/t (the documents' experiments) or are constant, rate/√T (their theorems). The algorithm
    returns the last iterate, the convex theorems are about the mean of w^0 to w^(T-1), weighted by the step sizes; of
    nonconvex risks a random one of these, so weighted, is small.
    """

    schedule: Literal["falling", "constant"] = one_of("falling", "constant", kw_only=True)
    released: Literal["last", "mean", "random"] = one_of("last", "mean", "random", kw_only=True)
    name: ClassVar[str] = "dp_lssgd"

    def step_sizes(self, steps: int) -> Array:
        """One a step."""
        falling = self.schedule == "falling"
        return self.rate / np.arange(1.0, steps + 1) if falling else np.full(steps, self.rate / np.sqrt(steps))

    def method(self, data: Problem, plan: Batches, released: Released) -> SmoothedSteps:
        etas, kind = self.step_sizes(plan.steps), WeightedMean if self.released == "mean" else SmoothedSteps
        weights = etas / etas.sum()

        def rounds(rng: np.random.Generator, k: int) -> Array:
            return rng.choice(plan.steps, size=k, p=weights)

        operator = LaplacianSmoothing(self.smoothing, data.d)
        stops = rounds if self.released == "random" else None
        return kind(etas, np.zeros(data.d), data.constraint, stops, operator=operator)


@dataclass(frozen=True, eq=False)
class WeightedMean(SmoothedSteps):
    """The same steps; the mean of their starting points, weighted by step sizes, grows beside the iterate."""

    @cached_property
    def weights(self) -> Array:
        return self.etas / self.etas.sum()

    def start(self, k: int) -> State:
        (w,) = super().start(k)
        return w, np.zeros_like(w)

    def update(self, state: State, answer: Array, t: int) -> State:
        w, mean = state
        mean += self.weights[t] * w
        (w,) = super().update((w,), answer, t)
        return w, mean

    def output(self, state: State) -> Array:
        return state[1]

    def grain(self, scale: float) -> float:
        return super().grain(scale) / self.steps
