"""Records of several parts, each from a domain of its own: rows of a pandas DataFrame, and (row, label) of (X, y)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from dpcheck.audits.pairs.domains import Domain, Record, same
from dpcheck.bounds.language.errors import InvalidInput, MissingDependency
from dpcheck.bounds.language.given import listed

WORDS = "(low, high) for numbers, range(a, b) for whole ones, or a list of all categories"


@dataclass(frozen=True)
class WholeNumbers(Domain):
    """Whole numbers from low to high, both included."""

    def contains(self, record: Any) -> bool:
        return super().contains(record) and float(record) == round(float(record))

    def corners(self) -> list[Any]:
        return list(dict.fromkeys((int(self.low), int(self.high), round(self.middle))))

    def random(self, rng: np.random.Generator, edge: float = 0.5) -> Record:
        corners = self.corners()
        return corners[rng.integers(len(corners))] if rng.random() < edge else self.any(rng)

    def any(self, rng: np.random.Generator) -> int:
        """Each as likely."""
        return int(rng.integers(int(self.low), int(self.high) + 1))

    def close(self, record: Record, rng: np.random.Generator, width: float) -> Record:
        return round(record + width * (self.any(rng) - record))


@dataclass(frozen=True)
class Compound(Domain):
    """Records that are tuples of parts."""

    parts: tuple[Domain, ...] = ()

    def contains(self, record: Any) -> bool:
        pairs = zip(self.parts, record, strict=True)
        return len(record) == len(self.parts) and all(part.contains(value) for part, value in pairs)

    def corners(self) -> list[Any]:
        """All parts at their first corner, their second, ...; then one part alone at another, and all others."""
        found: dict[Any, Any] = {}
        for record in self._corners([part.corners() for part in self.parts]):
            found.setdefault(self.key(record), record)
        return list(found.values())

    def _corners(self, corners: list[list[Any]]) -> Iterator[Any]:
        low, high = (tuple(at[i % len(at)] for at in corners) for i in (0, 1))
        yield low
        yield high
        for one, other in ((low, high), (high, low)):
            for i in range(len(corners)):
                yield (*one[:i], other[i], *one[i + 1 :])
        yield tuple((low if i % 2 else high)[i] for i in range(len(corners)))
        for i in range(2, max(len(at) for at in corners)):
            yield tuple(at[i % len(at)] for at in corners)

    def random(self, rng: np.random.Generator, edge: float = 0.5) -> Record:
        return tuple(part.random(rng, edge) for part in self.parts)

    def close(self, record: Record, rng: np.random.Generator, width: float) -> Record:
        return tuple(part.close(value, rng, width) for part, value in zip(self.parts, record, strict=True))

    def key(self, record: Any) -> Any:
        """Numbers, and of categories their places."""
        return tuple(
            number
            for part, value in zip(self.parts, record, strict=True)
            for number in ((_place(part.values, value),) if part.values is not None else np.ravel(value).tolist())
        )

    def apart(self, one: Any, other: Any) -> float:
        """In how many parts two records differ, each by as much of its width."""
        return float(sum(_share(part, a, b) for part, a, b in zip(self.parts, one, other, strict=True)))


@dataclass(frozen=True)
class FrameDomain(Compound):
    """Rows of a DataFrame whose columns have these names; categories have a type of their own where one was given."""

    names: tuple[str, ...] = ()
    types: tuple[Any, ...] = field(default=(), compare=False)

    def stack(self, records: Sequence[Any]) -> Any:
        pandas = library()
        columns = zip(*records, strict=True) if records else ((),) * len(self.names)
        named = zip(self.names, columns, self.types, strict=True)
        return pandas.DataFrame({name: pandas.Series(list(column), dtype=kind) for name, column, kind in named})

    def records(self, data: Any) -> list[Any]:
        there = tuple(getattr(data, "columns", ()))
        if there != self.names:
            raise ValueError(f"columns {there} for {self.names}")
        missing = data.isna().to_numpy()
        rows = zip(*(data[name].tolist() for name in self.names), strict=True)
        return [
            tuple(None if gone else value for gone, value in zip(lost, row, strict=True))
            for lost, row in zip(missing, rows, strict=True)
        ]


@dataclass(frozen=True)
class LabelledDomain(Compound):
    """(row, label); a dataset is (X, y)."""

    def stack(self, records: Sequence[Any]) -> Any:
        rows, labels = self.parts
        targets = np.array([label for _, label in records], np.array(labels.corners()).dtype)
        return rows.stack([row for row, _ in records]), targets

    def records(self, data: Any) -> list[Any]:
        X, y = data
        return list(zip(X, np.asarray(y).tolist(), strict=True))


# From what a user writes ---------------------------------------------------------------------------
def frame_domain(columns: Mapping[str, Any]) -> FrameDomain:
    """A schema as a domain: each column's range, whole numbers or categories.

    >>> near = frame_domain({"age": range(18, 100), "income": (0, 1e5), "city": ["Oslo", "Lima"]})
    >>> near.contains((40, 2e4, "Lima")), near.contains((40, 2e4, "Rome")), near.contains((40.5, 0, "Lima"))
    (True, False, False)
    """
    if not isinstance(columns, Mapping) or not columns:
        example = 'For example {"age": (0, 120), "smoker": [False, True]}.'
        raise InvalidInput("columns", columns, "a dict from names to ranges or categories", example)
    parts, types = [], []
    for name, allowed in columns.items():
        part, kind = _column(str(name), allowed)
        parts.append(part)
        types.append(kind)
    return FrameDomain(d=len(parts), parts=tuple(parts), names=tuple(columns), types=tuple(types))


def labelled_domain(rows: Domain, labels: Sequence[Any] | None, targets: tuple[float, float] | None) -> LabelledDomain:
    """Rows with labels of a list, or with targets of a range."""
    if (labels is None) == (targets is None):
        remedy = "Pass labels=(0, 1) for classes, or targets=(-1, 1) for numbers."
        raise InvalidInput("labels and targets", (labels, targets), "one of the two", remedy)
    if labels is not None:
        remedy = "Pass labels=(0, 1) for classes."
        other = Domain(values=listed("labels", labels, "a list of labels", remedy, letters=True))
    else:
        low, high = _range("targets", targets)
        other = Domain(low, high)
    return LabelledDomain(d=(rows.d or 1) + 1, parts=(rows, other))


def _column(name: str, allowed: Any) -> tuple[Domain, Any]:
    """Its domain, and the type that pandas is to give it."""
    what = f"column {name!r}"
    if isinstance(allowed, range):
        if len(allowed) < 2 or allowed.step != 1:
            raise InvalidInput(what, allowed, "a range of two or more whole numbers in steps of 1", "Use range(0, 10).")
        return WholeNumbers(float(allowed[0]), float(allowed[-1])), "int64"
    if isinstance(allowed, tuple):
        low, high = _range(what, allowed)
        return Domain(low, high), "float64"
    own = getattr(allowed, "categories", None)  # a CategoricalDtype
    categories = list(own) if own is not None else allowed
    if not isinstance(categories, list):
        raise InvalidInput(what, allowed, WORDS, 'For example "age": (0, 120).')
    try:
        listed = Domain(values=tuple(None if value != value else value for value in categories))
    except InvalidInput as refused:
        raise InvalidInput(what, allowed, "at least two different categories", "List every category.") from refused
    return listed, allowed if own is not None else library().Series(categories).dtype


def _range(what: str, given: Any) -> tuple[float, float]:
    fine = isinstance(given, tuple) and len(given) == 2 and all(isinstance(end, Real) for end in given)
    if not fine or not (np.isfinite(given).all() and given[0] < given[1]):
        raise InvalidInput(what, given, "(low, high), finite numbers with low < high", "A list means categories.")
    return float(given[0]), float(given[1])


def _place(values: tuple[Any, ...], value: Any) -> float:
    return float(next((i for i, one in enumerate(values) if same(one, value)), -1))


def _share(part: Domain, one: Any, other: Any) -> float:
    if part.values is not None:
        return float(not same(one, other))
    width = (2 * part.high if part.ball else part.high - part.low) * (part.d or 1) ** 0.5
    return float(np.linalg.norm(np.subtract(one, other))) / width


def library() -> Any:
    """pandas, or the sentence on how to install it."""
    try:
        import pandas
    except ImportError as missing:
        raise MissingDependency("pandas", "datasets that are DataFrames", "frames") from missing
    return pandas
