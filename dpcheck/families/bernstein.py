"""Losses on a grid of [0, 1]^p, and the iterated Bernstein polynomial of what is known there, by matrix products."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput

Array = np.ndarray
LARGEST_GRID = 1 << 14  # points at which users report, and at which the server compares


@dataclass(frozen=True, eq=False)
class GridLosses:
    """One record a user, (n, r), and a public loss: `loss(points, records)` is (n, points), in [0, 1] on [0, 1]^p."""

    records: Array
    loss: Callable[[Array, Array], Array]
    p: int = 1

    def __post_init__(self) -> None:
        try:
            records = np.asarray(self.records, float)
        except (TypeError, ValueError):
            records = np.empty(0)  # no numbers; what they are stays with the user
        if records.ndim != 2 or len(records) < 1 or not np.all(np.isfinite(records)):
            shape = np.shape(self.records)
            raise InvalidInput("records", shape, "finite numbers, one row a user", "Give an array (n, r).") from None
        object.__setattr__(self, "records", records)

    @property
    def n(self) -> int:
        """Users."""
        return len(self.records)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.records

    def at(self, points: Array) -> Array:
        """The loss of every user at these points, (n, points)."""
        found = np.asarray(self.loss(points, self.records), float)
        if found.shape != (self.n, len(points)) or not np.all((found >= 0) & (found <= 1)):
            limit = f"numbers in [0, 1], one for each of {self.n} users and {len(points)} points"
            raise InvalidInput("losses", found.shape, limit, "Scale the loss, or clip the records to its domain.")
        return found

    def with_record(self, user: int, record: Array) -> GridLosses:
        """Another record for one user."""
        records = self.records.copy()
        records[user] = record
        return replace(self, records=records)


def squared_distance(points: Array, records: Array) -> Array:
    """‖w-x‖²/p for records in [0, 1]^p."""
    return ((points[None] - records[:, None]) ** 2).mean(axis=2)


def level(points: Array, records: Array) -> Array:
    """A loss that is the record's own number everywhere: it moves every grid point by the same."""
    return np.repeat(records[:, :1], len(points), axis=1)


def random_record(data: GridLosses, rng: np.random.Generator) -> GridLosses:
    """One record replaced by a uniform one."""
    return data.with_record(int(rng.integers(data.n)), rng.random((data.records.shape[1],)))


@dataclass(frozen=True)
class Grid:
    """The points v/k of [0, 1]^p, and the polynomial of order h through values there on a finer grid."""

    k: int
    p: int
    h: int
    finer: int = 100

    @cached_property
    def points(self) -> Array:
        """((k+1)^p, p), the last axis first to move."""
        return lattice_points(self.k, self.p)

    @cached_property
    def places(self) -> Array:
        """Where the server compares: fewer along an axis in higher dimension."""
        return lattice_points(self.cells, self.p)

    @property
    def cells(self) -> int:
        """Of the finer grid, along an axis."""
        return min(self.finer, int(LARGEST_GRID ** (1 / self.p)) - 1)

    @cached_property
    def polynomial(self) -> Array:
        """From values at `points` to those of the polynomial at `places`, a matrix."""
        return tensor_basis(self.cells, self.k, self.h, self.p)

    def values_at(self, values: Array, places: Array) -> Array:
        """Of the polynomials through rows of values, each at its own places (rows, q, p), (rows, q)."""
        rows, q, p = places.shape
        found = values[:, None, :]
        for axis in range(p):
            basis = iterated_basis(places[..., axis].ravel(), self.k, self.h).reshape(rows, q, self.k + 1, 1)
            found = (basis * found.reshape(rows, -1, self.k + 1, found.shape[2] // (self.k + 1))).sum(axis=2)
        return np.asarray(found[..., 0])

    def minimisers(self, values: Array, regulariser: float = 0.0) -> Array:
        """Of the polynomials through rows of values, and of so much of ‖w‖²/2 beside, (rows, p)."""
        beside = regulariser / 2 * (self.places**2).sum(axis=1)
        return np.asarray(self.places[np.argmin(values @ self.polynomial.T + beside, axis=1)])


def must_fit(k: int, p: int) -> None:
    """Refuse grids with more points than anyone would report at."""
    if (k + 1) ** p > LARGEST_GRID:
        raise InvalidInput("grid", f"({k}+1)^{p}", f"at most {LARGEST_GRID} points", "Take fewer cells a side.")


@lru_cache(maxsize=64)
def lattice_points(k: int, p: int) -> Array:
    """All v/k with v in {0..k}^p."""
    return np.indices((k + 1,) * p).reshape(p, -1).T / k


@lru_cache(maxsize=64)
def tensor_basis(cells: int, k: int, h: int, p: int) -> Array:
    """b^(h)_v at the points of a finer grid, a product over the axes."""
    axis = iterated_basis(np.arange(cells + 1) / cells, k, h)
    return reduce(np.kron, [axis] * p)


def iterated_basis(x: Array, k: int, h: int) -> Array:
    """b^(h)_(v,k)(x) = Σ (h over i)(-1)^(i-1) B^(i-1)(b_(v,k); x) over i = 1..h, (len(x), k+1)."""
    power, turn = bernstein_basis(x, k), bernstein_basis(np.arange(k + 1) / k, k)
    total = np.zeros_like(power)
    for i in range(1, h + 1):
        total += math.comb(h, i) * (-1) ** (i - 1) * power
        power = power @ turn
    return total


def bernstein_basis(x: Array, k: int) -> Array:
    """(k over v) x^v (1-x)^(k-v), (len(x), k+1)."""
    v = np.arange(k + 1)
    choose = np.array([math.comb(k, i) for i in v], float)
    return choose * np.asarray(x, float)[:, None] ** v * (1 - np.asarray(x, float)[:, None]) ** (k - v)
