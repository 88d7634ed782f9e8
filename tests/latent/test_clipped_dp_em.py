"""Private EM for mixtures: statistics, sensitivity with a planted bug, empty components, starts, plans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import dpcheck as dp
from dpcheck.evidence.latent.clipped_dp_em import drawn_mixture, moved
from dpcheck.families.mixtures import SHAPES, Cells, Mixture, Round, clustered, raised, statistics
from dpcheck.solvers.latent.clipped_dp_em import ClippedDPEM, unflattened, usual_reach


@pytest.mark.parametrize("shape", SHAPES)
def test_statistics_are_those_of_an_e_step_where_nothing_is_clipped(shape: str) -> None:
    """Read back without noise they make the parameters of a plain EM step: that of scikit-learn's densities."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((500, 2)) + 2 * rng.choice([-1, 1], (500, 1))
    now = Mixture(
        np.array([[0.4, 0.6]]), np.array([[[-1.0, -1.5], [1.0, 2.0]]]), np.tile(1.5 * np.eye(2), (1, 2, 1, 1))
    )
    step = Round(50.0, shape, 0.0)  # type: ignore[arg-type]
    counts, firsts, seconds = step.read(statistics(rows, now, 50.0, shape), 2, 2)  # type: ignore[arg-type]
    z = (rows - now.means[0][:, None]) / 1.5**0.5
    r = now.weights[0][:, None] * np.exp(-(z**2).sum(axis=2) / 2)
    r /= r.sum(axis=0)
    assert counts[0] == pytest.approx(r.mean(axis=1))
    assert firsts[0] == pytest.approx(np.einsum("kn,knd->kd", r, z) / 500)
    full = np.einsum("kn,kni,knj->kij", r, z, z) / 500
    kept = {"full": full, "diag": full * np.eye(2)}.get(
        shape, np.eye(2) * np.trace(full, axis1=1, axis2=2)[:, None, None] / 2
    )
    assert seconds[0] == pytest.approx(kept)


def test_a_record_moves_statistics_as_claimed_and_without_clipping_more(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [
        {"seed": seed, "n": 3, "d": 2, "k": 2, "size": 1.0, "reach": 0.5, "shape": seed % 3, "mirrored": seed % 2}
        for seed in range(60)
    ]
    assert max(np.divide(*moved(case)) for case in cases) <= 1 + 1e-9
    assert max(np.divide(*moved(case)) for case in cases) > 0.7
    # planted: statistics in units of a tenth of the reach
    monkeypatch.setattr(
        "dpcheck.evidence.latent.clipped_dp_em.statistics",
        lambda rows, now, reach, shape: 10 * statistics(rows, now, reach, shape),
    )
    assert max(np.divide(*moved(case)) for case in cases) > 1


def test_an_empty_component_stands_up_beside_the_heaviest() -> None:
    now = drawn_mixture(3, 2, 1.0, np.random.default_rng(0))
    now = Mixture(np.array([[0.01, 0.3, 0.69]]), now.means, now.covariances)
    found = raised(now, np.array([[True, False, False]]))
    assert found.weights[0] == pytest.approx([0.35, 0.3, 0.35])
    assert (found.means[0, 0] + found.means[0, 2]) / 2 == pytest.approx(now.means[0, 2])
    assert np.array_equal(found.covariances[0, 0], now.covariances[0, 2])
    assert np.array_equal(found.means[0, 1], now.means[0, 1])
    everyone = raised(now, np.ones((1, 3), bool))  # no weight left anywhere: still a mixture
    assert np.isfinite(everyone.means).all()
    assert everyone.weights.sum() == pytest.approx(1.0)


def test_starts_are_the_clusters_of_the_cells() -> None:
    grid = Cells(2, 20)
    truth = np.array([[-1.5, -1.5], [1.5, -1.0], [0.0, 1.5]])
    near = np.exp(-((grid.centres[:, None] - truth) ** 2).sum(axis=2) / 0.1).sum(axis=1)
    centres, masses, spread = clustered(grid.centres, (near / near.sum())[None], 3)
    gaps = np.linalg.norm(centres[0][:, None] - truth, axis=2)
    assert gaps.min(axis=0).max() < 0.1
    assert masses[0] == pytest.approx(np.full(3, 1 / 3), abs=0.01)
    assert spread[0] == pytest.approx(0.05, abs=0.02)


def test_clipping_takes_two_percent_of_a_normal_components_covariance_at_most() -> None:
    """By the exact mean of min(‖z‖², ρ²); half the margin would take five percent."""
    for d in (1, 2, 5, 20, 100, 1000):
        lost = [
            1 - stats.chi2.cdf(bound, d + 2) - bound / d * stats.chi2.sf(bound, d)
            for bound in (usual_reach(d) ** 2, (usual_reach(d) ** 2 + d) / 2)
        ]
        assert lost[0] < 0.021
        assert d > 20 or lost[1] > 0.04


def test_rough_public_bounds_cost_little() -> None:
    rng = np.random.default_rng(1)
    rows = 0.05 * rng.standard_normal((20_000, 2)) + 0.3 * rng.choice([-1, 1], (20_000, 1))
    for first in (0.5, 5.0):
        solver = ClippedDPEM(k=2, covariances="spherical", first=first)
        found = unflattened(solver.solution(rows, dp.ApproxDP(1.0, 1e-6), 0).w, 2, 2)
        assert np.sort(found.means[0, :, 0]) == pytest.approx([-0.3, 0.3], abs=0.02)
        assert np.trace(found.covariances[0].mean(axis=0)) / 2 == pytest.approx(0.05**2, rel=0.3)


def test_plans_know_no_record_and_more_components_than_records_are_refused() -> None:
    solver, aim = ClippedDPEM(k=3), dp.ApproxDP(1.0, 1e-5)
    assert solver.plan(np.zeros((1000, 2)), aim) == solver.plan(np.full((1000, 2), 1e9), aim)
    assert solver.plan(np.zeros((1000, 2)), aim).rounds < solver.plan(np.zeros((10**5, 2)), aim).rounds
    assert replace(solver, rounds=5).plan(np.zeros((1000, 2)), aim).rounds == 5
    with pytest.raises(dp.InvalidInput, match="k"):
        solver.solve(np.zeros((2, 2)), aim)
