"""Stochastic recursive momentum with noise on every estimator (lwang21, Algorithm 4): the method under DP-SRM.

v_0 is the mean gradient of a batch; later v = mean over a batch of grad f(w) - (1 - gamma) grad f(w_before), plus
(1 - gamma) times the noisy v before. Every v gets noise, and every noisy v is an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.kernels.blocks import Seed
from dpcheck.kernels.gradient_steps import must_be_batch
from dpcheck.kernels.method import Array, Asked, Drawn, Method, State
from dpcheck.kernels.noise import must_be_counts
from dpcheck.kernels.running import Run, run
from dpcheck.problems.losses import must_be_positive
from dpcheck.problems.problem import Problem

Index = NDArray[np.int64]


@dataclass(frozen=True)
class MomentumPlan:
    """What a run is. Steps have length at most `reach`, and step size at most `largest`; `clips` are C1 and C2.

    In the letters of the source: reach = zeta/(n0 L), largest = 1/(2 n0 L).
    """

    steps: int
    first_batch: int
    batch: int
    momentum: float
    reach: float
    largest: float
    clips: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        must_be_counts(steps=self.steps, first_batch=self.first_batch, batch=self.batch)
        must_be_positive("largest", self.largest)
        if not 0 < self.momentum < 1:
            raise InvalidInput("momentum", self.momentum, "a number in (0, 1)", "Pass momentum=0.1 for example.")

    def step(self, v: Array) -> Array:
        """eta v."""
        norms = np.linalg.norm(v, axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            return np.minimum(self.reach / norms, self.largest) * v

    def uniform(self, rng: np.random.Generator, k: int) -> Index:
        """How many steps lead to a uniform iterate out of w_0 to w_(T-1)."""
        return rng.integers(0, self.steps, size=k)


@dataclass(frozen=True, eq=False)
class Estimators:
    """The estimators before noise, on one problem."""

    problem: Problem
    plan: MomentumPlan

    @cached_property
    def limits(self) -> Array:
        """Of each record's slope, per unit of clip."""
        with np.errstate(divide="ignore"):
            return 1 / np.linalg.norm(self.problem.X, axis=1)

    def asked(self, state: State, t: int, drawn: Drawn) -> Array:
        """v_t, from w_t, w_(t-1) and the noisy v_(t-1)."""
        w, before, v = state
        index = drawn[:, None] if drawn is not None and drawn.ndim == 1 else drawn
        return self.of(w, before, v, index) if t else self.of(w, None, None, index)

    def of(self, w: Array, before: Array | None, v: Array | None, index: Index | None) -> Array:
        """Mean over the records in `index`, shape (k, b), or over all; (k, d)."""
        mean = self.data(w, before, index)
        mean += self.problem.l2 * w
        if before is not None and v is not None:
            mean += (1 - self.plan.momentum) * (v - self.problem.l2 * before)
        return mean

    def data(self, w: Array, before: Array | None, index: Index | None) -> Array:
        """The part of the records: of each the gradient less 1 - gamma times that before."""
        problem = self.problem
        if index is None:
            weights = self.weights(w @ problem.X.T, None if before is None else before @ problem.X.T, slice(None))
            return weights @ problem.X / problem.n
        rows = problem.X[index]
        margins = np.einsum("kbd,kd->kb", rows, w)
        earlier = None if before is None else np.einsum("kbd,kd->kb", rows, before)
        return np.einsum("kb,kbd->kd", self.weights(margins, earlier, index), rows) / index.shape[1]

    def weights(self, margins: Array, earlier: Array | None, index: Any) -> Array:
        """What multiplies each record's row: privacy rests on its limits (lwang21.equation4.9.4)."""
        y, gamma, clips = self.problem.y[index], self.plan.momentum, self.plan.clips
        slopes = self.problem.loss.derivative(margins, y)
        change = None if earlier is None else slopes - self.problem.loss.derivative(earlier, y)
        if clips is not None:
            limit = self.limits[index]
            slopes = np.clip(slopes, -clips[0] * limit, clips[0] * limit)
            change = None if change is None else np.clip(change, -clips[1] * limit, clips[1] * limit)
        return slopes if change is None else gamma * slopes + (1 - gamma) * change


@dataclass(frozen=True, eq=False)
class RecursiveMomentum(Method):
    """From 0, on w, the iterate before it and the noisy estimator before. v_T is let out too, but leads nowhere."""

    plan: MomentumPlan
    width: int
    rounds: Callable[[np.random.Generator, int], Any] | None = None

    @property
    def steps(self) -> int:  # type: ignore[override]
        return self.plan.steps + 1

    def start(self, k: int) -> State:
        return tuple(np.zeros((k, self.width)) for _ in range(3))

    def query(self, data: Problem, state: State, t: int, drawn: Drawn) -> Array:
        return Estimators(data, self.plan).asked(state, t, drawn)

    def update(self, state: State, answer: Array, t: int) -> State:
        w = state[0]
        return state if t == self.plan.steps else (w - self.plan.step(answer), w, answer)

    def grain(self, scale: float) -> float:
        return min(self.plan.largest * scale, self.plan.reach)

    def asked_of(self, data: Problem, k: int) -> Asked:
        return Estimators(data, self.plan).asked


def recursive_momentum(
    problem: Problem,
    plan: MomentumPlan,
    *,
    sigmas: tuple[float, float],
    seed: Seed,
    trials: int,
    trace: bool = False,
    last: bool = False,
) -> Run:
    """`trials` independent runs with noise of any size: promises nothing.

    `sigmas` is the noise on each coordinate of v_0, and of those after it. A run stops at a uniform iterate out of
    w_0 to w_(T-1), or with `last` at w_T, after v_T.

    >>> from dpcheck.problems.losses import Squared
    >>> p = Problem([[1.0], [1.0]], [0.5, 0.7], Squared())
    >>> plan = MomentumPlan(200, 2, 2, 0.5, 0.1, 0.5)
    >>> run = recursive_momentum(p, plan, sigmas=(0.0, 0.0), seed=0, trials=2, last=True)
    >>> run.w.round(6).tolist()
    [[0.6], [0.6]]
    """
    must_be_batch(max(plan.batch, plan.first_batch), problem.n)
    first = Release(1.0, Gaussian(sigmas[0]), WithoutReplacement(plan.first_batch, problem.n))
    later = Release(1.0, Gaussian(sigmas[1]), WithoutReplacement(plan.batch, problem.n), plan.steps)
    method = RecursiveMomentum(plan, problem.d, None if last else plan.uniform)
    return run(method, first.followed_by(later), problem, seed=seed, trials=trials, trace=trace)
