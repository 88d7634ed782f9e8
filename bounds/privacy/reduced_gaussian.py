"""Noisy variance-reduced gradients: what one step of SVRG and its kin releases, many times over.

A step adds N(0, noise^2) to the mean of `batch` sampled differences grad f(x) - grad f(x~), plus the full gradient at
x~ (dwang20, section 3.1.7). Replacing a record moves a sampled difference by up to 4G (2G in one dimension, where
gradients of convex losses move the same way), and the full gradient by 2G/n whether or not the record is drawn.
Everything here is per unit of G.
"""

from __future__ import annotations

import math
from functools import lru_cache

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import REPLACE_ONE
from dpcheck.bounds.privacy.exact import Interval, counted, fraction, gaussian_sigma, positive
from dpcheck.bounds.privacy.sampled_gaussian import (
    NoisySum,
    epsilon_bounds,
    epsilon_high,
    every_record,
    moments_epsilon,
    without_replacement,
)

FULL = 2.0  # shift of n times the full gradient, over G
ROOM = 1e-3  # relative accuracy of the calibrated noise
SHARES = (0.01, 0.03, 0.1, 0.2, 1 / 3, 0.5)  # of the variance for the full gradient; 1/3 is best for many steps


def reduced_epsilon(noise: float, n: int, batch: int, steps: int, delta: float, dimension: int = 2) -> Interval:
    """Sound bounds of epsilon for `steps` noisy variance-reduced gradients, replace-one neighbours.

    Above: the noise is split in two, one part for each query, whose losses are then added (as in the proof of
    dwang20.theorem3.1.1, with its constants). Below: two attacks that are attained, on each query alone.

    >>> found = reduced_epsilon(2.5, n=50, batch=1, steps=20, delta=1e-3)
    >>> 0 < found.low < found.high < math.inf
    True
    """
    noise, delta = float(positive("noise", noise)), float(fraction("delta", delta))
    n, batch, steps = _sizes(n, batch, steps)
    full = epsilon_bounds((every_record(FULL / (n * noise), steps),), delta)
    if batch == n:  # every record is in every batch: the step is the full gradient at x, with noise
        return full
    # Equal gradients at x~, opposite ones at x: a shift of 2G when drawn, of nothing otherwise.
    drawn = epsilon_bounds((without_replacement(2 / (batch * noise), steps, batch, n),), delta)
    both = _split(noise, n, batch, steps, delta, dimension)
    return Interval(max(full.low, drawn.low), epsilon_high(both, delta, REPLACE_ONE))


@lru_cache(maxsize=256)
def reduced_noise(eps: float, delta: float, n: int, batch: int, steps: int, dimension: int = 2) -> float:
    """The least noise over G (to 1e-3, rounded up) whose bound above is (eps, delta), for `steps` such gradients.

    >>> noise = reduced_noise(1.0, 1e-2, n=20, batch=1, steps=10)
    >>> reduced_epsilon(noise, 20, 1, 10, 1e-2).high <= 1.0
    True
    """
    eps, delta = float(positive("eps", eps)), float(fraction("delta", delta))
    n, batch, steps = _sizes(n, batch, steps)
    if batch == n:
        return float(gaussian_sigma(eps, delta, FULL * math.sqrt(steps) / n))

    def keeps(noise: float) -> bool:
        return epsilon_high(_split(noise, n, batch, steps, delta, dimension), delta, REPLACE_ONE) <= eps

    # Near what many steps need, or the floor that a single drawn difference needs.
    many = float(gaussian_sigma(eps, delta, (FULL + _shift(dimension)) * math.sqrt(steps) / n))
    low = high = max(many, _shift(dimension) / (4 * batch))
    while not keeps(high):
        low, high = high, high * 1.5
    while low == high or keeps(low):
        low, high = low / 1.5, low
    while high > low * (1 + ROOM):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high


def _split(noise: float, n: int, batch: int, steps: int, delta: float, dimension: int) -> tuple[NoisySum, NoisySum]:
    """The two queries of a step, with the shares of the variance that moments like best (any share is sound)."""

    def parts(share: float) -> tuple[NoisySum, NoisySum]:
        difference = _shift(dimension) / (batch * noise * math.sqrt(1 - share))
        full = FULL / (n * noise * math.sqrt(share))
        return without_replacement(difference, steps, batch, n), every_record(full, steps)

    return min((parts(share) for share in SHARES), key=lambda releases: moments_epsilon(releases, delta)[0])


def _shift(dimension: int) -> float:
    """Of a sampled difference, over G. In one dimension all differences have the sign of x - x~, which is seen."""
    return 2.0 if dimension == 1 else 4.0


def _sizes(n: int, batch: int, steps: int) -> tuple[int, int, int]:
    n, batch = counted("n", n), counted("batch", batch)
    if batch > n:
        raise InvalidInput("batch", batch, f"at most n={n}", "Sampling is without replacement.")
    return n, batch, counted("steps", steps)
