"""The ratio test: an exact one-sided test of p <= e^eps q + delta from two binomial counts.

Stronger than two Clopper-Pearson limits side by side, which pay for p and q as if both could be at their worst
at once. Outcomes are ordered by the bound that a score test would give them, and each then gets the best bound that
is valid for this order (Buehler 1957): the p-value is the largest probability, over all q that the counts do not rule
out (Berger and Boos 1994), of an outcome at least as extreme.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpcheck.audits.statistics.intervals import checked_counts, checked_level, clopper_pearson
from dpcheck.bounds.language.given import whole
from dpcheck.bounds.language.guarantees import checked_delta

SET_ASIDE = 0.02  # share of alpha that pays for the limits on q
DEVIATIONS = 8.5  # standard deviations of a count beyond which its tail is charged in full
MOST_CELLS = 2**19  # numbers in memory at once
ROUNDING = 1e-15  # relative error of a binomial probability, for each unit of log n!
SPARSE = 20  # one incomplete beta function costs about as much as this many single probabilities
GRID = 257  # values of q between which standard errors are interpolated
WORTH = 5e-4  # epsilon that may be given away for speed, by all of these together, each within its limits:
FINE = (0.005, 1.0)  # the share of the p-value that bounds over intervals of q may add
WIDEST = 0.5  # standard deviations of a block of second counts
SLACK = (0.005, 0.2)  # standard errors by which the answer may be lower than the best one
LARGEST = 60.0  # an epsilon beyond which nothing is private
LEAST_Z = 0.5  # levels near a half would order outcomes by no test at all


@dataclass(frozen=True)
class Ordering:
    """How extreme a pair of counts is: the largest slope c for which a score test still rejects p <= c q + delta.

    That test asks for an excess of p over c q + delta of `z` standard errors under the null, whose variance is taken
    at the pooled rate q* = (p - delta + q) / (c + 1). The variance is concave in p and in q, which makes the excess in
    standard errors increase with the first count and decrease with the second wherever it is positive. For c >= 1 the
    variance grows with c, so the test rejects up to some slope and never beyond it. Outcomes that it does not reject at
    c = 1 all rank 0, the least.
    """

    trials: int
    delta: float
    z: float

    def rank(self, hits: float, other: float) -> float:
        """The largest slope that is rejected (rounded down), or 0."""
        if self.deviations(1.0, hits, other) < self.z:
            return 0.0
        low, high = 0.0, LARGEST
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.deviations(math.exp(middle), hits, other) >= self.z else (low, middle)
        return math.exp(low) * (1 - 1e-9)

    def deviations(self, slope: float, hits: float, other: float) -> float:
        """The excess of p over slope q + delta, in standard errors."""
        p, q = hits / self.trials, other / self.trials
        excess = p - slope * q - self.delta
        if excess <= 0:
            return -math.inf
        pooled = (p - self.delta + q) / (slope + 1)
        null = slope * pooled + self.delta
        spread = (null * (1 - null) + slope**2 * pooled * (1 - pooled)) / self.trials
        return math.inf if spread <= 0 else excess / math.sqrt(spread)

    def boundary(self, rank: float, other: np.ndarray) -> np.ndarray:
        """The least first count that ranks at least `rank` (rounded outwards; n + 1 if none), for each second count."""
        if rank <= 0:
            return np.zeros_like(other)
        n, c, d, t2 = self.trials, rank, self.delta, self.z**2 / self.trials
        q = other / n
        base = c * q + d
        # With p the unknown, pooled = a p + b, and (p - base)^2 = t2 * variance(pooled) is a quadratic in p.
        a, b = 1 / (c + 1), (q - d) / (c + 1)
        w, linear = 2 * c * c, c * (1 - 2 * d) + c * c
        square = 1 + t2 * w * a * a
        half = base + t2 * (linear * a - 2 * w * a * b) / 2
        rest = base**2 - t2 * (linear * b - w * b * b + d * (1 - d))
        edge = (half + np.sqrt(np.maximum(half * half - square * rest, 0.0))) / square
        return np.where(base < 1, np.minimum(np.ceil(n * edge * (1 - 1e-12) - 1e-9), n + 1.0), n + 1.0)


def order_at(trials: int, delta: float, alpha: float) -> Ordering:
    """The order for a test at level alpha."""
    return Ordering(trials, delta, max(-float(special.ndtri(alpha)), LEAST_Z))


def tail_probability(order: Ordering, rank: float, p: np.ndarray, q: np.ndarray, width: float = 0.0) -> np.ndarray:
    """P(an outcome ranks at least `rank`) under each (p, q): an upper bound, exact to rounding when `width` is 0.

    Second counts are taken in blocks of `width` standard deviations, each charged at its most extreme end.
    """
    n = order.trials
    low, high = (
        n * rate + side * DEVIATIONS * (math.sqrt(n * rate * (1 - rate)) + 3)
        for side, rate in ((-1, float(q.min())), (1, float(q.max())))
    )
    stride = max(1, int(width * math.sqrt(n * float(q.min()) * (1 - float(q.min())))))
    starts = np.arange(max(math.floor(low), 0), min(math.ceil(high), n) + 1.0, stride)
    least = order.boundary(rank, starts)
    size = max(len(starts), int(least[-1] - least[0])) + 1
    group = max(1, MOST_CELLS // size)
    found = []
    for first in range(0, len(q), group):
        p_at, q_at = p[first : first + group], q[first : first + group]
        reached = at_least(starts, n, q_at)
        mass = reached - np.hstack([reached[:, 1:], np.zeros((len(q_at), 1))])
        found.append((mass * at_least(least, n, p_at)).sum(axis=1) + (1 - reached[:, 0]))
    return np.minimum(np.concatenate(found) * (1 + ROUNDING * float(special.gammaln(n + 2.0))), 1.0)


def at_least(k: np.ndarray, n: int, p: np.ndarray) -> np.ndarray:
    """P(Binomial(n, p) >= k) for each p (rows) and each of increasing k (columns).

    Summed from the top where the k lie close together, by the incomplete beta function where they do not.
    """
    p = p[:, None]
    if k[-1] - k[0] > SPARSE * len(k):
        return _beta_tail(k, n, p)
    every = np.arange(k[0], k[-1])
    ways = special.gammaln(n + 1.0) - special.gammaln(every + 1) - special.gammaln(n - every + 1)
    with np.errstate(divide="ignore"):
        mass = np.exp(ways + special.xlogy(every, p) + special.xlog1py(n - every, -p))
    top = _beta_tail(k[-1:], n, p)
    tail = np.hstack([np.cumsum(mass[:, ::-1], axis=1)[:, ::-1] + top, top])
    return np.minimum(tail[:, (k - k[0]).astype(np.int64)], 1.0)


def _beta_tail(k: np.ndarray, n: int, p: np.ndarray) -> np.ndarray:
    inside = np.clip(k, 1, n)
    value = special.betainc(inside, n - inside + 1, p)
    return np.where(k <= 0, 1.0, np.where(k > n, 0.0, value))


def p_value(
    order: Ordering, rank: float, eps: float, q_low: float, q_high: float, fine: float = 0.02, width: float = 0.0
) -> float:
    """The largest tail probability over q in [q_low, q_high] with p = e^eps q + delta: an upper bound.

    The log-likelihood of the counts is concave in q, so around q the tail at q + h is at most E[exp(h score); tail].
    That is convex in h, and so largest at an end of a cell, where it is a tail of tilted binomials. It exceeds the tail
    itself by a factor of about exp(h^2 information / 2): cells are as wide as leaves a share `fine`.
    """
    c, d, n = math.exp(eps), order.delta, order.trials
    q_high = min(q_high, (1 - d) / c)
    if q_high <= q_low:  # p is 1, and larger q make outcomes less extreme only
        return float(tail_probability(order, rank, np.ones(1), np.array([q_low]), width)[0])
    q = np.linspace(math.sqrt(q_low), math.sqrt(q_high), GRID) ** 2
    q[-1] = q_high
    # Standard errors from the least q, by the transformation that makes the variance of a rate constant.
    errors = 2 * math.sqrt(n) * (np.arcsin(np.sqrt(np.minimum(c * q + d, 1.0))) + np.arcsin(np.sqrt(q)))
    cells = 1 + int((errors[-1] - errors[0]) / math.sqrt(8 * math.log1p(fine)))
    edges = np.interp(np.linspace(errors[0], errors[-1], cells + 1), errors, q)
    middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    at = np.minimum(c * middle + d, 1 - 2.0**-53)
    ends = [half, -half]
    first, second = ([h * slope / (rate * (1 - rate)) for h in ends] for slope, rate in ((c, at), (1.0, middle)))
    p_at, q_at = _tilted(at, first), _tilted(middle, second)
    factor = np.exp(n * (_cumulant(at, first) + _cumulant(middle, second)))
    return float(min((factor * tail_probability(order, rank, p_at, q_at, width)).max(), 1.0))


def _tilted(rate: np.ndarray, tilts: list[np.ndarray]) -> np.ndarray:
    """The rate of a coin whose odds are multiplied by e to each of the tilts, one after the other."""
    return np.concatenate([special.expit(special.logit(rate) + tilt) for tilt in tilts])


def _cumulant(rate: np.ndarray, tilts: list[np.ndarray]) -> np.ndarray:
    """log E exp(tilt (coin - rate))."""
    return np.concatenate([np.log1p(rate * np.expm1(tilt)) - tilt * rate for tilt in tilts])


def ratio_bound(hits: int, other_hits: int, trials: int, *, delta: float, alpha: float) -> float:
    """The largest epsilon that the ratio test rejects: a lower bound on the true one, valid at level alpha.

    `hits` of `trials` runs on one dataset fell into the event, and `other_hits` of as many on its neighbour.

    >>> round(ratio_bound(5000, 1839, 10_000, delta=0.0, alpha=0.05), 3)
    0.962
    """
    remedy = "Run the mechanism at least once."
    trials = whole("trials", trials, "an integer >= 1", remedy)
    hits, other_hits = (whole("hits", k, "an integer >= 0", "Count each run once.", 0) for k in (hits, other_hits))
    checked_counts([hits, other_hits], trials)
    delta, alpha = checked_delta(delta), checked_level(alpha)
    limit, order = float(special.ndtri(alpha)), order_at(int(trials), delta, alpha)
    rank, aside = order.rank(hits, other_hits), SET_ASIDE * alpha
    if rank == 0:
        return 0.0
    q_low, q_high = (float(v) for v in clopper_pearson(other_hits, trials, aside))
    error = math.sqrt(1 / max(hits, 1) + 1 / max(other_hits, 1))  # of log(p / q): the standard error of the bound
    spare = WORTH / error
    fine = float(np.clip(np.expm1(spare * -limit / 3), *FINE))
    width = float(np.clip(spare / 3, 0.0, WIDEST))
    slack = float(np.clip(spare / 3, *SLACK))

    def excess(eps: float) -> float:
        """The normal score of the p-value, which is close to a straight line, over the limit."""
        return float(special.ndtri(min(p_value(order, rank, eps, q_low, q_high, fine, width) + aside, 1.0))) - limit

    return _settled(excess, math.log(rank), 1 / error, slack)


def _settled(excess: Callable[[float], float], start: float, slope: float, slack: float) -> float:
    """A rejected epsilon at most slack standard errors below the largest: few steps from a start that is close."""
    low, high, below, above = -1.0, math.inf, -math.inf, math.inf
    trial = max(start, 0.0)
    for step in range(40):
        value = float(np.clip(excess(trial), -8.0, 8.0))
        if value > 0:
            high, above = trial, value
            if trial == 0:
                return 0.0
        else:
            low, below = trial, value
            if value > -slack:
                break
        if math.isinf(below) or math.isinf(above):
            trial = max(trial - (value + slack / 2) / slope, 0.0)
        elif step > 6 or below >= -slack / 2:
            trial = (low + high) / 2
        else:
            trial = low + (high - low) * (slack / 2 + below) / (below - above)
        if high - low < 1e-9:
            break
    return max(low, 0.0)
