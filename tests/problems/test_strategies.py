"""Strategies: what they draw is what they say, and known mechanisms have exactly the privacy they state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

import dpcheck as dp
from dpcheck import strategies
from dpcheck.audits import drawn_by

RELATIONS = {
    "replace": dp.replace_one(low=-1, high=2, n=4),
    "box": dp.replace_one(low=0, high=1, n=3, d=2),
    "l1": dp.replace_one(high=2, n=3, d=3, ball="l1"),
    "l2": dp.replace_one(high=1, n=3, d=2, ball="l2"),
    "categories": dp.replace_one(n=3, values=("a", "b", "c")),
    "add/remove": dp.add_remove(low=0, high=1, n=4),
    "labels": dp.label_only(low=0, high=1, n=3, d=2, labels=(0, 1)),
    "local": dp.one_user(low=0, high=3),
    "group": dp.group(dp.replace_one(low=0, high=1, n=5), 2),
}


@pytest.mark.parametrize("name", RELATIONS)
def test_pairs_are_neighbours_and_differ(name: str) -> None:
    near = RELATIONS[name]

    @settings(max_examples=60, deadline=None, database=None)
    @given(dp.strategies.neighbouring(near))
    def check(pair: Any) -> None:
        assert near.is_pair(*pair)
        assert repr(pair[0]) != repr(pair[1])

    check()


def test_pairs_shrink_to_corners() -> None:
    """The smallest pair that a difference of the sums of more than 0.9 needs: whole numbers only."""
    wanted = strategies.neighbouring(dp.replace_one(low=0, high=1, n=3))
    first, second = find(wanted, lambda pair: bool(abs(pair[0].sum() - pair[1].sum()) > 0.9))
    assert set(np.concatenate([first, second]).tolist()) <= {0.0, 1.0}


def test_own_generators_are_drawn_from() -> None:
    near = drawn_by(lambda rng: (0.0, float(rng.integers(1, 9))))
    assert find(strategies.neighbouring(near), lambda pair: pair[1] >= 1)[0] == 0.0


@settings(max_examples=50, deadline=None, database=None)
@given(st.data())
def test_datasets_stay_in_their_domain(data: st.DataObject) -> None:
    numbers = data.draw(strategies.datasets(low=-2, high=3, n=(0, 6)))
    assert numbers.ndim == 1
    assert len(numbers) <= 6
    assert all(-2 <= x <= 3 for x in numbers)
    vectors = data.draw(strategies.datasets(high=2, n=4, d=3, ball="l2"))
    assert vectors.shape == (4, 3)
    assert np.all(np.linalg.norm(vectors, axis=1) <= 2 * (1 + 1e-9))
    assert set(data.draw(strategies.datasets(values=("x", "y"), n=5)).tolist()) <= {"x", "y"}


def test_guarantees_of_all_kinds() -> None:
    for kind in (dp.PureDP, dp.ApproxDP, dp.ZCDP, dp.GaussianDP, dp.RenyiDP):
        found = find(strategies.guarantees(dp.ADD_REMOVE), lambda g, kind=kind: isinstance(g, kind))
        assert found.relation == dp.ADD_REMOVE
        assert 0 <= found.epsilon(0.2) < np.inf


def worst(known: strategies.Known) -> Any:
    """The first of the classic patterns: one record from end to end of its domain, the others at the low end."""
    return known.neighbours.pairs(np.random.default_rng(0), 1)[0]


@settings(max_examples=8, deadline=None, database=None, derandomize=True)
@given(strategies.mechanisms(st.floats(0.1, 2)))
def test_mechanisms_keep_their_guarantee(known: strategies.Known) -> None:
    dp.assert_private(known, pair=worst(known), neighbours=known.neighbours, guarantee=known.guarantee, max_trials=5000)


MAKERS = ("laplace_sum", "gaussian_sum", "geometric_count", "randomised_response", "exponential_vote")


@pytest.mark.parametrize("name", MAKERS)
def test_mechanisms_are_tight(name: str) -> None:
    """Claiming two thirds of what they state is caught."""
    known = getattr(strategies, name)(2.0)
    (parameter, value), *_ = known.guarantee.parameters.items()
    less = replace(known.guarantee, **{parameter: 2 / 3 * value})
    with pytest.raises(dp.PrivacyViolation):
        dp.assert_private(known, pair=worst(known), neighbours=known.neighbours, guarantee=less, max_trials=40_000)
    assert find(strategies.mechanisms(), lambda drawn: drawn.name == name).name == name


@pytest.mark.parametrize("call", [lambda: strategies.datasets(n=(3, 1)), lambda: strategies.neighbouring((0, 1))])
def test_bad_input_is_typed(call: Any) -> None:
    with pytest.raises(dp.InvalidInput, match="must be"):
        call()
