"""How numbers respond to the units of noise behind them: found by moving the units, whatever the code in between.

Two random moves tell which unit drives which number, if each has one of its own: the ratio of its two responses is that
of the unit's two moves. Two more, farther out than generators of floats ever draw, tell its slope. All four must be
straight up to the rounding of floats, so that noise on a grid, as rounded noise is, is no straight one. Numbers that
mix units are taken apart one unit at a time, as long as these are few. Uniform units that were bent into noise are read
by its quantiles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator  # by name: np.random is being listened to
from scipy import special

from dpcheck.audits.same_noise.draws import COIN, GEOMETRIC, Draw

ROUNDINGS = 16  # of floats, of the size of what is computed, that a straight response may lose
EPS = float(np.finfo(float).eps)
FAR = (45.0, 60.0)  # units: a Laplace draw of 53 bits ends at 37, a Gaussian one before 14
ALONE = 16.0
WHOLE = 10**6
BENDS = 4000  # roundings that a number close to 1, which is taken from 1, becomes in a logarithm
QUANTILES = (0.5, 0.75, 0.25, 0.9, 0.999, 0.02)
BENT: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Laplace": lambda q: np.where(q < 0.5, np.log(2 * q), -np.log(2 - 2 * q)),
    "Gaussian": special.ndtri,
    "logistic": special.logit,
    "exponential": lambda q: -np.log1p(-q),
}
Outcome = Callable[[np.ndarray], np.ndarray | None]


@dataclass(frozen=True, eq=False)
class Response:
    """d(numbers) / d(units), as (row, unit, slope) triples; `laws` of the units, which may be bent ones."""

    rows: int
    row: np.ndarray
    unit: np.ndarray
    slope: np.ndarray
    laws: np.ndarray

    @property
    def dense(self) -> np.ndarray:
        """Rows by units."""
        matrix = np.zeros((self.rows, len(self.laws)))
        matrix[self.row, self.unit] = self.slope
        return matrix

    def hears(self, draws: np.ndarray) -> bool:
        """Whether each of these units drives a number."""
        return bool(np.all(np.isin(np.flatnonzero(draws), self.unit)))

    def moved(self, units: np.ndarray) -> np.ndarray:
        """What a move of the units adds to the numbers."""
        found = np.zeros(self.rows)
        np.add.at(found, self.row, self.slope * units[self.unit])
        return found


@dataclass(frozen=True, eq=False)
class Units:
    """All units of a run in one row, with laws, draws and values. A draw that repeats another shares its units."""

    draws: tuple[Draw, ...]
    draw: np.ndarray  # number of the draw, by unit
    laws: np.ndarray
    values: np.ndarray
    starts: tuple[int, ...]  # where the units of each draw begin

    @classmethod
    def of(cls, draws: Sequence[Draw]) -> Units:
        """Those of a run."""
        known: dict[Any, int] = {}
        starts, own, size = [], [], 0
        for number, draw in enumerate(draws):
            start = known.get(draw.again, size) if draw.again is not None else size
            starts.append(start)
            if start == size:
                known[draw.again] = start
                own.append(number)
                size += draw.units.size
        sizes = [draws[number].units.size for number in own]
        values = np.concatenate([np.empty(0), *(np.ravel(draws[number].units) for number in own)])
        laws = np.repeat(np.array([draws[number].law for number in own], dtype=object), sizes)
        return cls(tuple(draws), np.repeat(np.array(own, dtype=int), sizes), laws, values, tuple(starts))

    def offsets(self, move: np.ndarray) -> dict[int, np.ndarray]:
        """A move by draw, as a book takes it: of uniform units, their new values."""
        found = {}
        for number, (draw, start) in enumerate(zip(self.draws, self.starts, strict=True)):
            own = move[start : start + draw.units.size].reshape(draw.units.shape)
            if draw.law != COIN and (np.any(own) or draw.law == "uniform"):
                found[number] = own
        return found

    def moved(self, move: np.ndarray) -> list[np.ndarray]:
        """The units of each draw after a move."""
        offsets = self.offsets(move)
        return [
            draw.units if number not in offsets else offsets[number] + (0.0 if draw.law == "uniform" else draw.units)
            for number, draw in enumerate(self.draws)
        ]

    def uniform(self) -> np.ndarray:
        """Which are uniform."""
        return np.asarray(self.laws == "uniform", bool)


def response(
    outcome: Outcome, before: np.ndarray, units: Units, most: int, eps: np.ndarray | float = EPS, seed: int = 0
) -> Response | None:
    """The response of `outcome(move)` to moves of the units, if it is straight (or bent from one uniform unit each).

    `outcome` takes additions to all units but uniform ones, of which it takes values; None is an outcome of another
    shape. `most` bounds the moves of single units; `eps` is the rounding of the numbers' type.
    """
    rng = Generator(PCG64(seed))
    size, still = len(units.values), np.where(units.uniform(), units.values, 0.0)
    free, whole = ~units.uniform(), units.laws == GEOMETRIC
    near = [rng.choice([-1, 1], size) * rng.uniform(0.5, 1.5, size) for _ in range(2)]
    far = rng.choice([-1, 1], size) * rng.uniform(*FAR, size)
    # Whole numbers of many digits, so that no two of them cancel.
    moves = [np.where(free, np.where(whole, np.round(WHOLE * m), m), still) for m in (*near, far, -far)]
    after = []
    for move in moves:
        seen = outcome(move)
        if seen is None or len(seen) != len(before) or not np.all(np.isfinite(seen)):
            return None
        after.append(np.asarray(seen))
    changes = [seen - before for seen in after]
    size_of_all = np.abs(before) + np.abs(after).max(axis=0)
    lost = ROUNDINGS * eps * size_of_all
    bent = None
    if units.uniform().any():
        bent = _bent(outcome, before, units, float(np.max(eps)))
        if bent is None:
            return None
    straight = _own_units(changes, moves, free, lost)
    if straight is None:
        straight = _one_by_one(outcome, before, free, still, eps, most)
    if straight is None:
        return None
    row, unit, slope = straight
    found = Response(len(before), row, unit, slope, units.laws)
    steepness = np.zeros(len(before))  # what is added up on the way may be larger than what comes out
    np.add.at(steepness, row, np.abs(slope) * np.abs(moves[2][unit]))
    lost = ROUNDINGS * eps * (size_of_all + steepness)
    for move, change in zip(moves, changes, strict=True):
        if np.any(np.abs(found.moved(np.where(free, move, 0.0)) - change) > lost):
            return None
    if bent is None:
        return found
    row, unit, slope = (np.concatenate(both) for both in zip(straight, bent[:3], strict=True))
    return Response(len(before), row, unit, slope, np.where(units.uniform(), bent[3], units.laws))


Triples = tuple[np.ndarray, np.ndarray, np.ndarray]


def _own_units(
    changes: Sequence[np.ndarray], moves: Sequence[np.ndarray], free: np.ndarray, lost: np.ndarray
) -> Triples | None:
    """Each number with the one unit that drives it, by the ratio of two responses."""
    one, two, up, down = changes
    row = np.flatnonzero(np.max(np.abs(changes), axis=0) > lost)
    places = np.flatnonzero(free)
    if len(row) == 0:
        return row, row.copy(), np.empty(0)
    if len(places) == 0 or np.any(two[row] == 0):
        return None
    ratios = moves[0][places] / moves[1][places]
    order = np.argsort(ratios)
    wanted = one[row] / two[row]
    right = np.clip(np.searchsorted(ratios[order], wanted), 1, max(1, len(order) - 1))
    near = np.stack([np.maximum(right - 1, 0), np.minimum(right, len(order) - 1)])
    best = near[np.abs(ratios[order][near] - wanted).argmin(axis=0), np.arange(len(row))]
    unit = places[order[best]]
    slope = (up - down)[row] / (moves[2] - moves[3])[unit]
    error = np.maximum(np.abs(slope * moves[0][unit] - one[row]), np.abs(slope * moves[1][unit] - two[row]))
    return (row, unit, slope) if np.all(error <= lost[row]) else None


def _one_by_one(
    outcome: Outcome, before: np.ndarray, free: np.ndarray, still: np.ndarray, eps: np.ndarray | float, most: int
) -> Triples | None:
    """Every unit moved alone."""
    places = np.flatnonzero(free)
    if len(places) > most:
        return None
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for place in places:
        move = still.copy()
        move[place] = ALONE
        after = outcome(move)
        if after is None or len(after) != len(before):
            return None
        change = np.asarray(after) - before
        row = np.flatnonzero(np.abs(change) > 4 * eps * (np.abs(before) + np.abs(after)))
        found.append((row, np.full(len(row), place), change[row] / ALONE))
    row, unit, slope = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return row, unit, slope


def _bent(
    outcome: Outcome, before: np.ndarray, units: Units, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, str] | None:
    """Numbers that a uniform unit each drives through a known quantile function: rows, units, scales, the law."""
    uniform = units.uniform()
    places = np.flatnonzero(uniform)
    levels = []
    for q in QUANTILES:
        seen = outcome(np.where(uniform, q, 0.0))
        if seen is None or len(seen) != len(before):
            return None
        levels.append(np.asarray(seen))
    grid = np.array(levels) - levels[0]
    row = np.flatnonzero(np.any(grid != 0, axis=0))
    if len(row) == 0:
        return None
    for law, quantile in BENT.items():
        shape = quantile(np.array(QUANTILES)) - quantile(np.array(QUANTILES[:1]))
        slope = grid[1, row] / shape[1]
        # A noise that falls where its unit rises is the mirrored law: the same one, if it is symmetric.
        loss = BENDS * eps * np.abs(levels).max()
        if np.allclose(grid[:, row], np.outer(shape, slope), rtol=BENDS * eps, atol=loss):
            unit = _drivers(outcome, row, levels[0], levels[1], places, uniform)
            return None if unit is None else (row, unit, slope, law)
    return None


def _drivers(
    outcome: Outcome, row: np.ndarray, low: np.ndarray, high: np.ndarray, places: np.ndarray, uniform: np.ndarray
) -> np.ndarray | None:
    """Which uniform unit drives which number, by binary codes of the units at two levels."""
    code = np.zeros(len(row), dtype=np.int64)
    for bit in range(max(1, len(places) - 1).bit_length()):
        value = np.zeros(len(uniform))
        value[places] = np.where(np.arange(len(places)) >> bit & 1, QUANTILES[1], QUANTILES[0])
        seen = outcome(value)
        if seen is None or len(seen) != len(low):
            return None
        up, down = (np.isclose(np.asarray(seen)[row], level[row], rtol=1e-9, atol=0) for level in (high, low))
        if not np.all(up ^ down):
            return None
        code |= up.astype(np.int64) << bit
    return places[code] if np.all(code < len(places)) else None
