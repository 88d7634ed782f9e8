"""Randomisers for how often each of k items is held: a report supports some items, the true one more often.

With p the chance that a report supports the item its user holds, and q that it supports another given one, the share of
an item is estimated without bias by (share of reports that support it - q)/(p - q).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from dpcheck.audits import Neighbours, one_user
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.local.randomiser import Array, Randomiser, falls, must_hold
from dpcheck.problems.constraints import Simplex
from dpcheck.settings import allowing, flag

PRIME = (1 << 31) - 1  # of the hash functions (a x + b mod PRIME) mod g: products stay in 64 bits
HELD = 1 << 22  # hashes that a server computes at once


@dataclass(frozen=True)
class Frequencies(Randomiser):
    """A report of one of the items 0, ..., k - 1."""

    k: int = allowing(
        2,
        "a whole number from 2 to 2^30",
        lambda v: isinstance(v, int | np.integer) and not isinstance(v, bool) and 2 <= int(v) <= 1 << 30,
        refuses=(1, 0, -3, 2.5, True, "2", None),
        remedy="Count the items.",
    )

    @property
    @abstractmethod
    def p(self) -> float:
        """The chance that a report supports its user's item."""

    @property
    @abstractmethod
    def q(self) -> float:
        """The chance that a report supports another given item."""

    @abstractmethod
    def support(self, reports: Any) -> tuple[Array, int]:
        """How many reports support each item, and how many reports there are."""

    @property
    def neighbours(self) -> Neighbours:
        return one_user(values=range(self.k))

    def must_be_inside(self, records: Array) -> Array:
        held = (records >= 0) & (records < self.k) & (records == np.floor(records))
        must_hold(held, f"whole numbers from 0 to {self.k - 1}", "Number the items from 0.")
        return records.astype(np.int64)

    def aggregate(self, reports: Any, on_simplex: bool = False) -> Array:
        """The share of each item, without bias; `on_simplex` moves it to the nearest that are shares at all."""
        counts, n = self.support(reports)
        found = (counts / n - self.q) / (self.p - self.q)
        return np.asarray(Simplex().project(found[None])[0]) if on_simplex else found

    def loss(self, record: Any, other: Any) -> float:
        one, two = self.checked([record, other])
        return 0.0 if one == two else self.most_loss

    @property
    def most_loss(self) -> float:
        """Between any two different items."""
        return self.spent

    def variance(self, n: int = 1, share: float = 0.0) -> float:
        """Of the estimated share of an item that this share of n users hold."""
        p, q = self.p, self.q
        return (share * p * (1 - p) + (1 - share) * q * (1 - q)) / (n * (p - q) ** 2)


@dataclass(frozen=True)
class KaryResponse(Frequencies):
    """The item itself with probability e^eps/(e^eps + k - 1), any other else (Warner 1965; Kairouz et al. 2016)."""

    @cached_property
    def p(self) -> float:
        return float(expit(self.spent - math.log(self.k - 1)))

    @cached_property
    def q(self) -> float:
        return (1 - self.p) / (self.k - 1)

    def drawn(self, records: Array, rng: np.random.Generator) -> Array:
        others = (records + rng.integers(1, self.k, size=records.shape)) % self.k
        return np.where(falls(rng, self.p, records.shape), records, others)

    def support(self, reports: Any) -> tuple[Array, int]:
        found = self.reported(reports, None, "an item", lambda z: (z >= 0) & (z < self.k) & (z == np.floor(z)))
        return np.bincount(found.astype(np.int64), minlength=self.k), len(found)

    @property
    def most_loss(self) -> float:
        return math.log(self.p / self.q)

    def log_density(self, outputs: Any, data: Any) -> Array:
        return np.where(np.asarray(outputs) == int(data), math.log(self.p), math.log(self.q))


@dataclass(frozen=True)
class UnaryEncoding(Frequencies):
    """A bit for each item. Optimised: the true one is sent with probability 1/2, another one with 1/(e^eps + 1) (Wang
    et al. 2017); else both bits tell the truth with probability e^(eps/2)/(e^(eps/2) + 1), as in basic RAPPOR.
    """

    optimised: bool = flag(True)

    @cached_property
    def p(self) -> float:
        return 0.5 if self.optimised else float(expit(self.spent / 2))

    @cached_property
    def q(self) -> float:
        return float(expit(-self.spent)) if self.optimised else float(expit(-self.spent / 2))

    def drawn(self, records: Array, rng: np.random.Generator) -> Array:
        bits = falls(rng, self.q, (len(records), self.k))
        bits[np.arange(len(records)), records] = falls(rng, self.p, len(records))
        return bits

    def support(self, reports: Any) -> tuple[Array, int]:
        found = self.reported(reports, self.k, "a bit for each item", lambda z: (z == 0) | (z == 1))
        return found.sum(axis=0), len(found)

    @property
    def most_loss(self) -> float:
        return math.log(self.p / self.q) + math.log((1 - self.q) / (1 - self.p))

    def log_density(self, outputs: Any, data: Any) -> Array:
        own = np.asarray(outputs, float)[:, int(data)]
        return own * self.most_loss  # up to what all items' bits have in common


@dataclass(frozen=True)
class LocalHashing(Frequencies):
    """A hash function drawn for this user, in the open, and a `KaryResponse` about the hash (Wang et al. 2017).

    A report is (a, b, answer), the function being x -> (a x + b mod P) mod g: short however many items there are.
    """

    @cached_property
    def g(self) -> int:
        """The number of hashes: e^eps + 1, rounded, is the best."""
        return min(round(math.exp(self.eps)) + 1, 1 << 20)

    @cached_property
    def answer(self) -> KaryResponse:
        return KaryResponse(self.eps, self.g)

    @property
    def p(self) -> float:
        return self.answer.p

    @cached_property
    def q(self) -> float:
        # A hash is uniform up to g/P: what is left over of P goes to the first few.
        return 1 / self.answer.k

    def hashes(self, a: Array, b: Array, items: Array) -> Array:
        """Of each user's function at each item; arrays broadcast."""
        return (a * items + b) % PRIME % self.answer.k

    def drawn(self, records: Array, rng: np.random.Generator) -> Array:
        a, b = rng.integers(1, PRIME, len(records)), rng.integers(0, PRIME, len(records))
        return np.column_stack([a, b, self.answer.drawn(self.hashes(a, b, records), rng)])

    def support(self, reports: Any) -> tuple[Array, int]:
        g = self.answer.k

        def readable(z: Array) -> Any:
            whole = (z == np.floor(z)).all() and (z >= 0).all()
            return whole and (z[:, :2] < PRIME).all() and (z[:, 2] < g).all()

        found = self.reported(reports, 3, f"a hash function and one of its {g} values", readable).astype(np.int64)
        counts, items, held = np.zeros(self.k, np.int64), np.arange(self.k), max(1, HELD // self.k)
        for first in range(0, len(found), held):
            a, b, seen = found[first : first + held, :, None].transpose(1, 0, 2)
            counts += (self.hashes(a, b, items) == seen).sum(axis=0)
        return counts, len(found)

    @property
    def most_loss(self) -> float:
        return self.answer.most_loss

    def log_density(self, outputs: Any, data: Any) -> Array:
        a, b, seen = np.asarray(outputs).astype(np.int64).T
        own = self.hashes(a, b, np.asarray(int(data))) == seen
        return np.where(own, math.log(self.answer.p), math.log(self.answer.q))


@dataclass(frozen=True)
class HadamardResponse(Frequencies):
    """A column of a Hadamard matrix: one where the item's row has a 1 with probability e^eps/(e^eps + 1) (Acharya, Sun,
    Zhang 2019). log2 k bits a report, and a server of k log k steps after counting.
    """

    @cached_property
    def size(self) -> int:
        """Of the matrix: the first row, all ones, is no item's."""
        return 1 << self.k.bit_length()

    @cached_property
    def p(self) -> float:
        return float(expit(self.spent))

    @property
    def q(self) -> float:
        return 0.5

    def ones(self, items: Any, columns: Any) -> Array:
        """Whether the items' rows hold a 1 in these columns."""
        return np.bitwise_count(np.bitwise_and(np.asarray(items) + 1, columns)) % 2 == 0

    def drawn(self, records: Array, rng: np.random.Generator) -> Array:
        columns = rng.integers(0, self.size, len(records))
        flipped = self.ones(records, columns) != falls(rng, self.p, len(records))
        lowest = (records + 1) & -(records + 1)  # a bit of the row's number: flipping it turns 1 to -1
        return np.where(flipped, columns ^ lowest, columns)

    def support(self, reports: Any) -> tuple[Array, int]:
        words = f"a column from 0 to {self.size - 1}"
        found = self.reported(reports, None, words, lambda z: (z >= 0) & (z < self.size) & (z == np.floor(z)))
        sums = walsh_hadamard(np.bincount(found.astype(np.int64), minlength=self.size))
        return (len(found) + sums[1 : self.k + 1]) / 2, len(found)

    def log_density(self, outputs: Any, data: Any) -> Array:
        own = self.ones(int(data), np.asarray(outputs).astype(np.int64))
        return np.where(own, self.spent, 0.0)


@dataclass(frozen=True)
class SubsetSelection(Frequencies):
    """A set of about k/(e^eps + 1) items, which holds the true one more often (Ye and Barg 2018).

    The least variance of all these for few items, and the longest reports.
    """

    @cached_property
    def size(self) -> int:
        """Of the set."""
        return max(1, round(self.k * float(expit(-self.spent))))

    @cached_property
    def p(self) -> float:
        return float(expit(self.spent + math.log(self.size / (self.k - self.size))))

    @cached_property
    def q(self) -> float:
        return (self.size - self.p) / (self.k - 1)

    def drawn(self, records: Array, rng: np.random.Generator) -> Array:
        order = rng.random((len(records), self.k))
        taken = falls(rng, self.p, len(records))
        order[np.arange(len(records)), records] = np.where(taken, -1.0, 2.0)
        return np.sort(np.argpartition(order, self.size - 1, axis=1)[:, : self.size], axis=1)

    def support(self, reports: Any) -> tuple[Array, int]:
        one = np.asarray(reports)[:, None] if self.size == 1 and np.ndim(reports) == 1 else reports
        words = "the items of a set, in order"

        def readable(z: Array) -> Any:
            return (z >= 0).all() and (z < self.k).all() and (z == np.floor(z)).all() and (np.diff(z) > 0).all()

        found = self.reported(one, self.size, words, readable)
        return np.bincount(found.astype(np.int64).ravel(), minlength=self.k), len(found)

    def log_density(self, outputs: Any, data: Any) -> Array:
        sets = np.asarray(outputs, float)
        own = (sets.reshape(len(sets), -1) == int(data)).any(axis=1)
        return np.where(own, self.spent, 0.0)


ORACLES = (SubsetSelection, UnaryEncoding, LocalHashing, HadamardResponse, KaryResponse)


def best_frequencies(k: int, eps: float, shortest: bool = False) -> Frequencies:
    """The randomiser of least variance for a rare item; `shortest`: among those whose reports do not grow with k."""
    known = (LocalHashing, HadamardResponse, KaryResponse) if shortest else ORACLES
    return min((kind(eps, k) for kind in known), key=lambda one: one.variance())


def walsh_hadamard(values: Array) -> Array:
    """The Hadamard matrix times values, whose number is a power of two."""
    found = np.array(values, float)
    if len(found) & (len(found) - 1):
        raise InvalidInput("number of values", len(found), "a power of two", "Pad them with zeros.")
    half = 1
    while half < len(found):
        pairs = found.reshape(-1, 2, half)
        found = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        half *= 2
    return found
