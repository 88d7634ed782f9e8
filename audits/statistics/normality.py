"""Whether scores look Gaussian: what is noted of each chunk of runs, and what all of them together say.

Every check sees all runs and needs only what can be added up over chunks. A law that differs mildly from a Gaussian
passes: docs/validity.md says how often.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from dpcheck.audits.statistics.mean_gap import central_moments

GATE = 1e-3  # how often Gaussian outputs are taken for others, over all checks together
# Shares of it, for each dataset (two ENDS each) and for both SPREADS: most for what sees mild differences best.
KURTOSIS, DISTANCE, CELLS, SKEWNESS, ENDS, SPREADS = 0.2, 0.1, 0.08, 0.05, 0.025, 0.04
EDGES = special.ndtri([1e-5, 1e-4, 1e-3, 5e-3, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4])
EDGES = np.concatenate([EDGES, [0.0], -EDGES[::-1]])
FEWEST_IN_CELL = 10.0
TAIL_COLUMNS = 6


@dataclass(frozen=True)
class FittedNormal:
    """Where the pilot's fitted normal puts the cells that the scores of one dataset are counted in."""

    middle: float
    spread: float

    @classmethod
    def of(cls, scores: np.ndarray) -> FittedNormal:
        """A normal of the same mean and deviation."""
        return cls(float(scores.mean()), float(scores.std()))

    def row(self, z: np.ndarray) -> np.ndarray:
        """Of a chunk: distance from the middle, fourfold values, both ends and how often they were met, the cells."""
        ordered = np.sort(z)
        # The same value four times: floats of 32 bits do that in one chunk of 10^4 or more, atoms in nearly every.
        fourfold = np.count_nonzero(ordered[3:] == ordered[:-3])
        low, high = ordered[0], ordered[-1]
        lows = np.searchsorted(ordered, low, side="right")
        highs = len(z) - np.searchsorted(ordered, high, side="left")
        cuts = np.searchsorted(ordered, self.middle + self.spread * EDGES)
        cells = np.diff(cuts, prepend=0, append=len(z))
        return np.array([np.abs(z - self.middle).sum(), fourfold, low, lows, high, highs, *cells], float)


@dataclass(frozen=True, eq=False)
class Shape:
    """What all runs on one dataset showed: `sums` as in mean_gap.py, and the rows of its ruler, by chunk."""

    ruler: FittedNormal
    sums: np.ndarray = field(repr=False)
    rows: np.ndarray = field(repr=False)

    def findings(self) -> list[tuple[float, str]]:
        """Each check's p-value over its share of the level, with what it saw."""
        n, mean = float(self.sums[0]), float(self.sums[1] / self.sums[0])
        variance, third, fourth = central_moments(self.sums)
        if not np.isfinite([mean, variance, third, fourth]).all():
            return [(0.0, "outputs beyond all bounds")]
        if variance <= 0:
            return [(0.0, "no noise")]
        spread = math.sqrt(variance)
        skew, excess = third / variance**1.5, fourth / variance**2 - 3
        return [
            # The kurtosis' score has wider tails than a normal: as Student's with 3 sqrt(n), in simulations of normals.
            (two_sided(kurtosis_score(excess, n), 3 * math.sqrt(n)) / KURTOSIS, f"excess kurtosis {excess:.3g}"),
            (two_sided(skewness_score(skew, n)) / SKEWNESS, f"skewness {skew:.3g}"),
            self._distance(n, mean, spread),
            self._cells(n, mean, spread),
            *self._ends(n, mean, spread),
        ]

    def _distance(self, n: float, mean: float, spread: float) -> tuple[float, str]:
        """The mean distance over the deviation (Geary 1935): less noisy than the kurtosis, so stronger on few runs."""
        off = (mean - self.ruler.middle) / spread
        expected = math.sqrt(2 / math.pi) * math.exp(-off * off / 2) + off * (1 - 2 * special.ndtr(-off))
        seen = float(self.rows[:, 0].sum()) / n / spread
        error = math.sqrt((1 - 3 / math.pi) / n)
        said = f"a mean distance of {seen:.3g} standard deviations (Gaussian: {expected:.3g})"
        return two_sided((seen - expected) / error) / DISTANCE, said

    def _cells(self, n: float, mean: float, spread: float) -> tuple[float, str]:
        """Counts against those of the fitted normal. With two parameters fitted, chi-square is a cautious law."""
        counts = self.rows[:, TAIL_COLUMNS:].sum(axis=0)
        edges = (self.ruler.middle + self.ruler.spread * EDGES - mean) / spread
        expected = n * np.diff(special.ndtr(edges), prepend=0.0, append=1.0)
        counts, expected = merged(counts, expected)
        statistic = float(((counts - expected) ** 2 / expected).sum())
        p = float(special.chdtrc(len(counts) - 1, statistic)) if len(counts) > 1 else 1.0
        return p / CELLS, f"counts unlike a Gaussian's in {len(counts)} cells (p = {p:.1g})"

    def _ends(self, n: float, mean: float, spread: float) -> list[tuple[float, str]]:
        """The extremes, by their law among n Gaussians, and repeated values: outputs that were cut off or rounded."""
        _, fourfold, lows, low_counts, highs, high_counts = self.rows[:, :TAIL_COLUMNS].T
        found = [(0.0, "values that repeat")] if fourfold.any() else []
        for values, counts, sign in ((-lows, low_counts, -1), (highs, high_counts, 1)):
            end = float(values.max())
            times = int(counts[values == end].sum())
            if times > 1:
                found.append((0.0, f"the same extreme output {times} times"))
            far = (end - sign * mean) / spread
            said = f"an extreme output {far:.3g} standard deviations out, of {n:.0f}"
            found.append((2 * min(too_far(far, n), too_near(far, n)) / ENDS, said))
        return found


def unlike_gaussian(shapes: tuple[Shape, Shape], level: float) -> str | None:
    """What Gaussians with equal spread would show with probability `level` at most, or None."""
    found = []
    for name, shape in zip(("first", "second"), shapes, strict=True):
        found += [(p, f"{said} on the {name} dataset") for p, said in shape.findings()]
    worst, said = min(found)
    if worst > 0:
        one, two = (central_moments(shape.sums)[0] for shape in shapes)
        error = math.sqrt(2 / shapes[0].sums[0] + 2 / shapes[1].sums[0])
        spreads = two_sided(math.log(one / two) / error) / SPREADS
        worst, said = min((worst, said), (spreads, f"variances {one:.4g} and {two:.4g} on the two datasets"))
    return said if worst < level else None


def merged(counts: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Neighbouring cells put together until each expects enough runs; both lists keep their sums."""
    starts, held = [0], 0.0
    for i, value in enumerate(expected):
        if held >= FEWEST_IN_CELL and expected[i:].sum() >= FEWEST_IN_CELL:
            starts.append(i)
            held = 0.0
        held += float(value)
    return np.add.reduceat(counts, starts), np.add.reduceat(expected, starts)


def too_far(far: float, n: float) -> float:
    """Probability that the largest of n normals lies this many deviations out, at most (Grubbs 1950)."""
    room = (n - 1) ** 2 - n * far * far
    if far <= 0:
        return 1.0
    return 0.0 if room <= 0 else min(1.0, n * float(special.stdtr(n - 2, -far * math.sqrt(n * (n - 2) / room))))


def too_near(far: float, n: float) -> float:
    """Probability that all of n normals lie within this many deviations on one side."""
    return math.exp(n * float(special.log_ndtr(far)))


def two_sided(z: float, freedom: float = math.inf) -> float:
    """The p-value of a normal score, or of one with Student's law."""
    return 2 * float(special.ndtr(-abs(z)) if math.isinf(freedom) else special.stdtr(freedom, -abs(z)))


def skewness_score(skew: float, n: float) -> float:
    """A normal score for the skewness of n normals (D'Agostino 1970)."""
    y = skew * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    tail = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    w = math.sqrt(2 * (tail - 1)) - 1
    return math.asinh(y * math.sqrt((w - 1) / 2)) / math.sqrt(math.log(w) / 2)


def kurtosis_score(excess: float, n: float) -> float:
    """A normal score for the excess kurtosis of n normals, whose own law is skewed (Anscombe and Glynn 1983)."""
    mean = -6 / (n + 1)
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = (excess - mean) / math.sqrt(variance)
    skew = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) * math.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    a = 6 + 8 / skew * (2 / skew + math.sqrt(1 + 4 / skew**2))
    cube = (1 - 2 / a) / (1 + x * math.sqrt(2 / (a - 4)))
    return (1 - 2 / (9 * a) - math.copysign(abs(cube) ** (1 / 3), cube)) / math.sqrt(2 / (9 * a))
