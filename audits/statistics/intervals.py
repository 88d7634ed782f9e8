"""Confidence intervals for the probability of an event, from how often it was seen.

All are vectorised over counts; `alpha` is the one-sided error of each limit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import floats, number


def checked_level(alpha: float) -> float:
    """An error probability strictly between 0 and 1."""
    remedy = "Use 0.05, or 1e-6 in tests."
    return number("alpha", alpha, "a number strictly between 0 and 1", remedy, lambda found: 0 < found < 1)


def checked_counts(count: Any, trials: Any) -> tuple[np.ndarray, np.ndarray]:
    """Counts and trials as float arrays, refused when they cannot be counts."""
    k, n = floats("count", count), floats("trials", trials)
    if k.ndim and n.ndim and k.shape != n.shape:
        raise InvalidInput("shape of count", k.shape, f"that of trials, {n.shape}", "Give one count for each.")
    if not np.all(n >= 1):
        raise InvalidInput("trials", trials, "an integer >= 1", "Run the mechanism at least once.")
    if not (np.all(k >= 0) and np.all(k <= n)):
        raise InvalidInput("count", count, "between 0 and the number of trials", "Count each trial once.")
    return k, n


def lower_limit(count: Any, trials: Any, alpha: float) -> Any:
    """Clopper-Pearson lower limit: P(limit > p) <= alpha for every p.

    >>> float(lower_limit(0, 10, 0.05)), round(float(lower_limit(10, 10, 0.05)), 4)
    (0.0, 0.7411)
    """
    alpha = checked_level(alpha)
    k, n = checked_counts(count, trials)
    inside = special.betaincinv(np.maximum(k, 1), n - k + 1, alpha)
    return np.where(k == 0, 0.0, inside)[()]


def upper_limit(count: Any, trials: Any, alpha: float) -> Any:
    """Clopper-Pearson upper limit: P(limit < p) <= alpha for every p.

    >>> round(float(upper_limit(0, 10, 0.05)), 4)
    0.2589
    """
    alpha = checked_level(alpha)
    k, n = checked_counts(count, trials)
    inside = special.betainccinv(k + 1, np.maximum(n - k, 1), alpha)
    return np.where(k == n, 1.0, inside)[()]


def clopper_pearson(count: Any, trials: Any, alpha: float) -> tuple[Any, Any]:
    """Two-sided interval, alpha/2 on each side."""
    half = checked_level(alpha) / 2
    return lower_limit(count, trials, half), upper_limit(count, trials, half)


def jeffreys(count: Any, trials: Any, alpha: float) -> tuple[Any, Any]:
    """Bayesian interval under Beta(1/2, 1/2): for choosing events, never for a published bound."""
    alpha = checked_level(alpha)
    k, n = checked_counts(count, trials)
    a, b = k + 0.5, n - k + 0.5
    return special.betaincinv(a, b, alpha / 2)[()], special.betainccinv(a, b, alpha / 2)[()]


def anytime(count: Any, trials: Any, alpha: float) -> tuple[Any, Any]:
    """Confidence sequence: holds at all times at once, so it survives stopping whenever one likes.

    Two-sided. Beta(1/2, 1/2) mixture of likelihood ratios and Ville's inequality; the limits are found
    by bisection of the log mixture ratio on each side of the frequency.
    """
    alpha = checked_level(alpha)
    k, n = checked_counts(count, trials)
    mixture = special.betaln(k + 0.5, n - k + 0.5) - special.betaln(0.5, 0.5)

    def excluded(p: np.ndarray) -> np.ndarray:
        likelihood = special.xlogy(k, p) + special.xlog1py(n - k, -p)
        return mixture - likelihood >= -math.log(alpha)

    seen = k / n
    low, high = _edge(excluded, np.zeros_like(seen), seen), _edge(excluded, np.ones_like(seen), seen)
    return low[()], high[()]


def _edge(excluded: Any, outside: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """The last excluded point between an outer end and the frequency (the end itself if it is not excluded)."""
    out, ins = outside.copy(), inside.copy()
    for _ in range(60):
        middle = (out + ins) / 2
        gone = excluded(middle)
        out, ins = np.where(gone, middle, out), np.where(gone, ins, middle)
    return out


def dkw_width(trials: int, alpha: float) -> float:
    """Half-width of a band that holds a whole distribution function (Massart's constant)."""
    checked_counts(0, trials)
    return math.sqrt(math.log(2 / checked_level(alpha)) / (2 * trials))
