"""Descent by robust gradients: finds the truth under heavy tails, where clipped noise of the printed size would not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.families.robust_means import LARGEST
from dpcheck.families.unbounded_records import UnboundedRecords, another_record
from dpcheck.solvers.heavy_tail.ht_dpsco_robust_gd import HtDpscoRobustGD
from dpcheck.testing.planting import with_noise_times

TRUTH = np.array([0.5, -0.3, 0.2])


def heavy(n: int, seed: int, **how: Any) -> UnboundedRecords:
    """Linear regression with normal rows and centred log-normal noise, as in section 3.2.5."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, len(TRUTH)))
    return UnboundedRecords(X, X @ TRUTH + rng.lognormal(size=n) - np.exp(0.5), **how)


def test_it_finds_the_truth_and_an_outlier_does_not_lead_it_astray() -> None:
    solver, aim = HtDpscoRobustGD(steps=8, step_size=0.6, second_moment=8.0), dp.ApproxDP(1.0, 1e-5)
    data = heavy(100_000, 0)
    found = solver.solve(data, aim, rng=0, trials=3).w
    assert np.abs(found - TRUTH).max() < 0.25
    wild = solver.solve(data.replace(0, 1e9 * np.ones(3), -1e12), aim, rng=0, trials=3).w
    assert np.abs(found - wild).max() < 0.02
    plain = data.replace(0, 1e9 * np.ones(3), -1e12).record_gradients(np.zeros((1, 3))).mean(axis=0)
    assert np.abs(plain).max() > 1e10  # what a plain gradient makes of it


def test_the_regulariser_is_outside_of_the_truncation() -> None:
    data = heavy(500, 1, l2=2.0)
    solver, aim = HtDpscoRobustGD(steps=1, step_size=1.0), dp.ApproxDP(1.0, 1e-2)
    done = solver.calibrated(data, aim)
    method = solver.method(data, done.plan, done.released)
    w = np.array([[0.1, 0.2, 0.3]])
    (moved,) = method.update((w.copy(),), np.zeros((1, 3)), 0)
    assert moved == pytest.approx(w - 2.0 * w)
    assert np.abs(method.query(data, (w,), 0, None)).max() <= done.plan * LARGEST


def test_the_printed_noise_hides_a_record_and_half_of_it_does_not() -> None:
    claimed = dp.ApproxDP(0.9, 1e-2)
    solver = HtDpscoRobustGD(steps=3)
    stated = solver.mechanism(claimed, "stated", transcript=True)
    less = with_noise_times(0.4, solver, claimed, transcript=True)  # planted
    for mechanism, violated in ((stated, False), (less, True)):
        found = dp.audit(mechanism, pair=solver.worst_pair(), guarantee=claimed, max_trials=3000, alpha=1e-6, seed=0)
        assert found.violated is violated


def test_it_conforms() -> None:
    dp.check_solver(HtDpscoRobustGD)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"y": np.ones(3)}, "one a row"),
        ({"X": np.full((100, 3), np.inf)}, "finite"),
        ({"l2": -1.0}, "l2"),
        ({"loss": dp.Logistic()}, "-1 or 1"),
    ],
)
def test_records_that_are_none_are_refused_by_name(change: dict[str, Any], said: str) -> None:
    with pytest.raises(dp.InvalidInput, match=said):
        replace(heavy(100, 2), **change)


def test_other_data_are_refused_and_neighbours_differ_in_one_record() -> None:
    data = heavy(50, 3)
    with pytest.raises(dp.InvalidInput, match="UnboundedRecords"):
        HtDpscoRobustGD().solve(data.X, dp.ApproxDP(1.0, 1e-3))
    other = another_record(data, np.random.default_rng(0))
    assert np.any(other.X != data.X, axis=1).sum() == 1
