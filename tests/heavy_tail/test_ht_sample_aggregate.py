"""Sample and aggregate: a far record gives the printed width away; the least distances hide it, and find the centre."""

from __future__ import annotations

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.evidence.heavy_tail.ht_sample_aggregate import far_record
from dpcheck.families.aggregated import centre_and_width, distances, levels, printed_beta, subsets
from dpcheck.solvers.heavy_tail.ht_sample_aggregate import HtSampleAggregate


def test_distances_are_those_of_a_plain_count() -> None:
    points = np.random.default_rng(0).integers(-3, 3, size=(36, 1)).astype(float)
    found, _, radii = distances(points, 10.0)
    for i, z in enumerate(found):
        plain = np.sort(np.abs(points[:, 0] - z))
        assert radii[i].tolist() == [10.0 if t > 36 else plain[t - 1] for t in levels(36)]


def test_no_record_is_in_more_than_root_m_subsets_and_none_is_looked_at() -> None:
    drawn = subsets(300, 100, 1)
    assert drawn.shape == (100, 3)
    assert np.bincount(drawn.ravel()).max() <= 10
    assert all(len(set(row)) == 3 for row in drawn.tolist())


def test_a_far_record_widens_the_printed_noise_and_not_the_other() -> None:
    beta, points = printed_beta(5.0, 1e-2, 1), np.zeros((6400, 1))
    other = points.copy()
    other[:7] = 1.0
    printed = [centre_and_width(z, beta, 2.0, largest=True)[1] for z in (points, other)]
    least = [centre_and_width(z, beta, 2.0)[1] for z in (points, other)]
    assert printed[1] / printed[0] > 10
    assert least[1] / least[0] <= np.exp(2 * beta)
    mechanism, pair, claimed = far_record()
    assert dp.audit(mechanism, pair=pair, guarantee=claimed, max_trials=20_000, alpha=1e-6, seed=0).violated


def test_it_finds_the_centre_and_conforms() -> None:
    x = 0.3 + 0.1 * np.random.default_rng(0).standard_t(3, size=1024 * 4)
    found = HtSampleAggregate(1024).solve(x, dp.ApproxDP(5.0, 1e-2), rng=0, trials=200).w
    assert np.median(np.abs(found - 0.3)) < 0.5
    dp.check_solver(HtSampleAggregate)


def test_too_few_subsets_or_records_are_refused_by_name() -> None:
    with pytest.raises(dp.InvalidInput, match="sets"):
        HtSampleAggregate(144).solve(np.zeros(200), dp.ApproxDP(1.0, 1e-5))
    with pytest.raises(dp.InvalidInput, match="one a subset"):
        HtSampleAggregate(144).solve(np.zeros(100), dp.ApproxDP(5.0, 1e-2))
