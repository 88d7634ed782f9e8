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
from itertools import groupby
from typing import Any, NamedTuple

import mpmath
import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels.exact_draws import Whole, discrete_laplace, kept

RELATIVE = 40  # binary digits to which the odds of a coin are right
FARTHEST = 64.0  # digits are kept up to this many scales: the tail beyond half of that is what delta pays for
WORKING = 512  # bits of the arithmetic in which chances are computed
LARGEST_DEVIATION = 1 << 12  # cells: its fourth power is still a 64-bit number


class Coin(NamedTuple):
    """Heads with probability chance / 2^places."""

    chance: int
    places: int

    @property
    def log_odds(self) -> Any:
        return mpmath.log(mpmath.mpf(self.chance) / (2**self.places - self.chance))


@dataclass(frozen=True)
class InsideNoise:
    """Discrete Laplace noise of this scale, in cells: the difference of two geometric numbers made of fair bits."""

    scale: float

    def __post_init__(self) -> None:
        if not 1 <= self.scale < 2.0**40:
            raise InvalidInput("scale of the noise in cells", self.scale, "from 1 to 2^40", "Choose another grid.")

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """One a binary digit of a geometric number: digit i is 1 with chance 1/(1 + exp(2^i/scale))."""
        with mpmath.workprec(WORKING):
            return tuple(self._coin(i) for i in range(math.floor(math.log2(FARTHEST * self.scale)) + 1))

    def _coin(self, digit: int) -> Coin:
        """To as many places as its chance, however small, needs."""
        odds = mpmath.mpf(2) ** digit / mpmath.mpf(self.scale)
        places = RELATIVE + math.ceil(float(odds) / math.log(2))
        return Coin(int(mpmath.nint(mpmath.ldexp(1 / (1 + mpmath.exp(odds)), places))), places)

    @property
    def largest(self) -> int:
        """No noise is larger."""
        return (1 << len(self.coins)) - 1

    @property
    def bits(self) -> int:
        """Fair bits for one number."""
        return 2 * sum(coin.places for coin in self.coins)

    @cached_property
    def rounding(self) -> float:
        """What rounding the coins adds to epsilon, a coordinate: at most four times the error of all log odds."""
        with mpmath.workprec(WORKING):
            exact = (mpmath.mpf(2) ** i / mpmath.mpf(self.scale) for i in range(len(self.coins)))
            return float(4 * sum(abs(coin.log_odds + odds) for coin, odds in zip(self.coins, exact, strict=True)))

    def delta(self, width: int) -> float:
        """The chance that one of `width` numbers lies so far out that its neighbour's cannot, rounded up."""
        return 2.02 * width * math.exp(-(self.largest // 2) / self.scale)

    def made_of(self, bits: Any, width: int) -> Any:
        """`width` numbers from width * self.bits fair bits: plain ones, or shares of secret ones.

        A coin is a ladder: from its last binary place to the first, OR with a fair bit where the place is 1, AND else.
        Coins of as many places are flipped side by side.
        """
        total: Any = 0
        used, digit = 0, 0
        for places, alike in groupby(self.coins, key=lambda coin: coin.places):
            coins = list(alike)
            take = places * 2 * width * len(coins)
            rungs = bits[used : used + take].reshape(places, 2 * width, len(coins))
            heads = rungs[0] * np.array([coin.chance & 1 for coin in coins])
            for place in range(1, places):
                both = rungs[place] * heads
                either = np.array([coin.chance >> place & 1 for coin in coins])
                heads = both + (rungs[place] + heads - both - both) * either
            total = total + (heads * np.array([1 << digit + k for k in range(len(coins))])).sum(axis=1)
            used, digit = used + take, digit + len(coins)
        return total[:width] - total[width:]


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
