"""Noisy variance-reduced gradient methods, all trials at once: SVRG, Katyusha and SVRG++ are settings of one loop.

An epoch takes the full gradient at a snapshot x~; each of its steps moves along
v = (grad f_i(y) - grad f_i(x~)) + grad F(x~) + noise with y = theta x + (1 - theta) x~, and ends in a proximal step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcheck.audits.scores.transcript import gaussian_log_density, mixture_log_density
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels.blocks import Seed, block_cuts, child, seed_of, steps_held
from dpcheck.kernels.descent import Trace, starting_points
from dpcheck.kernels.drawn import records
from dpcheck.kernels.gradient_steps import must_be_batch
from dpcheck.kernels.noise import must_be_counts
from dpcheck.kernels.noisy_steps import drawn, mean_of, record_gradients
from dpcheck.kernels.running import must_be_finite
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.losses import Array, must_be_positive
from dpcheck.problems.problem import Problem

# The loop ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """What a method is: `epochs` holds the number of steps of each.

    theta = 1 looks at x itself. The new snapshot is theta times the mean of the iterates, with weights growth^j,
    plus 1 - theta times the old one. With `restart` an epoch begins at its snapshot, else where the last one ended.
    """

    epochs: Sequence[int]
    step_size: float
    theta: float = 1.0
    growth: float = 1.0
    restart: bool = True

    def __post_init__(self) -> None:
        if not self.epochs:
            raise InvalidInput("epochs", self.epochs, "at least one", "Pass epochs=(100,).")
        for length in self.epochs:
            must_be_counts(epochs=length)
        must_be_positive("step_size", self.step_size)
        must_be_positive("growth", self.growth)
        if not 0 < self.theta <= 1:
            raise InvalidInput("theta", self.theta, "a number in (0, 1]", "Pass theta=1.0 for no momentum.")

    @property
    def steps(self) -> int:
        return sum(self.epochs)


@dataclass(frozen=True, eq=False)
class ReducedTrace(Trace):
    """Also `releases`, all noisy gradients v, (steps, k, d), and `snapshots`, (epochs + 1, k, d).

    `unprojected` holds x - eta v, before the proximal step; `law` is None where the step size is adaptive.
    """

    releases: Array
    snapshots: Array


@dataclass(frozen=True, eq=False)
class Reduced:
    """The last snapshot of each trial, shape (k, d), and what was asked to be recorded on the way."""

    w: Array
    trace: ReducedTrace | None = None


def reduced_descent(
    problem: Problem,
    plan: Plan,
    *,
    noise_std: float,
    seed: Seed,
    trials: int,
    batch: int = 1,
    l1: float = 0.0,
    start: Any = None,
    adaptive: bool = False,
    trace: bool = False,
) -> Reduced:
    """`trials` independent runs on F + l2/2 ||x||^2 + l1 ||x||_1 over the constraint set; the last snapshots.

    Each step draws `batch` records without replacement (all of them: v is the full gradient at y, with noise).
    `adaptive` sets each later epoch's step size by Barzilai and Borwein's rule from the exact full gradients,
    which is not private. Trials are cut in blocks as in `noisy_descent`: the same seed gives the same bits.

    >>> from dpcheck.problems.losses import Squared
    >>> p = Problem([[1.0], [1.0]], [0.5, 0.7], Squared())
    >>> reduced_descent(p, Plan((50,) * 4, 0.5), noise_std=0.0, seed=0, trials=2).w.round(6)
    array([[0.6],
           [0.6]])
    """
    must_be_counts(trials=trials)
    must_be_batch(batch, problem.n)
    for name, value in (("noise_std", noise_std), ("l1", l1)):
        if not 0 <= value < math.inf:
            raise InvalidInput(name, value, "a finite number >= 0", f"Pass {name}=0.0 for none.")
    if l1 > 0 and not isinstance(problem.constraint, WholeSpace):
        raise InvalidInput("l1", l1, "0 over a constraint set", "Drop one of the two.")
    run = _Run(problem, plan, noise_std, batch, l1, adaptive)
    begin = starting_points(problem, start, trials)
    law = None if adaptive or begin.ndim == 2 else ReducedSteps(begin, plan, noise_std, batch, l1)
    parent = seed_of(seed)
    w, traces = np.empty((trials, problem.d)), []
    for number, first, last in block_cuts(problem, trials):
        X0 = begin[first:last] if begin.ndim == 2 else np.tile(begin, (last - first, 1))
        record = _Record(X0) if trace else None
        w[first:last] = run.block(child(parent, number), X0, record)
        if record is not None:
            traces.append(record)
    must_be_finite(w)
    return Reduced(w, _joined(traces, law) if traces else None)


@dataclass(frozen=True, eq=False)
class _Run:
    """Settings of a run, checked; `block` is the loop."""

    problem: Problem
    plan: Plan
    noise_std: float
    batch: int
    l1: float
    adaptive: bool

    @cached_property
    def data(self) -> Problem:
        """The problem without its regulariser, which the proximal step takes care of."""
        return replace(self.problem, l2=0.0)

    def block(self, seed: np.random.SeedSequence, X0: Array, record: _Record | None) -> Array:
        """The last snapshots of a block. Noise and records have a stream each: neither shifts the other."""
        plan, k, d = self.plan, len(X0), self.problem.d
        noise = _Normals(np.random.default_rng(child(seed, 0)), self.noise_std, k, d, plan.steps)
        picked = _Drawn(np.random.default_rng(child(seed, 1)), self.batch, k, self.problem.n, plan.steps)
        x, snap = X0.copy(), X0.copy()
        eta: Any = plan.step_size
        before: tuple[Array, Array] | None = None
        with np.errstate(over="ignore", invalid="ignore"):  # checked once, at the end
            for length in plan.epochs:
                slopes = self.data.loss.derivative(snap @ self.data.X.T, self.data.y)
                full = slopes @ self.data.X / self.problem.n
                if self.adaptive:
                    eta = self._barzilai_borwein(before, snap, full, eta, length)
                    before = (snap, full)
                if plan.restart:
                    x = snap.copy()
                total, weight, weights = np.zeros_like(x), 1.0, 0.0
                for _ in range(length):
                    y = x if plan.theta == 1 else plan.theta * x + (1 - plan.theta) * snap
                    v = self._gradient(y, slopes, full, picked.take())
                    norms = np.linalg.norm(v, axis=1) if record else None
                    if self.noise_std > 0:
                        v += noise.take()  # privacy: dwang20.theorem3.1.1.corrected
                    led = x - eta * v
                    x = proximal(self.problem, self.l1, led, eta)
                    total += x if weight == 1 else weight * x
                    weights += weight
                    weight *= plan.growth
                    if record:
                        record.after(x, led, v, norms)
                mean = total / weights
                snap = mean if plan.theta == 1 else plan.theta * mean + (1 - plan.theta) * snap
                if record:
                    record.snapshots.append(snap)
        return snap

    def _gradient(self, y: Array, slopes: Array, full: Array, index: NDArray[np.int64] | None) -> Array:
        """The estimate of grad F(y), before noise."""
        if index is None:
            return self.data.gradient(y)
        k, n = slopes.shape
        places = index + np.arange(0, k * n, n).reshape((k,) + (1,) * (index.ndim - 1))
        rows, labels = self.data.X.take(index, axis=0), self.data.y.take(index)
        inward = "kd,kd->k" if index.ndim == 1 else "kbd,kd->kb"
        moved = self.data.loss.derivative(np.einsum(inward, rows, y), labels)
        moved -= slopes.ravel().take(places)
        if index.ndim == 1:
            rows *= moved[:, None]
            rows += full
            return rows
        return np.einsum("kb,kbd->kd", moved, rows) / self.batch + full

    def _barzilai_borwein(
        self, before: tuple[Array, Array] | None, snap: Array, full: Array, eta: Any, length: int
    ) -> Any:
        """||dx||^2 / (m <dx, dg>) of the two last snapshots (Tan et al. 2016); the old step where that is no number."""
        if before is None:
            return eta
        dx, dg = snap - before[0], full - before[1] + self.problem.l2 * (snap - before[0])
        bend = np.einsum("kd,kd->k", dx, dg)
        steps = np.einsum("kd,kd->k", dx, dx) / (length * np.where(bend > 0, bend, 1.0))
        return np.where((bend > 0) & (steps > 0), steps, np.broadcast_to(eta, (len(snap), 1))[:, 0])[:, None]


def proximal(problem: Problem, l1: float, x: Array, eta: Any) -> Array:
    """argmin ||. - x||^2 / (2 eta) + l1 ||.||_1 + l2/2 ||.||^2 over the set: shrink, scale, project."""
    if l1 > 0:
        x = np.sign(x) * np.maximum(np.abs(x) - eta * l1, 0.0)
    if problem.l2 > 0:
        x = x / (1 + eta * problem.l2)
    return x if isinstance(problem.constraint, WholeSpace) else problem.constraint.project(x)


@dataclass(frozen=True, eq=False)
class ReducedSteps:
    """What a white-box adversary knows: the exact law of each point x - eta v, given those before."""

    start: Array
    plan: Plan
    sigma: float
    batch: int
    l1: float

    @property
    def etas(self) -> Array:
        """One step size a step."""
        return np.full(self.plan.steps, self.plan.step_size)

    def log_density(self, problem: Problem, released: Array) -> Array:
        """Of the points, shape (k, steps, d), up to a constant, shape (k,); drawn records are not revealed."""
        if self.sigma == 0:
            raise InvalidInput("noise_std", 0.0, "> 0", "Without noise a transcript has no density.")
        plan, data, eta = self.plan, replace(problem, l2=0.0), self.plan.step_size
        full_batch = self.batch == problem.n
        batches = [(1.0, None)] if full_batch else list(drawn(problem, self.batch))
        x = snap = np.broadcast_to(self.start, released[:, 0].shape)
        logs, points = np.zeros(len(released)), iter(released.transpose(1, 0, 2))
        for length in plan.epochs:
            full, at_snap = data.gradient(snap), record_gradients(data, snap)
            x = snap if plan.restart else x
            total, weight, weights = np.zeros(x.shape), 1.0, 0.0
            for _, led in zip(range(length), points, strict=False):
                y = plan.theta * x + (1 - plan.theta) * snap
                moved = data.gradient(y)[None] - full if full_batch else record_gradients(data, y) - at_snap
                means = ((p, x - eta * (mean_of(moved, shares) + full)) for p, shares in batches)
                logs += mixture_log_density((p, gaussian_log_density(led, m, eta * self.sigma)) for p, m in means)
                x = proximal(problem, self.l1, led, eta)
                total, weights, weight = total + weight * x, weights + weight, weight * plan.growth
            snap = plan.theta * total / weights + (1 - plan.theta) * snap
        return logs


class _Normals:
    """Scaled normals for all steps of a block, drawn a few steps at a time."""

    def __init__(self, rng: np.random.Generator, scale: float, k: int, d: int, steps: int) -> None:
        self.rng, self.scale, self.at = rng, scale, 0
        self.held = np.empty((steps_held(k, d, steps), k, d)) if scale > 0 else np.empty((0, 0, 0))

    def take(self) -> Array:
        if self.at % len(self.held) == 0:
            self.rng.standard_normal(out=self.held)
            self.held *= self.scale
        self.at += 1
        return self.held[(self.at - 1) % len(self.held)]


class _Drawn:
    """Indices of each step's records: (k,) for one a trial, (k, batch), or None for all of them."""

    def __init__(self, rng: np.random.Generator, batch: int, k: int, n: int, steps: int) -> None:
        self.rng, self.batch, self.k, self.n, self.at = rng, batch, k, n, 0
        self.rows = steps_held(k, 1, steps)
        self.held = np.empty((0, 0), np.int64)

    def take(self) -> NDArray[np.int64] | None:
        if self.batch == self.n:
            return None
        if self.batch > 1:
            return records(self.rng, self.k, self.n, self.batch)
        if self.at % self.rows == 0:
            self.held = self.rng.integers(self.n, size=(self.rows, self.k))
        self.at += 1
        return self.held[(self.at - 1) % self.rows]


class _Record:
    """What a trace keeps while a block runs."""

    def __init__(self, X0: Array) -> None:
        self.iterates, self.snapshots = [X0], [X0]
        self.led, self.releases, self.norms = list[Array](), list[Array](), list[Any]()

    def after(self, x: Array, led: Array, v: Array, norms: Any) -> None:
        self.iterates.append(x)
        self.led.append(led)
        self.releases.append(v)
        self.norms.append(norms)


def _joined(parts: Sequence[_Record], law: ReducedSteps | None) -> ReducedTrace:
    """Those of the blocks, in order, as one."""

    def whole(name: str) -> Array:
        return np.concatenate([np.stack(getattr(part, name)) for part in parts], axis=1)

    steps = {"releases": whole("releases"), "snapshots": whole("snapshots"), "unprojected": whole("led")}
    return ReducedTrace(whole("iterates"), whole("norms"), law=law, **steps)  # type: ignore[arg-type]


# The objective with both regularisers ---------------------------------------------------------------


def composite_value(problem: Problem, W: Array, l1: float = 0.0) -> Any:
    """F + l2/2 ||w||^2 + l1 ||w||_1 at each point."""
    return problem.value(W) + l1 * np.abs(W).sum(axis=-1)


def composite_minimum(problem: Problem, l1: float = 0.0) -> float:
    """Its least value; with an l1 term by accelerated proximal steps, to about 1e-9 (Beck-Teboulle 2009, restarted)."""
    if l1 == 0:
        return problem.minimiser()[1]
    bend = problem.loss.curvature_range(math.inf, problem.label_bound)[1]
    eta = 1 / (bend * float(np.linalg.norm(problem.X, 2)) ** 2 / problem.n + problem.l2)
    w, ahead, weight = np.zeros(problem.d), np.zeros(problem.d), 1.0
    for _ in range(50_000):
        moved = ahead - eta * problem.gradient(ahead)
        new = np.sign(moved) * np.maximum(np.abs(moved) - eta * l1, 0.0)
        if (ahead - new) @ (new - w) > 0:
            weight = 1.0
        heavier = (1 + math.sqrt(1 + 4 * weight**2)) / 2
        ahead, gone = new + (weight - 1) / heavier * (new - w), float(np.linalg.norm(new - w))
        w, weight = new, heavier
        if gone <= 1e-9 * eta * (1 + float(np.linalg.norm(w))):
            break
    return float(composite_value(problem, w, l1))
