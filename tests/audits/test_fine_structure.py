"""Fine structure: combs, dependence between bits, parities. False alarms: 1e-6 per audit, fixed seeds."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.audits import audit
from dpcheck.audits.audit import Tally
from dpcheck.audits.outputs.encoding import Numbers
from dpcheck.audits.scores.attacks import Coordinate, distinct_share
from dpcheck.audits.scores.frequencies import Phase, finer, line, periods
from dpcheck.audits.scores.interactions import Parities, fit_parities, signs, telling_terms
from dpcheck.audits.scores.tables import distinct, table_of
from dpcheck.audits.statistics.event_choice import Choice, Target
from dpcheck.audits.trials.executor import Chunk
from dpcheck.bounds.language.guarantees import PureDP

Mechanism = Callable[[int, np.random.Generator, int], np.ndarray]


def comb(data: int, rng: np.random.Generator, trials: int, teeth: int = 500) -> np.ndarray:
    """Uniform on [0, 1), or with densities of 1.5 and 0.5 by turns: epsilon is log 2."""
    late = rng.random(trials) < (0.25 if data else 0.5)
    return (rng.integers(teeth, size=trials) + (late + rng.random(trials)) / 2) / teeth


def comb_among_others(data: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    noise = rng.laplace(size=(trials, 20))
    noise[:, 17] = comb(data, rng, trials)
    return noise


def barcode(data: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    """The same without a period: which of two neighbouring cells is likelier is a matter of chance."""
    turned = np.random.default_rng(7).random(50) < 0.5
    place = rng.integers(50, size=trials)
    late = (rng.random(trials) < (0.25 if data else 0.5)) != turned[place]
    return (place + (late + rng.random(trials)) / 2) / 50


def fair_bits(bits: int, places: tuple[int, ...]) -> Mechanism:
    """Fair bits; on one dataset an odd number of those at `places` is set in a quarter of the runs: log 2 again."""

    def mechanism(data: int, rng: np.random.Generator, trials: int) -> np.ndarray:
        found = rng.integers(2, size=(trials, bits))
        if data:
            *others, last = places
            found[:, last] = (found[:, others].sum(axis=1) + (rng.random(trials) < 0.25)) % 2
        return found

    return mechanism


def flagged_number(data: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    """A random number whose last bit is a flag, beside noise; the flag is set in half of the runs, or in a quarter."""
    flag = rng.random(trials) < (0.25 if data else 0.5)
    return np.stack([rng.laplace(size=trials), 2 * rng.integers(10**6, size=trials) + flag], axis=1)


def order_of_five(data: int, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Five items in random order, beside noise; an even number of them changed places in half of the runs or more."""
    order = rng.permuted(np.tile(np.arange(5), (trials, 1)), axis=1)
    changed = sum((order[:, i] > order[:, j]).astype(int) for i in range(5) for j in range(i + 1, 5)) % 2
    swap = changed != (rng.random(trials) < (0.25 if data else 0.5))
    order[swap, :2] = order[swap, 1::-1]
    return np.hstack([rng.laplace(size=(trials, 1)), order])


FINE = {
    "last bit of a number": flagged_number,
    "order of five": order_of_five,
    "comb": comb,
    "comb in one column of twenty": comb_among_others,
    "barcode": barcode,
    "two of 30 bits": fair_bits(30, (4, 21)),
    "parity of 14 bits": fair_bits(14, tuple(range(14))),
    "three of 8 bits, in a table": fair_bits(8, (1, 2, 6)),
}


@pytest.mark.parametrize("name", FINE)
def test_fine_structure_is_seen_and_not_overstated(name: str) -> None:
    """The same runs refute a claim of 0.4 and leave the true epsilon, log 2, alone."""
    trials = 100_000 if name == "barcode" else 20_000  # each of its cells is learned by itself
    asked: dict[str, Any] = {"pair": (0, 1), "max_trials": trials, "alpha": 1e-6}
    assert audit(FINE[name], guarantee=PureDP(0.4), **asked).violated
    assert not audit(FINE[name], guarantee=PureDP(math.log(2)), **asked).violated


@pytest.mark.parametrize("name", FINE)
def test_equal_laws_have_no_structure(name: str) -> None:
    """Chance makes a period, narrow cells or a term in about one of e^8 looks."""
    for data in (0, 1):
        rng = np.random.default_rng(data)
        sides = [np.asarray(FINE[name](data, rng, 4000), float).reshape(4000, -1) for _ in range(2)]
        assert periods(*sides) == []
        assert fit_parities(*sides) == []
        assert finer(sides[0][:, 0], sides[1][:, 0], np.array([0.5])) is None


@settings(max_examples=20, deadline=None)
@given(teeth=st.floats(80, 5000), low=st.floats(-1e3, 1e3), width=st.floats(1e-3, 1e3), seed=st.integers(0, 2**32))
def test_a_period_is_found_to_a_tenth_of_a_tooth_over_the_range(
    teeth: float, low: float, width: float, seed: int
) -> None:
    """Any number of teeth, not only whole ones, anywhere and at any scale."""
    rng = np.random.default_rng(seed)
    period = width / teeth
    sides = []
    for cut in (0.5, 0.25):
        x = rng.random(20_000) * teeth
        late = rng.random(20_000) < cut
        sides.append(low + period * (np.floor(x) + (late + rng.random(20_000)) / 2))
    clarity, found = line(*sides)
    assert clarity > 0
    assert abs(width / found - teeth) < 0.1


@pytest.mark.parametrize(
    "values", [np.zeros(50), np.full(50, np.inf), np.array([-np.inf, np.inf] * 25), np.r_[1e308, -1e308]]
)
def test_columns_without_a_range_have_no_period(values: np.ndarray) -> None:
    assert line(values, values[::-1])[0] <= 0
    assert np.isfinite(Phase(0, 0.5)(values[:, None])).all()


@settings(max_examples=30, deadline=None)
@given(bits=st.integers(2, 6), data=st.data())
def test_every_subset_is_looked_at(bits: int, data: st.DataObject) -> None:
    """The parity of any two or more bits, when it alone tells, is the term that is found."""
    places = data.draw(st.sets(st.integers(0, bits - 1), min_size=2))
    rows = (np.arange(2**bits)[:, None] >> np.arange(bits) & 1).astype(float)
    odd = rows[:, sorted(places)].sum(axis=1) % 2
    counts = np.stack([1000 + 200 * odd, 1200 - 200 * odd])
    assert telling_terms(rows, counts) == (tuple((j, 1.0) for j in sorted(places)),)


def test_categories_have_a_bit_for_each_value() -> None:
    """A column that repeats another on one dataset only, among twelve columns of five values each."""
    rng = np.random.default_rng(0)
    first, second = (rng.integers(5, size=(4000, 12)).astype(float) for _ in range(2))
    second[:2000, 7] = second[:2000, 2]
    (score,) = fit_parities(first, second)
    assert {column for term in score.terms if len(term) > 1 for column, _ in term} == {2, 7}
    assert score(second).mean() < score(first).mean() - 0.1


def test_scores_travel_and_say_what_they_are() -> None:
    rows = np.array([[0.0, 1.0], [1.0, 1.0]])
    both = Parities((((0, 1.0), (1, 1.0)), ((0, 1.0),)), np.array([2.0, 0.5]))
    assert pickle.loads(pickle.dumps(both))(rows).tolist() == both(rows).tolist() == [-1.5, 1.5]
    said = both.phrase(lambda j: f"bit {j}")
    assert said == "learned log-likelihood ratio (of 2 parities, foremost (bit 0 == 1) xor (bit 1 == 1))"
    assert Phase(1, 0.25).phrase(lambda j: f"x{j}") == "x1 modulo 0.25, as a share of it"
    assert Phase(1, 0.25)(np.array([[0.0, 1.125]])).tolist() == [0.5]
    assert signs((((0, 1.0),), ((0, 1.0), (1, 1.0))), rows).tolist() == [[1.0, -1.0], [-1.0, 1.0]]


def sparse_vector(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Which noisy queries reach a noisy threshold, up to the third that does."""
    reached = data + rng.laplace(scale=8.0, size=(trials, len(data))) >= rng.laplace(scale=2.0, size=(trials, 1))
    seen = reached.cumsum(axis=1)
    return np.where((seen > 3) | ((seen == 3) & ~reached), -1, reached).astype(float)


def test_common_noise_is_worth_many_runs() -> None:
    """Ratios learned from runs with the same seeds err less, and the table knows; others count as they are."""
    pair, errors, counted = (np.zeros(6), np.repeat([1.0, -1.0], 3)), [], []
    large = table_of(*(sparse_vector(data, np.random.default_rng(9), 400_000) for data in pair))
    truth = dict(zip(large.keys.tolist(), np.log(np.divide(*(large.counts.sum(axis=0) + 0.5))), strict=True))
    for seed in range(8):
        streams = [(seed, 0), (seed, 0)], [(seed, 0), (seed, 1)]
        tables = [
            table_of(*(sparse_vector(d, np.random.default_rng(s), 2000) for d, s in zip(pair, each, strict=True)))
            for each in streams
        ]
        counted.append([table.counts.sum() / 4000 for table in tables])
        fits = [(table.fitted()[0].scores, [truth[key] for key in table.keys.tolist()], table) for table in tables]
        errors.append([np.sqrt(np.average((f - t) ** 2, weights=x.counts.sum(axis=(0, 1)))) for f, t, x in fits])
    common, independent = np.median(errors, axis=0)
    assert common < 0.8 * independent
    assert np.median(counted, axis=0)[0] > 1.5
    assert np.median(counted, axis=0)[1] == pytest.approx(1.0, abs=0.03)


def test_outputs_that_never_differ_are_no_trouble() -> None:
    """The same outputs on both datasets, run for run, and one output only."""
    rows = np.random.default_rng(0).integers(4, size=(100, 2)).astype(float)
    assert np.ptp(table_of(rows, rows).fitted()[0].scores) < 1e-9
    assert np.isfinite(table_of(np.ones((20, 1)), np.ones((20, 1))).fitted()[0].scores).all()


@given(values=st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, np.inf]), max_size=30))
def test_distinct_values_are_those_of_a_set(values: list[float]) -> None:
    assert distinct(np.sort(np.array(values))).tolist() == sorted(set(values))


@given(scores=st.lists(st.integers(-3, 3), min_size=1, max_size=40), grid=st.sets(st.integers(-4, 4), min_size=1))
def test_the_curve_counts_the_runs_at_or_above_each_point(scores: list[int], grid: set[int]) -> None:
    choice = Choice(Coordinate(0), 0.0, True, "first", Target(0.0, 1.0), 0.5, 0.5, 0.0)
    points = np.array(sorted(grid), float)
    counts = Tally(Numbers(1), choice, points)(np.array(scores, float), Chunk(1, 0, 0, len(scores), 0))
    assert counts.tolist() == [sum(s >= 0 for s in scores), *(sum(s >= point for s in scores) for point in points)]


def test_few_distinct_outputs_are_counted_and_many_are_not() -> None:
    rng = np.random.default_rng(0)
    few, many = rng.integers(50, size=(10_000, 1)).astype(float), rng.random((10_000, 1))
    assert distinct_share(few, few) == 50 / 20_000
    assert distinct_share(many, rng.random((10_000, 1))) == 1.0
