"""Shrinking: a counterexample made simpler while it still shows the violation. Fewest records, roundest values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from dpcheck.audits.outputs.foreign import is_frame
from dpcheck.audits.pairs.compound import Compound
from dpcheck.audits.pairs.domains import same
from dpcheck.audits.pairs.drawn_pairs import Pair, content
from dpcheck.audits.pairs.neighbours import Neighbours, PairParts

Cost = tuple[float, ...]
DIGITS = (0, 1, 2)


def shrunk(near: Neighbours, pair: Pair, keeps: Callable[[Pair], bool]) -> Pair:
    """The simplest pair of the relation that greedy steps reach, each of which `keeps` what matters.

    >>> from dpcheck.audits.pairs.neighbours import replace_one
    >>> near = replace_one(low=-3, high=3, n=(1, 5))
    >>> messy = np.array([2.7, 1.3, 0.4]), np.array([-1.9, 1.3, 0.4])
    >>> shrunk(near, messy, lambda pair: bool(abs(pair[0].sum() - pair[1].sum()) >= 2))
    (array([3.]), array([0.]))
    """
    best, tried = pair, {content(pair)}
    while True:
        for simpler in _simpler(near, best):
            place = content(simpler)
            if place in tried or content(simpler[0]) == content(simpler[1]):
                continue
            tried.add(place)
            if cost(near, simpler) < cost(near, best) and near.is_pair(*simpler) and keeps(simpler):
                best = simpler
                break
        else:
            return best


def cost(near: Neighbours, pair: Pair) -> Cost:
    """What a reader has to take in: records, then different ones, then the digits of their values, then nonzeros,
    then how far the change is from the front.
    """
    parts = near.parts(pair)
    records = list(pair) if parts is None else [record for part in parts[:3] for record in part]
    place = 0 if parts is None else parts[3]
    different = len({content(record) for record in records})
    if near.domain.values is not None:
        places = [_place(near, record) for record in records]
        return len(records), different, sum({*places}), sum(places), place
    numbers = [number for record in records for number in _read(near, record)]
    return len(records), different, *_plainness(numbers), place


def _simpler(near: Neighbours, pair: Pair) -> Iterator[Pair]:
    """Steps from here, the largest first: the change in front, fewer records, plain ones and changes, round values."""
    parts = near.parts(pair)
    if parts is not None:
        yield near.build(*parts[:3])
        for fewer in _fewer(near, parts):
            yield near.build(*fewer)
        for plainer in _plainer(near, parts):
            yield near.build(*plainer)
        if isinstance(near.domain, Compound):
            for alike in _alike(near.domain, parts):
                yield near.build(*alike)
    yield from _rounder(near, pair)


def _fewer(near: Neighbours, parts: PairParts) -> Iterator[PairParts]:
    """Fewer common records: as few as may be, half of them, or one less of a kind."""
    kept, old, new, place = parts
    spare = len(kept) + len(old) - near.least
    if spare < 1:
        return
    for drop in dict.fromkeys((spare, -(-spare // 2))):
        left = len(kept) - drop
        yield kept[:left], old, new, min(place, left)
        yield kept[drop:], old, new, max(0, place - drop)
    kinds = {content(record): i for i, record in enumerate(kept)}
    for i in kinds.values():
        yield [*kept[:i], *kept[i + 1 :]], old, new, place - (i < place)


def _plainer(near: Neighbours, parts: PairParts) -> Iterator[PairParts]:
    """One plain value for all common records, or for those of a kind; then for what changes."""
    kept, old, new, place = parts
    kinds = {content(record): record for record in (*old, *new, *kept)}
    plain = sorted([*_corners(near), *kinds.values()], key=lambda record: _weight(near, record))
    for value in plain[:6]:
        yield [value] * len(kept), old, new, place
    for kind in dict.fromkeys(content(record) for record in kept):  # a set of strings has another order in each process
        for value in plain[:4]:
            yield [value if content(record) == kind else record for record in kept], old, new, place
    if near.labels:
        rows = [record[0] for record in plain[:4]]
        for row in rows:
            yield kept, [(row, label) for _, label in old], [(row, label) for _, label in new], place
        return
    for value in plain[:4]:
        yield kept, [value] * len(old), new, place
        yield kept, old, [value] * len(new), place


def _alike(domain: Compound, parts: PairParts) -> Iterator[PairParts]:
    """One part (a column, a label) the same everywhere, or at least unchanged: the plainest value, or the first's."""
    kept, old, new, place = parts
    for i, part in enumerate(domain.parts):
        for value in [*part.corners()[:2], *(record[i] for record in old[:1])]:

            def put(records: list[Any], i: int = i, value: Any = value) -> list[Any]:
                return [(*record[:i], value, *record[i + 1 :]) for record in records]

            yield put(kept), put(old), put(new), place
            yield kept, put(old), put(new), place


def _corners(near: Neighbours) -> list[Any]:
    """The domain's corners, with each label where records have one."""
    corners = near.domain.corners()
    return [(row, label) for row in corners for label in near.labels] if near.labels else corners


def _rounder(near: Neighbours, pair: Pair) -> Iterator[Pair]:
    """All numbers rounder, or one of them wherever it stands: what is equal stays equal, so neighbours stay close."""
    if near.domain.values is not None:
        return
    for digits in DIGITS:
        yield _mapped(pair, partial(np.round, decimals=digits))
    numbers = sorted({number for data in pair for number in _numbers(data)}, key=_digits, reverse=True)
    for number in numbers[:12]:
        for value in (0.0, *(round(number, digits) for digits in DIGITS)):
            yield _mapped(pair, partial(_exchanged, number, value))


def _exchanged(old: float, new: float, array: np.ndarray) -> np.ndarray:
    return np.where(array == old, new, array)


def _mapped(data: Any, change: Callable[[np.ndarray], Any]) -> Any:
    """The same data with its floats changed; anything else stays."""
    if isinstance(data, np.ndarray):
        return change(data) + 0.0 if data.dtype.kind == "f" else data
    if isinstance(data, tuple | list):
        return type(data)(_mapped(item, change) for item in data)
    if is_frame(data):
        floats = {name: column.to_numpy() for name, column in data.items() if column.dtype == float}
        return data.assign(**{name: change(column) + 0.0 for name, column in floats.items()})
    return float(change(np.array(data))) + 0.0 if isinstance(data, float) else data


def _numbers(data: Any) -> Iterator[float]:
    if isinstance(data, np.ndarray) and data.dtype.kind in "fiu":
        yield from data.ravel().tolist()
    elif isinstance(data, tuple | list):
        for item in data:
            yield from _numbers(item)
    elif is_frame(data):
        for _, column in data.items():
            if column.dtype == float:
                yield from column.tolist()
    elif isinstance(data, int | float | np.number) and not isinstance(data, bool):
        yield float(data)


def _read(near: Neighbours, record: Any) -> list[float]:
    """The numbers of a record; of categories their places."""
    return list(near.domain.key(record) if isinstance(near.domain, Compound) else _numbers(record))


def _digits(number: float) -> float:
    """Zero is free, small integers nearly so, decimals cost their digits; a minus sign costs little."""
    if number == 0:
        return 0.0
    return (1.0 if number == round(number) else 2.0 + len(f"{abs(number):.6g}")) + (number < 0) / 2


def _plainness(numbers: list[float]) -> tuple[float, float]:
    """Digits of the different numbers, then how many are not zero."""
    return sum(_digits(number) for number in {*numbers}), float(np.count_nonzero(numbers))


def _weight(near: Neighbours, record: Any) -> tuple[float, ...]:
    """How plain one record is; of listed values, the earlier ones are plainer."""
    return (float(_place(near, record)),) if near.domain.values else _plainness(_read(near, record))


def _place(near: Neighbours, record: Any) -> int:
    return next(i for i, value in enumerate(near.domain.values or ()) if same(value, record))
