"""What an audit would have caught: the smallest true epsilon that it flags with probability 0.99.

A pass without this number says nothing; with it, it says how large a violation could still be hiding. The number
rests on a model: that a worse mechanism would show itself on this pair, to this attack, by an event about as
frequent as the one that was tested (or, for Gaussian outputs, by a wider gap of the same Gaussians). A leak on
another pair, or one that the attack cannot see, is not covered.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from audits.epsilon import checked_delta, epsilon_from_mu
from audits.intervals import checked_level
from audits.ratio import SET_ASIDE, Ordering, order_at, tail_probability
from audits.selection import predicted_bound, wilson
from bounds.errors import InvalidInput

POWER = 0.99
LARGEST = 60.0  # an epsilon beyond which nothing is private
LARGEST_MU = 20.0
BLOCK = 0.05  # standard deviations of a count: a forecast needs no more digits
# Standard errors of the excess p - e^eps q that choosing the event on a pilot may cost, by tests/test_power.py.
CHOOSING = 1.0
TAIL = np.linspace(-2, 9, 400)  # thresholds of the events of Gaussians

Rates = Callable[[float], tuple[float, float]]


def detectable_epsilon(
    rate: float, trials: int, *, claimed: float, delta: float, alpha: float, power: float = POWER
) -> float:
    """The smallest epsilon flagged with probability `power` by an event that happens at `rate` on one dataset.

    The model: a worse mechanism has an event that the favoured dataset meets at this rate, and the other dataset
    e^epsilon times less often (beyond delta); choosing it on a pilot costs a standard error. With delta > 0
    the worse mechanism may be like a Gaussian instead, which shows its epsilon in the far tail only, and the more
    cautious answer is returned. Infinity when this many trials cannot tell any epsilon from the claim.

    >>> round(detectable_epsilon(0.5, 100_000, claimed=1.0, delta=0.0, alpha=0.05), 2)
    1.04
    """
    if trials < 1:
        raise InvalidInput("trials", trials, "an integer >= 1", "Give the audit some trials.")
    checked_level(alpha), checked_delta(delta)
    if claimed > LARGEST:
        return math.inf

    def rates(eps: float) -> tuple[float, float]:
        return rate, max(rate - delta, 0.0) * math.exp(-eps)

    found = RatioTest(trials, claimed, delta, alpha, power).least(rates, claimed, LARGEST)
    if delta > 0:
        found = max(found, detectable_gaussian(trials, claimed=claimed, delta=delta, alpha=alpha, power=power))
    return found


def detectable_gaussian(trials: int, *, claimed: float, delta: float, alpha: float, power: float = POWER) -> float:
    """The same for Gaussian outputs, a worse mechanism being one with a wider gap of means: epsilon of the least mu."""
    if delta == 0 or claimed > LARGEST:
        return math.inf

    def best_tail(mu: float) -> tuple[float, float]:
        p, q = special.ndtr(mu - TAIL), special.ndtr(-TAIL)
        best = int(predicted_bound(p, q, delta, trials, alpha).argmax())
        return float(p[best]), float(q[best])

    mu = RatioTest(trials, claimed, delta, alpha, power).least(best_tail, 0.0, LARGEST_MU)
    return epsilon_from_mu(mu, delta) if math.isfinite(mu) else math.inf


@dataclass(frozen=True)
class RatioTest:
    """The ratio test of a claim, and how surely it is to flag."""

    trials: int
    claimed: float
    delta: float
    alpha: float
    power: float

    def least(self, rates: Rates, low: float, high: float) -> float:
        """The least level between the two whose event is flagged; infinity if there is none.

        A rough level, from outcomes that rank above the claim itself, says about which rates the test is to be exact.
        """
        order = order_at(self.trials, self.delta, self.alpha)
        rough = self._bisected(order, math.exp(self.claimed), rates, low, high)
        if math.isinf(rough):
            return math.inf
        rank = critical_rank(order, rates(rough)[1], self.claimed, self.alpha)
        return self._bisected(order, rank, rates, low, high)

    def _bisected(self, order: Ordering, rank: float, rates: Rates, low: float, high: float) -> float:
        def flagged(level: float) -> bool:
            p, q = rates(level)
            spread = math.sqrt((p * (1 - p) + math.exp(2 * self.claimed) * q * (1 - q)) / self.trials)
            met = np.array([max(p - CHOOSING * spread, 0.0)])
            return p < 1 and float(tail_probability(order, rank, met, np.array([q]), BLOCK)[0]) >= self.power

        step = 0.01
        while not flagged(low + step):
            low, step = low + step, 1.6 * step
            if low + step > high:
                return math.inf
        high = low + step
        for _ in range(10):
            middle = (low + high) / 2
            low, high = (low, middle) if flagged(middle) else (middle, high)
        return high


def critical_rank(order: Ordering, q: float, claimed: float, alpha: float) -> float:
    """The least rank that the claim would be rejected at, for counts of the other dataset about as q has them."""
    z = -float(special.ndtri(SET_ASIDE * alpha / 2))
    nearby = np.linspace(wilson(q, order.trials, -z), wilson(q, order.trials, z), 5)
    p = np.minimum(math.exp(claimed) * nearby + order.delta, 1.0)
    level = alpha * (1 - SET_ASIDE)
    low, high = claimed, claimed + 3.0
    for _ in range(14):
        middle = (low + high) / 2
        enough = float(tail_probability(order, math.exp(middle), p, nearby, BLOCK).max()) <= level
        low, high = (low, middle) if enough else (middle, high)
    return math.exp(high)
