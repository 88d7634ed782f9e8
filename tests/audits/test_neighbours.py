"""Every pair made is a pair, and what is not one is said not to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcheck.audits import Neighbours, add_remove, drawn_by, group, label_only, one_attribute, one_user, replace_one
from dpcheck.bounds.language.errors import InvalidInput

RELATIONS: dict[str, Neighbours] = {
    "scalars": replace_one(low=-1, high=2, n=5),
    "rows in a box": replace_one(low=0, high=1, n=4, d=3),
    "rows in an l2 ball": replace_one(high=2, n=4, d=3, ball="l2"),
    "rows in an l1 ball": add_remove(high=1, n=4, d=2, ball="l1"),
    "rows in an linf ball": replace_one(high=1, n=3, d=40, ball="linf"),
    "categories": replace_one(values=("a", "b", "c"), n=4),
    "add or remove": add_remove(low=0, high=1, n=3),
    "labels": label_only(low=0, high=1, n=4, d=2, labels=(0, 1, 2)),
    "local": one_user(low=-1, high=1),
    "local vectors": one_user(high=1, d=3, ball="l2"),
    "one attribute": one_attribute(values=(0, 1), d=4),
    "one number of a record": one_attribute(low=-1, high=1, d=3),
    "two attributes": group(one_attribute(values=(0, 1, None), d=4), 2),
    "groups": group(replace_one(low=0, high=1, n=6), 3),
    "one record": replace_one(low=0, high=1, n=1),
}


@pytest.mark.parametrize("name", RELATIONS)
@given(st.integers(0, 2**32), st.integers(1, 60))
def test_pairs_are_pairs(name: str, seed: int, count: int) -> None:
    near = RELATIONS[name]
    pairs = near.pairs(np.random.default_rng(seed), count)
    assert len(pairs) == count
    assert all(near.is_pair(*pair) and near.is_pair(*reversed(pair)) for pair in pairs)


@pytest.mark.parametrize(
    ("near", "pair"),
    [
        (replace_one(0, 1, n=3), (np.array([0.0, 0, 0]), np.array([1.0, 1, 0]))),
        (replace_one(0, 1, n=3), (np.array([0.0, 0, 0]), np.array([2.0, 0, 0]))),
        (replace_one(0, 1, n=3), (np.array([0.0, 0, 0]), np.array([0.0, 0]))),
        (replace_one(0, 1, n=3), (0.0, 1.0)),
        (add_remove(0, 1, n=3), (np.array([0.0, 0, 0]), np.array([1.0, 0, 0]))),
        (replace_one(high=1, n=2, d=2, ball="l2"), (np.ones((2, 2)), np.zeros((2, 2)))),
        (label_only(0, 1, n=2, d=1), ((np.zeros((2, 1)), np.array([1, 1])), (np.ones((2, 1)), np.array([1, 1])))),
        (label_only(0, 1, n=2, d=1), ((np.zeros((2, 1)), np.array([1, 1])), (np.zeros((2, 1)), np.array([-1, -1])))),
        (one_user(0, 1), (0.0, 3.0)),
        (one_attribute(values=(0, 1), d=3), (np.array([0, 1, 1]), np.array([1, 0, 1]))),
        (one_attribute(values=(0, 1), d=2), (np.array([0, 1]), np.array([1, 0]))),  # attributes have places
        (one_attribute(values=(0, 1), d=2), (np.array([0, 1]), np.array([0, 2]))),
        (one_attribute(values=(0, 1), d=2), (np.array([0, 1]), np.array([0]))),
        (replace_one(values=("a", "b"), n=2), (np.array(["a", "a"]), np.array(["a", "z"]))),
    ],
)
def test_strangers_are_no_pair(near: Neighbours, pair: Any) -> None:
    assert not near.is_pair(*pair)


def test_order_of_records_does_not_matter() -> None:
    assert replace_one(0, 1, n=3).is_pair(np.array([0.0, 0.5, 1]), np.array([1.0, 0.0, 0.2]))


def test_groups_allow_k_changes_and_no_more() -> None:
    near = group(replace_one(0, 1, n=4), 2)
    assert near.relation.size == 2
    assert near.is_pair(np.zeros(4), np.array([1.0, 1, 0, 0]))
    assert not near.is_pair(np.zeros(4), np.array([1.0, 1, 1, 0]))


def test_corners_come_first_and_both_ways() -> None:
    pairs = replace_one(0, 1, n=2).pairs(np.random.default_rng(0), 2)
    assert abs(pairs[0][0].sum() - pairs[0][1].sum()) == 1


def test_own_generator() -> None:
    near = drawn_by(lambda rng: (0.0, float(rng.random())))
    assert len(near.pairs(np.random.default_rng(0), 3)) == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: replace_one(1, 0, n=3),
        lambda: replace_one(0, np.inf, n=3),
        lambda: replace_one(0, 1, n=0),
        lambda: replace_one(0, 1, n=3, d=0),
        lambda: replace_one(0, 1, n=3, ball="l2"),
        lambda: replace_one(0, 1, n=3, d=2, ball="l7"),  # type: ignore[arg-type]
        lambda: replace_one(values=("a",), n=3),
        lambda: label_only(labels=(1, 1)),
        lambda: group(replace_one(0, 1, n=2), 3),
        lambda: group(replace_one(0, 1, n=2), 0),
        lambda: replace_one(0, 1, n=2).pairs(np.random.default_rng(0), 0),
    ],
)
def test_bad_domains_are_refused(make: Any) -> None:
    with pytest.raises(InvalidInput):
        make()
