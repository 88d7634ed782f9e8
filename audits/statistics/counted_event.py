"""An event counted alongside a bound that rests on an assumption: what can be said if the assumption is wrong.

The event is fixed on the pilot. Its rates have one limit each, so the bound holds however the runs on one dataset
depend on those on the other: twin runs, which share their noise, may be counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpcheck.audits.statistics.epsilon import epsilon_lower, log_ratio
from dpcheck.audits.statistics.event_choice import Choice, predicted_bound
from dpcheck.audits.statistics.intervals import anytime
from dpcheck.audits.statistics.power import CHOOSING, POWER, TAIL, Rates


@dataclass(frozen=True)
class CountedEvent:
    """An event, its hits on the favoured dataset and on the other, the runs of each, and the level of its bound."""

    choice: Choice
    hits: int
    others: int
    runs: int
    level: float

    def bound(self, stopped: bool) -> float:
        """Limits on both rates at half the level each; after an interruption, ones that hold at every time at once."""
        delta = self.choice.target.delta
        if not stopped:
            return float(epsilon_lower(self.hits, self.runs, self.others, self.runs, delta=delta, alpha=self.level))
        low, high = anytime(self.hits, self.runs, self.level / 2)[0], anytime(self.others, self.runs, self.level / 2)[1]
        return float(log_ratio(low, high, delta))

    def tail(self, mu: float) -> tuple[float, float]:
        """The rates of the tail of two unit Gaussians, mu apart, with the best bound in prospect."""
        p, q = special.ndtr(mu - TAIL), special.ndtr(-TAIL)
        best = int(predicted_bound(p, q, self.choice.target.delta, self.runs, self.level).argmax())
        return float(p[best]), float(q[best])

    def least(self, rates: Rates, low: float, high: float) -> float:
        """The least level whose counts, each short of its luckless 0.5%, still refute the claim; infinity if none."""
        if not self._flagged(*rates(high)):
            return math.inf
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (low, middle) if self._flagged(*rates(middle)) else (middle, high)
        return high

    def _flagged(self, p: float, q: float) -> bool:
        n, goal = self.runs, self.choice.target
        p = max(p - CHOOSING * math.sqrt(p * (1 - p) / n), 0.0)  # what choosing the event on a pilot may cost
        few, many = least_count((1 - POWER) / 2, n, p), least_count((1 + POWER) / 2, n, q)
        return bool(np.all(epsilon_lower(few, n, many, n, delta=goal.delta, alpha=self.level) > goal.epsilon))


def least_count(share: float, n: int, p: float) -> int:
    """The least count of n tries with rate p that is not exceeded with probability `share`."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if special.bdtr(middle, n, p) >= share else (middle + 1, high)
    return low
