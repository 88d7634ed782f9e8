"""The kernel: runs a Method with the noise of its Release, many independent trials at once, and records it on request.

It owns blocks, seeds, batches, noise, stopping, traces and finiteness; it should cost little more than its noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcheck import progress
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.laws import Coins, Selected
from dpcheck.bounds.privacy.release import Released
from dpcheck.kernels.blocks import Seed, block_cuts, child, seed_of, size_of
from dpcheck.kernels.drawn import Draws
from dpcheck.kernels.method import Array, Asked, Method, State
from dpcheck.kernels.noise import must_be_counts
from dpcheck.kernels.noisy_answers import NO_CANDIDATE, STOPPED, NoisyAnswers, answer_width, noise_buffer
from dpcheck.kernels.system_generator import SystemGenerator


@dataclass(frozen=True, eq=False)
class Trace:
    """What a run went through: `points` (steps + 1, k, d), `answers` (steps, k, width), `asked_norms` (steps, k).

    `coins` (k, c) are the public ones, of none by default.
    A trial that stopped after `stops` steps repeats its last point; its answers are then 0 (-1 for selections).
    """

    points: Array
    answers: Array
    asked_norms: Array
    stops: NDArray[np.int64]
    coins: Array | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """The output of each trial, (k, d), and what was asked to be recorded on the way."""

    w: Array
    trace: Trace | None = None


def run(
    method: Method,
    released: Released,
    data: Any,
    *,
    seed: Seed,
    trials: int,
    trace: bool = False,
    blocks: range | None = None,
    to_the_end: bool = False,
) -> Run:
    """`trials` independent runs of the method on the data, with the noise and the sampling of the release.

    Block i is seeded by the i-th child of `seed`; `blocks` runs only these, with the same bits as in the whole. Without
    a seed noise is the operating system's own.
    `to_the_end` asks for every answer, also after the round at which a trial would stop.
    Raises InvalidInput on iterates that overflow.
    """
    must_be_counts(trials=trials)
    must_say_its_coins(method, released)
    parent, cuts = seed_of(seed), block_cuts(data, trials, blocks, method.block(data))
    largest = max(last - first for _, first, last in cuts)
    normals = noise_buffer(largest, method.width, method.steps)
    shared = _Shared(method, released, data, method.asked_of(data, largest), normals, to_the_end, seed is None)
    watched = progress.watching() is not None
    done = []
    for number, first, last in cuts:
        said = _Share(first - cuts[0][1], last - first, cuts[-1][2] - cuts[0][1], method.steps) if watched else None
        done.append(_Block(shared, child(parent, number), last - first, trace).run(said))
    w = done[0][0] if len(done) == 1 else np.concatenate([part for part, _ in done])
    return Run(w, _joined([part for _, part in done if part is not None]))


@dataclass(frozen=True)
class _Share:
    """How far a block of trials is, told to whoever watches."""

    before: int
    trials: int
    all_trials: int
    steps: int

    def at(self, step: int) -> None:
        progress.advance((self.before + self.trials * step / self.steps) / self.all_trials)


@dataclass(frozen=True, eq=False)
class _Shared:
    """What all blocks of a run have in common, memory included."""

    method: Method
    released: Released
    data: Any
    asked: Asked
    normals: Array
    to_the_end: bool
    unseeded: bool


class _Block:
    """One block of trials. Noise, records and rounds have a stream each: none shifts another."""

    def __init__(self, shared: _Shared, seed: np.random.SeedSequence, k: int, traced: bool) -> None:
        method, released, data = shared.method, shared.released, shared.data
        self.method, self.data, self.asked, self.k = method, data, shared.asked, k
        noise, records, rounds, coins = (np.random.default_rng(child(seed, i)) for i in range(4))
        if shared.unseeded:
            noise = SystemGenerator()
        self.noise = NoisyAnswers(released, noise, method, shared.normals)
        self.drawn = Draws(released, records, k, size_of(data), method.steps)
        self.coins = None if method.coins is None else np.asarray(method.coins(coins, k))
        self.stops = None if shared.to_the_end else self._rounds(rounds)
        # In falling order of their rounds, the trials that still run are a prefix.
        self.order = np.argsort(-self.stops, kind="stable") if self.stops is not None else None
        self.record = _Record(method, released, k) if traced else None

    def _rounds(self, rng: np.random.Generator) -> NDArray[np.int64] | None:
        if self.method.rounds is None:
            return None
        R, steps = np.asarray(self.method.rounds(rng, self.k)), self.method.steps
        if R.shape != (self.k,) or not np.issubdtype(R.dtype, np.integer) or R.min() < 0 or R.max() > steps:
            limit = f"{self.k} whole numbers from 0 to steps={steps}"
            raise InvalidInput("rounds", R, limit, "Use lambda rng, k: rng.integers(1, steps + 1, k).")
        return R

    def run(self, said: _Share | None = None) -> tuple[Array, Trace | None]:
        """The outputs of the block, in the trials' own order."""
        method, m = self.method, self.k
        # How many trials stop after more than t steps.
        running = (
            None
            if self.stops is None
            else self.k - np.searchsorted(np.sort(self.stops), np.arange(method.steps), "right")
        )
        state = method.start_with(self.k, self.coins)
        out: Array | None = None
        if self.record:
            self.record.begin(method.point(state))
        with np.errstate(over="ignore", invalid="ignore"):  # checked once, at the end
            for t in range(method.steps):
                if running is not None and running[t] < m:
                    out = self._finished(out, state, int(running[t]), m)
                    m = int(running[t])
                    state = tuple(part[:m] for part in state)
                if m == 0:
                    break
                state = self._step(state, t, m)
                if said is not None:
                    said.at(t + 1)
        out = self._finished(out, state, 0, m) if m else out
        assert out is not None
        must_be_finite(out)
        stopping = None if self.order is None else (self.order, np.asarray(self.stops))
        trace = self.record.trace(stopping, self.coins) if self.record else None
        if self.order is None:
            return out, trace
        back = np.empty_like(out)
        back[self.order] = out
        return back, trace

    def _step(self, state: State, t: int, m: int) -> State:
        asked = self.asked(state, t, self.drawn.of(t, m))
        if self.method.peek is not None:
            state = self.method.peek(self.data, state, t, asked)
        if self.record is None:
            return self.method.update(state, self.noise.of(asked, t), t)
        norms = np.linalg.norm(asked, axis=1)
        answer = self.noise.of(asked, t)
        self.record.answered(t, m, answer, norms)
        state = self.method.update(state, answer, t)
        self.record.moved(t, m, self.method.point(state))
        return state

    def _finished(self, out: Array | None, state: State, first: int, last: int) -> Array:
        """Keep the outputs of trials `first` to `last` in the falling order of rounds."""
        found = self.method.output(state)
        if first == 0 and last == self.k:
            return found
        if out is None:
            out = np.empty((self.k, found.shape[1]))
        out[first:last] = found[first:last]
        return out


class _Record:
    """What a trace keeps while a block runs."""

    def __init__(self, method: Method, released: Released, k: int) -> None:
        selects = isinstance(released.parts[0].law, Selected)
        shape = (method.steps, k, answer_width(method, released))
        self.answers = np.full(shape, NO_CANDIDATE if selects else STOPPED)
        self.norms, self.steps, self.points = np.zeros((method.steps, k)), method.steps, np.empty(0)

    def begin(self, point: Array) -> None:
        self.points = np.empty((self.steps + 1, *point.shape))
        self.points[:] = point

    def answered(self, t: int, m: int, answer: Array, norms: Array) -> None:
        self.answers[t, :m], self.norms[t, :m] = answer, norms

    def moved(self, t: int, m: int, point: Array) -> None:
        self.points[t + 1 :, :m] = point

    def trace(self, stopping: tuple[Array, Array] | None, coins: Array | None) -> Trace:
        """In the trials' own order."""
        k = self.norms.shape[1]
        if stopping is None:
            return Trace(self.points, self.answers, self.norms, np.full(k, self.steps), coins)
        order, stops = stopping
        back = np.empty(k, int)
        back[order] = np.arange(k)
        return Trace(self.points[:, back], self.answers[:, back], self.norms[:, back], stops)


def _joined(traces: list[Trace]) -> Trace | None:
    """Those of the blocks, in order, as one."""
    if not traces:
        return None
    points, answers, norms = (
        np.concatenate([getattr(one, name) for one in traces], axis=1) for name in ("points", "answers", "asked_norms")
    )
    coins = [one.coins for one in traces if one.coins is not None]
    stops = np.concatenate([one.stops for one in traces])
    return Trace(points, answers, norms, stops, np.concatenate(coins) if coins else None)


def must_say_its_coins(method: Method, released: Released) -> None:
    """Refuse public coins that the release does not own to, or that stop at rounds of their own."""
    public = any(part.coins is Coins.PUBLIC for part in released.parts)
    if public != (method.coins is not None):
        limit = "public in the release if, and only if, the method draws them"
        raise InvalidInput("coins", "public" if public else "private", limit, "Match release and method.")
    if public and method.rounds is not None:
        raise InvalidInput("rounds", "random", "none, with public coins", "No kernel runs both.")


def must_be_finite(W: Array) -> None:
    """Refuse iterates that ran away."""
    if not np.all(np.isfinite(W)):
        raise InvalidInput("iterate", "not finite", "finite", "Lower step_size, e.g. to 1 / problem.smoothness.")
