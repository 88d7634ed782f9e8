"""Stochastic recursive momentum with Gaussian noise, all trials at once (lwang21, Algorithm 4).

v_0 is the mean gradient of a batch; later v = mean over a batch of grad f(w) - (1 - gamma) grad f(w_before), plus
(1 - gamma) times the noisy v before. Every v gets noise, and every noisy v is seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcheck.audits.scores.transcript import gaussian_log_density, mixture_log_density
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels.blocks import Seed, block_cuts, child, seed_of
from dpcheck.kernels.descent import Trace
from dpcheck.kernels.drawn import records
from dpcheck.kernels.gradient_steps import must_be_batch
from dpcheck.kernels.noise import must_be_counts
from dpcheck.kernels.noisy_steps import compositions, distinct
from dpcheck.kernels.running import must_be_finite
from dpcheck.problems.losses import Array, must_be_positive
from dpcheck.problems.problem import Problem

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Plan:
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
        for name, value in zip(("clips[0]", "clips[1]"), self.clips or (), strict=False):
            must_be_positive(name, value)

    def step(self, v: Array) -> Array:
        """eta v."""
        norms = np.linalg.norm(v, axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            return np.minimum(self.reach / norms, self.largest) * v

    def size(self, t: int) -> int:
        """Records of the batch of the t-th estimator."""
        return self.batch if t else self.first_batch


@dataclass(frozen=True, eq=False)
class Estimators:
    """The estimators before noise, on one problem."""

    problem: Problem
    plan: Plan

    @cached_property
    def limits(self) -> Array:
        """Of each record's slope, per unit of clip."""
        with np.errstate(divide="ignore"):
            return 1 / np.linalg.norm(self.problem.X, axis=1)

    def of(self, w: Array, before: Array | None, v: Array | None, index: Index | None) -> Array:
        """Mean over the records in `index`, shape (k, b), or over all; (k, d)."""
        mean = self.data(w, before, index)
        own = self.problem.l2 * w
        if before is not None and v is not None:
            own = own + (1 - self.plan.momentum) * (v - self.problem.l2 * before)
        return mean + own

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

    def alone(self, w: Array, before: Array | None) -> Array:
        """The part of each distinct record by itself, (r, k, d)."""
        places, _ = distinct(self.problem)
        return np.stack([self.data(w, before, np.full((len(w), 1), i)) for i in places])


@dataclass(frozen=True, eq=False)
class MomentumSteps:
    """What a white-box adversary knows: the exact law of each noisy estimator, given those before."""

    plan: Plan
    sigmas: tuple[float, float]

    def log_density(self, problem: Problem, released: Array) -> Array:
        """Of v_0 to v_T, shape (k, T + 1, d), up to a constant, shape (k,); batches are not revealed."""
        if min(self.sigmas) == 0:
            raise InvalidInput("noise_std", 0.0, "> 0", "Without noise a transcript has no density.")
        plan, rule = self.plan, Estimators(problem, self.plan)
        w, before, v = np.zeros(released[:, 0].shape), None, None
        logs, drawn = np.zeros(len(released)), {t: list(shares(problem, plan.size(t))) for t in (0, 1)}
        nothing = np.zeros((len(released), 1), int)
        for t, seen in enumerate(released.transpose(1, 0, 2)):
            alone = rule.alone(w, before)
            rest = rule.of(w, before, v, nothing) - rule.data(w, before, nothing)
            parts = ((p, np.einsum("r,rkd->kd", part, alone) + rest) for p, part in drawn[min(t, 1)])
            sigma = self.sigmas[min(t, 1)]
            logs += mixture_log_density((p, gaussian_log_density(seen, mean, sigma)) for p, mean in parts)
            w, before, v = w - plan.step(seen), w, seen
        return logs


def shares(problem: Problem, batch: int) -> list[tuple[float, Array]]:
    """The batches that may be drawn: probability, and share of each distinct record."""
    _, counts = distinct(problem)
    rows = compositions(counts, batch)
    ways = [math.prod(math.comb(c, int(part)) for c, part in zip(counts, row, strict=True)) for row in rows]
    return [(way / math.comb(problem.n, batch), row / batch) for way, row in zip(ways, rows, strict=True)]


@dataclass(frozen=True, eq=False)
class Momentum:
    """A uniform iterate out of w_0 to w_(T-1), the last one, and what was asked to be recorded on the way."""

    w: Array
    last: Array
    trace: Trace | None = None


def recursive_momentum(
    problem: Problem, plan: Plan, *, sigmas: tuple[float, float], seed: Seed, trials: int, trace: bool = False
) -> Momentum:
    """`trials` independent runs from 0. `sigmas` is the noise on each coordinate of v_0, and of those after it.

    The trace holds w_0 to w_T as `iterates` and the noisy v_0 to v_T as `unprojected`. Trials are cut in blocks as in
    `noisy_descent`: the same seed gives the same bits.

    >>> from dpcheck.problems.losses import Squared
    >>> p = Problem([[1.0], [1.0]], [0.5, 0.7], Squared())
    >>> run = recursive_momentum(p, Plan(200, 2, 2, 0.5, 0.1, 0.5), sigmas=(0.0, 0.0), seed=0, trials=2)
    >>> run.last.round(6).tolist()
    [[0.6], [0.6]]
    """
    must_be_counts(trials=trials)
    must_be_batch(max(plan.batch, plan.first_batch), problem.n)
    rule, parent = Estimators(problem, plan), seed_of(seed)
    w, last, kept = np.empty((trials, problem.d)), np.empty((trials, problem.d)), []
    for number, first, end in block_cuts(problem, trials):
        block = child(parent, number)
        w[first:end], last[first:end], record = _block(rule, sigmas, block, end - first, trace)
        kept.append(record)
    must_be_finite(last)
    return Momentum(w, last, _joined(kept, MomentumSteps(plan, sigmas)) if trace else None)


def batches(rng: np.random.Generator, k: int, n: int, size: int) -> Index:
    """Records without replacement, (k, size). Small batches are drawn with it, and again while a record comes twice."""
    if size**2 > n:
        return records(rng, k, n, size).reshape(k, size)
    index = rng.integers(n, size=(k, size))
    twice = np.arange(k)
    while size > 1 and len(twice):
        ordered = np.sort(index[twice], axis=1)
        twice = twice[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
        index[twice] = rng.integers(n, size=(len(twice), size))
    return index


Record = tuple[list[Array], list[Array], list[Array]]


def _block(
    rule: Estimators, sigmas: tuple[float, float], seed: np.random.SeedSequence, k: int, trace: bool
) -> tuple[Array, Array, Record]:
    """Noise, records and rounds have a stream each: none shifts another."""
    plan, problem = rule.plan, rule.problem
    noise, picked, rounds = (np.random.default_rng(child(seed, i)) for i in range(3))
    chosen = rounds.integers(0, plan.steps, size=k)
    w, out = np.zeros((k, problem.d)), np.empty((k, problem.d))
    before, v = None, None
    iterates, released, norms = [w], list[Array](), list[Array]()
    with np.errstate(over="ignore", invalid="ignore"):  # checked once, at the end
        for t in range(plan.steps + trace):  # v_T is released too, but leads nowhere
            size = plan.size(t)
            index = None if size == problem.n else batches(picked, k, problem.n, size)
            v = rule.of(w, before, v, index)
            if trace:
                norms.append(np.linalg.norm(v, axis=1))
            v = v + sigmas[min(t, 1)] * noise.standard_normal(v.shape)  # privacy: lwang21.theorem4.5.1
            if trace:
                released.append(v)
            if t == plan.steps:
                break
            np.copyto(out, w, where=(chosen == t)[:, None])
            w, before = w - plan.step(v), w
            if trace:
                iterates.append(w)
    return out, w, (iterates, released, norms)


def _joined(parts: list[Record], law: MomentumSteps) -> Trace:
    """The records of the blocks, in order, as one."""
    iterates, released, norms = (np.concatenate([np.stack(p[i]) for p in parts], axis=1) for i in range(3))
    return Trace(iterates, norms, unprojected=released, law=law)  # type: ignore[arg-type]
