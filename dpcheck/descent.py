"""Noisy first-order methods, all trials at once: w <- project(w - eta_t (g(w) + sigma_t z)).
The kernel under the descent solvers and their audits; it should cost little more than drawing its noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bounds.errors import InvalidInput
from dpcheck.constraints import WholeSpace
from dpcheck.losses import Array, SignLoss
from dpcheck.noise import must_be_counts
from dpcheck.problems import Problem

Seed = int | np.random.SeedSequence | np.random.Generator | None
Rounds = Callable[[np.random.Generator, int], Any]
Schedule = float | Sequence[float] | Array

LARGEST_BLOCK = 2048
# Margins of a block, and noise drawn in one call, in numbers: both are to stay in the second-level cache.
MARGINS_HELD = 1 << 16
NOISE_HELD = 1 << 15
# Total variation that single-precision slopes may put between a run and exact arithmetic.
SINGLE_TV = 1e-5


@dataclass(frozen=True, eq=False)
class Trace:
    """`iterates` (steps + 1, k, d) from the start on; `gradient_norms` (steps, k), before noise.

    A trial that stopped repeats its last entry.
    """

    iterates: Array
    gradient_norms: Array


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
    runs only these, with the same bits as in the whole. `precision="auto"` evaluates exp in single precision
    where the noise hides it: a fixed change of each record's slope by less than the loss's `single_error`,
    after which the noise is as exact as ever (see `hidden_by_noise`). Raises InvalidInput on bad settings
    and on iterates that overflow.

    >>> from dpcheck.losses import Squared
    >>> p = Problem([[1.0], [1.0]], [0.5, 0.7], Squared())
    >>> noisy_descent(p, steps=60, step_size=0.5, noise_std=0.0, seed=0, trials=2).w.round(6)
    array([[0.6],
           [0.6]])
    """
    must_be_counts(steps=steps, trials=trials)
    must_be_batch(batch, problem.n)
    sigmas = schedule("noise_std", noise_std, steps, zero=True)
    run = _Run(
        problem=problem,
        etas=schedule("step_size", step_size, steps, zero=False),
        sigmas=sigmas,
        batch=batch,
        start=starting_points(problem, start, trials),
        rounds=rounds,
        traced=trace,
        single=precision == "auto" and batch is None and hidden_by_noise(problem, sigmas),
    )
    size = block_size(problem)
    parent = seed_of(seed)
    chosen = range(-(-trials // size)) if blocks is None else blocks
    parts = [run.block(child(parent, i), i * size, min(trials, (i + 1) * size)) for i in chosen]
    return joined(parts)


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
    return np.random.SeedSequence(
        parent.entropy, spawn_key=(*parent.spawn_key, i), pool_size=parent.pool_size
    )


def block_size(problem: Problem) -> int:
    """Trials a block: a power of two, as many as keep their margins in cache."""
    fitting = max(1, MARGINS_HELD // problem.n)
    return int(min(LARGEST_BLOCK, max(64, 1 << (fitting.bit_length() - 1))))


def hidden_by_noise(problem: Problem, sigmas: Array) -> bool:
    """Whether single-precision slopes move the law of the whole run by less than SINGLE_TV.

    Each step's mean moves by at most e = single_error * row_bound, so the divergence of the transcripts is
    at most sum e^2 / (2 sigma_t^2) and, by Pinsker, their total variation sqrt(sum (e / sigma_t)^2) / 2.
    """
    error = problem.loss.single_error if isinstance(problem.loss, SignLoss) else None
    if error is None or np.any(sigmas == 0):
        return False
    return float(np.linalg.norm(error * problem.row_bound / sigmas)) / 2 <= SINGLE_TV


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

    def block(self, seed: np.random.SeedSequence, first: int, last: int) -> Descent:
        """Trials first..last. Noise, records and rounds have a stream each, so that none shifts another."""
        k, d, steps = last - first, self.problem.d, len(self.etas)
        noise_rng, record_rng, round_rng = (np.random.default_rng(child(seed, i)) for i in range(3))
        order, running = self._stopping(round_rng, k)
        W = self.start[first:last].copy() if self.start.ndim == 2 else np.tile(self.start, (k, 1))
        W = W[order] if self.rounds else W
        G = np.zeros((k, d))
        iterates = np.empty((steps + 1, k, d) if self.traced else 0)
        norms = np.empty((steps, k) if self.traced else 0)
        noise = _Noise(noise_rng, k, d, steps) if np.any(self.sigmas) else None
        gradient = self._gradient(record_rng, k)
        if self.traced:
            iterates[0] = W
        with np.errstate(over="ignore", invalid="ignore"):  # checked once, at the end
            for t in range(running.argmin() if running[-1] == 0 else steps):
                self._step(t, W[: running[t]], G[: running[t]], gradient, noise)
                if self.traced:
                    norms[t], iterates[t + 1] = np.linalg.norm(G, axis=1), W
        if self.traced:
            done = int(np.count_nonzero(running))
            norms[done:], iterates[done + 1 :] = np.linalg.norm(G, axis=1), W
        must_be_finite(W)
        return self._restored(order, W, iterates, norms)

    def _step(self, t: int, W: Array, G: Array, gradient: Callable[[Array, Array], None], noise: Any) -> None:
        """One step, in place; G keeps the gradient before noise if it is to be traced."""
        eta, sigma = self.etas[t], self.sigmas[t]
        gradient(W, G)
        if sigma > 0:
            Z = noise.take(t, len(W))
            Z *= eta * sigma
            W -= Z
        if self.traced:
            W -= eta * G
        else:
            G *= eta
            W -= G
        if not isinstance(self.problem.constraint, WholeSpace):
            self.problem.constraint.project(W, out=W)

    def _gradient(self, rng: np.random.Generator, k: int) -> Callable[[Array, Array], None]:
        """The gradient as a function that fills its second argument, with its buffers bound."""
        problem, batch = self.problem, self.batch
        if batch is not None:

            def sampled(W: Array, G: Array) -> None:
                G[...] = problem.gradient_at(W, records(rng, len(W), problem.n, batch))

            return sampled
        margins = np.empty((k, problem.n))
        single = np.empty((k, problem.n), np.float32) if self.single else None

        def full(W: Array, G: Array) -> None:
            m = len(W)
            problem.gradient(W, out=G, margins=margins[:m], single=None if single is None else single[:m])

        return full

    def _stopping(self, rng: np.random.Generator, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Trials in falling order of their rounds R, so that those still running are a prefix; its lengths."""
        steps = len(self.etas)
        if self.rounds is None:
            return np.arange(k), np.full(steps, k)
        R = np.asarray(self.rounds(rng, k))
        if R.shape != (k,) or not np.issubdtype(R.dtype, np.integer) or R.min() < 0 or R.max() > steps:
            limit = f"{k} whole numbers from 0 to steps={steps}"
            raise InvalidInput("rounds", R, limit, "Use lambda rng, k: rng.integers(1, steps + 1, k).")
        order = np.argsort(-R, kind="stable")
        return order, (R[:, None] > np.arange(steps)).sum(axis=0)

    def _restored(self, order: NDArray[np.int64], W: Array, iterates: Array, norms: Array) -> Descent:
        back = np.argsort(order) if self.rounds else slice(None)
        trace = Trace(iterates[:, back], norms[:, back]) if self.traced else None
        return Descent(W[back], trace)


class _Noise:
    """Standard normals for all steps of a block, drawn a few steps at a time into one buffer."""

    def __init__(self, rng: np.random.Generator, k: int, d: int, steps: int) -> None:
        self.rng, self.d, self.steps = rng, d, steps
        self.held = min(steps, max(1, NOISE_HELD // (k * d)))
        self.buffer = np.empty(self.held * k * d)
        self.drawn = self.buffer.reshape(self.held, k, d)

    def take(self, t: int, running: int) -> Array:
        """The noise of step t; a refill draws for the trials that still run."""
        at = t % self.held
        if at == 0 or t == 0:
            shape = (min(self.held, self.steps - t), running, self.d)
            self.drawn = self.buffer[: math.prod(shape)].reshape(shape)
            self.rng.standard_normal(out=self.drawn)
        return self.drawn[at, :running]


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


def joined(parts: Sequence[Descent]) -> Descent:
    """Blocks in order, as one."""
    if not parts:
        raise InvalidInput("blocks", "empty", "at least one block", "Pass blocks=None for all.")
    traces = [part.trace for part in parts if part.trace is not None]
    whole = None
    if traces:
        whole = Trace(
            np.concatenate([one.iterates for one in traces], axis=1),
            np.concatenate([one.gradient_norms for one in traces], axis=1),
        )
    return Descent(np.concatenate([part.w for part in parts]), whole)
