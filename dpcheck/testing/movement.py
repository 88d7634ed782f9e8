"""How far one record moves what a method asks, measured along its own runs; and neighbours that nobody chose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dpcheck.bounds.privacy.laws import (
    Gaussian,
    HalfSphere,
    InOrder,
    Interaction,
    L2Laplace,
    Laplace,
    Law,
    OneBit,
    Scheme,
    SmoothNoise,
    Wishart,
    WithoutReplacement,
)
from dpcheck.kernels.blocks import size_of
from dpcheck.kernels.drawn import records
from dpcheck.kernels.method import Drawn
from dpcheck.kernels.noisy_answers import part_of, triangle
from dpcheck.kernels.running import run
from dpcheck.kernels.wishart import cone_movement
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibrated, Solver

RUNS = 32


class Broken(Exception):
    """A promise is broken: what was seen."""


def must(kept: Any, seen: str) -> None:
    """Fail with what was seen; an assert would be silent under `python -O`."""
    if not kept:
        raise Broken(seen)


class Movement(NamedTuple):
    """The largest movement over what the release allows, and the step it was seen in."""

    largest: float
    step: int


def movement(solver: Solver, pair: tuple[Any, Any], done: Calibrated, seed: int) -> Movement:
    """What the steps of runs on the first dataset ask of it and of the second, over the release's sensitivity.

    A batch that holds the differing record may move by `sensitivity` and `always`, another by `always` alone.
    """
    rng, n = np.random.default_rng(seed), size_of(pair[0])
    methods = [solver.method(data, done.plan, done.released) for data in pair]
    trace = run(methods[0], done.released, pair[0], seed=seed, trials=RUNS, trace=True).trace
    assert trace is not None
    asked = [method.asked_of(data, RUNS) for method, data in zip(methods, pair, strict=True)]
    state, found = methods[0].start_with(RUNS, trace.coins), Movement(0.0, 0)
    answered: set[tuple[int, int]] = set()  # (trial, part) in which the differing user answered, one round for her
    pieces = np.zeros(RUNS)  # how far an answer that goes out in pieces has moved so far
    for t in range(methods[0].steps):
        part = part_of(done.released, t)
        for drawn, allowed in batches(part, differing(*pair) if part.sampling else 0, n, t, rng):
            one = asked[0](state, t, drawn).copy()
            other = asked[1](state, t, drawn)
            gap = one - other
            smooth = isinstance(part.law, SmoothNoise)
            sizes = smooth_movement(part.law, one, other) if smooth else norm(part.law, gap)
            if part.in_pieces:
                sizes = pieces = np.hypot(pieces, sizes) if isinstance(part.law, Gaussian) else pieces + sizes
            size = float(sizes.max())
            share = size / allowed if allowed > 0 else (np.inf if size > 1e-9 * float(part.sensitivity) else 0.0)
            found = max(found, Movement(share, t))
            if part.interaction is Interaction.SEQUENTIAL:
                now = {(int(i), id(part)) for i in np.flatnonzero(np.any(gap != 0, axis=1))}
                must(not now & answered, f"a user answers again in step {t}: the release allows one step")
                answered |= now
        state = methods[0].update(state, trace.answers[t].copy(), t)
    return found


def batches(part: Any, where: int, n: int, t: int, rng: np.random.Generator) -> list[tuple[Drawn, float]]:
    """(records, what the release allows them to move) with the record at `where`, and without it."""
    scheme: Scheme | None = part.sampling
    alone, all_ = float(part.always), float(part.sensitivity) + float(part.always)
    if scheme is None:
        return [(None, all_)]
    if isinstance(scheme, InOrder):
        return [(np.full(RUNS, t % n), all_ if t % n == where else alone)]
    if not isinstance(scheme, WithoutReplacement):
        raise Broken(f"no kernel draws {type(scheme).__name__}")
    batch = round(float(scheme.batch))
    if batch == n:
        return [(None, all_)]
    others = records(rng, RUNS, n - 1, batch).reshape(RUNS, batch)
    others += others >= where
    holding = others.copy()
    holding[:, 0] = where
    shaped = [drawn[:, 0] if batch == 1 else drawn for drawn in (holding, others)]
    return [(shaped[0], all_), (shaped[1], alone)]


def norm(law: Law, gap: np.ndarray) -> np.ndarray:
    """Of each row, as the law's sensitivity is measured: l2, l1, trace, or the largest change of a score; changes of
    reports add up, as their losses do.
    """
    if isinstance(law, Gaussian | L2Laplace):
        return np.linalg.norm(gap, axis=1)
    if isinstance(law, HalfSphere):
        return np.linalg.norm(gap.reshape(len(gap), -1, int(law.width)), axis=2).sum(axis=1)
    if isinstance(law, Wishart):
        whole = cone_movement(gap.reshape(-1, triangle(law)), int(law.side))
        return np.asarray(whole.reshape(len(gap), -1).max(axis=1))
    return np.abs(gap).sum(axis=1) if isinstance(law, Laplace | OneBit) else np.abs(gap).max(axis=1)


def smooth_movement(law: SmoothNoise, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """How far numbers move in units of their bounds, and the logarithms of the bounds in units of the smoothness."""
    (numbers, bounds), (moved, moved_bounds) = (np.split(asked, 2, axis=1) for asked in (one, other))
    gap = (numbers - moved) / np.minimum(bounds, moved_bounds)
    shift = np.linalg.norm(gap, axis=1) if law.noise == "gaussian" else np.abs(gap).max(axis=1)
    widened = np.abs(np.log(bounds / moved_bounds)).max(axis=1) / float(law.smoothness)
    return np.asarray(np.maximum(shift, widened))


def differing(first: Any, second: Any) -> int:
    """The place of the one record in which two datasets differ."""
    rows = [
        np.column_stack([d.X, d.y]) if hasattr(d, "X") else np.reshape(d, (size_of(d), -1)) for d in (first, second)
    ]
    must(rows[0].shape == rows[1].shape, f"datasets of shapes {rows[0].shape} and {rows[1].shape}")
    places = np.flatnonzero(np.any(rows[0] != rows[1], axis=1))
    must(len(places) == 1, f"{len(places)} records differ")
    return int(places[0])


def rows_of(data: Any) -> np.ndarray:
    """One row a record."""
    return np.column_stack([data.X, data.y]) if hasattr(data, "X") else np.reshape(data, (size_of(data), -1))


def random_pair(data: Any, neighbour: Callable[..., Any] | None, rng: np.random.Generator) -> tuple[Any, Any]:
    """Random records within the public bounds, and the same with one replaced."""
    change = neighbour or random_record
    for _ in range(size_of(data)):
        data = change(data, rng)
    while True:
        other = change(data, rng)
        try:
            differing(data, other)
        except Broken:
            continue
        return data, other


def random_record(problem: Problem, rng: np.random.Generator) -> Problem:
    """One record replaced by one that is as long as the bounds allow."""
    row = rng.standard_normal(problem.d)
    row *= problem.row_bound * (1 - 1e-12) / np.linalg.norm(row)
    label = rng.choice([-1.0, 1.0]) * (1.0 if problem.loss.labels == "sign" else problem.label_bound)
    return problem.replace(int(rng.integers(problem.n)), row, label)
