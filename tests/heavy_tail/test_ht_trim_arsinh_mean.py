"""The trimmed mean: its width is smooth and at most the printed one, which an outlier gives away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcheck as dp
from dpcheck.evidence.heavy_tail.ht_trim_arsinh_mean import widened, with_outlier
from dpcheck.families.trimmed_means import enough_trimmed, printed_width, smooth_width, trimmed
from dpcheck.solvers.heavy_tail.ht_trim_arsinh_mean import HtTrimArsinhMean

numbers = st.lists(st.floats(-1e6, 1e6), min_size=5, max_size=40)


@given(numbers, st.floats(1e-3, 1.0), st.integers(1, 10))
def test_the_smooth_width_is_at_most_the_printed_one(x: list[float], t: float, m: int) -> None:
    m = min(m, (len(x) - 1) // 2)
    rows = np.sort(np.reshape(x, (-1, 1)), axis=0)
    assert np.all(smooth_width(rows, m, t, -1, 1) <= printed_width(rows, m, t, -1, 1) * (1 + 1e-12))


@given(numbers, st.floats(-1e9, 1e9), st.integers(0, 100), st.floats(1e-3, 1.0), st.integers(1, 10))
def test_one_record_moves_width_and_mean_as_it_may(x: list[float], new: float, i: int, t: float, m: int) -> None:
    m = min(m, (len(x) - 1) // 2)
    other = list(x)
    other[i % len(x)] = new
    rows = [np.sort(np.reshape(data, (-1, 1)), axis=0) for data in (x, other)]
    widths = [smooth_width(data, m, t, -1, 1)[0] for data in rows]
    means = [trimmed(data, m, -1, 1)[0] for data in rows]
    assert abs(np.log(widths[0] / widths[1])) <= t * (1 + 1e-9)
    assert abs(means[0] - means[1]) <= min(widths) * (1 + 1e-9)


def test_an_outlier_gives_the_printed_width_away_and_not_the_smooth_one() -> None:
    for calibration, violated in (("stated", True), ("certified", False)):
        mechanism, pair, claimed = with_outlier(calibration)
        found = dp.audit(mechanism, pair=pair, guarantee=claimed, max_trials=3000, alpha=1e-6, seed=0)
        assert found.violated is violated


def test_it_finds_the_mean_of_heavy_tails_once_enough_is_trimmed() -> None:
    x = np.random.default_rng(0).standard_t(3, size=4000) + 0.5
    found = HtTrimArsinhMean(-10.0, 10.0).solve(x, dp.ZCDP(0.5), rng=0, trials=400).w[:, 0]
    few = HtTrimArsinhMean(-10.0, 10.0, trim=1).solve(x, dp.ZCDP(0.5), rng=0, trials=400).w[:, 0]
    assert np.median(np.abs(found - 0.5)) < 0.1
    assert np.median(np.abs(few - 0.5)) > 5  # m = O(1): the width stays at b - a
    assert enough_trimmed(4000, 1 / 16) == 133


def test_it_conforms() -> None:
    dp.check_solver(HtTrimArsinhMean)


def test_the_search_sees_a_width_that_is_not_smooth(monkeypatch: pytest.MonkeyPatch) -> None:
    case = {"n": 20, "m": 2, "seed": 1, "smoothness": -1.0, "spread": -2.0, "size": 9.0}
    assert np.divide(*widened(case)) <= 1 + 1e-9
    monkeypatch.setattr("dpcheck.evidence.heavy_tail.ht_trim_arsinh_mean.smooth_width", printed_width)  # planted
    assert np.divide(*widened(case)) > 2


@pytest.mark.parametrize(
    ("how", "x", "said"),
    [
        ({"low": 2.0}, np.zeros(10), "high"),
        ({"trim": 5}, np.zeros(10), "trim"),
        ({}, np.zeros((10, 2)), "one number"),
        ({}, np.full(10, np.nan), "finite"),
    ],
)
def test_what_it_cannot_take_is_refused_by_name(how: dict[str, Any], x: np.ndarray, said: str) -> None:
    with pytest.raises(dp.InvalidInput, match=said):
        HtTrimArsinhMean(**how).solve(x, dp.ZCDP(0.5))
    with pytest.raises(dp.InvalidInput, match="zCDP"):
        HtTrimArsinhMean().solve(np.zeros(10), dp.PureDP(1.0))
