"""Learned events that one column draws as well are said by that column, and cost nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpcheck.audits import audit, per_run
from dpcheck.audits.scores.attacks import Coordinate
from dpcheck.audits.scores.simpler_scores import HalfLines, simpler
from dpcheck.audits.scores.wide import Projection
from dpcheck.audits.statistics.event_choice import Choice, Target
from dpcheck.bounds.language.guarantees import PureDP


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=30), st.data())
def test_half_lines_are_counted_as_they_are_drawn(values: list[int], data: st.DataObject) -> None:
    array = np.array(values, float)
    kinds = st.lists(st.booleans(), min_size=len(values), max_size=len(values)).map(np.array)
    inside, favoured = data.draw(kinds), data.draw(kinds)
    lines = HalfLines.of(array, inside, favoured)
    assert len(lines.wrong) == 2 * len(set(values))
    for which, (wrong, hits, false) in enumerate(zip(lines.wrong, lines.hits, lines.false, strict=True)):
        above, threshold = lines.drawn(which)
        drawn = array >= threshold if above else array < threshold
        assert (np.sum(drawn != inside), np.sum(drawn & favoured), np.sum(drawn & ~favoured)) == (wrong, hits, false)


def test_the_line_between_two_datasets_is_drawn_where_none_of_their_runs_is() -> None:
    """A learned event a few runs off would be counted as it is: of the lines that near, the clean one is drawn."""
    rng = np.random.default_rng(0)
    first, second = rng.laplace(scale=0.05, size=(2, 4000, 3))
    second[:, 1] += 1
    line = float(np.sort(first[:, 1])[-5])
    near = Choice(Projection(np.array([0.0, 1.0, 0.0]), "learned"), line, True, "second", Target(0.0, 1.0), 1, 0, 5.0)
    found = simpler(near, first, second, 10_000, 0.05)
    assert first[:, 1].max() < found.threshold < second[:, 1].min()


def test_a_member_that_tells_is_named_among_sets_of_others() -> None:
    """False alarm: 1e-6. The sets are too many to list, and some too rare for the pilot to see."""

    def leaky(data: int, rng: np.random.Generator) -> frozenset[int]:
        told = {0} if data and rng.random() < 0.5 else set()
        return frozenset({*rng.integers(1, 9, size=3).tolist(), *told})

    asked: dict[str, Any] = {"guarantee": PureDP(1.0), "max_trials": 4000, "alpha": 1e-6}
    found = audit(per_run(leaky), pair=(0, 1), **asked)
    assert found.violated
    assert str(found.event) == "0 in output"
    assert not audit(per_run(leaky), pair=(0, 0), **asked).violated


def test_a_projection_on_nearly_one_column_is_that_column() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 4000, 3))
    second[:, 1] += 50
    goal = Target(0.0, 1.0)
    near = Choice(Projection(np.array([0.01, 1.0, 0.0]), "learned"), 25.0, True, "second", goal, 1.0, 0.0, 5.0)
    found = simpler(near, first, second, 10_000, 0.05)
    assert isinstance(found.score, Coordinate)
    assert found.score.column == 1
    assert (found.above, found.direction, found.target) == (near.above, near.direction, goal)
    far = Choice(Projection(np.array([1.0, 1.0, 1.0]), "learned"), 0.5, True, "second", goal, 0.9, 0.3, 1.0)
    assert simpler(far, first, first.copy(), 10_000, 0.05) is far


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
