"""Covariance solvers: they conform, are unbiased with the noise certified, packed once an entry, and repaired."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpcheck as dp
from dpcheck.bounds.library.matrix import wishart_difference as wishart_theory
from dpcheck.evidence.matrix.dp_thresholding import shown_by_output
from dpcheck.families.covariances import (
    mean_triangle,
    nuclear_lattice,
    off_by,
    semidefinite,
    threshold,
    thresholded,
    triangles_of,
)
from dpcheck.families.outer_products import stands_for, symmetric
from dpcheck.solvers.matrix.dp_thresholding import DpThresholding
from dpcheck.solvers.matrix.ldp_thresholding import LdpThresholding
from dpcheck.solvers.matrix.naive_gaussian_cov import NaiveGaussianCov
from dpcheck.solvers.matrix.wishart_difference import WishartDifferenceCov

APPROX, PURE = dp.ApproxDP(1.0, 1e-3), dp.PureDP(1.0)
ROWS = np.random.default_rng(0).dirichlet(np.ones(3), 50) ** 0.5
SOLVERS: list[tuple[dp.Solver, dp.Guarantee]] = [
    (NaiveGaussianCov(), APPROX),
    (NaiveGaussianCov(isometric=True), APPROX),
    (WishartDifferenceCov(), PURE),
]


@pytest.mark.parametrize(("solver", "guarantee"), SOLVERS)
def test_releases_are_unbiased(solver: dp.Solver, guarantee: dp.Guarantee) -> None:
    """Five standard errors, a fixed seed; a bias of half a deviation is planted."""
    w = solver.solve(ROWS, guarantee, rng=1, trials=4000).w
    off = (w.mean(axis=0) - mean_triangle(ROWS)) / (w.std(axis=0) / 4000**0.5)
    assert np.abs(off).max() < 5
    assert np.abs(off + 0.5 * 4000**0.5).max() > 5


def test_noise_is_drawn_once_for_an_entry_and_its_mirror_image() -> None:
    """Deviations: all alike as published; off the diagonal less by √2 where isometric, and for Wishart noise."""
    for (solver, guarantee), share in zip(SOLVERS, (1.0, 0.5**0.5, 0.5**0.5), strict=True):
        w = solver.solve(ROWS, guarantee, rng=2, trials=4000).w
        assert w.shape == (4000, 6)
        spread = symmetric(w.std(axis=0)[None], 3)[0]
        assert np.allclose(spread / spread[0, 0], np.where(np.eye(3) == 1, 1.0, share), rtol=0.08)


def test_an_isometric_triangle_has_the_matrix_s_norm_and_counts_nothing_twice() -> None:
    A = symmetric(np.random.default_rng(3).standard_normal((5, 10)), 4)
    packed = triangles_of(A)
    assert np.allclose(symmetric(packed, 4), A)
    assert np.allclose(np.linalg.norm(packed * stands_for(4, True), axis=1), np.linalg.norm(A, axis=(1, 2)))
    assert not np.allclose(np.linalg.norm(packed, axis=1), np.linalg.norm(A, axis=(1, 2)))


def test_the_published_noise_is_too_small_for_records_that_are_replaced() -> None:
    guarantee = dp.ApproxDP(1.0, 1e-5)
    stated, certified = (
        NaiveGaussianCov().calibrated(ROWS, guarantee, how).noise_std for how in ("stated", "certified")
    )
    assert stated < 0.95 * certified


def test_repairing_is_the_nearest_semidefinite_matrix_and_at_most_doubles_an_error() -> None:
    rng = np.random.default_rng(4)
    noisy = symmetric(rng.standard_normal((20, 15)), 5)
    repaired = semidefinite(noisy)
    assert np.linalg.eigvalsh(repaired).min() > -1e-12
    for _ in range(20):
        G = rng.standard_normal((5, 5))
        truth = G @ G.T
        assert (np.linalg.norm(repaired - noisy, axis=(1, 2)) <= np.linalg.norm(truth - noisy, axis=(1, 2))).all()
        after, before = (np.linalg.norm(m - truth, 2, axis=(1, 2)) for m in (repaired, noisy))
        assert (after <= 2 * before * (1 + 1e-12)).all()
    assert (np.linalg.norm(0.5 * repaired - noisy, axis=(1, 2)) > np.linalg.norm(repaired - noisy, axis=(1, 2))).any()


def test_thresholds_are_those_of_the_document_and_leave_large_entries() -> None:
    sigma, n, p = 0.01, 400, 8
    assert threshold(2.0, n, p, sigma) == pytest.approx(2 * np.sqrt(np.log(p) / n) + 4 * sigma * np.sqrt(np.log(p)))
    A = np.diag([3.0, 0.1, 2.0])[None]
    assert np.allclose(thresholded(A, 0.5)[0], np.diag([3.0, 0.0, 2.0]))
    rows = np.repeat(np.eye(2), 500, axis=0)
    found = symmetric(DpThresholding().solve(rows, APPROX, rng=0, trials=50).w, 2)
    assert (found[:, 0, 1] == 0).mean() > 0.9  # noise alone: within the threshold but for a chance of p^-8
    assert np.abs(found[:, 0, 0] - 0.5).max() < 0.1
    users = np.repeat(np.eye(2), 20_000, axis=0)
    sent = LdpThresholding().solve(users, dp.ApproxDP(2.0, 1e-3, relation=dp.LOCAL), rng=0, trials=3)
    assert np.abs(symmetric(sent.w, 2)[:, 0, 0] - 0.5).max() < 0.2


def test_two_entries_above_the_threshold_show_in_the_output_and_tell_records_apart() -> None:
    """The event that refutes Theorem 6.2.1 is one of Σ⁺, which has another form otherwise, and is rare: δ = 1e-22."""
    t, rng = 4.0, np.random.default_rng(7)
    noisy = rng.uniform(-0.9 * t, 0.9 * t, (50, 3, 3))
    noisy = (noisy + noisy.transpose(0, 2, 1)) / 2
    noisy[:, 0, 0], noisy[:, 1, 2] = t * rng.uniform(1, 2, (2, 50)) * [[1], [-1]]
    noisy[:, 2, 1] = noisy[:, 1, 2]

    def seen(matrix: np.ndarray) -> bool:
        expected = np.zeros((3, 3))
        expected[0, 0] = matrix[0, 0]
        expected[1:, 1:] = abs(matrix[1, 2]) / 2 * np.array([[1, -1], [-1, 1]])
        return bool(np.allclose(thresholded(matrix[None], t)[0], expected))

    assert all(map(seen, noisy))
    for i, j in ((1, 1), (2, 2), (0, 1), (0, 2)):  # one more entry above the threshold: another output
        more = noisy[0].copy()
        more[i, j] = more[j, i] = 1.5 * t
        assert not seen(more)
    at_22, at_12 = (shown_by_output({"eps": 1.0, "log10_delta": -k, "past": 3.5})[0] for k in (22, 12))
    assert at_12 < 1 < at_22


def test_pairs_off_the_axes_leak_no_more_than_those_on_them() -> None:
    """Alpha 1e-6: turned records, whose difference has no zeros; with half of the noise the same attack flags it."""
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    first, other = (x @ turn for x in NaiveGaussianCov().worst_pair())
    asked: dict[str, Any] = {"pair": (first, other), "max_trials": 20_000, "alpha": 1e-6, "seed": 0, "executor": 1}
    for solver, guarantee in (
        (NaiveGaussianCov(isometric=True), dp.ApproxDP(1.0, 1e-2)),
        (WishartDifferenceCov(), PURE),
    ):
        assert not dp.audit(solver.mechanism(guarantee), guarantee=guarantee, **asked).violated
        weak = dp.ApproxDP(0.4, 1e-2) if isinstance(guarantee, dp.ApproxDP) else dp.PureDP(0.4)
        assert dp.audit(solver.mechanism(guarantee), guarantee=weak, **asked).violated


def test_one_wishart_matrix_alone_has_an_edge_that_a_record_moves() -> None:
    """What diffprivlib had and section 6.3 has: of the neighbour's support 1 - e^(-ε/3) is missed."""
    rng, c = np.random.default_rng(5), 1.5  # W_d(d+1, 3/(2nε)) for n = ε = 1
    G = rng.standard_normal((20_000, 2, 3)) * c**0.5
    noise = G @ G.transpose(0, 2, 1)
    outside = np.linalg.eigvalsh(noise - np.diag([1.0, 0.0]))[:, 0] < 0  # x = 0 against x = e₁
    assert outside.mean() == pytest.approx(1 - np.exp(-1 / 3), abs=0.02)


@pytest.mark.parametrize("d", [2, 3, 6])
def test_scipy_says_so_too_where_a_unit_vector_is_replaced_and_of_noisy_solutions(d: int) -> None:
    """Draws of scipy's, in d > 1, at the printed scales and ε = 1: some have no density under the neighbour.

    Planted: had a record no effect on the cone, none would be left out.
    """
    rng, n, rho = np.random.default_rng(8), 5, 0.5
    one, other = np.linalg.qr(rng.standard_normal((d, 2)))[0].T
    law = stats.wishart(d + 1, 3 / (2 * n) * np.eye(d))
    noise = law.rvs(20_000, random_state=rng)

    def outside(noise: np.ndarray, move: np.ndarray) -> np.ndarray:
        return np.linalg.eigvalsh(noise - move)[:, 0] < 0

    added, replaced = np.outer(one, one) / n, (np.outer(one, one) - np.outer(other, other)) / n
    found = outside(noise, added)
    assert found.mean() == pytest.approx(1 - np.exp(-1 / 3), abs=0.02)
    with pytest.raises(np.linalg.LinAlgError):
        law.logpdf((noise - added)[found][0])
    inside = np.moveaxis(noise[~found][:50], 0, -1)
    ratios = law.logpdf(inside) - law.logpdf(inside - added[..., None])
    assert np.allclose(ratios, -1 / 3)  # where both are positive, far below ε
    assert 0.15 < outside(noise, replaced).mean() < found.mean()  # unit vectors for unit vectors
    first, second = 1 / rho, 1 / (rho + 1 / n)  # of Θ*: all records 0, or one of them e₁
    noise = stats.wishart(d + 1, d**2.5 / (n * rho**2) * np.eye(d)).rvs(20_000, random_state=rng)
    found = outside(noise, (first - second) * np.diag(np.eye(d)[0]))
    cost = (first - second) * n * rho**2 / (2 * d**2.5)
    assert found.mean() == pytest.approx(1 - np.exp(-cost), abs=0.01)
    assert found.any()
    assert not outside(noise, np.zeros((d, d))).any()


def test_density_ratios_of_the_difference_keep_epsilon_in_two_dimensions() -> None:
    """Chances of half-spaces under a shift of nuclear norm 2, over e^(±1); and a shift of 4 that does not."""
    d, trials = 2, 200_000
    rng = np.random.default_rng(6)
    G, H = rng.standard_normal((2, trials, d, d + 1))
    A = (G @ G.transpose(0, 2, 1) - H @ H.transpose(0, 2, 1)) / 2 * 2.0  # scale 2: a shift of 2 costs 1
    low, most = 5 * trials**-0.5, 0.0
    for shift, fine in ((np.diag([1.0, -1.0]), True), (np.diag([2.0, -2.0]), False)):
        for level in (0.0, 4.0, 8.0, 12.0):
            p, q = ((M[:, 0, 0] - M[:, 1, 1] > level).mean() for M in (A + shift, A))
            most = max(most, p / q)
            assert not fine or p <= np.e * q + low
    assert most > np.e


def test_the_lattice_counts_what_rounding_and_sums_may_do() -> None:
    rng = np.random.default_rng(7)
    for n, d in ((10, 2), (1000, 10), (10**6, 200), (10**9, 3)):
        lattice = nuclear_lattice(n, d)
        assert lattice >= 4 * off_by()
        if n <= 10**6:
            assert 2 * d**1.5 * lattice <= 2 / n / 100  # of the sensitivity
    rows = rng.dirichlet(np.ones(4), 5000) ** 0.5
    exact = np.array([[float(sum(map(np.longdouble, rows[:, i] * rows[:, j]))) for j in range(4)] for i in range(4)])
    assert np.abs(mean_triangle(rows) - triangles_of(exact[None])[0] / 5000).max() < off_by()


def test_certified_noise_for_pure_privacy_is_exact_and_on_its_grid() -> None:
    found = WishartDifferenceCov().solve(ROWS, PURE, rng=0, trials=200)
    lattice = nuclear_lattice(*ROWS.shape)
    assert np.array_equal(np.rint(found.w / lattice), found.w / lattice)
    assert all("exact arithmetic" not in caveat for caveat in found.caveats)
    assert "dwang20.lemma6.3.2.difference" in found.rests_on


def test_its_error_is_a_power_of_d_below_that_of_spherical_noise() -> None:
    """E‖N‖² of d(d+1)²σ²/2 with σ = 2, against m(m+1)·2 of e^(-‖Z‖/√2), m = d(d+1)/2: less from d = 4 on."""
    for d, less in ((2, False), (3, False), (4, True), (10, True), (100, True)):
        m = d * (d + 1) / 2
        ours, spherical = wishart_theory.error.evaluate(d=d, sigma=2.0), m * (m + 1) * 2
        assert bool(ours < spherical) is less
    assert ours < spherical / 20


@pytest.mark.parametrize("solver", [NaiveGaussianCov(), WishartDifferenceCov(), DpThresholding()], ids=lambda s: s.name)
@pytest.mark.parametrize("data", [np.full((2, 2), 2.0), np.eye(2)[0], np.array([[np.nan, 0.0]]), np.eye(2)[:0], "x"])
def test_bad_records_are_refused_without_being_quoted(solver: dp.Solver, data: Any) -> None:
    guarantee = PURE if isinstance(solver, WishartDifferenceCov) else APPROX
    with pytest.raises(dp.InvalidInput, match="record"):
        solver.solve(data, guarantee)


def test_pure_noise_takes_no_delta_and_no_weights() -> None:
    with pytest.raises(dp.InvalidInput, match="PureDP"):
        WishartDifferenceCov().solve(ROWS, APPROX)
    with pytest.raises(dp.InvalidInput, match="isometric"):
        WishartDifferenceCov(isometric=True).solve(ROWS, PURE)
    assert (
        stats.kstest(WishartDifferenceCov().solve(np.zeros((4, 1)), PURE, rng=3, trials=2000).w * 2, "laplace").pvalue
        > 1e-6
    )
