"""Trimmed means with noise as wide as the data call for (dwang20, Algorithm 3.2.6, after Bun and Steinke)."""

from __future__ import annotations

import math

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, Guarantee
from dpcheck.bounds.privacy.smooth_noise import concentrated
from dpcheck.kernels.method import Array


def trimmed(X: Array, m: int, low: float, high: float) -> Array:
    """The mean without the m least and m largest along the first axis, which is sorted, cut to [low, high]."""
    return np.asarray(np.clip(X[m : len(X) - m].mean(axis=0), low, high))


def printed_width(X: Array, m: int, smoothness: float, low: float, high: float) -> Array:
    """max((x_(n) - x_(1))/(n-2m), e^-mt (b-a)) as line 1 prints it: one record widens it without limit."""
    spread = (X[-1] - X[0]) / (len(X) - 2 * m)
    return np.asarray(np.maximum(spread, math.exp(-m * smoothness) * (high - low)))


def smooth_width(X: Array, m: int, smoothness: float, low: float, high: float) -> Array:
    """A t-smooth bound on how far a record moves the trimmed mean, at most the printed width.

    The largest e^-kt·min(b-a, (x_(n-m+1+k) - x_(m-k))/(n-2m)) for k < m, and e^-mt (b-a): what k records can make of
    the data, k+1 can make of its neighbours, so that one record changes its logarithm by t at most.
    """
    n, k = len(X), np.arange(m)
    reach = np.minimum((X[n - m + k] - X[m - 1 - k]) / (n - 2 * m), high - low)
    shrinking = np.exp(-smoothness * k).reshape(-1, *[1] * (X.ndim - 1))
    least = math.exp(-m * smoothness) * (high - low)
    return np.asarray(np.maximum((reach * shrinking).max(axis=0), least))


def least_width(m: int, smoothness: float, low: float, high: float) -> float:
    """What no data make it fall below: public, unlike the width."""
    return math.exp(-m * smoothness) * (high - low)


def printed_smoothness(guarantee: Guarantee, releases: int = 1) -> float:
    """t = ε²/16 of line 1, for the ε with which each of the releases is ε²/2-zCDP."""
    if isinstance(guarantee, ZCDP) or (isinstance(guarantee, ApproxDP) and guarantee.delta > 0):
        return concentrated(guarantee) / (8 * releases)
    raise InvalidInput("guarantee", str(guarantee), "zCDP, or ApproxDP with delta > 0", "Convert it to one of them.")


def enough_trimmed(n: int, smoothness: float) -> int:
    """Records to trim at each end so that e^-mt is at most 1/n; at most a quarter of them, so that a mean is left."""
    return max(1, min(math.ceil(math.log(n) / smoothness), (n - 1) // 4))
