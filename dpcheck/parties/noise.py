"""Noise in whole cells of a public grid, made so that nobody knows all of it.

Inside the computation: the digits of a geometric number are independent coins, each made of secret fair bits, and the
difference of two such numbers is discrete Laplace noise of which nobody knows anything (Dwork, Kenthapadi, McSherry,
Mironov and Naor 2006). In shares: each party adds discrete Gaussian noise of its own, so that c parties who pool what
they know leave the noise of the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mpmath
import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels.exact_draws import Whole, discrete_laplace, kept

PRECISION = 128  # fair bits of a coin
FARTHEST = 64.0  # digits are kept up to this many scales: the tail beyond half of that is what delta pays for
LARGEST_DEVIATION = 1 << 12  # cells: its fourth power is still a 64-bit number


@dataclass(frozen=True)
class InsideNoise:
    """Discrete Laplace noise of this scale, in cells: the difference of two geometric numbers made of fair bits."""

    scale: float

    def __post_init__(self) -> None:
        if not 1 <= self.scale < 2.0**40:
            raise InvalidInput("scale of the noise in cells", self.scale, "from 1 to 2^40", "Choose another grid.")

    @cached_property
    def coins(self) -> tuple[int, ...]:
        """2^PRECISION times the chance that each digit is 1, 1/(1 + exp(2^i/scale))."""
        with mpmath.workprec(4 * PRECISION):
            count = math.floor(math.log2(FARTHEST * self.scale)) + 1
            return tuple(int(mpmath.nint(mpmath.ldexp(self._chance(i), PRECISION))) for i in range(count))

    def _chance(self, digit: int) -> Any:
        return 1 / (1 + mpmath.exp(mpmath.mpf(2) ** digit / mpmath.mpf(self.scale)))

    @property
    def largest(self) -> int:
        """No noise is larger."""
        return (1 << len(self.coins)) - 1

    @property
    def bits(self) -> int:
        """Fair bits for one number."""
        return 2 * len(self.coins) * PRECISION

    @cached_property
    def rounding(self) -> float:
        """What the rounding of the coins adds to epsilon, at most: four times the error of all log odds."""
        with mpmath.workprec(4 * PRECISION):
            whole = mpmath.mpf(2) ** PRECISION
            odds = (mpmath.log(coin / (whole - coin)) for coin in self.coins)
            off = sum(abs(found + mpmath.mpf(2) ** i / mpmath.mpf(self.scale)) for i, found in enumerate(odds))
            return float(4 * off)

    def delta(self, width: int) -> float:
        """The chance that one of `width` numbers lies so far out that its neighbour's cannot, rounded up."""
        return 2.02 * width * math.exp(-(self.largest // 2) / self.scale)

    def made_of(self, bits: Any, width: int) -> Any:
        """`width` numbers from width * self.bits fair bits: plain ones, or shares of secret ones.

        A coin is a ladder: from its last binary digit to the first, OR with a fair bit where the digit is 1, AND else.
        """
        rungs = bits.reshape(PRECISION, 2 * width, len(self.coins))
        heads = rungs[0] * 0
        for place in range(PRECISION):
            fair = rungs[place]
            both = fair * heads
            either = np.array([coin >> place & 1 for coin in self.coins])
            heads = both + (fair + heads - both - both) * either
        values = (heads * np.array([1 << i for i in range(len(self.coins))])).sum(axis=1)
        return values[:width] - values[width:]


@dataclass(frozen=True)
class SharedNoise:
    """A party's own discrete Gaussian noise, of this variance in squared cells."""

    variance: int

    def __post_init__(self) -> None:
        if not 100 <= self.variance <= LARGEST_DEVIATION**2:
            limit = f"from 100 to {LARGEST_DEVIATION**2}"
            raise InvalidInput("variance of the noise in cells", self.variance, limit, "Choose another grid.")

    @property
    def largest(self) -> int:
        """Beyond any draw: the chance is below exp(-2000)."""
        return 64 * math.isqrt(self.variance)

    def draw(self, rng: np.random.Generator, shape: Any) -> Whole:
        """Whole numbers z of probability proportional to exp(-z²/(2 variance)) (Canonne, Kamath and Steinke 2020)."""
        step = math.isqrt(self.variance) + 1
        total = math.prod(np.atleast_1d(shape).tolist())
        found, missing = np.empty(total, np.int64), np.arange(total)
        while len(missing):
            z = discrete_laplace(rng, step, len(missing))
            behind = (np.abs(z) * step - self.variance) ** 2
            taken = kept(rng, behind, 2 * self.variance * step**2)
            found[missing[taken]] = z[taken]
            missing = missing[~taken]
        return found.reshape(shape)


Noise = InsideNoise | SharedNoise
