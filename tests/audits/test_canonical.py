"""The canonical form: equal outputs are equal, different ones are different, whatever a function returns."""

from __future__ import annotations

import collections
import copy
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import pathlib
import threading
import uuid
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcheck.audits.outputs.canonical import OPAQUE, digest, form_of

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Release:
    count: float
    notes: list[Any]


class Plain:
    def __init__(self, value: Any) -> None:
        self.value = value


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Word(enum.StrEnum):
    YES = "yes"


class Silent(enum.Enum):
    ONE = 1
    TWO = 2

    def __str__(self) -> str:
        return "a number"


pandas = pytest.importorskip("pandas")
sparse = pytest.importorskip("scipy.sparse")
UTC = dt.UTC

SAME: list[tuple[Any, Any]] = [
    (1, 1.0),
    (True, 1),
    (np.int64(1), np.float32(1)),
    (decimal.Decimal("1.5"), 1.5),
    (fractions.Fraction(1, 10), decimal.Decimal("0.1")),
    (complex(2, 0), 2),
    ((0.0, "x"), (-0.0, "x")),
    (np.array([0.0]), np.array([-0.0])),
    ({0, 8}, {8, 0}),
    ({1, 2}, frozenset({2.0, 1.0})),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({1: "x"}, {1.0: "x"}),
    ({(1, 2): 3}, {(1.0, 2): 3}),
    (collections.Counter("aab"), {"b": 1, "a": 2}),
    (np.float64(0.5), 0.5),
    ({np.float64(0.5): 1}, {0.5: 1}),
    ({fractions.Fraction(1, 2)}, {0.5}),
    (collections.Counter(a=0, b=1), collections.Counter(b=1)),
    (np.datetime64("2020-01-01"), np.datetime64("2020-01-01T00:00:00")),
    (np.array(["2020-01-01"], "datetime64[D]"), np.array(["2020-01-01"], "datetime64[s]")),
    (collections.deque([1], maxlen=3), collections.deque([1])),
    (collections.UserList([1]), [1]),
    (Word.YES, "yes"),
    (pandas.Interval(0, 1), pandas.Interval(0.0, 1.0)),
    (Point(1, 2), (1, 2)),
    (b"ab", bytearray(b"ab")),
    (np.str_("ab"), "ab"),
    (Plain([1]), Plain([1.0])),
    (Slotted(1), Slotted(True)),
    (Release(1, [2]), Release(1.0, [2])),
    (dt.datetime(2020, 1, 1, tzinfo=UTC), dt.datetime(2020, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1)))),
    (np.array([1, 2]), np.array([1.0, 2.0])),
    (pandas.DataFrame({"a": [1, 2]}), pandas.DataFrame({"a": [1.0, 2.0]})),
    (pandas.Series([1, 2], index=["a", "b"]), pandas.Series([1.0, 2.0], index=["a", "b"])),
    (sparse.coo_array(np.eye(2)), sparse.csr_array(np.eye(2))),
    (uuid.UUID(int=3), uuid.UUID(int=3)),
    (float("nan"), np.float64("nan")),
]

DIFFERENT: list[Any] = [
    *(1, 2, 0.1, decimal.Decimal("0.1"), 10**30, 10**30 + 1, 2**53 + 1, 1j, float("nan"), float("inf")),
    *("", "1", "3.0", "3.00", "a b", "b a", "aa", b"", b"1", b"\x00\x01", b"\x00\x02", None, Ellipsis),
    *((), [], {}, set(), (1,), [1], {1}, {1: 1}, [1, None], [1, None, 2], [[1, 2], [3]], [[1], [2, 3]], range(3)),
    *([0, 1, 2], (0, 1, 2), np.array([0, 1, 2]), np.array([[0, 1, 2]]), np.array(["0", "1", "2"])),
    *({1.5}, {2.5}, {1.5, 2.5}, {frozenset({1})}, {frozenset({2})}, {(1, 2)}, {"(1, 2)"}, {1: {2: 3}}, {1: {2: 4}}),
    *({"a": 1, "b": 1}, {"a": None}, {"b": None}, {"a": 1}, Plain(1), Plain(2), Slotted(1), Release(1, [1])),
    *(
        Release(1, (1,)),
        Colour.RED,
        Colour.GREEN,
        ValueError("a"),
        ValueError("b"),
        pathlib.Path("a"),
        uuid.UUID(int=3),
    ),
    *(dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=UTC), dt.date(2020, 1, 1), dt.time(1), dt.timedelta(1)),
    *(pandas.Timestamp("2020-01-02"), pandas.Timestamp("2020-01-02T00:00:00.000000001"), pandas.NaT),
    *(pandas.Series([1]), pandas.Series([2]), pandas.Series(["x"]), pandas.Series([1], index=["a"])),
    *(pandas.DataFrame({"a": [1]}), pandas.DataFrame({"b": [1]}), pandas.DataFrame({"a": [None]})),
    *(
        pandas.DataFrame({"a": [1]}, index=["r"]),
        sparse.csr_array(np.eye(2)),
        np.eye(2),
        int,
        len,
        pandas.NA,
    ),
    *(
        10**5000,
        decimal.Decimal("1.5e5000"),
        2**60,
        2**60 + 1,
        Silent.ONE,
        Silent.TWO,
        "-0.0",
        "0.00",
        ".1230",
        "0.123",
    ),
    *(np.ma.array([1.0, 2.0], mask=[0, 1]), np.ma.array([1.0, 2.0], mask=[1, 0]), np.matrix([[1.0, 5.0]])),
    *(pandas.DataFrame([[1, 0]], columns=["a", "a"]), pandas.DataFrame([[0, 1]], columns=["a", "a"])),
    *(pandas.Interval(0, 1), pandas.Interval(0, 2), pandas.Period("2020-01"), pandas.Period("2020-02")),
    *(collections.OrderedDict(a=1, b=3), collections.OrderedDict([("b", 3), ("a", 1)]), {float("nan"): 3, 0.5: 1}),
    *(pandas.Categorical(["x"]), pandas.Categorical(["x"], ["x", "y"])),
    *(collections.deque([1]), collections.deque([2]), np.datetime64("2020-01-01"), np.array([1 + 1j])),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_outputs_have_equal_forms(one: Any, other: Any) -> None:
    assert digest(form_of(one)) == digest(form_of(other))


def test_different_outputs_have_different_forms() -> None:
    met: dict[float, Any] = {}
    for output in DIFFERENT:
        place = digest(form_of(output))
        assert place not in met, (output, met[place])
        met[place] = output
        assert digest(form_of(copy.deepcopy(output))) == place


SCALARS = st.one_of(
    st.sampled_from([None, True, "0", "01", "1.0", "-1", "a1", "1 a", "a b"]),
    st.integers(-3, 3),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=4),
    st.binary(max_size=4),
    st.decimals(allow_nan=False, allow_infinity=False, places=2),
    st.fractions(max_denominator=4),
)
KEYS = st.one_of(st.integers(0, 2), st.text(max_size=2), st.sampled_from([0.0, 1.0, 0.5, True, (1, 2), None]))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
        st.sets(KEYS, max_size=3),
        st.frozensets(KEYS, max_size=3),
    ),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_forms_are_equal_just_where_outputs_are(one: Any, other: Any) -> None:
    assert (digest(form_of(one)) == digest(form_of(other))) == (one == other)


def reordered(value: Any) -> Any:
    """An equal value that was built the other way round, from other types."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(list(value))}
    if isinstance(value, set | frozenset):
        return frozenset(reversed(list(value)))
    if isinstance(value, list | tuple):
        return type(value)(reordered(item) for item in value)
    if isinstance(value, int) and abs(value) < 2**53:
        return np.float64(value)
    return value


@given(VALUES)
def test_the_order_of_making_does_not_matter(value: Any) -> None:
    assert digest(form_of(value)) == digest(form_of(reordered(value)))


def test_parts_are_named_as_a_reader_would() -> None:
    form = form_of({"a": [1, {"b": 2.5}], "tags": {"red"}, "note": "count: 7.5 of 10", "p": Point(1, None)})
    assert form["output['a'][1]['b']"] == 2.5
    assert "'red' in output['tags']" in form
    assert form["number 1 in output['note']"] == 7.5
    assert form["text around the numbers of output['note']"] == "'count: # of #'"
    assert form_of(Release(3, []))["output.count"] == 3
    assert form_of(pandas.DataFrame({"x": [1.0, 2.0]}))["output['x']"].tolist() == [1.0, 2.0]


def test_what_cannot_be_read_is_marked() -> None:
    def closed() -> None: ...

    for output in (closed, (i for i in range(3)), threading.Lock(), object()):
        assert form_of({"part": output})["output['part']"].startswith(OPAQUE)  # type: ignore[union-attr]
    endless: list[Any] = []
    endless.append(endless)
    assert form_of(endless) == form_of(endless)
    deep: Any = 0
    for _ in range(100_000):
        deep = [deep]
    assert OPAQUE in str(form_of(deep))
