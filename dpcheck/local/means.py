"""Randomisers for the mean of numbers in [-1, 1], or of any interval after scaling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from dpcheck.audits import Neighbours, one_user
from dpcheck.kernels import exact_draws
from dpcheck.kernels.reports import log_chances
from dpcheck.local.randomiser import Array, Randomiser, falls, must_hold

GRID = 2.0**-30  # of records and Laplace reports
CELLS = 1 << 24  # places of a piecewise report on each side of 0
HYBRID_FROM = 0.61  # below, one bit alone is best (Wang et al. 2019, Collecting and Analyzing Multidimensional Data)


@dataclass(frozen=True)
class Mean(Randomiser):
    """An unbiased report of a number in [-1, 1]; the server averages."""

    @property
    def neighbours(self) -> Neighbours:
        return one_user(low=-1.0, high=1.0)

    def must_be_inside(self, records: Array) -> Array:
        must_hold(np.abs(records) <= 1, "numbers in [-1, 1]", "Clip and scale them to a public range.")
        return records

    def aggregate(self, reports: Any) -> float:
        words = f"numbers of size at most {self.largest:.6g}"
        return float(self.reported(reports, None, words, lambda z: np.abs(z) <= self.largest * (1 + 1e-9)).mean())

    @property
    def largest(self) -> float:
        """The largest size of a report."""
        return math.inf

    def variance(self, n: int = 1, record: float | None = None) -> float:
        """Of the mean of n users who all hold this record; the largest there is without one."""
        if record is not None:
            return self.spread(abs(float(record))) / n
        return max(self.spread(0.0), self.spread(1.0)) / n

    def spread(self, size: float) -> float:
        """The variance of one report of a record of this size."""
        raise NotImplementedError


@dataclass(frozen=True)
class Laplace(Mean):
    """The record plus Laplace noise of scale 2/eps, both whole multiples of a fine grid: the law is exact."""

    @cached_property
    def scale(self) -> int:
        """Of the noise, in multiples of the grid, rounded up."""
        return math.ceil(2 / GRID / self.eps)

    def drawn(self, records: Array, rng: np.random.Generator) -> Array:
        whole = np.rint(records / GRID).astype(np.int64)
        return np.asarray((whole + exact_draws.discrete_laplace(rng, self.scale, records.shape)) * GRID)

    def loss(self, record: Any, other: Any) -> float:
        one, two = np.rint(self.checked([record, other]) / GRID)
        return float(abs(one - two)) / self.scale

    def log_density(self, outputs: Any, data: Any) -> Array:
        return -np.abs(np.asarray(outputs, float) - round(float(data) / GRID) * GRID) / (self.scale * GRID)

    def spread(self, size: float) -> float:
        return 2 * (self.scale * GRID) ** 2


@dataclass(frozen=True)
class OneBit(Mean):
    """One of two numbers, ±(e^eps + 1)/(e^eps - 1) (Duchi, Jordan, Wainwright 2018): a bit on the wire."""

    @cached_property
    def largest(self) -> float:
        return 1 / math.tanh(self.spent / 2)

    def drawn(self, records: Array, rng: np.random.Generator) -> Array:
        return np.asarray(self.largest * exact_draws.reports(rng, records, self.largest))

    def loss(self, record: Any, other: Any) -> float:
        one, two = self.checked([record, other]) / self.largest
        return max(abs(math.log1p(sign * one) - math.log1p(sign * two)) for sign in (1, -1))

    def log_density(self, outputs: Any, data: Any) -> Array:
        return log_chances(np.sign(np.asarray(outputs, float)), np.asarray(float(data)), self.largest)

    def spread(self, size: float) -> float:
        return self.largest**2 - size**2


@dataclass(frozen=True)
class Piecewise(Mean):
    """A number of [-C, C], each of a piece about the record e^eps times as likely as elsewhere (Wang et al. 2019).

    On a grid of 2 CELLS + 1 places, by whole numbers: the law is exact. The piece has a share of e^(eps/2) to 1.
    """

    @cached_property
    def length(self) -> int:
        """How many places the likely piece has."""
        return max(1, round((2 * CELLS + 1) * float(expit(-self.spent / 2))))

    @cached_property
    def near(self) -> float:
        """The chance of a report from the piece."""
        return float(expit(self.spent + math.log(self.length / (2 * CELLS + 1 - self.length))))

    @cached_property
    def reach(self) -> float:
        """The middle of a piece that begins or ends where the places do."""
        return CELLS - (self.length - 1) / 2

    @cached_property
    def unit(self) -> float:
        """The distance of two places, which makes a report unbiased: all places together balance."""
        return 1 / (self.reach * (self.near - (1 - self.near) * self.length / (2 * CELLS + 1 - self.length)))

    @cached_property
    def largest(self) -> float:
        return self.unit * CELLS

    def left(self, records: Any) -> Any:
        """The place where a record's piece begins."""
        return np.rint(records * self.reach - (self.length - 1) / 2).astype(np.int64)

    def drawn(self, records: Array, rng: np.random.Generator) -> Array:
        left = self.left(records)
        inside = left + rng.integers(0, self.length, size=records.shape)
        outside = rng.integers(-CELLS, CELLS + 1 - self.length, size=records.shape)
        outside += np.where(outside < left, 0, self.length)
        return np.asarray(self.unit * np.where(falls(rng, self.near, records.shape), inside, outside))

    def loss(self, record: Any, other: Any) -> float:
        one, two = self.left(self.checked([record, other]))
        return 0.0 if one == two else self.spent

    def log_density(self, outputs: Any, data: Any) -> Array:
        place, left = np.rint(np.asarray(outputs, float) / self.unit), self.left(np.asarray(float(data)))
        return np.where((place >= left) & (place < left + self.length), self.spent, 0.0)

    def spread(self, size: float) -> float:
        half = math.exp(self.spent / 2)
        return size**2 / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)


@dataclass(frozen=True)
class Hybrid(Mean):
    """`Piecewise` with probability 1 - e^(-eps/2) where eps > 0.61, `OneBit` else: the least variance of the four."""

    @cached_property
    def share(self) -> float:
        """How often the piecewise report is sent: a public coin."""
        return 1 - math.exp(-self.eps / 2) if self.eps > HYBRID_FROM else 0.0

    @cached_property
    def parts(self) -> tuple[OneBit, Piecewise]:
        return OneBit(self.eps), Piecewise(self.eps)

    @cached_property
    def largest(self) -> float:
        return max(part.largest for part in self.parts[: 2 if self.share else 1])

    def drawn(self, records: Array, rng: np.random.Generator) -> Array:
        bit, pieces = (part.drawn(records, rng) for part in self.parts)
        return np.where(falls(rng, self.share, records.shape), pieces, bit)

    def loss(self, record: Any, other: Any) -> float:
        return max(part.loss(record, other) for part in self.parts[: 2 if self.share else 1])

    def log_density(self, outputs: Any, data: Any) -> Array:
        bit, pieces = self.parts
        z = np.asarray(outputs, float)
        return np.where(np.abs(z) == bit.largest, bit.log_density(z, data), pieces.log_density(z, data))

    def spread(self, size: float) -> float:
        bit, pieces = self.parts
        return self.share * pieces.spread(size) + (1 - self.share) * bit.spread(size)
