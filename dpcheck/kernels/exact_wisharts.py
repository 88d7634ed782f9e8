"""Differences of Wishart matrices rounded to whole numbers, exactly: what symmetric matrices need for delta = 0.

Entries are sums of products of normal numbers, each computed from the first bits of its uniform numbers with a bound on
the error. Where that leaves the rounding of an entry open, intervals and more bits of the same numbers decide it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath.ctx_iv import MPIntervalContext
from numpy.typing import NDArray

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels.exact_draws import LARGEST_SCALE, LEADING, MORE, Whole, floor_of, normals

HELD = 1 << 21  # uniform numbers at once


def dimension(width: int) -> int:
    """d of a symmetric matrix whose upper triangle has so many entries."""
    d = (math.isqrt(8 * width + 1) - 1) // 2
    if d * (d + 1) // 2 != width:
        raise InvalidInput("numbers of an answer", width, "d(d+1)/2, a symmetric matrix", "Send its upper triangle.")
    return d


def rounded_wishart_difference(rng: np.random.Generator, scale: int, trials: int, width: int) -> Whole:
    """scale/2·(GGᵀ - HHᵀ) rounded to whole numbers, the upper triangles, (trials, d(d+1)/2)."""
    d = dimension(width)
    most = LARGEST_SCALE // (64 * d * (d + 1))
    if not 1 <= scale <= most:
        raise InvalidInput("scale", scale, f"a whole number from 1 to {most}", "Use a coarser grid.")
    pairs, found = d * (d + 1), np.empty((trials, width), np.int64)
    rows = max(1, HELD // (2 * pairs))
    for first in range(0, trials, rows):
        leading = rng.integers(0, 1 << LEADING, size=(min(rows, trials - first), 2 * pairs))
        z, off = in_doubles(leading, scale, d)
        open_ = ~(np.abs(np.abs(z - np.rint(z)) - 0.5) > off)  # an error that is no number leaves it open
        with np.errstate(invalid="ignore"):
            part = np.rint(z).astype(np.int64)
        for trial in np.flatnonzero(open_.any(axis=1)):
            refined = Refining(rng, [int(bits) for bits in leading[trial]], scale, d)
            for entry in np.flatnonzero(open_[trial]):
                part[trial, entry] = refined.entry(int(entry))
        found[first : first + len(part)] = part
    return found


def in_doubles(leading: Whole, scale: int, d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Upper triangles from the first bits of uniform numbers, and how far off each entry may be."""
    g, off = (x.reshape(len(leading), 2, d, d + 1) for x in normals(leading))
    upper = np.triu_indices(d)

    def products(left: Any, right: Any, sign: int) -> NDArray[np.float64]:
        both = left @ right.transpose(0, 1, 3, 2)
        return np.asarray((both[:, 0] + sign * both[:, 1])[:, upper[0], upper[1]])

    size = np.abs(g)
    with np.errstate(invalid="ignore", over="ignore"):
        z = scale / 2 * products(g, g, -1)
        loose = products(size, off, 1) + products(off, size, 1) + products(off, off, 1)
        rounding = (d + 8) * 2.0**-52 * products(size, size, 1)
        return z, scale / 2 * (1 + 2.0**-20) * (loose + rounding) + 2.0**-50 * np.abs(z)


class Refining:
    """One trial in interval arithmetic: bits of a uniform number are drawn when they are asked for, and kept."""

    def __init__(self, rng: np.random.Generator, leading: list[int], scale: int, d: int) -> None:
        self.rng, self.scale, self.d = rng, scale, d
        self.bits: list[tuple[int, int]] = [(first, LEADING) for first in leading]
        self.upper = list(zip(*(axis.tolist() for axis in np.triu_indices(d)), strict=True))
        self.iv = MPIntervalContext()

    def entry(self, place: int) -> int:
        """The rounded entry, from as many bits as it takes."""
        (i, j), known = self.upper[place], LEADING
        while True:
            known += MORE
            self.iv.prec = known + 32
            value = self.value(i, j, known)
            if value is not None and floor_of(value.a) == floor_of(value.b):
                return floor_of(value.a)

    def value(self, i: int, j: int, known: int) -> Any:
        """An interval for the entry, and a half more; None where a uniform number may be 0 by its `known` bits."""
        half, places = self.iv.mpf(1) / 2, range(self.d + 1)
        total = self.iv.mpf(0)
        for which, sign in ((0, 1), (1, -1)):
            one, other = ([self.normal(which, row, column, known) for column in places] for row in (i, j))
            if None in one or None in other:
                return None
            total += sign * sum((a**2 if i == j else a * b for a, b in zip(one, other, strict=True)), self.iv.mpf(0))
        return half * self.scale * total + half

    def normal(self, which: int, row: int, column: int, known: int) -> Any:
        """One normal number, from `known` bits of its uniform ones; None where these are 0."""
        pairs = self.d * (self.d + 1)
        at = (which * self.d + row) * (self.d + 1) + column
        turned: Callable[[Any], Any] = self.iv.cos if at < pairs else self.iv.sin
        size = self.uniform(at % pairs, known)
        if not size.a > 0:
            return None
        return turned(2 * self.iv.pi * self.uniform(pairs + at % pairs, known)) * self.iv.sqrt(-2 * self.iv.log(size))

    def uniform(self, place: int, known: int) -> Any:
        """The interval that its first bits leave, at least `known` of them."""
        while self.bits[place][1] < known:
            value, count = self.bits[place]
            fresh = int.from_bytes(self.rng.bytes(MORE // 8), "little")
            self.bits[place] = (value << MORE) | fresh, count + MORE
        value, count = self.bits[place]
        return self.iv.mpf([value, value + 1]) / self.iv.mpf(2) ** count
