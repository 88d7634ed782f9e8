"""Lower bounds on epsilon at a delta, and on mu, from counts of one event under two datasets.

The event must have been fixed before the counts were made; then P(bound > truth) <= alpha.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from scipy import special

from dpcheck.audits.statistics.intervals import checked_counts, checked_level, lower_limit, upper_limit
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import checked_delta, gaussian_delta, smallest_epsilon

Direction = Literal["first", "second"]


def epsilon_lower(
    hits: Any,
    trials: Any,
    other_hits: Any,
    other_trials: Any,
    *,
    delta: float,
    alpha: float,
    split: float = 0.5,
) -> Any:
    """log((p_low - delta) / q_high), floored at 0: a lower bound on epsilon for that delta.

    `hits` of `trials` runs on one dataset fell into the event, `other_hits` of `other_trials` on its
    neighbour. `split` is the share of alpha that p's limit gets; it too is chosen before the counts.

    >>> round(float(epsilon_lower(5000, 10_000, 1839, 10_000, delta=0.0, alpha=0.05)), 3)
    0.939
    """
    delta, alpha = checked_delta(delta), checked_level(alpha)
    if not 0 < split < 1:
        raise InvalidInput("split", split, "strictly between 0 and 1", "Use 0.5.")
    p_low = lower_limit(hits, trials, alpha * split)
    q_high = upper_limit(other_hits, other_trials, alpha * (1 - split))
    return log_ratio(p_low, q_high, delta)


def log_ratio(p: Any, q: Any, delta: float) -> Any:
    """log((p - delta) / q), floored at 0; infinite when q is 0 and p exceeds delta."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    gain = np.maximum(p - delta, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(gain) - np.log(q)
    return np.where(gain <= 0, 0.0, np.maximum(value, 0.0))[()]


def epsilon_both_ways(
    hits: Any, trials: Any, other_hits: Any, other_trials: Any, *, delta: float, alpha: float
) -> tuple[Any, Direction]:
    """The better of the two bounds an event gives, paying for the choice.

    The event bounds epsilon from the first dataset to the second, its complement the other way round.
    The same two one-sided limits on each rate serve both, so each gets a quarter of alpha.
    """
    k, n = checked_counts(hits, trials)
    j, m = checked_counts(other_hits, other_trials)
    forth = epsilon_lower(k, n, j, m, delta=delta, alpha=alpha / 2)
    back = epsilon_lower(m - j, m, n - k, n, delta=delta, alpha=alpha / 2)
    return np.maximum(forth, back)[()], "first" if np.all(forth >= back) else "second"


def mu_lower(hits: Any, trials: Any, other_hits: Any, other_trials: Any, *, alpha: float) -> Any:
    """Lower bound on mu when the mechanism is mu-Gaussian DP: Phi^-1(p_low) - Phi^-1(q_high), floored at 0.

    A mechanism that is mu-GDP has no event that separates better, so this is valid for the least such mu.
    """
    p_low = lower_limit(hits, trials, alpha / 2)
    q_high = upper_limit(other_hits, other_trials, alpha / 2)
    gap = special.ndtri(p_low) - special.ndtri(q_high)
    return np.maximum(np.where(np.isnan(gap), 0.0, gap), 0.0)[()]


def epsilon_from_mu(mu: float, delta: float) -> float:
    """The epsilon of mu-Gaussian DP at delta (tight).

    >>> round(epsilon_from_mu(1.0, 1e-5), 3)
    4.377
    """
    checked_delta(delta)
    if mu <= 0:
        return 0.0
    return math.inf if delta == 0 else smallest_epsilon(lambda eps: float(gaussian_delta(eps, mu)), delta)
