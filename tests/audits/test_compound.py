"""Neighbouring DataFrames and (X, y): every pair made is one of the schema's, strangers are none, and the search finds
what one record may change. Audits have a fixed seed and a false-alarm rate of 1e-6.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcheck as dp
from dpcheck.audits import Neighbours, add_remove, group, replace_one
from dpcheck.audits.pairs.compound import frame_domain
from dpcheck.audits.pairs.pair_in_words import pair_words
from dpcheck.audits.pairs.shrinking import shrunk
from dpcheck.bounds.language.errors import InvalidInput, MissingDependency

PEOPLE = {"age": range(18, 100), "income": (0, 1e5), "city": ["Oslo", "Lima", None]}
SIZES = pandas.CategoricalDtype(["small", "large"], ordered=True)
RELATIONS: dict[str, Neighbours] = {
    "frames": replace_one(columns=PEOPLE, n=(2, 5)),
    "frames, add or remove": add_remove(columns=PEOPLE, n=(1, 4)),
    "one column": replace_one(columns={"bit": [False, True]}, n=3),
    "a type of its own": replace_one(columns={"size": SIZES, "x": (-1.0, 1.0)}, n=3),
    "groups": group(replace_one(columns=PEOPLE, n=6), 3),
    "classes": replace_one(high=1, n=4, d=2, ball="l2", labels=(0, 1, 2)),
    "words as classes": add_remove(low=0, high=1, n=(1, 4), d=1, labels=("no", "yes")),
    "targets": replace_one(low=-1, high=1, n=(2, 4), d=3, targets=(-5, 5)),
}


@pytest.mark.parametrize("name", RELATIONS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=8)
def test_pairs_are_pairs(name: str, seed: int) -> None:
    """Drawn, varied and given by hypothesis; and each is taken apart into what it was built from."""
    near, rng = RELATIONS[name], np.random.default_rng(seed)
    for pair in near.pairs(rng, 6):
        assert near.is_pair(*pair)
        assert near.is_pair(*reversed(pair))
        kept, old, new, place = near.parts(pair) or ([], [], [], 0)
        again = near.build(kept, old, new, place)
        assert pair_words(again) == pair_words(pair)
        assert all(near.is_pair(*other) for other in near.varied(pair, rng))


@pytest.mark.parametrize("name", RELATIONS)
@given(data=st.data())
@settings(max_examples=8)
def test_strategies_draw_pairs(name: str, data: st.DataObject) -> None:
    near = RELATIONS[name]
    assert near.is_pair(*data.draw(dp.strategies.neighbouring(near)))


def test_classic_pairs_move_every_column_alone_and_all_together() -> None:
    changes = set()
    for pair in islice(replace_one(columns=PEOPLE, n=2).classic(), 40):
        one, two = (frame.astype(object).fillna("missing") for frame in pair)
        changes |= {tuple(row) for row in (one != two).to_numpy().tolist()}
    assert changes >= {(True, True, True), (True, False, False), (False, True, False), (False, False, True)}


def frame(**columns: Any) -> Any:
    return pandas.DataFrame(columns)


@pytest.mark.parametrize(
    ("second", "fine"),
    [
        (frame(age=[40, 30], income=[1.0, 2.0], city=["Oslo", None]), True),
        (frame(age=[20, 40], income=[7.0, 1.0], city=["Lima", "Oslo"]), True),  # the order does not matter
        (frame(age=[40, 20], income=[1.0, 2.0], city=["Rome", "Oslo"]), False),
        (frame(age=[40, 17], income=[1.0, 2.0], city=["Oslo", "Lima"]), False),
        (frame(age=[40, 20.5], income=[1.0, 2.0], city=["Oslo", "Lima"]), False),
        (frame(age=[41, 21], income=[1.0, 2.0], city=["Oslo", "Lima"]), False),
        (frame(age=[40], income=[1.0], city=["Oslo"]), False),
        (frame(age=[40, 20], city=["Oslo", "Lima"], income=[1.0, 2.0]), False),  # other columns
        (frame(age=[40, 20], income=[1.0, None], city=["Oslo", "Lima"]), False),  # nobody said that it may be missing
        (np.zeros((2, 3)), False),
    ],
)
def test_strangers_are_no_pair(second: Any, fine: bool) -> None:
    first = frame(age=[40, 20], income=[1.0, 2.0], city=["Oslo", "Lima"])
    assert replace_one(columns=PEOPLE, n=2).is_pair(first, second) is fine


def test_frames_keep_their_types_however_few_records_they_have() -> None:
    domain = frame_domain({**PEOPLE, "size": SIZES, "smoker": [False, True]})
    whole = domain.stack(domain.corners())
    assert [str(kind) for kind in whole.dtypes[["age", "income", "size", "smoker"]]] == [
        "int64",
        "float64",
        "category",
        "bool",
    ]
    assert domain.stack([]).dtypes.equals(whole.dtypes)
    assert domain.stack(domain.records(whole)).equals(whole)


# The search -------------------------------------------------------------------------------------------
def old_in_lima(data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
    """A count that nobody protected, beside a mean that has the noise it needs."""
    mean = data["income"].mean() / 1e5 + rng.laplace(scale=1 / (len(data) * 1.0), size=trials)
    rare = ((data["city"] == "Lima") & (data["age"] > 64) & (data["income"] < 100)).sum()
    return np.column_stack([mean, rare + rng.laplace(scale=0.3, size=trials)])


def noisy_mean(data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data["income"].mean() / 1e5 + rng.laplace(scale=1 / (len(data) * 1.0), size=trials)


def within_class(data: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Both the row and the label may move it, by 2 in all: noise for 1."""
    X, y = data
    return (X[:, 0] * y).sum() + rng.laplace(scale=1.0, size=trials)


ASKED: dict[str, Any] = {"guarantee": dp.PureDP(1.0), "max_trials": 12_000, "alpha": 1e-6, "seed": 1}


def test_a_leak_where_columns_conspire_is_found_and_shrunk() -> None:
    result = dp.audit(old_in_lima, neighbours=replace_one(columns=PEOPLE, n=(2, 6)), **ASKED)
    assert result.violated
    rare = [((f["city"] == "Lima") & (f["age"] > 64) & (f["income"] < 100)).sum() for f in result.pair]
    assert abs(rare[0] - rare[1]) == 1
    assert max(map(len, result.pair)) == 2  # as few records as show it
    assert "'city': [" in str(result)
    assert json.loads(result.to_json())["pair"][0].keys() == PEOPLE.keys()


def test_a_sound_release_of_a_frame_is_not_flagged() -> None:
    result = dp.audit(noisy_mean, neighbours=replace_one(columns=PEOPLE, n=4), **ASKED)
    assert not result.violated
    assert result.epsilon_lower > 0.6  # the pair is the worst one


@pytest.mark.parametrize(("bound", "violated"), [(1.0, True), (0.5, False)])
def test_rows_and_labels_are_searched_together(bound: float, violated: bool) -> None:
    near = replace_one(low=-bound, high=bound, n=3, d=2, labels=(-1, 1))
    result = dp.audit(within_class, neighbours=near, **ASKED)
    assert result.violated is violated
    assert result.epsilon_lower > 0.6 * 2 * bound


def test_an_estimator_is_audited_on_rows_and_labels() -> None:
    """Certified noise is not flagged; a tenth of it is."""
    model = dp.estimators.PrivateLogisticRegression(1.0, 1e-2, classes=(0, 1), fit_intercept=False)
    near = replace_one(high=1, n=4, d=2, ball="l2", labels=(0, 1))
    sound = model.mechanism()
    asked = {**ASKED, "guarantee": model.guarantee(), "neighbours": near, "max_trials": 4000}
    assert not dp.audit(sound, **asked).violated
    weak = dp.estimators.PrivateLogisticRegression(30.0, 1e-2, classes=(0, 1), fit_intercept=False).mechanism()
    assert dp.audit(weak, **asked).violated


def test_counterexamples_are_rounded_and_get_plain_categories() -> None:
    near = replace_one(columns={"x": (-3, 3), "kind": ["a", "b", "c"]}, n=(1, 4))
    messy = (
        frame(x=[2.7, 1.3, 0.4], kind=["c", "b", "c"]),
        frame(x=[-1.9, 1.3, 0.4], kind=["c", "b", "c"]),
    )
    first, second = shrunk(near, messy, lambda pair: bool(abs(pair[0]["x"].sum() - pair[1]["x"].sum()) >= 2))
    assert first.to_dict("list") == {"x": [3.0], "kind": ["a"]}
    assert second.to_dict("list") == {"x": [0.0], "kind": ["a"]}


def test_long_pairs_say_where_they_differ() -> None:
    first = frame(x=np.zeros(80), kind=["a"] * 80)
    second = first.copy()
    second.loc[7, "x"] = 1.0
    assert pair_words((first, second)).startswith(
        "record 7 is {'x': 0.0, 'kind': 'a'} in the first, {'x': 1.0, 'kind': 'a'} in the second;"
    )


def test_checkpoints_know_frames(tmp_path: Any) -> None:
    call = {**ASKED, "neighbours": replace_one(columns=PEOPLE, n=3), "max_trials": 2000}
    results = [dp.audit(noisy_mean, checkpoint=tmp_path / "kept", **call) for _ in "ab"]
    assert results[0].epsilon_lower == results[1].epsilon_lower


# What is refused --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "says"),
    [
        ({"columns": {}}, "columns is"),
        ({"columns": ["age"]}, "a dict from names to ranges"),
        ({"columns": {"age": (5, 1)}}, r"column 'age' is \(5, 1\).*low < high"),
        ({"columns": {"age": ("a", "b")}}, "A list means categories"),
        ({"columns": {"age": "abc"}}, r"range\(a, b\) for whole ones"),
        ({"columns": {"age": ["a"]}}, "two different categories"),
        ({"columns": {"age": range(3, 4)}}, "two or more whole numbers"),
        ({"columns": PEOPLE, "d": 3}, "alone"),
        ({"columns": PEOPLE, "labels": (0, 1)}, "alone"),
        ({"d": 2, "labels": (0, 1), "targets": (0, 1)}, "one of the two"),
        ({"d": 2, "labels": (1, 1)}, "at least two different values"),
        ({"d": 2, "targets": (1, 1)}, "low < high"),
    ],
)
def test_bad_schemas_are_refused(call: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        replace_one(n=4, **call)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependency, match=r"pip install 'dpcheck\[frames\]'"):
        replace_one(columns={"bit": [0, 1]}, n=3)
