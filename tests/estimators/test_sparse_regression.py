"""PrivateSparseRegression(nonzeros=...): it finds the weights that matter, with the noise of DP-IGHT's account.

The audit has a fixed seed and a false-alarm rate of 1e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

import dpcheck as dp
from dpcheck.estimators import PrivateSparseRegression

RNG = np.random.default_rng(0)
ROWS = RNG.choice([-1.0, 1.0], (20_000, 300))
WEIGHTS = np.zeros(300)
WEIGHTS[[3, 70, 200]] = [1.0, -0.8, 0.6]
TARGETS = ROWS @ WEIGHTS + 0.2 * RNG.standard_normal(len(ROWS))
SETTINGS = {"nonzeros": 3, "data_norm": 300**0.5, "target_bound": 3.0, "fit_intercept": False}


def test_it_finds_the_weights_that_matter() -> None:
    model = PrivateSparseRegression(1.0, 1e-5, **SETTINGS).fit(ROWS, TARGETS)
    assert np.flatnonzero(model.coef_).tolist() == [3, 70, 200]
    assert np.linalg.norm(model.coef_ - WEIGHTS) < 0.3
    assert model.guarantee_ == dp.ApproxDP(1.0, 1e-5)
    assert model.rests_on_[0] == "lwang21.theorem2.5.2.corrected"
    few = PrivateSparseRegression(1.0, 1e-5, **SETTINGS).fit(ROWS[:300], TARGETS[:300])
    assert np.flatnonzero(few.coef_).tolist() != [3, 70, 200]  # what 300 records cannot show under this budget
    assert np.linalg.norm(few.coef_) < 10  # and noise does not blow the weights up


def test_an_intercept_counts_among_the_weights() -> None:
    settings = SETTINGS | {"fit_intercept": True, "nonzeros": 2}
    model = PrivateSparseRegression(2.0, 1e-5, **settings).fit(ROWS, TARGETS + 2.0)
    assert np.count_nonzero(model.coef_) == 1
    assert model.intercept_ > 0.5


@pytest.mark.parametrize("claimed", [1.0, 0.3])
def test_the_audit_flags_it_only_where_it_promises_too_much(claimed: float) -> None:
    settings = SETTINGS | {"nonzeros": 1, "data_norm": 1.0, "target_bound": 1.0}
    model = PrivateSparseRegression(1.0, 1e-2, **settings, solver_options={"steps": 2, "step_size": 0.5})
    X = np.ones((5, 1))
    pair = (X, np.full(5, -1.0)), (X, np.r_[1.0, np.full(4, -1.0)])
    guarantee = dp.ApproxDP(claimed, 1e-2)
    found = dp.audit(model.mechanism(), pair=pair, guarantee=guarantee, max_trials=40_000, alpha=1e-6, seed=1)
    assert found.violated is (claimed < 1)


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"nonzeros": 0}, "nonzeros"), ({"radius": 1.0}, "radius"), ({"solver": "dp_gd"}, "solver"), ({"l2": -1.0}, "l2")],
)
def test_settings_that_do_not_go_together_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(dp.InvalidInput, match=words):
        PrivateSparseRegression(**(SETTINGS | settings)).fit(ROWS[:50], TARGETS[:50])


def test_pure_privacy_is_refused_with_a_remedy() -> None:
    with pytest.raises(dp.InvalidInput, match="delta"):
        PrivateSparseRegression(1.0, 0.0, **SETTINGS).fit(ROWS[:50], TARGETS[:50])
