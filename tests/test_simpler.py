"""Learned events that one column draws as well are said by that column, and cost nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpcheck.audits import audit
from dpcheck.audits.scores.attacks import Coordinate
from dpcheck.audits.scores.simpler_scores import best_cut, simpler
from dpcheck.audits.scores.wide import Projection
from dpcheck.audits.statistics.event_choice import Choice, Target
from dpcheck.bounds.language.guarantees import PureDP


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=30), st.data())
def test_the_best_cut_is_the_best_of_all_half_lines(values: list[int], data: st.DataObject) -> None:
    array = np.array(values, float)
    inside = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
    wrong, threshold, above = best_cut(array, inside)
    drawn = array >= threshold if above else array < threshold
    assert np.count_nonzero(drawn != inside) == wrong
    for cut in {*array, array.max() + 1}:
        missed = np.count_nonzero((array >= cut) != inside)
        assert wrong <= min(missed, len(values) - missed)


def test_a_projection_on_nearly_one_column_is_that_column() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 4000, 3))
    second[:, 1] += 50
    goal = Target(0.0, 1.0)
    near = Choice(Projection(np.array([0.01, 1.0, 0.0]), "learned"), 25.0, True, "second", goal, 1.0, 0.0, 5.0)
    found = simpler(near, first, second)
    assert isinstance(found.score, Coordinate)
    assert found.score.column == 1
    assert (found.above, found.direction, found.target) == (near.above, near.direction, goal)
    far = Choice(Projection(np.array([1.0, 1.0, 1.0]), "learned"), 0.5, True, "second", goal, 0.9, 0.3, 1.0)
    assert simpler(far, first, first.copy()) is far


def test_outputs_near_the_largest_float_are_audited() -> None:
    """False alarms: 1e-6 each; warnings are errors here. The leak stands beside noise of any size."""
    for size in (1e300, 1e-300):

        def leaky(data: float, rng: np.random.Generator, trials: int, size: float = size) -> np.ndarray:
            noise = size * rng.normal(size=(trials, 20))
            return np.hstack([noise, data + rng.laplace(scale=0.05, size=(trials, 1))])

        asked: dict[str, Any] = {"guarantee": PureDP(1.0), "max_trials": 1000, "alpha": 1e-6}
        for early in (False, True):
            with np.errstate(over="raise", invalid="raise", divide="raise"):
                assert audit(leaky, pair=(0.0, 1.0), stop_early=early, **asked).violated
                assert not audit(leaky, pair=(0.0, 0.0), stop_early=early, **asked).violated
