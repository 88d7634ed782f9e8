"""Draws whose law is exact, by integer arithmetic alone: what delta = 0 needs.

The tail of a double's logarithm misses numbers: one dataset attains some that its neighbour cannot, in about 2e-7 of
all draws of Laplace noise. Here uniform integers are compared with integers (Canonne, Kamath and Steinke 2020, The
Discrete Gaussian for Differential Privacy, Algorithms 1 and 2), so that probabilities are those of the formulas.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcheck.bounds.language.errors import InvalidInput

Whole = NDArray[np.int64]
LARGEST_SCALE = 1 << 56  # times the few dozen rounds of a flip it is still a 64-bit number


def flips(rng: np.random.Generator, numerators: Whole, denominator: int) -> NDArray[np.bool_]:
    """True with probability exp(-numerator/denominator) each, for numerators from 0 to the denominator.

    As long as a coin of probability x/k falls heads, k = 1, 2, ...: an odd number of rounds has probability e^-x.
    """
    odd = np.zeros(numerators.shape, bool)
    running = np.arange(numerators.size)
    left, k = numerators.ravel(), 1
    while len(running):
        if k > 100:  # of probability below 1/100!
            raise InvalidInput("rounds", k, "at most 100", "The generator is broken.")
        heads = rng.integers(0, denominator * k, size=len(running)) < left
        odd.ravel()[running[~heads]] = k % 2 == 1
        running, left, k = running[heads], left[heads], k + 1
    return odd


def ones(rng: np.random.Generator, shape: int) -> Whole:
    """How often a coin of probability exp(-1) falls heads before tails."""
    count = np.zeros(shape, np.int64)
    running = np.arange(shape)
    while len(running):
        running = running[flips(rng, np.ones(len(running), np.int64), 1)]
        count[running] += 1
    return count


def discrete_laplace(rng: np.random.Generator, scale: int, shape: Any) -> Whole:
    """Whole numbers z of probability proportional to exp(-|z| / scale), the scale being whole."""
    if not 1 <= scale <= LARGEST_SCALE:
        raise InvalidInput("scale", scale, f"a whole number from 1 to {LARGEST_SCALE}", "Use a coarser grid.")
    total = math.prod(np.atleast_1d(shape).tolist())
    found, missing = np.empty(total, np.int64), np.arange(total)
    while len(missing):
        size = rng.integers(0, scale, size=len(missing))
        taken = flips(rng, size, scale)
        size, places = size[taken], missing[taken]
        size = size + scale * ones(rng, len(size))
        minus = rng.integers(0, 2, size=len(size)).astype(bool)
        fine = ~(minus & (size == 0))  # 0 has no sign: once is enough
        found[places[fine]] = np.where(minus, -size, size)[fine]
        missing = np.concatenate([missing[~taken], places[~fine]])
    return found.reshape(shape)


def exponential_choice(rng: np.random.Generator, behind: Whole, scale: int) -> Whole:
    """One column a row of `behind`, (k, m), with probability proportional to exp(-behind / scale).

    By rejection: a column is drawn uniformly and kept with its probability; some column must be 0 behind.
    """
    k, m = behind.shape
    found, missing = np.empty(k, np.int64), np.arange(k)
    while len(missing):
        column = rng.integers(0, m, size=len(missing))
        steps, rest = np.divmod(behind[missing, column], scale)
        kept = flips(rng, rest, scale)
        # exp(-steps): as many more heads in a row, which are more than can be counted only where none is likely.
        kept[kept] = ones(rng, int(kept.sum())) >= steps[kept]
        found[missing[kept]] = column[kept]
        missing = missing[~kept]
    return found
