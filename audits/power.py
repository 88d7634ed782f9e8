"""What an audit would have caught: the smallest true epsilon that it flags with probability 0.99.

A pass without this number says nothing; with it, it says how large a violation could still be hiding.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from audits.epsilon import epsilon_lower
from audits.intervals import checked_level
from bounds.errors import InvalidInput

POWER = 0.99


def flag_probability(p: float, q: float, trials: int, claimed: float, delta: float, alpha: float) -> float:
    """About how often counts with these rates give a bound above the claim (normal approximation of the counts)."""
    if p <= delta:
        return 0.0
    spread = math.sqrt((1 - p) * p / (p - delta) ** 2 / trials + (1 - q) / max(q, 1e-300) / trials)
    bound = float(epsilon_lower(p * trials, trials, q * trials, trials, delta=delta, alpha=alpha))
    return float(special.ndtr((bound - claimed) / max(spread, 1e-300)))


def detectable_epsilon(
    rate: float, trials: int, *, claimed: float, delta: float, alpha: float, power: float = POWER
) -> float:
    """The smallest epsilon flagged with probability `power` by an event that happens at `rate` on one dataset.

    Both readings are taken, that the favoured dataset keeps the rate or that the other does, and the more
    cautious one is returned; infinity when this many trials cannot tell any epsilon from the claim.

    >>> round(detectable_epsilon(0.5, 100_000, claimed=1.0, delta=0.0, alpha=0.05), 2)
    1.03
    """
    if trials < 1:
        raise InvalidInput("trials", trials, "an integer >= 1", "Give the audit some trials.")
    checked_level(alpha)
    readings = [_smallest(rate, trials, claimed, delta, alpha, power, kept) for kept in ("p", "q")]
    finite = [eps for eps in readings if math.isfinite(eps)]
    return max(finite) if finite else math.inf


def _smallest(rate: float, trials: int, claimed: float, delta: float, alpha: float, power: float, kept: str) -> float:
    """Bisection over the true epsilon; the exact binomial quantiles decide."""

    def flagged(eps: float) -> bool:
        if kept == "p":
            p, q = rate, max(rate - delta, 0.0) * math.exp(-eps)
        else:
            p, q = rate * math.exp(eps) + delta, rate
        if p > 1:
            return False
        # Each count misbehaves with half of the missing probability.
        hits = stats.binom.ppf((1 - power) / 2, trials, p)
        other = stats.binom.ppf(1 - (1 - power) / 2, trials, q)
        hits, other = np.clip([hits, other], 0, trials)
        return bool(epsilon_lower(hits, trials, other, trials, delta=delta, alpha=alpha) > claimed)

    top = 60.0 if kept == "p" else max(claimed, math.log(max(1 - delta, 1e-300) / max(rate, 1e-300)))
    if not flagged(top):
        return math.inf
    low, high = claimed, top
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if flagged(middle) else (middle, high)
    return high
