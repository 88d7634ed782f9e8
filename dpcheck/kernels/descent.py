"""Noisy first-order methods, all trials at once: w <- project(w - eta_t (g(w) + sigma_t z)).
The kernel under the descent solvers and their audits; it should cost little more than drawing its noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels.noise import must_be_counts
from dpcheck.kernels.noisy_steps import NoisySteps
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.losses import Array, SignLoss
from dpcheck.problems.problem import Problem

Seed = int | np.random.SeedSequence | np.random.Generator | None
Rounds = Callable[[np.random.Generator, int], Any]
Schedule = float | Sequence[float] | Array

LARGEST_BLOCK = 2048
# Margins of a block, and noise drawn in one call, in numbers: both are to stay in the second-level cache.
MARGINS_HELD = 1 << 16
NOISE_HELD = 1 << 15
# Up to this many records single precision also sums the slopes: its error grows with their number.
RECORDS_SUMMED_SINGLE = 64
# Total variation that single-precision slopes may put between a run and exact arithmetic.
SINGLE_TV = 1e-5


@dataclass(frozen=True, eq=False)
class Trace:
    """`iterates` (steps + 1, k, d) from the start on; `gradient_norms` (steps, k), before noise.

    A trial that stopped repeats its last entry. `unprojected` (steps, k, d) is where each step led before it was
    projected, None where nothing is; `law` says how the steps were drawn, None if they had no noise of their own.
    """

    iterates: Array
    gradient_norms: Array
    unprojected: Array | None = field(default=None, kw_only=True)
    law: NoisySteps | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class Descent:
    """The last iterate of each trial, shape (k, d), and what was asked to be recorded on the way."""

    w: Array
    trace: Trace | None = None


def noisy_descent(
    problem: Problem,
    *,
    steps: int,
    step_size: Schedule,
    noise_std: Schedule,
    seed: Seed,
    trials: int,
    batch: int | None = None,
    start: Any = None,
    rounds: Rounds | None = None,
    trace: bool = False,
    precision: Literal["auto", "double"] = "auto",
    blocks: range | None = None,
) -> Descent:
    """`trials` independent runs of `steps` noisy projected gradient steps.

    `step_size` and `noise_std` (per coordinate, on the gradient) are numbers or one number a step. With a
    `batch`, each trial and step averages that many records, drawn without replacement. `start` is one point
    or one a trial, by default the projection of zero. `rounds(rng, k)` draws each trial's number of steps.

    Trials are cut in blocks of `block_size(problem)`, block i seeded by the i-th child of `seed`; `blocks`
    runs only these, with the same bits as in the whole. `precision="auto"` evaluates tanh in single precision
    where the noise hides it: a fixed change of the gradient by at most `single_error(problem)`, 1e-7 to 2e-6
    of the row bound, before noise that is as exact as ever (see `hidden_by_noise`). Raises InvalidInput
    on bad settings and on iterates that overflow.

    >>> from dpcheck.problems.losses import Squared
    >>> p = Problem([[1.0], [1.0]], [0.5, 0.7], Squared())
    >>> noisy_descent(p, steps=60, step_size=0.5, noise_std=0.0, seed=0, trials=2).w.round(6)
    array([[0.6],
           [0.6]])
    """
    must_be_counts(steps=steps, trials=trials)
    must_be_batch(batch, problem.n)
    if precision not in ("auto", "double"):
        raise InvalidInput("precision", precision, "auto or double", "Use auto.")
    sigmas = schedule("noise_std", noise_std, steps, zero=True)
    run = _Run(
        problem=problem,
        etas=schedule("step_size", step_size, steps, zero=False),
        sigmas=sigmas,
        batch=batch,
        start=starting_points(problem, start, trials),
        rounds=rounds,
        traced=trace,
        single=precision == "auto" and trials > 1 and batch is None and hidden_by_noise(problem, sigmas),
    )
    parent, cuts = seed_of(seed), block_cuts(problem, trials, blocks)
    sizes = [last - first for _, first, last in cuts]
    buffers = _Buffers(max(sizes), run)
    w = np.empty((sum(sizes), problem.d))
    places = np.split(w, np.cumsum(sizes)[:-1])
    law = NoisySteps(run.start, run.etas, run.sigmas, run.batch)
    traces = [run.block(child(parent, cut[0]), cut, W, buffers) for cut, W in zip(cuts, places, strict=True)]
    return Descent(w, joined([one for one in traces if one is not None], law))


def seed_of(rng: Seed) -> np.random.SeedSequence:
    """A SeedSequence from what a user may pass; a Generator is advanced, so that it seeds afresh each time."""
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence([int(word) for word in rng.integers(0, 2**32, size=4)])
    if rng is not None and (isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0):
        raise InvalidInput("seed", rng, "an integer >= 0, SeedSequence, Generator or None", "Pass seed=0.")
    return np.random.SeedSequence(None if rng is None else int(rng))


def child(parent: np.random.SeedSequence, i: int) -> np.random.SeedSequence:
    """The i-th child that `parent.spawn` would give, without counting it: the same call gives the same bits."""
    return np.random.SeedSequence(parent.entropy, spawn_key=(*parent.spawn_key, i), pool_size=parent.pool_size)


def block_size(problem: Problem) -> int:
    """Trials a block: a power of two, as many as keep their margins in cache."""
    fitting = max(1, MARGINS_HELD // problem.n)
    return int(min(LARGEST_BLOCK, max(64, 1 << (fitting.bit_length() - 1))))


def block_cuts(problem: Problem, trials: int, blocks: range | None = None) -> list[tuple[int, int, int]]:
    """(number, first trial, last trial + 1) of each block, or of the chosen ones."""
    size = block_size(problem)
    count = -(-trials // size)
    chosen = range(count) if blocks is None else blocks
    if not chosen or min(chosen) < 0 or max(chosen) >= count:
        raise InvalidInput("blocks", chosen, f"some of range({count})", "Pass blocks=None for all.")
    return [(i, i * size, min(trials, (i + 1) * size)) for i in chosen]


def hidden_by_noise(problem: Problem, sigmas: Array) -> bool:
    """Whether gradients in single precision move the law of the whole run by less than SINGLE_TV.

    Each step's mean moves by at most e = single_error(problem), so the divergence of the transcripts is
    at most sum e^2 / (2 sigma_t^2) and, by Pinsker, their total variation sqrt(sum (e / sigma_t)^2) / 2.
    """
    error = single_error(problem)
    if math.isinf(error) or np.any(sigmas == 0):
        return False
    return float(np.linalg.norm(error / sigmas)) / 2 <= SINGLE_TV


def single_error(problem: Problem) -> float:
    """How far the gradient in single precision is from the exact one, at most; infinite if there is none."""
    loss = problem.loss
    if not isinstance(loss, SignLoss) or loss.tanh_form is None:
        return math.inf
    # A sum of n products of size height * row_bound / n, each factor rounded once (Higham 2002, section 3.1).
    summed = (problem.n + 2) * 2.0**-24 * loss.tanh_form[1] if problem.n <= RECORDS_SUMMED_SINGLE else 0.0
    return problem.row_bound * (loss.single_error + summed)


@dataclass(frozen=True, eq=False)
class _Run:
    """Settings of a run, checked; `block` is the loop."""

    problem: Problem
    etas: Array
    sigmas: Array
    batch: int | None
    start: Array
    rounds: Rounds | None
    traced: bool
    single: bool

    @cached_property
    def noisy(self) -> bool:
        return bool(np.any(self.sigmas))

    @cached_property
    def projects(self) -> bool:
        return not isinstance(self.problem.constraint, WholeSpace)

    def block(
        self, seed: np.random.SeedSequence, cut: tuple[int, int, int], W: Array, buffers: _Buffers
    ) -> Trace | None:
        """Fills W with a block's last iterates. Noise, records and rounds have a stream each: none shifts another."""
        k, steps = len(W), len(self.etas)
        order, running = self._stopping(seed, k)
        W[...] = self.start[cut[1] : cut[2]][order] if self.start.ndim == 2 else buffers.start[:k]
        G = buffers.gradient[:k]
        record = _Record(steps, W, G, self.projects) if self.traced else None
        noise = _Noise(child(seed, 0), buffers.noise, k, self.problem.d, steps)
        records_rng = np.random.default_rng(child(seed, 1)) if self.batch else None
        with np.errstate(over="ignore", invalid="ignore"):  # checked once, at the end
            for t, m in enumerate(running):
                if m > 0:
                    self._fill(W[:m], G[:m], records_rng, buffers)
                    self._move(t, W[:m], G[:m], noise)
                elif record is None:
                    break
                if record:
                    record.before_projection(t, W)
                if m > 0 and self.projects:
                    self.problem.constraint.project(W[:m], out=W[:m])
                if record:
                    record.after(t, W, G)
        must_be_finite(W)
        if self.rounds:
            W[order] = W.copy()
        return record.trace(order) if record else None

    def _fill(self, W: Array, G: Array, rng: np.random.Generator | None, buffers: _Buffers) -> None:
        """The gradient at W, into G."""
        if rng is not None and self.batch is not None:
            G[...] = self.problem.gradient_at(W, records(rng, len(W), self.problem.n, self.batch))
        elif buffers.single is not None:
            buffers.single.fill(W, G, buffers.margins[: len(W)])
        else:
            self.problem.gradient(W, out=G, margins=buffers.margins[: len(W)])

    def _move(self, t: int, W: Array, G: Array, noise: _Noise) -> None:
        """One step before projection, in place; G is kept as it is if it is to be traced."""
        eta, sigma = self.etas[t], self.sigmas[t]
        if self.noisy:
            Z = noise.take(t, len(W))
            Z *= eta * sigma
            W -= Z
        W -= np.multiply(G, eta, out=None if self.traced else G)

    def _stopping(self, seed: np.random.SeedSequence, k: int) -> tuple[Any, NDArray[np.int64]]:
        """Trials in falling order of their rounds R, so that those still running are a prefix; its lengths."""
        steps = len(self.etas)
        if self.rounds is None:
            return slice(None), np.full(steps, k)
        R = np.asarray(self.rounds(np.random.default_rng(child(seed, 2)), k))
        if R.shape != (k,) or not np.issubdtype(R.dtype, np.integer) or R.min() < 0 or R.max() > steps:
            limit = f"{k} whole numbers from 0 to steps={steps}"
            raise InvalidInput("rounds", R, limit, "Use lambda rng, k: rng.integers(1, steps + 1, k).")
        order = np.argsort(-R, kind="stable")
        return order, k - np.searchsorted(R[order][::-1], np.arange(steps), side="right")


class _SingleGradient:
    """The gradient in single precision, off by at most `single_error(problem)`; margins stay double.

    For losses of the form shift + height * tanh(rate * u), whose factors go into the matrices once.
    """

    def __init__(self, problem: Problem, k: int) -> None:
        assert isinstance(problem.loss, SignLoss)
        assert problem.loss.tanh_form is not None
        shift, height, rate = problem.loss.tanh_form
        signed = problem.X * problem.y[:, None]
        self.summed_single = problem.n <= RECORDS_SUMMED_SINGLE
        self.inward = np.ascontiguousarray(rate * signed.T)
        self.outward = (height / problem.n * signed).astype(np.float32 if self.summed_single else float)
        # Repeated for every trial: adding a row of d to each would run a loop of length d.
        self.shift = np.tile(shift * signed.mean(axis=0), (k, 1))
        self.slopes = np.empty((k, problem.n), np.float32)
        self.sums = np.empty((k, problem.d), np.float32)
        self.l2 = problem.l2

    def fill(self, W: Array, G: Array, margins: Array) -> None:
        """The gradient at W, into G."""
        m = len(W)
        slopes = self.slopes[:m]
        np.copyto(slopes, np.matmul(W, self.inward, out=margins), casting="same_kind")
        if self.summed_single:
            G[...] = np.matmul(np.tanh(slopes, out=slopes), self.outward, out=self.sums[:m])
        else:
            np.matmul(np.tanh(slopes, out=margins), self.outward, out=G)
        G += self.shift[:m]
        if self.l2 > 0:
            G += self.l2 * W


class _Buffers:
    """Memory that all blocks of a run reuse, for up to k trials."""

    def __init__(self, k: int, run: _Run) -> None:
        problem, one_step = run.problem, k * run.problem.d
        self.start = np.tile(run.start, (k, 1)) if run.start.ndim == 1 else np.empty((0, 0))
        self.gradient = np.zeros((k, problem.d))
        self.margins = np.empty((k, problem.n) if run.batch is None else (0, 0))
        self.single = _SingleGradient(problem, k) if run.single else None
        # Enough for a narrower block too, which holds more steps.
        self.noise = np.empty(min(len(run.etas) * one_step, max(NOISE_HELD, one_step)))


class _Record:
    """What a trace keeps while a block runs."""

    def __init__(self, steps: int, W: Array, G: Array, projects: bool) -> None:
        G[...] = 0.0
        self.iterates, self.norms = np.empty((steps + 1, *W.shape)), np.empty((steps, len(W)))
        self.iterates[0] = W
        self.unprojected = np.empty((steps, *W.shape)) if projects else None

    def before_projection(self, t: int, W: Array) -> None:
        if self.unprojected is not None:
            self.unprojected[t] = W

    def after(self, t: int, W: Array, G: Array) -> None:
        self.iterates[t + 1] = W
        self.norms[t] = np.linalg.norm(G, axis=1)

    def trace(self, order: Any) -> Trace:
        """In the trials' own order."""
        back = np.empty(self.norms.shape[1], int)
        back[order] = np.arange(len(back))
        unprojected = None if self.unprojected is None else self.unprojected[:, back]
        return Trace(self.iterates[:, back], self.norms[:, back], unprojected=unprojected)


class _Noise:
    """Standard normals for all steps of a block, drawn a few steps at a time into one buffer."""

    def __init__(self, seed: np.random.SeedSequence, buffer: Array, k: int, d: int, steps: int) -> None:
        self.rng, self.buffer, self.d, self.steps = np.random.default_rng(seed), buffer, d, steps
        self.held = steps_held(k, d, steps)

    def take(self, t: int, running: int) -> Array:
        """The noise of step t; a refill draws for the trials that still run."""
        at = t % self.held
        if at == 0:
            shape = (min(self.held, self.steps - t), running, self.d)
            self.drawn = self.buffer[: math.prod(shape)].reshape(shape)
            self.rng.standard_normal(out=self.drawn)
        return self.drawn[at, :running]


def steps_held(k: int, d: int, steps: int) -> int:
    """How many steps of noise for k trials are drawn in one call."""
    return min(steps, max(1, NOISE_HELD // (k * d)))


def records(rng: np.random.Generator, k: int, n: int, batch: int) -> NDArray[np.int64]:
    """Indices of uniform records, (k,) for one a trial, else (k, batch) without replacement."""
    if batch == 1:
        return rng.integers(n, size=k)
    return rng.random((k, n)).argpartition(batch - 1, axis=1)[:, :batch]


def schedule(what: str, value: Schedule, steps: int, *, zero: bool) -> Array:
    """One number a step."""
    values = np.asarray(value, float)
    if values.shape not in ((), (steps,)):
        raise InvalidInput(f"length of {what}", values.shape, f"one number, or {steps}", "Give one a step.")
    if not np.all(np.isfinite(values) & ((values >= 0) if zero else (values > 0))):
        limit = f"finite and {'>= 0' if zero else '> 0'}"
        raise InvalidInput(what, value, limit, f"Pass {what}=0.1 for example.")
    return np.broadcast_to(values, (steps,))


def starting_points(problem: Problem, start: Any, trials: int) -> Array:
    """Feasible points: one for all trials, shape (d,), or (trials, d)."""
    if start is None:
        return problem.constraint.project(np.zeros(problem.d))
    points = np.asarray(start, float)
    if points.shape not in ((problem.d,), (trials, problem.d)):
        limit = f"({problem.d},) or ({trials}, {problem.d})"
        raise InvalidInput("shape of start", points.shape, limit, "One point, or one a trial.")
    if not (np.all(np.isfinite(points)) and np.all(problem.constraint.contains(points))):
        raise InvalidInput("start", start, "finite and in the constraint set", "Project it first.")
    return points


def must_be_batch(batch: int | None, n: int) -> None:
    """Refuse a batch larger than the data."""
    if batch is None:
        return
    must_be_counts(batch=batch)
    if batch > n:
        raise InvalidInput("batch", batch, f"at most n={n}", "Pass batch=None for the full gradient.")


def must_be_finite(W: Array) -> None:
    """Refuse iterates that ran away."""
    if not np.all(np.isfinite(W)):
        raise InvalidInput("iterate", "not finite", "finite", "Lower step_size, e.g. to 1 / problem.smoothness.")


def joined(traces: Sequence[Trace], law: NoisySteps) -> Trace | None:
    """Those of the blocks, in order, as one."""
    if not traces:
        return None
    unprojected = [one.unprojected for one in traces if one.unprojected is not None]
    return Trace(
        np.concatenate([one.iterates for one in traces], axis=1),
        np.concatenate([one.gradient_norms for one in traces], axis=1),
        unprojected=np.concatenate(unprojected, axis=1) if unprojected else None,
        law=law,
    )
