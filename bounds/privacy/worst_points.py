"""A search for the worst point of a box: everywhere first, then near the worst found, then in plain numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

Array = np.ndarray
Points = dict[str, Array]
Score = Callable[[Points], Array]  # larger is worse for the claim; -inf outside its hypotheses
PLAIN = (1.0, 10.0, 100.0, 1000.0, 1e4, 1e5, 1e6, 2.0, 5.0, 0.1, 0.5, 0.01, 1e-3, 1e-5, 1e-6)
USUAL = {"eps": 1.0, "delta": 1e-5, "n": 1000.0}  # what readers expect; elsewhere the middle of the range


@dataclass(frozen=True)
class Field:
    """The box to search, each side on a logarithmic scale; names in `whole` take whole numbers."""

    box: Mapping[str, tuple[float, float]]
    whole: frozenset[str] = frozenset()

    @property
    def ends(self) -> Array:
        """(low, high) logarithms, one row for each name."""
        return np.log(np.array([self.box[k] for k in self.box], float).reshape(-1, 2))

    def points(self, logs: Array) -> Points:
        """Values by name, inside the box."""
        found = {}
        for (name, (low, high)), column in zip(self.box.items(), logs.T, strict=True):
            values = np.clip(np.exp(column), low, high)
            found[name] = np.clip(np.round(values), np.ceil(low), np.floor(high)) if name in self.whole else values
        return found

    def logs(self, points: Mapping[str, Array]) -> Array:
        """The other way."""
        return np.log(np.array([np.atleast_1d(points[k]) for k in self.box])).T


def worst_points(score: Score, field: Field, seed: int, samples: int, keep: int = 8, rounds: int = 16) -> Points:
    """The worst points found, worst first, and all others that were tried after them."""
    rng = np.random.default_rng(seed)
    ends = field.ends
    start = np.concatenate([_spread(rng, ends, samples), _corners(ends, rng)])
    tried, scores = [start], [score(field.points(start))]
    reach = (ends[:, 1] - ends[:, 0]) / 4
    best = _apart(start, scores[0], keep, reach)
    for _ in range(rounds):
        near = _around(best, reach, rng)
        near = np.clip(near, ends[:, 0], ends[:, 1])
        tried.append(near)
        scores.append(score(field.points(near)))
        best = _apart(np.concatenate(tried), np.concatenate(scores), keep, reach / 4)
        reach = reach * 0.7
    logs, values = np.concatenate(tried), np.concatenate(scores)
    inside = values > -np.inf
    order = np.argsort(-values[inside], kind="stable")
    return field.points(logs[inside][order])


def _spread(rng: np.random.Generator, ends: Array, samples: int) -> Array:
    """One point in each of `samples` equal slices of every side (Latin hypercube)."""
    slices = np.array([rng.permutation(samples) for _ in ends]).T.reshape(samples, len(ends))
    return ends[:, 0] + (slices + rng.random(slices.shape)) / samples * (ends[:, 1] - ends[:, 0])


def _corners(ends: Array, rng: np.random.Generator, most: int = 256) -> Array:
    corners = np.array(list(product((0, 1), repeat=len(ends)))) if 2 ** len(ends) <= most else None
    if corners is None:
        corners = rng.integers(0, 2, (most, len(ends)))
    return np.where(corners == 1, ends[:, 1], ends[:, 0])


def _apart(logs: Array, scores: Array, keep: int, reach: Array) -> Array:
    """The best points, none within reach of a better one."""
    chosen: list[int] = []
    for i in np.argsort(-scores, kind="stable")[: 40 * keep]:
        if scores[i] == -np.inf and chosen:
            break
        if all(np.any(np.abs(logs[i] - logs[j]) > reach) for j in chosen):
            chosen.append(int(i))
        if len(chosen) == keep:
            break
    return logs[chosen]


def _around(best: Array, reach: Array, rng: np.random.Generator) -> Array:
    """Steps along each side, and along random directions, which follow hypotheses that join several symbols."""
    count = best.shape[1]
    sides = np.concatenate([np.eye(count), -np.eye(count)])
    free = rng.standard_normal((2 * count + 2, count))
    steps = np.concatenate([sides, sides / 4, free / 2]) * reach
    return (best[:, None, :] + steps).reshape(-1, count)


def most_usual(points: Points, field: Field) -> int:
    """The index of the point nearest to what readers expect."""
    centre = {k: USUAL.get(k, float(np.sqrt(low * high))) for k, (low, high) in field.box.items()}
    away = sum(np.abs(np.log(points[k] / centre[k])) for k in field.box)
    return int(np.argmin(np.broadcast_to(away, np.shape(next(iter(points.values())))))) if field.box else 0


def roundest(point: Mapping[str, float], still: Callable[[dict[str, float]], bool], field: Field) -> dict[str, float]:
    """The point in as plain numbers as `still` violate: few digits, then well-known values, one name at a time."""
    names = list(field.box)
    best = {k: float(point[k]) for k in names}
    for digits in (1, 2, 3):
        rounded = {k: float(f"{best[k]:.{digits - 1}e}") for k in names}
        if _in_box(rounded, field) and still(rounded):
            best = rounded
            break
    for name in names:
        for plain in (v for v in PLAIN if best[name] / 1.5 <= v <= 1.5 * best[name]):
            trial = best | {name: plain}
            if plain == best[name] or (_in_box(trial, field) and still(trial)):
                best = trial
                break
    return best


def _in_box(point: Mapping[str, float], field: Field) -> bool:
    return all(low <= point[k] <= high for k, (low, high) in field.box.items()) and all(
        point[k] == round(point[k]) for k in field.whole
    )


def stacked(points: Sequence[Mapping[str, float]]) -> Points:
    """Points given one by one, as arrays."""
    return {k: np.array([p[k] for p in points], float) for k in points[0]} if points else {}
