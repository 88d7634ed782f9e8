"""The measured trade-off of every kind of audit: its band holds the true curve (1e-6, fixed seeds) and not another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from dpcheck.audits import Curve, audit
from dpcheck.audits.gaussian import gaussian_curve
from dpcheck.audits.sequential import FIRST_BATCH, MOST_FITS, MOST_KEPT, REFIT, batches
from dpcheck.audits.statistics.mean_gap import IndependentRuns
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP


def laplace(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


def gaussian(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.standard_normal(trials)


def laplace_tradeoff(shift: float) -> Any:
    """Type II error of the best test of type I error a, for Laplace noise at this distance."""
    return lambda a: stats.laplace.cdf(-stats.laplace.ppf(a) - shift)


def gaussian_tradeoff(mu: float) -> Any:
    return lambda a: special.ndtr(-special.ndtri(a) - mu)


def holds(curve: Curve, tradeoff: Any) -> bool:
    """Whether every box of the band meets the true curve, which falls."""
    low, high = tradeoff(curve.type_one_low), tradeoff(curve.type_one_high)
    return bool(np.all(high <= curve.type_two_high + 1e-12) and np.all(low >= curve.type_two_low - 1e-12))


# Mechanism, its trade-off by distance, a guarantee, and how the audit runs.
MODES: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    "fixed": (laplace, laplace_tradeoff, PureDP(3.0), {}),
    "early": (laplace, laplace_tradeoff, PureDP(3.0), {"stop_early": True}),
    "gdp": (gaussian, gaussian_tradeoff, ApproxDP(9.0, 1e-5), {"assume": "gdp"}),
}


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("name", MODES)
def test_the_band_holds_the_true_curve(name: str, flipped: bool) -> None:
    """Whichever dataset has the larger outputs."""
    mechanism, tradeoff, guarantee, mode = MODES[name]
    pair = (1.5, 0.0) if flipped else (0.0, 1.5)
    asked: dict[str, Any] = {"guarantee": guarantee, "max_trials": 3000, "attack": "coordinates", "alpha": 1e-6}
    curve = audit(mechanism, pair=pair, **asked, **mode).curve
    assert curve is not None
    assert 0 < curve.trials <= 3000
    assert np.all(curve.type_one_low <= curve.type_one)
    assert np.all(curve.type_one <= curve.type_one_high)
    assert np.all((curve.type_two_low <= curve.type_two) & (curve.type_two <= curve.type_two_high))
    assert (curve.type_one + curve.type_two).mean() < 0.95
    assert holds(curve, tradeoff(1.5))
    assert not holds(curve, tradeoff(3.0))
    assert not holds(curve, tradeoff(0.2))


def test_a_violation_that_stops_early_has_a_curve_too() -> None:
    result = audit(laplace, pair=(0.0, 3.0), guarantee=PureDP(1.0), max_trials=4000, alpha=1e-6, stop_early=True)
    assert result.violated
    assert result.curve is not None
    assert holds(result.curve, laplace_tradeoff(3.0))


def test_no_runs_no_curve() -> None:
    result = audit(laplace, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=FIRST_BATCH, stop_early=True)
    assert result.curve is None


def test_the_fits_of_early_stopping_are_counted() -> None:
    """The band pays for as many fits as there can be."""
    done, refit_at, fits = 0, 0, 0
    for chunk in batches(10 * MOST_KEPT)[::2]:
        done += chunk.trials
        if refit_at <= done <= MOST_KEPT:
            fits, refit_at = fits + 1, int(REFIT * done)
    assert 20 < fits <= MOST_FITS


def test_the_gaussian_band_covers_as_often_as_it_says() -> None:
    """300 bands at alpha = 0.2 from 100 runs each: over 88 misses, or under 33, have a probability of 1e-4 each."""
    rng, misses = np.random.default_rng(3), 0
    for _ in range(300):
        sums = np.array(
            [[np.sum(z**k) for k in range(5)] for z in (rng.standard_normal(100) + 1, rng.standard_normal(100))]
        )
        misses += not holds(gaussian_curve(IndependentRuns(sums), 0.2), gaussian_tradeoff(1.0))
    assert stats.binom.sf(88, 300, 0.2) < 1e-4
    assert stats.binom.cdf(32, 300, 0.2) < 1e-4
    assert 33 <= misses <= 88
    assert math.isfinite(gaussian_curve(IndependentRuns(sums), 1e-9).type_two_low.sum())
