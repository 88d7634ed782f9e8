"""Descent by trimmed means: an outlier gives the printed width away; with few trimmed records nothing is learnt."""

from __future__ import annotations

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.evidence.heavy_tail.ht_dpsco_trim_gd import with_outlier
from dpcheck.families.unbounded_records import UnboundedRecords
from dpcheck.solvers.heavy_tail.ht_dpsco_trim_gd import HtDpscoTrimGD


def test_an_outlier_gives_the_printed_width_away_and_not_the_smooth_one() -> None:
    for calibration, violated in (("stated", True), ("certified", False)):
        mechanism, pair, claimed = with_outlier(calibration)
        found = dp.audit(mechanism, pair=pair, guarantee=claimed, max_trials=3000, alpha=1e-6, seed=0)
        assert found.violated is violated


def test_it_descends_where_enough_is_trimmed_and_not_with_one() -> None:
    rng = np.random.default_rng(0)
    data = UnboundedRecords(np.ones((20_000, 1)), 0.5 + rng.standard_t(3, size=20_000))
    aim = dp.ApproxDP(4.0, 1e-3)
    errors = {}
    for trim in (None, 1):
        w = HtDpscoTrimGD(steps=2, step_size=0.7, bound=2.0, trim=trim).solve(data, aim, rng=0, trials=8).w
        errors[trim] = float(np.median(np.abs(w - 0.5)))
    assert errors[None] < 0.15
    assert errors[1] > 0.4  # m = O(1): noise as wide as [a, b]


def test_it_conforms() -> None:
    dp.check_solver(HtDpscoTrimGD)


def test_too_much_trimming_is_refused_by_name() -> None:
    data = UnboundedRecords(np.ones((10, 1)), np.zeros(10))
    with pytest.raises(dp.InvalidInput, match="trim"):
        HtDpscoTrimGD(trim=5).solve(data, dp.ApproxDP(1.0, 1e-3))
