"""Neighbours: which pairs of datasets a guarantee speaks about, over which domain of records.

Makes pairs to attack (corners and classic patterns first, then random ones) and says whether a pair is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, Literal

import numpy as np

from bounds.errors import InvalidInput
from bounds.guarantees import ADD_REMOVE, LABEL_ONLY, LOCAL, REPLACE_ONE, Relation
from bounds.guarantees import group as group_relation

Pair = tuple[Any, Any]
Ball = Literal["l1", "l2", "linf"]
ORDERS: dict[str, float] = {"l1": 1, "l2": 2, "linf": np.inf}
SLACK = 1e-9


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
            if len(self.values) < 2:
                raise InvalidInput("values", self.values, "at least two values", "List every category.")
            return
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise InvalidInput("(low, high)", (self.low, self.high), "finite with low < high", "Pass low=0, high=1.")
        if self.d is not None and self.d < 1:
            raise InvalidInput("d", self.d, "None (scalars) or an integer >= 1", "Pass the number of columns.")
        if self.ball is not None and (self.ball not in ORDERS or self.high <= 0 or self.d is None):
            limit = "'l1', 'l2' or 'linf', with d given and high (the radius) > 0"
            raise InvalidInput("ball", self.ball, limit, "Pass ball='l2', high=1, d=5 for example.")

    def contains(self, record: Any) -> bool:
        """Whether a record lies in the domain (up to rounding)."""
        if self.values is not None:
            return any(_same(record, value) for value in self.values)
        row = np.asarray(record, float)
        if row.shape != (() if self.d is None else (self.d,)):
            return False
        if self.ball is not None:
            return bool(np.linalg.norm(row, ORDERS[self.ball]) <= self.high * (1 + SLACK))
        return bool(np.all(row >= self.low - SLACK) and np.all(row <= self.high + SLACK))

    def corners(self) -> list[Any]:
        """Extreme and special records, the most telling first."""
        if self.values is not None:
            return list(self.values)
        if self.d is None:
            middle = 0.0 if self.low < 0 < self.high else (self.low + self.high) / 2
            return [self.low, self.high, middle]
        return [self._fit(row) for row in self._rows()]

    def random(self, rng: np.random.Generator) -> Any:
        """A record drawn from the inside and, as often, from the boundary."""
        if self.values is not None:
            return self.values[rng.integers(len(self.values))]
        if self.d is None:
            return float(rng.choice(self.corners()) if rng.random() < 0.5 else rng.uniform(self.low, self.high))
        if self.ball is not None:
            return self._fit(rng.standard_normal(self.d) * (rng.random(self.d) < rng.uniform(0.2, 1)))
        row = rng.uniform(self.low, self.high, self.d)
        return np.where(rng.random(self.d) < 0.5, rng.choice([self.low, self.high], self.d), row)

    def stack(self, records: Sequence[Any]) -> Any:
        """A dataset from records: an array (n,) or (n, d)."""
        if self.d is not None and self.values is None:
            return np.array(records, float).reshape(len(records), self.d)
        return np.array(records)

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

    def _fit(self, row: np.ndarray) -> np.ndarray:
        """Scaled onto the sphere of the ball (the origin stays)."""
        if self.ball is None:
            return row
        size = float(np.linalg.norm(row, ORDERS[self.ball]))
        return row if size == 0 else row * (self.high / size)


@dataclass(frozen=True)
class Neighbours:
    """A neighbouring relation over a domain, for datasets of n records.

    >>> near = replace_one(low=0, high=1, n=3)
    >>> near.is_pair(np.array([0.0, 0, 0]), np.array([1.0, 0, 0]))
    True
    >>> near.is_pair(np.array([0.0, 0, 0]), np.array([1.0, 1, 0]))
    False
    """

    relation: Relation
    domain: Domain
    n: int = 1
    labels: tuple[Any, ...] = ()
    source: Callable[[np.random.Generator], Pair] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int | np.integer) or self.n < 1:
            raise InvalidInput("n", self.n, "an integer >= 1", "Pass the number of records.")
        if self.relation.size > self.n:
            raise InvalidInput("group size", self.relation.size, f"at most n = {self.n}", "Use more records.")

    def __str__(self) -> str:
        return f"{self.relation}, n={self.n}"

    def pairs(self, rng: np.random.Generator, count: int) -> list[Pair]:
        """`count` pairs: corners and classic patterns first, then random ones."""
        if count < 1:
            raise InvalidInput("count", count, "an integer >= 1", "Ask for at least one pair.")
        found: list[Pair] = []
        if self.source is None:
            for pair in self._classic():
                found.append(pair)
                if len(found) == count:
                    return found
        while len(found) < count:
            found.append(self.source(rng) if self.source else self._random(rng))
        return found

    def is_pair(self, first: Any, second: Any) -> bool:
        """Whether both datasets lie in the domain and differ by at most the relation's size (order ignored)."""
        try:
            return self._is_pair(first, second)
        except (TypeError, ValueError, IndexError):
            return False

    def _is_pair(self, first: Any, second: Any) -> bool:
        if self.source is not None:
            return True
        if self.relation.name == LOCAL.name:
            return self.domain.contains(first) and self.domain.contains(second)
        if self.relation.name == LABEL_ONLY.name:
            (X, y), (Z, t) = first, second
            y, t = np.asarray(y), np.asarray(t)
            known = all(any(_same(v, w) for w in self.labels) for v in (*y, *t))
            inside = all(self.domain.contains(row) for row in X)
            return known and inside and np.array_equal(X, Z) and len(y) == len(t) and _steps(y, t) <= self.relation.size
        if not all(self.domain.contains(row) for data in (first, second) for row in data):
            return False
        if max(len(first), len(second)) != self.n:
            return False
        one, two = Counter(map(_key, first)), Counter(map(_key, second))
        lost, gained = sum((one - two).values()), sum((two - one).values())
        if self.relation.name == ADD_REMOVE.name:
            return lost + gained <= self.relation.size
        return lost == gained <= self.relation.size

    def build(self, kept: Sequence[Any], old: Sequence[Any], new: Sequence[Any]) -> Pair:
        """The pair whose common records are `kept`, where `old` became `new` (add/remove: `old` was dropped)."""
        domain = self.domain
        if self.relation.name == LOCAL.name:
            return old[0], new[0]
        if self.relation.name == ADD_REMOVE.name:
            return domain.stack([*old, *kept]), domain.stack(list(kept))
        if self.relation.name == LABEL_ONLY.name:
            X = domain.stack([record for record, _ in (*old, *kept)])
            one, two = [label for _, label in (*old, *kept)], [label for _, label in (*new, *kept)]
            return (X, np.array(one)), (X.copy(), np.array(two))
        return domain.stack([*old, *kept]), domain.stack([*new, *kept])

    def changes(self) -> list[tuple[Any, Any]]:
        """What one record may become, at the corners: (old, new)."""
        corners = self.domain.corners()
        if self.relation.name == LABEL_ONLY.name:
            labels = [(a, b) for a, b in product(self.labels, repeat=2) if not _same(a, b)]
            return [((row, a), (row, b)) for row in corners for a, b in labels]
        if self.relation.name == ADD_REMOVE.name:
            return [(row, row) for row in corners]
        both = [(a, b) for i, a in enumerate(corners) for b in corners[i + 1 :] if not _same(a, b)]
        return both + [(b, a) for a, b in both]

    def backgrounds(self, old: Any) -> list[list[Any]]:
        """Classic fillings for the records that do not change: all alike, the changed one's own value, halves."""
        size = self.n - self.relation.size
        if size == 0 or self.relation.name == LOCAL.name:
            return [[]]
        records = self.domain.corners()[:6]
        if self.relation.name == LABEL_ONLY.name:
            alike = [[(row, label)] * size for row in records[:2] for label in self.labels[:2]]
            return [[old] * size, *alike]
        alike = [[row] * size for row in records]
        halves = [[a] * (size // 2) + [b] * (size - size // 2) for a, b in pairwise(records)]
        return alike + halves

    def _classic(self) -> Iterator[Pair]:
        k = self.relation.size
        choices = [(old, new, filling) for old, new in self.changes() for filling in self.backgrounds(old)]
        # Every change once before any background twice: a small budget sees all directions.
        per_change = max(1, len(choices) // max(1, len(self.changes())))
        order = sorted(range(len(choices)), key=lambda i: (i % per_change, i // per_change))
        for i in order:
            old, new, filling = choices[i]
            yield self.build(filling, [old] * k, [new] * k)

    def _random(self, rng: np.random.Generator) -> Pair:
        k, size = self.relation.size, 0 if self.relation.name == LOCAL.name else self.n - self.relation.size
        if self.relation.name == LABEL_ONLY.name:
            rows = [(self.domain.random(rng), self.labels[rng.integers(len(self.labels))]) for _ in range(size + k)]
            new = [(row, rng.choice([b for b in self.labels if not _same(a, b)])) for row, a in rows[:k]]
            return self.build(rows[k:], rows[:k], new)
        pool = [self.domain.random(rng) for _ in range(int(rng.integers(1, 4)))]
        kept = [pool[rng.integers(len(pool))] if rng.random() < 0.7 else self.domain.random(rng) for _ in range(size)]
        return self.build(
            kept, [self.domain.random(rng) for _ in range(k)], [self.domain.random(rng) for _ in range(k)]
        )


def replace_one(
    low: float = 0.0,
    high: float = 1.0,
    n: int = 10,
    d: int | None = None,
    *,
    ball: Ball | None = None,
    values: Sequence[Any] | None = None,
) -> Neighbours:
    """One record of n may become any other. Datasets are arrays (n,), or (n, d) when `d` is given."""
    return Neighbours(REPLACE_ONE, _domain(low, high, d, ball, values), n)


def add_remove(
    low: float = 0.0,
    high: float = 1.0,
    n: int = 10,
    d: int | None = None,
    *,
    ball: Ball | None = None,
    values: Sequence[Any] | None = None,
) -> Neighbours:
    """One record of n may be missing: datasets of n and n - 1 records."""
    return Neighbours(ADD_REMOVE, _domain(low, high, d, ball, values), n)


def label_only(
    low: float = 0.0,
    high: float = 1.0,
    n: int = 10,
    d: int | None = None,
    *,
    labels: Sequence[Any] = (-1, 1),
    ball: Ball | None = None,
) -> Neighbours:
    """One label may change, the features stay. Datasets are tuples (X, y)."""
    if len(set(labels)) < 2:
        raise InvalidInput("labels", labels, "at least two different labels", "Pass labels=(0, 1) for example.")
    return Neighbours(LABEL_ONLY, _domain(low, high, d, ball, None), n, labels=tuple(labels))


def local(
    low: float = 0.0,
    high: float = 1.0,
    d: int | None = None,
    *,
    ball: Ball | None = None,
    values: Sequence[Any] | None = None,
) -> Neighbours:
    """Local privacy: the dataset is one record, and any two records are neighbours."""
    return Neighbours(LOCAL, _domain(low, high, d, ball, values), 1)


def group(neighbours: Neighbours, k: int) -> Neighbours:
    """The same relation for groups of k records."""
    return replace(neighbours, relation=group_relation(neighbours.relation, k))


def drawn_by(source: Callable[[np.random.Generator], Pair], relation: Relation = REPLACE_ONE) -> Neighbours:
    """Pairs from your own generator `source(rng) -> (first, second)`, which you vouch for."""
    return Neighbours(relation, Domain(), 1, source=source)


def _domain(low: float, high: float, d: int | None, ball: Ball | None, values: Sequence[Any] | None) -> Domain:
    return Domain(float(low), float(high), d, ball, None if values is None else tuple(values))


def _same(a: Any, b: Any) -> bool:
    return _key(a) == _key(b)


def _key(record: Any) -> Any:
    return tuple(np.asarray(record).ravel().tolist())


def _steps(first: np.ndarray, second: np.ndarray) -> int:
    return sum(not _same(a, b) for a, b in zip(first, second, strict=True))
