"""How far apart two Gaussians are: limits on mu = mean gap / standard deviation, from sums over runs.

Independent runs give a two-sample t statistic. Twin runs use the same seeds on both datasets: where the mechanism adds
the same noise to both answers, their difference is known almost exactly, and only the deviation is left to estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import scipy  # its parts are imported on first use
from scipy import special

LIKENESS = 1.0  # variance of the difference of twins, over that of one of them, below which twins pay (2 if unrelated)
LEAST_SHARE = 0.02  # of alpha for either of a twin limit's two parts


@dataclass(frozen=True, eq=False)
class IndependentRuns:
    """Power sums of the scores of both datasets: rows of the number of runs, and of first to fourth powers."""

    sums: np.ndarray = field(repr=False)

    def limit(self, level: float) -> float:
        """A limit that exceeds mu with probability `level`.

        The two-sample t statistic is noncentral t with noncentrality mu sqrt(nm / (n + m)).
        """
        first, second = self.sums
        n, m = first[0], second[0]
        variance = (central_moments(first)[0] * n + central_moments(second)[0] * m) / (n + m - 2)
        scale = math.sqrt(n * m / (n + m))
        t = (first[1] / n - second[1] / m) / math.sqrt(variance) * scale
        return noncentral_limit(t, n + m - 2, scale, level)

    def distance(self, mu: float, alpha: float, power: float) -> float:
        """How far the truth must lie above mu to have its limit above mu with this power (delta method)."""
        error = math.sqrt(2 / self.sums[0, 0] * (1 + mu * mu / 8))
        return float(special.ndtri(power) - special.ndtri(alpha)) * error


@dataclass(frozen=True, eq=False)
class TwinRuns:
    """The same sums of runs with the same noise on both datasets; runs and mean difference of each chunk (chunks, 2).

    Chunks have seeds of their own, so their differences are independent, however a mechanism uses its seed within one:
    they give a t limit on the gap. A chi-square limit on the variance counts each pair of twins once. `share` of the
    level goes to the first; it was fixed before these runs.
    """

    sums: np.ndarray = field(repr=False)
    chunks: np.ndarray = field(repr=False)
    share: float

    def limit(self, level: float) -> float:
        """A limit that exceeds mu with probability `level` at most."""
        runs, (gap, error), variance = self.sums[0, 0], self._gap(), self._variance()
        if level == 0.5:
            return gap / math.sqrt(variance)
        tail, side = (level, -1.0) if level < 0.5 else (1 - level, 1.0)
        reach = error * -float(special.stdtrit(len(self.chunks) - 1, self.share * tail))
        rest = (1 - self.share) * tail
        quantile = special.gammaincinv if side < 0 else special.gammainccinv  # a chi-square is twice a gamma
        ratio = 2 * quantile((runs - 1) / 2, rest) / (runs - 1)
        return float((gap + side * reach) / math.sqrt(variance / ratio))

    def distance(self, mu: float, alpha: float, power: float) -> float:
        """How far the truth must lie above mu to have its limit above mu with this power (delta method)."""
        gap_error = self._gap()[1] / math.sqrt(self._variance())
        spread_error = mu / math.sqrt(2 * self.sums[0, 0])
        reach = gap_error * -float(special.stdtrit(len(self.chunks) - 1, self.share * alpha))
        reach -= spread_error * float(special.ndtri((1 - self.share) * alpha))
        return reach + float(special.ndtri(power)) * math.hypot(gap_error, spread_error)

    def _gap(self) -> tuple[float, float]:
        """The mean difference and its standard error, from chunks of any sizes."""
        weights, differences = self.chunks.T
        gap = float(weights @ differences / weights.sum())
        spread = float(weights @ (differences - gap) ** 2) / (len(weights) - 1)
        return gap, math.sqrt(spread / weights.sum())

    def _variance(self) -> float:
        runs = self.sums[0, 0]
        return float(np.mean([central_moments(row)[0] for row in self.sums]) * runs / (runs - 1))


def noncentral_limit(t: float, df: float, scale: float, level: float) -> float:
    """A limit that exceeds mu with probability `level`, where t is noncentral t with noncentrality mu * scale."""
    if df > 2000:  # the noncentral t is normal to four digits there: Johnson and Welch 1940
        return float(t + special.ndtri(level) * math.sqrt(1 + t * t / (2 * df))) / scale
    reach = 40 * math.sqrt(1 + t * t / (2 * df))
    root = scipy.optimize.brentq(lambda c: float(scipy.stats.nct.sf(t, df, c)) - level, t - reach, t + reach)
    return float(root) / scale


def twin_share(first: np.ndarray, second: np.ndarray) -> float | None:
    """From scores of twin runs: the share of alpha for the gap, or None where twins are too little alike to pay."""
    variance = float(first.var() + second.var()) / 2
    likeness = float((first - second).var()) / variance
    if likeness >= LIKENESS:
        return None
    mu = float(first.mean() - second.mean()) / math.sqrt(variance)
    return float(np.clip(likeness / (likeness + mu * mu / 2 + 1e-300), LEAST_SHARE, 1 - LEAST_SHARE))


def central_moments(row: np.ndarray) -> tuple[float, float, float]:
    """Second, third and fourth central moments from power sums."""
    n = float(row[0])
    a, b, c, d = (float(value) for value in row[1:5] / n)
    return b - a * a, c - 3 * a * b + 2 * a**3, d - 4 * a * c + 6 * a * a * b - 3 * a**4
