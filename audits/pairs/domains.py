"""Domains: the values one record may take, with the corners where violations sit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import whole

Ball = Literal["l1", "l2", "linf"]
ORDERS: dict[str, float] = {"l1": 1, "l2": 2, "linf": np.inf}
SLACK = 1e-9
Record = Any


@dataclass(frozen=True)
class Domain:
    """The values one record may take: numbers in [low, high], vectors in a box or a ball, or a finite set.

    `d` is None for scalar records. With `ball`, vectors of that norm at most `high`. With `values`, exactly those.
    """

    low: float = 0.0
    high: float = 1.0
    d: int | None = None
    ball: Ball | None = None
    values: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        if self.values is not None:
            if len({key(value) for value in self.values}) < 2:
                raise InvalidInput("values", self.values, "at least two different values", "List every category.")
            return
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise InvalidInput("(low, high)", (self.low, self.high), "finite with low < high", "Pass low=0, high=1.")
        if self.d is not None:
            whole("d", self.d, "None (scalars) or an integer >= 1", "Pass the number of columns.")
        if self.ball is not None and (
            not isinstance(self.ball, str) or self.ball not in ORDERS or self.high <= 0 or self.d is None
        ):
            limit = "'l1', 'l2' or 'linf', with d given and high (the radius) > 0"
            raise InvalidInput("ball", self.ball, limit, "Pass ball='l2', high=1, d=5 for example.")

    def contains(self, record: Any) -> bool:
        """Whether a record lies in the domain (up to rounding)."""
        if self.values is not None:
            return any(same(record, value) for value in self.values)
        row = np.asarray(record, float)
        if row.shape != (() if self.d is None else (self.d,)):
            return False
        if self.ball is not None:
            return bool(np.linalg.norm(row, ORDERS[self.ball]) <= self.high * (1 + SLACK))
        return bool(np.all(row >= self.low - SLACK) and np.all(row <= self.high + SLACK))

    def corners(self) -> list[Any]:
        """Extreme and special records, all different, the most telling first."""
        if self.values is not None:
            return list(self.values)
        if self.d is None:
            return [self.low, self.high, self.middle]
        found: dict[Any, np.ndarray] = {}
        for row in self._rows():
            fitted = self.fit(row)
            found.setdefault(key(fitted), fitted)
        return list(found.values())

    @property
    def middle(self) -> float:
        """Zero where it lies inside, else halfway."""
        low = -self.high if self.ball else self.low
        return 0.0 if low < 0 < self.high else (low + self.high) / 2

    def random(self, rng: np.random.Generator, edge: float = 0.5) -> Record:
        """A record drawn from the boundary with probability `edge`, otherwise from the inside."""
        if self.values is not None:
            return self.values[rng.integers(len(self.values))]
        if self.d is None:
            return float(rng.choice(self.corners()) if rng.random() < edge else rng.uniform(self.low, self.high))
        if self.ball is not None:
            row = self.fit(rng.standard_normal(self.d) * (rng.random(self.d) < rng.uniform(0.2, 1)))
            return row if rng.random() < edge else row * rng.random()
        row = rng.uniform(self.low, self.high, self.d)
        return np.where(rng.random(self.d) < edge, rng.choice([self.low, self.high], self.d), row)

    def close(self, record: Record, rng: np.random.Generator, width: float) -> Record:
        """A record moved by this share of the way to another; of listed values, another one that often."""
        other = self.random(rng)
        if self.values is not None:
            return other if rng.random() < width else record
        moved = np.add(record, width * np.subtract(other, record))
        return float(moved) if self.d is None else moved

    def stack(self, records: Sequence[Any]) -> Any:
        """A dataset from records: an array (n,) or (n, d)."""
        if self.d is not None and self.values is None:
            return np.array(records, float).reshape(len(records), self.d)
        return np.array(records)

    def records(self, data: Any) -> list[Any]:
        """The records of a dataset: what it was stacked from."""
        return list(data)

    def key(self, record: Any) -> Any:
        """A record as something that can be counted and sorted."""
        return key(record)

    def apart(self, one: Any, other: Any) -> float:
        """How far a change goes; listed values have no distance."""
        return 0.0 if self.values is not None else float(np.linalg.norm(np.subtract(one, other)))

    def fit(self, row: np.ndarray) -> np.ndarray:
        """Scaled onto the sphere of the ball (the origin stays)."""
        if self.ball is None:
            return row
        size = float(np.linalg.norm(row, ORDERS[self.ball]))
        return row if size == 0 else row * (self.high / size)

    def _rows(self) -> Iterator[np.ndarray]:
        assert self.d is not None
        low, high = (-self.high if self.ball else self.low), self.high
        yield np.full(self.d, low)
        yield np.full(self.d, high)
        for value in (high, low):
            row = np.zeros(self.d) if self.ball or low <= 0 <= high else np.full(self.d, low)
            row[0] = value
            yield row
        yield np.where(np.arange(self.d) % 2 == 0, low, high)
        yield np.zeros(self.d) if low <= 0 <= high else np.full(self.d, (low + high) / 2)


def same(a: Any, b: Any) -> bool:
    """Whether two records have the same values."""
    return bool(key(a) == key(b))


def key(record: Any) -> Any:
    """A record as something that can be counted."""
    return tuple(np.asarray(record).ravel().tolist())
