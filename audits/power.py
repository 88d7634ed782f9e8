"""What an audit would have caught: the smallest true epsilon that it flags with probability 0.99.

A pass without this number says nothing; with it, it says how large a violation could still be hiding.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import special

from audits.epsilon import checked_delta, epsilon_from_mu
from audits.intervals import checked_level
from audits.ratio import SET_ASIDE, Ordering, tail_probability
from bounds.errors import InvalidInput

POWER = 0.99
LARGEST = 60.0  # an epsilon beyond which nothing is private


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
    checked_level(alpha), checked_delta(delta)
    order = Ordering(trials, trials, max(math.exp(claimed), 1.0), delta)
    rates: list[Callable[[float], tuple[float, float]]] = [
        lambda eps: (rate, max(rate - delta, 0.0) * math.exp(-eps)),
        lambda eps: (rate * math.exp(eps - claimed) + delta, rate * math.exp(-claimed)),
    ]
    found = [_smallest(order, at, claimed, alpha, power) for at in rates]
    finite = [eps for eps in found if math.isfinite(eps)]
    return max(finite) if finite else math.inf


def detectable_gaussian(trials: int, *, claimed: float, delta: float, alpha: float, power: float = POWER) -> float:
    """The same for a mechanism with Gaussian noise, whose best event sits in the tail: epsilon of the least mu."""
    if delta == 0:
        return math.inf
    z, w, c = -special.ndtri(alpha), special.ndtri(power), math.exp(claimed)
    t = np.linspace(-2, 9, 400)

    def flagged(mu: float) -> bool:
        p, q = special.ndtr(mu - t), special.ndtr(-t)
        spread = np.sqrt((p * (1 - p) + c * c * q * (1 - q)) / trials) + 1e-300
        # Few hits are not normal: three expected in the rarer count keep the approximation honest.
        return bool(np.any((p - c * q - delta >= (z + w) * spread) & (q * trials >= 3)))

    low, high = 0.0, 20.0
    if not flagged(high):
        return math.inf
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if flagged(middle) else (middle, high)
    return epsilon_from_mu(high, delta)


def _smallest(
    order: Ordering, rates: Callable[[float], tuple[float, float]], claimed: float, alpha: float, power: float
) -> float:
    """Bisection over the true epsilon, with the critical rank of the claim at each."""
    rank = critical_rank(order, rates(claimed)[1], claimed, alpha)

    def flagged(eps: float) -> bool:
        p, q = rates(eps)
        return p <= 1 and float(tail_probability(order, rank, np.array([p]), np.array([q]))[0]) >= power

    low, step = claimed, 0.01
    high = low + step
    while not flagged(high):
        low, step = high, 1.6 * step
        high = low + step
        if high > LARGEST:
            return math.inf
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (low, middle) if flagged(middle) else (middle, high)
    return high


def critical_rank(order: Ordering, q: float, claimed: float, alpha: float) -> float:
    """The least rank that the claim would be rejected at, for rates about q."""
    spread = math.sqrt(max(q * (1 - q), 1e-300) / order.other_trials)
    nearby = np.clip(q + spread * np.linspace(-3, 3, 5), min(q, 0.5 / order.other_trials), 1.0)
    p = np.minimum(math.exp(claimed) * nearby + order.delta, 1.0)
    level = alpha * (1 - SET_ASIDE)
    low, high = 0.0, -2.0 * float(special.ndtri(level / 2)) + 4.0
    for _ in range(14):
        middle = (low + high) / 2
        enough = float(tail_probability(order, middle, p, nearby).max()) <= level
        low, high = (low, middle) if enough else (middle, high)
    return high
