"""Measured exponents: designs over several symbols, bootstrap intervals, and looks that may stop early.

The error is regressed, in logarithms, on the symbols of the design. Trials are resampled within each grid point.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import special

from dpcheck.bounds.language.errors import InvalidInput

RESAMPLES = 1000
BLOCKS = 200  # trials are resampled in at most so many blocks: their means are all that counts
NEAR_TAIL = 0.02  # share of the resamples outside the percentiles that are read off


@dataclass(frozen=True)
class FittedExponents:
    """Slopes of log error by symbol, each with its interval, and the largest misfit of a grid point."""

    slopes: Mapping[str, tuple[float, float, float]]  # (lower, estimate, upper)
    misfit: float


def one_at_a_time(grid: Mapping[str, Sequence[float]], centre: Mapping[str, float]) -> list[dict[str, float]]:
    """The centre, and each symbol moved along its own values from there."""
    middle = {s: values[len(values) // 2] for s, values in grid.items()} | dict(centre)
    points = [middle | {s: float(x)} for s, values in grid.items() for x in values]
    return [dict(p) for p in dict.fromkeys(tuple(point.items()) for point in points)]


def factorial(grid: Mapping[str, Sequence[float]], centre: Mapping[str, float]) -> list[dict[str, float]]:
    """Every combination of the values."""
    return [dict(centre) | dict(zip(grid, map(float, values), strict=True)) for values in product(*grid.values())]


def fitted(
    points: Sequence[Mapping[str, float]],
    samples: Sequence[np.ndarray],
    symbols: Sequence[str],
    miss: float,
    seed: int,
) -> FittedExponents:
    """Least squares of log mean error, with intervals that miss an exponent with probability `miss` (two-sided).

    Percentiles of the bootstrap, each side stretched by the ratio of normal quantiles from 1% to its level.
    """
    logs = np.log([[point[s] for s in symbols] for point in points])
    design = np.column_stack([np.ones(len(points)), logs])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        limit = "at least two values of each symbol, moved apart from the others"
        raise InvalidInput("grid", [dict(p) for p in points], limit, "Add values, or use the factorial design.")
    project = np.linalg.pinv(design)
    means = np.array([positive(s.mean(), p) for s, p in zip(samples, points, strict=True)])
    slopes = project @ np.log(means)
    rng = np.random.default_rng(seed)
    resampled = np.column_stack([resampled_means(s, rng) for s in samples])
    resampled = np.where(resampled > 0, resampled, means)  # a resample of negative mean has no logarithm
    spread = np.log(resampled) @ project.T - slopes
    stretch = special.ndtri(1 - miss / 2) / special.ndtri(1 - NEAR_TAIL / 2)
    low, high = np.quantile(spread, [NEAR_TAIL / 2, 1 - NEAR_TAIL / 2], axis=0) * stretch
    misfit = float(np.max(np.abs(np.log(means) - design @ slopes)))
    ends = {
        s: (float(slopes[i] + low[i]), float(slopes[i]), float(slopes[i] + high[i])) for i, s in enumerate(symbols, 1)
    }
    return FittedExponents(ends, misfit)


def positive(mean: float, point: Mapping[str, float]) -> float:
    """An error that has a logarithm, or the sentence that says where it has none."""
    if not 0 < mean < np.inf:
        remedy = "Measure an error that is above 0 in the mean: check the minimum it is taken against."
        raise InvalidInput(f"mean error at {dict(point)}", float(mean), "finite and > 0", remedy)
    return float(mean)


def resampled_means(sample: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Means of resamples of the trials, in blocks; of a single number, itself."""
    blocks = np.array([part.mean() for part in np.array_split(sample, min(len(sample), BLOCKS))])
    return blocks[rng.integers(len(blocks), size=(RESAMPLES, len(blocks)))].mean(axis=1)


# Looks ---------------------------------------------------------------------------------------------
def looks(first: int, budget: int) -> Iterator[tuple[int, int]]:
    """(look, trials to add) so that the total doubles from `first` up to the budget."""
    total, look = 0, 0
    while total < budget:
        wanted = min(budget, first * 2**look)
        yield look, wanted - total
        total, look = wanted, look + 1


def level(alpha: float, look: int) -> float:
    """What each look may spend so that all of them together spend at most alpha."""
    return alpha / 2 ** (look + 1)


def seed_of(seed: int, look: int, point: Mapping[str, float]) -> int:
    """A seed of its own for each look and each point, whatever the order of the points."""
    name = zlib.crc32(repr(sorted((k, float(v)) for k, v in point.items())).encode())
    return int(np.random.SeedSequence([seed, look, name]).generate_state(1)[0])
