"""The ratio test: an exact one-sided test of p <= e^eps q + delta from two binomial counts.

Stronger than two Clopper-Pearson limits side by side, which pay for p and q as if both could be at their worst
at once. Outcomes are ordered by a statistic fixed before the counts are made; the p-value is the largest
probability, over all q that the counts do not rule out (Berger and Boos 1994), of an outcome at least as extreme.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import special

from audits.epsilon import checked_delta, epsilon_lower
from audits.intervals import checked_counts, checked_level, clopper_pearson

SET_ASIDE = 0.02  # share of alpha that pays for the limits on q
BLOCKS = 256  # cells over the second count; each is charged at its most extreme end, so the sum is an upper bound
NODES = 13  # values of q at which the search for the bound looks
FIRST_CELLS = 32  # intervals of q on which the p-value of the answer is bounded, not sampled; halved where it matters
FINE = (0.02, 0.08)  # share of the p-value that those bounds may add: as much as costs WORTH of epsilon, within these
WORTH = 0.001
MOST_HALVINGS = 9
SLACK = 0.4  # standard errors by which an answer may be lower than the best one, for each such share


@dataclass(frozen=True)
class Ordering:
    """How extreme a pair of counts is: the excess of p over slope * q + delta, in standard errors under the null.

    The variance is taken at the pooled rate q* = (n (p - delta) + m q) / (n slope + m). It is concave in p and in
    q, which makes the statistic increase with the first count and decrease with the second wherever the excess is
    positive; outcomes without excess rank below, by the excess itself. `slope` is fixed in advance.
    """

    trials: int
    other_trials: int
    slope: float
    delta: float

    def statistic(self, hits: float, other: float) -> float:
        """The rank of an outcome."""
        n, m, c = self.trials, self.other_trials, self.slope
        p, q = hits / n, other / m
        excess = p - c * q - self.delta
        if excess <= 0:
            return excess
        pooled = (n * (p - self.delta) + m * q) / (n * c + m)
        null = c * pooled + self.delta
        spread = null * (1 - null) / n + c**2 * pooled * (1 - pooled) / m
        return math.inf if spread <= 0 else excess / math.sqrt(spread)

    def boundary(self, rank: float, other: np.ndarray) -> np.ndarray:
        """The least first count that ranks at least `rank`, for each second count (rounded outwards)."""
        n, m, c, t2 = self.trials, self.other_trials, self.slope, min(max(rank, 0.0), 1e8) ** 2
        base = c * other / m + self.delta
        if rank <= 0:
            return np.ceil(n * (base + rank) - 1e-9)
        # With p the unknown, pooled = a p + b, and (p - base)^2 = t2 * variance(pooled) is a quadratic in p.
        a, b = n / (n * c + m), (other - n * self.delta) / (n * c + m)
        w, d = c * c * (1 / n + 1 / m), self.delta
        linear = c * (1 - 2 * d) / n + c * c / m
        square = 1 + t2 * w * a * a
        half = base + t2 * (linear * a - 2 * w * a * b) / 2
        rest = base**2 - t2 * (linear * b - w * b * b + d * (1 - d) / n)
        edge = (half + np.sqrt(np.maximum(half * half - square * rest, 0.0))) / square
        return np.ceil(n * edge * (1 - 1e-12) - 1e-9)


def tail_probability(order: Ordering, rank: float, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """P(an outcome ranks at least `rank`) under each (p, q): an upper bound, exact when few second counts matter."""
    m = order.other_trials
    middle, spread = float(np.mean(q)) * m, math.sqrt(max(float(np.max(q)) * m, 1.0)) + float(np.ptp(q)) * m / 14
    low, high = math.floor(max(middle - 8 * spread, 0)), math.ceil(min(middle + 8 * spread + 8, m))
    edges = np.unique(np.linspace(low, high, min(BLOCKS, high - low + 1)).astype(np.int64))
    starts = np.concatenate([[0.0], edges + 1.0])  # blocks: 0..edges[0], edges[0]+1..edges[1], ..., up to m
    starts = starts[starts <= m]
    ends = np.concatenate([starts[1:] - 1, [m]])
    below = at_most(ends, m, q[:, None])
    mass = np.diff(below, axis=1, prepend=0.0)
    return (mass * at_least(order.boundary(rank, starts), order.trials, p[:, None])).sum(axis=1)


def at_least(k: np.ndarray, n: int, p: np.ndarray) -> np.ndarray:
    """P(Binomial(n, p) >= k)."""
    inside = np.clip(k, 1, n)
    value = special.betainc(inside, n - inside + 1, p)
    return np.where(k <= 0, 1.0, np.where(k > n, 0.0, value))


def at_most(k: np.ndarray, n: int, p: np.ndarray) -> np.ndarray:
    """P(Binomial(n, p) <= k), to absolute rounding: differences of it are block masses far above 1e-15."""
    return 1 - at_least(k + 1, n, p)


PValue = Callable[[Ordering, float, float, float, float], float]


def p_value(order: Ordering, rank: float, eps: float, q_low: float, q_high: float, fine: float = FINE[0]) -> float:
    """The largest tail probability over q in [q_low, q_high] with p = e^eps q + delta: an upper bound.

    A larger p makes outcomes more extreme, a larger q less: on each cell the largest p meets the smallest q. Cells
    are halved until they promise at most a share `fine` more than what is reached at some q.
    """

    def tails(p_at: np.ndarray, q_at: np.ndarray) -> np.ndarray:
        return tail_probability(order, rank, np.minimum(math.exp(eps) * p_at + order.delta, 1.0), q_at)

    edges = np.linspace(math.sqrt(q_low), math.sqrt(q_high), FIRST_CELLS + 1) ** 2
    low, high, settled, reached = edges[:-1], edges[1:], 0.0, float(tails(edges, edges).max())
    for _ in range(MOST_HALVINGS):
        promised = tails(high, low)
        open_ = promised > (1 + fine) * reached
        settled = max(settled, float(promised[~open_].max(initial=0.0)))
        low, high = low[open_], high[open_]
        if len(low) == 0:
            return settled
        middle = (low + high) / 2
        reached = max(reached, float(tails(middle, middle).max()))
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return max(settled, float(tails(high, low).max()))


def sampled_p_value(order: Ordering, rank: float, eps: float, q_low: float, q_high: float) -> float:
    """The same at a few q only: faster, close, and no bound."""
    q = np.linspace(q_low, q_high, NODES)
    return float(tail_probability(order, rank, np.minimum(math.exp(eps) * q + order.delta, 1.0), q).max())


def ratio_bound(
    hits: int, trials: int, other_hits: int, other_trials: int, *, delta: float, alpha: float, slope: float = 1.0
) -> float:
    """The largest epsilon that the ratio test rejects: a lower bound on the true one, valid at level alpha.

    `slope` must not depend on these counts; take e to the bound you expect.

    >>> round(ratio_bound(5000, 10_000, 1839, 10_000, delta=0.0, alpha=0.05, slope=2.6), 3)
    0.96
    """
    checked_counts(hits, trials)
    checked_counts(other_hits, other_trials)
    delta, alpha = checked_delta(delta), checked_level(alpha)
    order = Ordering(int(trials), int(other_trials), max(float(slope), 1.0), delta)
    rank, aside = order.statistic(hits, other_hits), SET_ASIDE * alpha
    q_low, q_high = (float(v) for v in clopper_pearson(other_hits, other_trials, aside))
    limit = float(special.ndtri(alpha))
    error = math.sqrt(1 / max(hits, 1) + 1 / max(other_hits, 1))  # of log(p/q): with many hits, fine cells gain nothing
    fine = min(max(WORTH * abs(limit) / error, FINE[0]), FINE[1])

    def excess(eps: float, value: PValue) -> float:
        """The normal score of the p-value, which is close to a straight line, over the limit."""
        return float(special.ndtri(min(value(order, rank, eps, q_low, q_high) + aside, 1.0))) - limit

    if excess(0.0, sampled_p_value) > 0:
        return 0.0
    # Searched with sampled p-values, then lowered until the bounded ones reject.
    hint = epsilon_lower(hits, trials, other_hits, other_trials, delta=delta, alpha=alpha)
    low = _largest(lambda eps: excess(eps, sampled_p_value), float(hint))
    near = 0.98 * low
    steep = (excess(low, sampled_p_value) - excess(near, sampled_p_value)) / max(low - near, 1e-9)
    return _settled(lambda eps: excess(eps, partial(p_value, fine=fine)), low, max(steep, 0.1), SLACK * fine)


def _settled(excess: Callable[[float], float], start: float, slope: float, slack: float) -> float:
    """A rejected epsilon at most slack standard errors below the largest: few steps from a start that is close."""
    low, high = 0.0, math.inf
    below, above = -math.inf, math.inf
    trial = start
    for _ in range(12):
        if trial <= 0:
            break
        value = float(excess(trial))
        if value > 0:
            high, above = trial, value
        else:
            low, below = trial, value
            if value > -slack:
                break
        if math.isinf(below) or math.isinf(above):
            trial -= (value + slack / 2) / slope
        else:
            trial = low + (high - low) * (slack / 2 + below) / (below - above) if below < -slack / 2 else low
    return float(low)


def _largest(excess: Callable[[float], float], hint: float) -> float:
    """The largest rejected epsilon, to about three digits: `excess` increases and is close to a straight line."""
    low, high = 0.0, math.inf
    below, above = -math.inf, math.inf
    trial = max(hint, 0.05)
    for step in range(40):
        value = excess(trial)
        if value <= 0:
            low, below = trial, value
        else:
            high, above = trial, value
        if high - low <= 2e-3 * max(low, 0.05) or low > 60:
            break
        if math.isinf(high):
            trial = low + 0.03 * 2**step
        elif math.isinf(below) or math.isinf(above) or step > 6:
            trial = (low + high) / 2
        else:
            # Where the line through both ends crosses zero, and a little further in: both ends close up fast.
            root = low + (high - low) * below / (below - above)
            nudge = 1e-3 * max(low, 0.05)
            trial = min(max(root + (-nudge if step % 2 else nudge), low + nudge / 2), high - nudge / 2)
    return low
