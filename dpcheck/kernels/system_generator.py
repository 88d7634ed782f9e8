"""Draws from the operating system's cryptographic generator: what is released is never to be drawn again."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from scipy import special

FAR = 2.0**53  # tails below it have fewer bits than a double
WORDS = 1 << 12  # held at once: a call to the system costs as much as a few hundred of them


class SystemGenerator(np.random.Generator):
    """A Generator of which every draw that noise needs is made of bytes of the system, by the inverse of its law.

    Nothing reproduces it: it has no seed. What is not overridden here comes from numpy's own generator, which the
    system seeded.
    """

    def __init__(self) -> None:
        super().__init__(np.random.PCG64())
        self._held = np.empty(0, np.uint64)

    def words(self, count: int) -> np.ndarray:
        """Uniform whole numbers below 2^64."""
        if count > len(self._held):
            self._held = np.frombuffer(os.urandom(8 * max(count, WORDS)), np.uint64)
        found, self._held = self._held[:count], self._held[count:]
        return found

    def bytes(self, length: int) -> bytes:
        return os.urandom(length)

    def random(self, size: Any = None) -> Any:  # type: ignore[override]
        found = (self.words(_count(size)) >> np.uint64(11)) * 2.0**-53
        return _shaped(found, size)

    def inside(self, size: Any = None) -> Any:
        """Uniform numbers that are neither 0 nor 1."""
        found = ((self.words(_count(size)) >> np.uint64(12)) + 0.5) * 2.0**-52
        return _shaped(found, size)

    def integers(self, low: int, high: int | None = None, size: Any = None) -> Any:  # type: ignore[override]
        """From low (0 without `high`) to below high: words over the largest multiple of the span are drawn again."""
        first, span = (0, low) if high is None else (low, high - low)
        fair = np.uint64((1 << 64) // span * span - 1)
        found = self.words(_count(size)).copy()
        while len(unfair := np.flatnonzero(found > fair)):
            found[unfair] = self.words(len(unfair))
        return _shaped((found % np.uint64(span)).astype(np.int64) + first, size)

    def standard_normal(self, size: Any = None, out: Any = None) -> Any:  # type: ignore[override]
        """A sign and the tail that it leaves, of 63 bits and 52 more where it is small: 12 deviations at most."""
        words = self.words(_count(size) if out is None else out.size)
        tails = (words >> np.uint64(1)).astype(float)
        far = np.flatnonzero(tails < FAR)
        tails[far] += self.inside(len(far))
        found = np.copysign(special.ndtri(tails * 2.0**-64), np.where(words & np.uint64(1), 1.0, -1.0))
        if out is None:
            return _shaped(found, size)
        out[...] = found.reshape(out.shape)
        return out

    def standard_exponential(self, size: Any = None) -> Any:  # type: ignore[override]
        return -np.log(self.inside(size))

    def gumbel(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:  # type: ignore[override]
        return loc - scale * np.log(self.standard_exponential(size))

    def laplace(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:  # type: ignore[override]
        sign = 2.0 * self.integers(2, size=size) - 1.0
        return loc + scale * sign * self.standard_exponential(size)

    def chisquare(self, df: Any, size: Any = None) -> Any:
        """By the inverse of the nearer tail, whichever a fair coin says."""
        tails, lower = 0.5 * self.inside(size), self.integers(2, size=size) == 1
        return 2 * np.where(lower, special.gammaincinv(df / 2, tails), special.gammainccinv(df / 2, tails))

    def permuted(self, x: Any, *, axis: int) -> Any:  # type: ignore[override]
        """Rows (or columns) in random order, by sorting numbers of 64 bits."""
        return np.take_along_axis(x, self.words(np.size(x)).reshape(np.shape(x)).argsort(axis=axis), axis=axis)


def _count(size: Any) -> int:
    return 1 if size is None else math.prod(np.atleast_1d(size).tolist())


def _shaped(found: np.ndarray, size: Any) -> Any:
    return found[0] if size is None else found.reshape(size)
