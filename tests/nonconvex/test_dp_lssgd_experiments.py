"""The experiments on DP-LSSGD: what the printed table says of itself, and how gains are judged."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.library.nonconvex import dp_lssgd_experiments as theory
from dpcheck.bounds.registry import library
from dpcheck.evidence.nonconvex import dp_lssgd_experiments as measured
from dpcheck.evidence.nonconvex.dp_lssgd_experiments import Gained, images, interval

CLAIM = library["lwang21.table5.2"]


def judged(**gains: np.ndarray) -> Verdict:
    return Gained(lambda seed, trials: gains, "planted").run(CLAIM, Effort()).verdict


def test_gains_are_judged_by_their_intervals() -> None:
    sway = np.linspace(-1, 1, 12)
    assert judged(one=10 + sway, two=10 + sway) is Verdict.SUPPORTED
    assert judged(one=10 + sway, two=-10 + sway) is Verdict.REFUTED
    assert judged(one=10 + sway, two=sway) is Verdict.SUPPORTED
    assert judged(one=sway, two=sway) is Verdict.UNCHECKED


@given(seed=st.integers(0, 10**6), mean=st.floats(-5, 5))
@settings(max_examples=50, deadline=None)
def test_intervals_hold_the_mean(seed: int, mean: float) -> None:
    """Missed with probability 1e-6, by Student's law."""
    low, high = interval(mean + np.random.default_rng(seed).standard_normal(8), 1e-6)
    assert low < mean < high


def test_the_table_contradicts_its_own_sentence_on_variance() -> None:
    """At ε = 0.15 each σ > 0 has a larger deviation than σ = 0; everywhere else a smaller one."""
    held = theory.against_plain(1, higher=False)
    assert all(row == [True, True, True, False, True] for row in held.values())
    assert all(all(row) for row in theory.against_plain(0, higher=True).values())


def test_where_the_printed_gain_is_largest() -> None:
    """At ε = 0.1 for σ = 1; for σ = 2 and 3 at 0.15. At 0.1 it is larger than at 0.3 for all three."""
    assert [all(row) for row in theory.gain_over(0, 4).values()] == [True, False, False]
    assert all(all(row) for row in theory.gain_over(0, 1).values())
    assert not theory.gain_over(0, 4)["σ = 2"][3]


@given(slope=st.floats(-5, 5), size=st.floats(0.1, 3))
@settings(max_examples=30, deadline=None)
def test_sway_sees_ups_and_downs_and_no_trend(slope: float, size: float) -> None:
    steps = np.arange(40.0)[:, None]
    assert measured.sway(slope * steps) == pytest.approx(0, abs=1e-9)
    zigzag = size * (-1.0) ** steps
    assert measured.sway(slope * steps + zigzag) == pytest.approx(4 * size)


def test_without_noise_is_without_noise() -> None:
    """ε = ∞ leaves the random batches only: far nearer to one another than with noise."""
    free, noisy = (measured.fitted.__wrapped__("lwang21", e, 0.0, 1.0, 3, 3) for e in (math.inf, 0.1))
    assert np.ptp(free.training) < np.ptp(noisy.training) / 10
    assert free.accuracy.min() > noisy.accuracy.max()


def test_images_are_what_the_experiment_says() -> None:
    problem, rows, labels = images()
    assert (problem.n, len(rows), problem.d) == (1497, 300, 640)
    assert np.linalg.norm(problem.X, axis=1).max() <= 4 * (1 + 1e-12)
    assert problem.data_lipschitz == pytest.approx(4 * math.sqrt(2))
    assert set(labels) == set(range(10))


def test_settings_share_batches_and_noise_and_learn_something() -> None:
    """A pair of runs differs by σ alone; far better than chance, so that there is something to lose."""
    one, again = (measured.fitted.__wrapped__("lssgd20", 0.3, 0.0, 1.0, 3, 2) for _ in range(2))
    assert np.array_equal(one.accuracy, again.accuracy)
    assert one.accuracy.min() > 0.5


def test_the_noise_is_that_of_the_documents_records() -> None:
    """Theorem 1's at n = 50000: what answers differ by from those without noise; six deviations, 2e-9."""
    solver = measured.DPLSSGD(128, 150, document="lssgd20", conditions=False)
    noisy, quiet = (measured.performed(solver, eps, 3, 20, trace=True).trace for eps in (0.3, math.inf))
    noise = noisy.answers[0] - quiet.answers[0]
    order = 2 * math.log(1e5) / 0.3 + 1
    stated = 4 * math.sqrt(2) * math.sqrt(8 * 150 * order / (50_000**2 * 0.3))
    assert noise.std() == pytest.approx(stated, rel=6 / math.sqrt(2 * noise.size))
