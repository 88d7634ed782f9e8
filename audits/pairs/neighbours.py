"""Neighbours: which pairs of datasets a guarantee speaks about, over which domain of records.

Makes pairs to attack (corners and classic patterns, and random ones of the whole domain) and says whether a pair is
one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, pairwise, zip_longest
from typing import Any, ClassVar

import numpy as np

from dpcheck.audits.pairs.backgrounds import random_background
from dpcheck.audits.pairs.compound import Compound, frame_domain, labelled_domain
from dpcheck.audits.pairs.domains import Ball, Domain, key, same
from dpcheck.audits.pairs.drawn_pairs import Examples, Pair, content, is_strategy
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import listed, number
from dpcheck.bounds.language.guarantees import ADD_REMOVE, LABEL_ONLY, LOCAL, LOCAL_ATTRIBUTE, REPLACE_ONE, Relation
from dpcheck.bounds.language.guarantees import group as group_relation

PairParts = tuple[list[Any], list[Any], list[Any], int]
Sizes = int | tuple[int, int]
MOST_CORNERS = 8  # corners that are paired with each other
GOLDEN = (5**0.5 - 1) / 2  # its multiples are spread evenly
MOST_CLASSIC = 40  # patterns among many pairs: what they do not show, more of them rarely do


@dataclass(frozen=True)
class Neighbours:
    """A neighbouring relation over a domain, for datasets of n records, or of `fewest` to n.

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
    fewest: int | None = None  # None: exactly n
    counted: ClassVar[bool] = True  # datasets are lists of records, of which a group may change

    def __post_init__(self) -> None:
        sizes = (self.least, self.n)
        whole = all(isinstance(size, int | np.integer) and not isinstance(size, bool) for size in sizes)
        if not whole or not 1 <= self.least <= self.n:
            given = self.n if self.fewest is None else sizes
            raise InvalidInput("n", given, "an integer >= 1, or (fewest, most)", "Pass n=10 or n=(1, 10).")
        if self.counted and self.relation.size > self.least:
            limit = f"at most the number of records, {self.least}"
            raise InvalidInput("group size", self.relation.size, limit, "Use more records.")

    def __str__(self) -> str:
        return f"{self.relation}, n={self.n if self.least == self.n else f'{self.least} to {self.n}'}"

    @property
    def least(self) -> int:
        """The fewest records a dataset may have (the larger one of a pair)."""
        return self.n if self.fewest is None else self.fewest

    @property
    def single(self) -> bool:
        """Whether a dataset is one record, not a list of them."""
        return self.relation.name == LOCAL.name

    def sized(self, n: int) -> Neighbours:
        """The same relation for datasets of exactly n records."""
        return replace(self, n=n, fewest=None)

    def pairs(self, rng: np.random.Generator, count: int) -> list[Pair]:
        """`count` pairs: classic patterns and random ones in turn; when patterns end, random ones."""
        if count < 1:
            raise InvalidInput("count", count, "an integer >= 1", "Ask for at least one pair.")
        classic = self.few_classic(count)
        random = [self.random(rng) for _ in range(count - len(classic))]
        return [pair for both in zip_longest(classic, random) for pair in both if pair is not None]

    def few_classic(self, count: int) -> list[Pair]:
        """The classic patterns among `count` pairs."""
        return list(islice(self.classic(), min(MOST_CLASSIC, (count + 1) // 2)))

    def classic(self) -> Iterator[Pair]:
        """Corners and classic patterns, the most telling first, each once (an audit looks both ways)."""
        large = self.sized(self.n).patterns()
        small = self.sized(self.least).patterns() if self.least < self.n else iter(())
        seen = set()
        # Most at full size, where the claim is usually meant; some as small as may be.
        for together in zip_longest(large, large, large, small):
            for pair in together:
                either = pair and frozenset(content(data) for data in pair)
                if either and either not in seen and len(either) == 2:
                    seen.add(either)
                    yield pair

    def is_pair(self, first: Any, second: Any) -> bool:
        """Whether both lie in the domain and differ by at most the relation's size (order of records ignored)."""
        try:
            return self._is_pair(first, second)
        except (TypeError, ValueError, IndexError):
            return False

    def _is_pair(self, first: Any, second: Any) -> bool:
        if self.single:
            return self.domain.contains(first) and self.domain.contains(second)
        if self.relation.name == LABEL_ONLY.name:
            (X, y), (Z, t) = first, second
            known = all(any(same(v, w) for w in self.labels) for v in (*y, *t))
            inside = self.least <= len(y) == len(X) <= self.n and all(self.domain.contains(row) for row in X)
            steps = sum(not same(a, b) for a, b in zip(y, t, strict=True))
            return known and inside and np.array_equal(X, Z) and steps <= self.relation.size
        first, second = (self.domain.records(data) for data in (first, second))
        if not all(self.domain.contains(row) for data in (first, second) for row in data):
            return False
        if not self.least <= max(len(first), len(second)) <= self.n:
            return False
        if self.relation.name == LOCAL_ATTRIBUTE.name:  # attributes have places
            steps = sum(not same(a, b) for a, b in zip(first, second, strict=True))
            return steps <= self.relation.size
        one, two = Counter(map(self.domain.key, first)), Counter(map(self.domain.key, second))
        lost, gained = sum((one - two).values()), sum((two - one).values())
        if self.relation.name == ADD_REMOVE.name:
            return lost + gained <= self.relation.size
        return lost == gained <= self.relation.size

    def build(self, kept: Sequence[Any], old: Sequence[Any], new: Sequence[Any], place: int = 0) -> Pair:
        """The pair whose common records are `kept`, where `old` became `new` (add/remove: `old` was dropped).

        What changes stands before the common record at `place`.
        """
        domain = self.domain
        if self.single:
            return old[0], new[0]
        one, two = ([*kept[:place], *changing, *kept[place:]] for changing in (old, new))
        if self.relation.name == ADD_REMOVE.name:
            return domain.stack(one), domain.stack(list(kept))
        if self.relation.name == LABEL_ONLY.name:
            X = domain.stack([row for row, _ in one])
            return (X, np.array([label for _, label in one])), (X.copy(), np.array([label for _, label in two]))
        return domain.stack(one), domain.stack(two)

    def parts(self, pair: Pair) -> PairParts | None:
        """(kept, old, new, place) of a pair that was built here."""
        first, second = pair
        if self.single:
            return [], [first], [second], 0
        if self.relation.name == LABEL_ONLY.name:
            place = _first_difference(pair[0][1], pair[1][1])
            first, second = (list(zip(X, y, strict=True)) for X, y in pair)
        elif isinstance(self.domain, Compound):
            first, second = (self.domain.records(data) for data in pair)
            place = _first_difference(*([self.domain.key(record) for record in data] for data in (first, second)))
        else:
            place = _first_difference(first, second)
        k = self.relation.size
        place = min(place, len(first) - k)
        kept, old = [*first[:place], *first[place + k :]], list(first[place : place + k])
        return kept, old, [] if self.relation.name == ADD_REMOVE.name else list(second[place : place + k]), place

    def patterns(self) -> Iterator[Pair]:
        """What changes at the corners, against the classic backgrounds."""
        k, changes = self.relation.size, self.changes()
        backgrounds = [self.backgrounds(old, new) for old, new in changes]
        places = [(i, j) for i, fillings in enumerate(backgrounds) for j in range(len(fillings))]
        # A small budget sees many changes, and the first of them before several backgrounds.
        ranked = sorted(places, key=lambda place: (place[0] + 2 * place[1], place))
        for turn, (i, j) in enumerate(ranked):
            (old, new), kept = changes[i], backgrounds[i][j]
            # A mechanism may look at one place alone: every other pattern has its change somewhere else.
            place = int(turn * GOLDEN % 1 * (len(kept) + 1)) if turn % 2 else 0
            yield self.build(kept, [old] * k, [new] * k, place)

    def changes(self) -> list[tuple[Any, Any]]:
        """What one record may become, at the corners: (old, new), the farthest first."""
        corners = self.domain.corners()[:MOST_CORNERS]
        if self.relation.name == LABEL_ONLY.name:
            return [((row, a), (row, b)) for row in corners for a, b in combinations(self.labels, 2)]
        if self.relation.name == ADD_REMOVE.name:
            return [(row, row) for row in corners]
        found = sorted(combinations(corners, 2), key=lambda change: -self.domain.apart(*change))
        if not isinstance(self.domain, Compound):
            return found
        # All parts together and one part alone in turn: what a record moves may hang on what it keeps.
        return [change for both in zip(found, found[::-1], strict=True) for change in both][: len(found)]

    def backgrounds(self, old: Any, new: Any) -> list[list[Any]]:
        """Classic fillings for the records that do not change: all alike, or split in two, evenly or nearly so."""
        size = self.n - self.relation.size
        if size == 0 or self.single:
            return [[]]
        records = self.domain.corners()[:6]
        if self.relation.name == LABEL_ONLY.name:
            records = [old, new, *((row, label) for row in records[:2] for label in self.labels[:2])]

        def split(a: Any, b: Any, *places: int) -> list[list[Any]]:
            return [[a] * i + [b] * (size - i) for i in dict.fromkeys(places) if 0 < i < size]

        one, two, half = records[0], records[1], size // 2
        alike = [[record] * size for record in records]
        others = [filling for a, b in pairwise(records[1:]) for filling in split(a, b, half)]
        # A median sits at the even split, a local sensitivity jumps next to it.
        even = split(one, two, half, half - 1, half + 1)
        return [*alike[:2], *even, *alike[2:], *split(one, two, 1, size - 1), *others]

    def random(self, rng: np.random.Generator) -> Pair:
        """Any background and any change, anywhere."""
        size = int(rng.integers(self.least, self.n + 1)) - self.relation.size
        kept = self._background(size, rng)
        old = [self._near(kept, rng) for _ in range(self.relation.size)]
        return self.build(kept, old, [self._partner(record, rng) for record in old], int(rng.integers(size + 1)))

    def varied(self, pair: Pair, rng: np.random.Generator) -> Iterator[Pair]:
        """Pairs near this one: what changes, one common record, some, all, or how many; where the change stands; and
        one from anywhere.
        """
        parts = self.parts(pair)
        if parts is None:
            return
        kept, old, new, place = parts
        if new:
            yield self.build(kept, old, [self._partner(record, rng) for record in old], place)
            yield self.build(kept, [self._partner(record, rng) for record in new], new, place)
        if kept:
            for _ in range(2):
                i = int(rng.integers(len(kept)))
                yield self.build([*kept[:i], self._near([*old, *new, *kept], rng), *kept[i + 1 :]], old, new, place)
            some, fresh = rng.random(len(kept)) < rng.uniform(0.1, 1), self._near(kept, rng)
            yield self.build([fresh if s else r for s, r in zip(some, kept, strict=True)], old, new, place)
            yield self.build(kept, old, new, int(rng.integers(len(kept) + 1)))
        fresh_old = [self._near(kept, rng) for _ in old]
        yield self.build(kept, fresh_old, [self._partner(record, rng) for record in fresh_old], place)
        size = int(rng.integers(self.least, self.n + 1)) - self.relation.size
        if kept and size:
            yield self.build(self._background(size, rng), old, new, min(place, size))
        if self.least < self.n and size:
            resized = [*kept[:size], *self._background(max(0, size - len(kept)), rng)]
            yield self.build(resized, old, new, min(place, size))
        yield self.random(rng)

    def _background(self, size: int, rng: np.random.Generator) -> list[Any]:
        """Random common records; labels are drawn apart, one way or the other more often."""
        rows = [] if self.single else random_background(self.domain, size, rng)
        if not self.labels:
            return rows
        shares = rng.dirichlet(np.ones(len(self.labels)))
        return [
            (row, self.labels[i]) for row, i in zip(rows, rng.choice(len(shares), len(rows), p=shares), strict=True)
        ]

    def _near(self, records: Sequence[Any], rng: np.random.Generator) -> Any:
        """A fresh record, or one like these: many a leak sits at ties."""
        return records[int(rng.integers(len(records)))] if records and rng.random() < 0.3 else self._record(rng)

    def _record(self, rng: np.random.Generator) -> Any:
        row = self.domain.random(rng)
        return (row, self.labels[rng.integers(len(self.labels))]) if self.labels else row

    def _partner(self, record: Any, rng: np.random.Generator) -> Any:
        """What a record may become: anything else."""
        if not self.labels:
            other = self.domain.random(rng)
            return self._partner(record, rng) if self.domain.key(other) == self.domain.key(record) else other
        others = [label for label in self.labels if not same(label, record[1])]
        return record[0], others[rng.integers(len(others))]


@dataclass(frozen=True)
class Drawn(Neighbours):
    """Pairs from a generator or a hypothesis strategy; `admits(first, second)` says which others are pairs too."""

    source: Callable[[np.random.Generator], Pair] | Examples = field(kw_only=True)
    admits: Callable[[Any, Any], bool] | None = None
    counted: ClassVar[bool] = False

    def __str__(self) -> str:
        if isinstance(self.source, Examples):
            return f"{self.relation}, drawn from {self.source}"
        return f"{self.relation}, drawn by {getattr(self.source, '__name__', type(self.source).__name__)}"

    def pairs(self, rng: np.random.Generator, count: int) -> list[Pair]:
        """`count` pairs of the source (fewer if a strategy has no more); the same rng draws the same ones."""
        if isinstance(self.source, Examples):
            return self.source.draw(int(rng.integers(2**63)), count)
        return [self.source(rng) for _ in range(count)]

    def few_classic(self, count: int) -> list[Pair]:
        """None: the source alone knows its pairs."""
        return []

    def varied(self, pair: Pair, rng: np.random.Generator) -> Iterator[Pair]:
        """Further pairs of a generator; a strategy gave all of its own at once."""
        if not isinstance(self.source, Examples):
            yield from self.pairs(rng, 4)

    def parts(self, pair: Pair) -> PairParts | None:
        return None

    def _is_pair(self, first: Any, second: Any) -> bool:
        return self.admits is None or bool(self.admits(first, second))


def replace_one(
    low: float = 0.0,
    high: float = 1.0,
    n: Sizes = 10,
    d: int | None = None,
    *,
    ball: Ball | None = None,
    values: Sequence[Any] | None = None,
    labels: Sequence[Any] | None = None,
    targets: tuple[float, float] | None = None,
    columns: Mapping[str, Any] | None = None,
) -> Neighbours:
    """One record of n may become any other. Datasets are arrays (n,), or (n, d) when `d` is given.

    `n=(1, 10)`: the guarantee holds for every size from 1 to 10, so small datasets are tried too, and a
    counterexample shrinks to as few records as show it. With a number, the size is fixed: a mechanism may rely on it.

    With `labels` (classes) or `targets` (low, high) datasets are (X, y), and a record is a row with its label. With
    `columns` they are pandas DataFrames of this schema: (low, high) for numbers, range(a, b) for whole ones, a list of
    categories (or a CategoricalDtype) for others, None among them where values may be missing.

    >>> replace_one(low=0, high=1, n=(1, 10)).is_pair(np.array([0.0, 0]), np.array([1.0, 0]))
    True
    >>> replace_one(columns={"age": range(120), "smoker": [False, True]}, n=2).classic().__next__()[0]
       age  smoker
    0    0   False
    1    0   False
    """
    return _records(REPLACE_ONE, _any_domain(low, high, d, ball, values, labels, targets, columns), n)


def add_remove(
    low: float = 0.0,
    high: float = 1.0,
    n: Sizes = 10,
    d: int | None = None,
    *,
    ball: Ball | None = None,
    values: Sequence[Any] | None = None,
    labels: Sequence[Any] | None = None,
    targets: tuple[float, float] | None = None,
    columns: Mapping[str, Any] | None = None,
) -> Neighbours:
    """One record of n may be missing: datasets of n and n - 1 records; the arguments are those of `replace_one`."""
    return _records(ADD_REMOVE, _any_domain(low, high, d, ball, values, labels, targets, columns), n)


def label_only(
    low: float = 0.0,
    high: float = 1.0,
    n: Sizes = 10,
    d: int | None = None,
    *,
    labels: Sequence[Any] = (-1, 1),
    ball: Ball | None = None,
) -> Neighbours:
    """One label may change, the features stay. Datasets are tuples (X, y); `n=(1, 10)` as for `replace_one`."""
    limit, remedy = "at least two different labels", "Pass labels=(0, 1) for example."
    known = listed("labels", labels, limit, remedy, letters=True)
    if len({key(label) for label in known}) < 2:
        raise InvalidInput("labels", labels, limit, remedy)
    return _records(LABEL_ONLY, _domain(low, high, d, ball, None), n, known)


def one_user(
    low: float = 0.0,
    high: float = 1.0,
    d: int | None = None,
    *,
    ball: Ball | None = None,
    values: Sequence[Any] | None = None,
) -> Neighbours:
    """Local privacy: the dataset is one record, and any two records are neighbours."""
    return Neighbours(LOCAL, _domain(low, high, d, ball, values), 1)


def one_attribute(
    low: float = 0.0, high: float = 1.0, d: int = 10, *, values: Sequence[Any] | None = None
) -> Neighbours:
    """Local privacy of attributes: the dataset is one user's record of d numbers, of which one may change.

    A guarantee for it covers a whole record, as `one_user` has it, in d steps: `guarantee.to_relation(LOCAL,
    attributes=d)`. With `values`, each attribute takes one of them.

    >>> near = one_attribute(values=(0, 1), d=3)
    >>> near.is_pair(np.array([0, 1, 1]), np.array([0, 0, 1])), near.is_pair(np.array([0, 1, 1]), np.array([1, 1, 0]))
    (True, False)
    """
    return Neighbours(LOCAL_ATTRIBUTE, _domain(low, high, None, None, values), d)


def group(neighbours: Neighbours, k: int) -> Neighbours:
    """The same relation for groups of k records."""
    if not isinstance(neighbours, Neighbours):
        raise InvalidInput("neighbours", neighbours, "a neighbouring relation", "Pass replace_one(n=10) for example.")
    relation = group_relation(neighbours.relation, k)
    if neighbours.fewest is None:
        return replace(neighbours, relation=relation)
    # Datasets smaller than the group have no pair.
    return replace(neighbours, relation=relation, fewest=min(neighbours.n, max(neighbours.fewest, relation.size)))


def drawn_by(
    source: Any, relation: Relation = REPLACE_ONE, *, admits: Callable[[Any, Any], bool] | None = None
) -> Neighbours:
    """Pairs from your own generator `source(rng) -> (first, second)` or hypothesis strategy; you vouch for them.

    A strategy's counterexample is shrunk by hypothesis. A generator's has its numbers rounded where
    `admits(first, second)` says that the rounder datasets are neighbours too; without it, it stays as drawn.
    """
    if is_strategy(source):
        source = Examples(source)
    elif not callable(source):
        raise InvalidInput("source", source, "a function of an rng, or a hypothesis strategy", "Return two datasets.")
    return Drawn(relation, Domain(), 1, source=source, admits=admits)


def as_neighbours(asked: Any, relation: Relation = REPLACE_ONE) -> Neighbours:
    """What `neighbours=` may be: a relation, or a hypothesis strategy of pairs, neighbours under `relation`."""
    if isinstance(asked, Neighbours):
        return asked
    if is_strategy(asked):
        return drawn_by(asked, relation)
    remedy = "Pass replace_one(low=0, high=1, n=10) for example."
    raise InvalidInput("neighbours", asked, "a neighbouring relation, or a hypothesis strategy of pairs", remedy)


def _records(relation: Relation, domain: Domain, n: Any, labels: tuple[Any, ...] = ()) -> Neighbours:
    fewest, most = n if isinstance(n, tuple) and len(n) == 2 else (None, n)
    return Neighbours(relation, domain, most, labels, fewest)


def _domain(low: float, high: float, d: int | None, ball: Ball | None, values: Sequence[Any] | None) -> Domain:
    ends = [number(what, end, "a number", "Pass low=0, high=1.") for what, end in (("low", low), ("high", high))]
    if values is not None:
        values = listed("values", values, "a list of values", "List every category.", letters=True)
    return Domain(ends[0], ends[1], d, ball, values)


def _any_domain(
    low: float,
    high: float,
    d: int | None,
    ball: Ball | None,
    values: Sequence[Any] | None,
    labels: Sequence[Any] | None,
    targets: tuple[float, float] | None,
    columns: Mapping[str, Any] | None,
) -> Domain:
    """Arrays of records, (X, y), or frames."""
    if columns is not None:
        if not (d is ball is values is labels is targets is None):
            raise InvalidInput(
                "columns", "given with d, ball, values or labels", "alone", "Each column has its own range."
            )
        return frame_domain(columns)
    rows = _domain(low, high, d, ball, values)
    return rows if labels is None and targets is None else labelled_domain(rows, labels, targets)


def _first_difference(first: Any, second: Any) -> int:
    """The first place where two lists of records differ; the end of the shorter one if nowhere."""
    most = min(len(first), len(second))
    if most == 0:
        return 0
    differ = (np.asarray(first[:most]) != np.asarray(second[:most])).reshape(most, -1).any(axis=1)
    return int(differ.argmax()) if differ.any() else most
