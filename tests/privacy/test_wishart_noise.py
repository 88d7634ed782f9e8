"""The exact loss of Wishart noise: against draws of whole matrices, its worst move, and what never hides."""

from __future__ import annotations

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.bounds.privacy.laws import Wishart
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.privacy.wishart_noise import (
    delta_bounds,
    largest_move,
    one_way_delta,
    outside,
    split_delta,
    two_way_delta,
)
from dpcheck.kernels.wishart import cone_movement, packed, unpacked, wishart_log_density, wishart_triangles

TRIALS = 200_000


def drawn_delta(eps: float, move: np.ndarray, degrees: float, trials: int = TRIALS) -> tuple[float, float]:
    """E (1 - e^eps q/p)₊ over W_d(degrees, I) moved by a matrix, and its standard error."""
    side = len(move)
    noise = wishart_triangles(np.random.default_rng(0), 1.0, degrees, side, trials)
    gap = wishart_log_density(noise + packed(move[None]), 1.0, degrees, side)
    gap -= wishart_log_density(noise, 1.0, degrees, side)
    kept = np.maximum(0.0, 1 - np.exp(eps + np.minimum(gap, 50.0)))
    return float(kept.mean()), float(kept.std() / trials**0.5)


@pytest.mark.parametrize(("side", "excess"), [(2, 2.0), (3, 2.0), (2, 9.0), (4, 9.5), (3, 30.0)])
@pytest.mark.parametrize("eps", [0.1, 0.5])
def test_it_is_what_draws_of_whole_matrices_show_in_any_dimension(side: int, excess: float, eps: float) -> None:
    """Five standard errors, a fixed seed. Planted: one degree of freedom less."""
    degrees, r, rng = excess + side - 1, 0.6, np.random.default_rng(1)
    axes = np.linalg.qr(rng.standard_normal((side, 2)))[0]  # not along the coordinates
    up, down = (2 * r * np.outer(v, v) for v in axes.T)  # scale 1: s = 2r
    for move, high in ((-down, one_way_delta(eps, r, excess)), (up, one_way_delta(eps, r, excess))):
        seen, error = drawn_delta(eps, move, degrees)
        assert seen <= high + 5 * error
    both, error = drawn_delta(eps, up - down, degrees)
    bounds = two_way_delta(eps, r, excess)
    assert bounds.low - 5 * error <= both <= bounds.high + 5 * error
    fewer = two_way_delta(eps, r, excess - 1) if excess > 3 else bounds
    assert excess < 3 or not fewer.low <= both <= fewer.high
    assert max(seen for seen, _ in (drawn_delta(eps, m, degrees) for m in (up, -down))) == pytest.approx(
        float(one_way_delta(eps, r, excess)), abs=6e-3
    )


def test_the_worst_move_is_an_extreme_one() -> None:
    """Random moves of any rank whose parts have traces of at most s: none leaks more than the bound, some near it."""
    rng, r, eps, side = np.random.default_rng(2), 0.5, 0.3, 4
    for excess in (2.0, 6.0, 20.0):
        high, most = delta_bounds(eps, r, excess).high, 0.0
        for _ in range(12):
            parts = [rng.standard_normal((side, rng.integers(1, side + 1))) for _ in range(2)]
            up, down = (part @ part.T for part in parts)
            move = up - down * rng.choice([0.0, 1.0])
            move *= 2 * r / cone_movement(packed(move[None]), side)[0]
            seen, error = drawn_delta(eps, move, excess + side - 1, 40_000)
            assert seen <= high + 5 * error
            most = max(most, seen)
        assert most > 0.1 * high  # planted: a bound that nothing comes near would not be noticed otherwise


def test_no_scale_makes_it_pure() -> None:
    for scale in (1.0, 1e3, 1e6):
        assert float(outside(1 / (2 * scale), 2.0)) == pytest.approx(-np.expm1(-1 / (2 * scale)))
        seen, error = drawn_delta(50.0, -np.diag([1.0, 0.0]) / scale, 3.0)
        assert seen == pytest.approx(-np.expm1(-1 / (2 * scale)), abs=5 * error + 1e-12)
        with pytest.raises(dp.InvalidInput, match="cone"):
            Release(1.0, Wishart(scale, 3, 2)).calibrated(dp.PureDP(1.0))


def test_bounds_enclose_and_meet() -> None:
    for eps, r, excess in ((1.0, 0.5, 10.0), (0.5, 0.2, 40.0), (0.1, 1.0, 100.0)):
        found = delta_bounds(eps, r, excess)
        assert found.low <= found.high < 1.2 * found.low
        assert found.high <= float(split_delta(eps, r, excess))
        assert found.low >= float(one_way_delta(eps, r, excess)) * (1 - 1e-6)


def test_delta_falls_with_degrees_and_noise_and_epsilon() -> None:
    eps, r, k = (np.geomspace(*ends, 12) for ends in ((0.01, 5), (1e-3, 5), (2, 1e4)))
    for rising, found in (
        (False, one_way_delta(eps[:, None], 0.7, k[None])),
        (True, one_way_delta(0.3, r[:, None], k[None])),
        (False, split_delta(0.3, 0.2, k[:, None])),
    ):
        steps = np.diff(found, axis=0)
        assert (steps >= -1e-12).all() if rising else (steps <= 1e-9).all()


@pytest.mark.parametrize("excess", [2.0, 7.0, 60.0])
def test_certified_noise_is_the_least(excess: float) -> None:
    claimed = dp.ApproxDP(0.8, 1e-4)
    released = Release(0.3, Wishart(1.0, excess + 4, 5)).calibrated(claimed)
    r = 0.3 / (2 * float(released.law.scale))
    assert delta_bounds(0.8, r, excess).high <= 1e-4
    assert delta_bounds(0.8, 1.05 * r, excess).low > 1e-4  # planted: five per cent less noise
    assert r == pytest.approx(largest_move(claimed, excess), rel=1e-5)


def test_too_few_degrees_are_refused() -> None:
    with pytest.raises(dp.InvalidInput, match="degrees of freedom"):
        Release(1.0, Wishart(1.0, 4, 4)).calibrated(dp.ApproxDP(1.0, 1e-2))
    assert float(outside(1e-6, 0.0)) == 1.0  # of rank below the side: the edge tells with certainty
    assert not Release(1.0, Wishart(1.0, 3, 2)).supports(dp.ZCDP(0.1))


def test_draws_have_the_moments_of_the_law_for_any_degrees() -> None:
    """E W = mcI and Var W_ij = mc²(1 + [i=j]), five standard errors; outer products where m < d."""
    for degrees, side in ((1, 3), (2, 3), (4.5, 3), (30.0, 2)):
        found = wishart_triangles(np.random.default_rng(3), 0.5, degrees, side, 50_000)
        on = np.equal(*np.triu_indices(side))
        off = (found.mean(axis=0) - 0.5 * degrees * on) / (found.std(axis=0) / 50_000**0.5)
        assert np.abs(off).max() < 5
        assert found.var(axis=0) == pytest.approx(0.25 * degrees * (1.0 + on), rel=0.12)
        rank = np.linalg.matrix_rank(unpacked(found[:50], side), tol=1e-9)
        assert (rank == min(side, int(np.ceil(degrees)))).all()


def test_the_density_is_the_printed_one() -> None:
    """(6.84) up to a constant, and nothing outside the cone."""
    from scipy.stats import wishart

    draws = wishart_triangles(np.random.default_rng(4), 0.3, 6.5, 3, 20)
    printed = wishart.logpdf(unpacked(draws, 3).transpose(1, 2, 0), 6.5, 0.3 * np.eye(3))
    assert np.ptp(wishart_log_density(draws, 0.3, 6.5, 3) - printed) < 1e-9
    assert wishart_log_density(-draws, 0.3, 6.5, 3).max() == -np.inf
