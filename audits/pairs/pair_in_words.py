"""A pair of datasets in words: whole when it is short, else where the two differ and how to print them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpcheck.audits.outputs.foreign import is_frame

LONGEST = 80  # characters of a dataset that is shown whole
LONGEST_VALUE = 60  # of a value that differs
NOTHING = object()


def pair_words(pair: tuple[Any, Any]) -> str:
    """Both datasets, or what differs between them.

    >>> pair_words((0.0, 1.0))
    '0.0  and  1.0'
    >>> pair_words((np.zeros(50), np.eye(50)[3]))[:66]
    'record 3 is 0.0 in the first, 1.0 in the second; print(result.pair'
    """
    texts = [_text(data) for data in pair]
    if all(len(text) <= LONGEST for text in texts):
        return "  and  ".join(texts)
    kinds = " and ".join(dict.fromkeys(_kind(data) for data in pair))
    return f"{difference(*pair)}; print(result.pair[0]) shows the whole of it ({kinds})"


def difference(first: Any, second: Any) -> str:
    """Where two datasets differ: the first place, with both values, and how many more there are."""
    places = _places(first, second)
    if not places:
        return "the two datasets differ in no place that can be compared"
    where, one, two = places[0]
    more = f" (and {len(places) - 1} more places differ)" if len(places) > 1 else ""
    if two is NOTHING:
        return f"{where}, {_short(one)}, is in the first only{more}"
    if one is NOTHING:
        return f"{where}, {_short(two)}, is in the second only{more}"
    return f"{where} is {_short(one)} in the first, {_short(two)} in the second{more}"


def _places(first: Any, second: Any) -> list[tuple[str, Any, Any]]:
    """Each place with its two values. A record that was added or removed makes one place, not a shift of the rest."""
    first, second = (_rows(data) if is_frame(data) else data for data in (first, second))
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        keys = dict.fromkeys([*first, *second])
        rows = [(f"key {key!r}", first.get(key, NOTHING), second.get(key, NOTHING)) for key in keys]
        return [row for row in rows if not _same(row[1], row[2])]
    if not (_is_list(first) and _is_list(second)):
        return [] if _same(first, second) else [("the dataset", first, second)]
    if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
        parts = [(i, _places(one, two)) for i, (one, two) in enumerate(zip(first, second, strict=True))]
        return [
            (f"part {i}, {where}".replace(", the dataset", ""), *rest) for i, found in parts for where, *rest in found
        ]
    if len(first) == len(second):
        rows = [(f"record {i}", first[i], second[i]) for i in range(len(first))]
        return [row for row in rows if not _same(row[1], row[2])]
    longer, shorter = (first, second) if len(first) > len(second) else (second, first)
    start = next((i for i in range(len(shorter)) if not _same(longer[i], shorter[i])), len(shorter))
    extra = range(start, start + len(longer) - len(shorter))
    return [(f"record {i}", *((longer[i], NOTHING) if longer is first else (NOTHING, longer[i]))) for i in extra]


def _rows(frame: Any) -> list[dict[str, Any]]:
    """One dictionary a record."""
    return [dict(row) for row in frame.to_dict("records")]


def _is_list(data: Any) -> bool:
    return (isinstance(data, np.ndarray) and data.ndim > 0) or (
        isinstance(data, Sequence) and not isinstance(data, str | bytes)
    )


def _same(one: Any, two: Any) -> bool:
    if one is NOTHING or two is NOTHING:
        return one is two
    try:
        return bool(np.array_equal(one, two))
    except (TypeError, ValueError):
        return repr(one) == repr(two)


def _text(data: Any) -> str:
    if is_frame(data):
        data = data.to_dict("list")
    return " ".join(repr(data).split())


def _short(value: Any) -> str:
    text = _text(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def _kind(data: Any) -> str:
    if isinstance(data, np.ndarray) or is_frame(data):
        return f"{'frame' if is_frame(data) else 'array'} of shape {data.shape}"
    name = type(data).__name__
    return f"{name} of {len(data)}" if _is_list(data) or isinstance(data, Mapping) else name
