"""Whether runs look independent: do calls differ more than chance allows, do neighbours in a call resemble each other?

Every bound here counts independent runs, and one call makes many of them. Independent runs of one law may be reordered
freely, so two things are known without knowing the law. How the k runs of an event fall on calls of sizes m_i is a
draw without replacement: with g = sum x_i log(x_i / (k m_i / n)) over c calls, P(g or more) <= e^-g (e g / (c-1))^(c-1)
(Agrawal 2020 for multinomial draws; those without replacement have the smaller moments, Hoeffding 1963). And how many
streaks these k runs form is hypergeometric (Wald and Wolfowitz 1940). What spreads hits more evenly than chance does
(draws without replacement) only makes bounds cautious, and is not complained of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from dpcheck.audits.scores.attacks import telling_columns

LEVEL = 1e-6  # how often independent runs are complained of, half of it by the pilot and half by the test
SHARES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)  # of the runs below the thresholds of the events that are looked at
MOST_CELLS = 10**6  # of one dataset
NAME = "runs are not independent"
UNEVEN = "calls differ more than chance allows"
REMEDY = "draw fresh noise for every run, or wrap a function of one run: per_run(f)"


def complaint(first: np.ndarray, second: np.ndarray, calls: Sequence[int]) -> str | None:
    """What the rows of a pilot, made in calls of these many runs, say against independence; both datasets alike."""
    calls = [size for size, end in zip(calls, np.cumsum(calls), strict=True) if end <= len(first)]
    runs = sum(calls)
    if runs < 2:
        return None
    columns = telling_columns(first, second)[: max(1, MOST_CELLS // runs)]
    found = [
        (log_p, what, name)
        for name, rows in (("first", first), ("second", second))
        for column in columns
        for event in _events(rows[:runs, column])
        for log_p, what in _looks(event, calls)
    ]
    log_p, what, name = min(found, default=(0.0, "", ""))
    return _sentence(what, name) if log_p + math.log(len(found) or 1) < math.log(LEVEL / 2) else None


def complaint_of_counts(counts: np.ndarray, calls: Sequence[int]) -> str | None:
    """The same of the test's own event: its hits call by call (calls, 2 datasets)."""
    chances = [log_chance_of_spread(hits, np.array(calls)) for hits in counts.T]
    side = int(np.argmin(chances))
    unlikely = chances[side] < math.log(LEVEL / 4)
    return _sentence(UNEVEN, ("first", "second")[side]) if unlikely else None


def log_chance_of_spread(hits: np.ndarray, calls: np.ndarray) -> float:
    """Log of a bound on the chance that hits of independent runs are spread as unevenly over calls of these sizes."""
    rare = hits if 2 * hits.sum() <= calls.sum() else calls - hits
    expected = rare.sum() * calls / calls.sum()
    seen = rare > 0
    free = len(calls) - 1
    g = float(rare[seen] @ np.log(rare[seen] / expected[seen]))
    return min(0.0, free - g + free * math.log(g / free)) if free and g > free else 0.0


def log_chance_of_streaks(event: np.ndarray) -> float:
    """Log of a bound on the chance that independent runs form as few streaks of an event, or as many."""
    n, k = len(event), int(np.count_nonzero(event))
    if not 0 < k < n:
        return 0.0
    streaks = int(event[0]) + int(np.count_nonzero(event[1:] & ~event[:-1]))
    # The streaks are those of the n - k + 1 gaps between the other runs that one of the k falls into.
    gaps = n - k + 1
    exponent = max(k * _entropy(streaks / k, gaps / n), gaps * _entropy(streaks / gaps, k / n))
    return min(0.0, math.log(2) - exponent)


def _entropy(rate: float, chance: float) -> float:
    """Relative entropy of two coins: the exponent of Chernoff's bound, also without replacement (Hoeffding 1963)."""
    return float(special.rel_entr(rate, chance) + special.rel_entr(1 - rate, 1 - chance))


def _events(scores: np.ndarray) -> list[np.ndarray]:
    thresholds = np.unique(np.quantile(scores, SHARES, method="higher"))
    found = [scores >= threshold for threshold in thresholds]
    return [event for event in found if event.any() and not event.all()]


def _looks(event: np.ndarray, calls: Sequence[int]) -> list[tuple[float, str]]:
    """Between calls; next to each other; and half a call apart, where antithetic draws are."""
    parts = np.split(event, np.cumsum(calls)[:-1])
    hits = np.array([np.count_nonzero(part) for part in parts])
    looks = [(log_chance_of_spread(hits, np.array(calls)), UNEVEN)]
    if max(calls) > 1:
        halves = np.concatenate([_interleaved(part) for part in parts])
        looks.append((log_chance_of_streaks(event), "runs next to each other in a call are related"))
        looks.append((log_chance_of_streaks(halves), "the two halves of a call are related"))
    return looks


def _interleaved(part: np.ndarray) -> np.ndarray:
    """Each run of the first half of a call next to its fellow in the second."""
    middle = -(-len(part) // 2)
    order = np.empty(len(part), dtype=int)
    order[::2], order[1::2] = np.arange(middle), np.arange(middle, len(part))
    return part[order]


def _sentence(what: str, name: str) -> str:
    return f"{NAME}: {what} on the {name} dataset (chance below {LEVEL:g}), so no bound is certified; {REMEDY}"
