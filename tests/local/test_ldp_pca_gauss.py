"""Noisy outer products: unbiased, of the noise that √2 asks for; directions are found, and lost where Σ is small."""

from __future__ import annotations

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.bounds.library.local import ldp_pca_gauss as theory
from dpcheck.families.outer_products import leading, subspace_distance2, symmetric, upper_triangles
from dpcheck.solvers.local.ldp_pca_gauss import LdpPcaGauss
from dpcheck.solvers.local.ldp_sparse_pca_fps import LdpSparsePcaFps, onto_fantope, selected

PRIVATE = dp.ApproxDP(4.0, 1e-3, relation=dp.LOCAL)
SOLVERS = [LdpPcaGauss(), LdpSparsePcaFps()]


def users(n: int, d: int, seed: int) -> np.ndarray:
    """Vectors of the ball, mostly along the first coordinate."""
    rows = np.random.default_rng(seed).standard_normal((n, d)) * np.r_[1.0, np.full(d - 1, 0.1)]
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.mark.parametrize("solver", [LdpPcaGauss(), LdpSparsePcaFps.example().solver], ids=lambda s: s.name)
def test_it_conforms(solver: dp.Solver) -> None:
    dp.check_solver(solver)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: s.name)
def test_the_leading_direction_is_found(solver: dp.Solver) -> None:
    found = solver.solve(users(20_000, 5, 0), PRIVATE, rng=0, trials=4).w.reshape(4, 1, 5).transpose(0, 2, 1)
    assert subspace_distance2(found, np.eye(5)[:, :1]).max() < 0.05
    assert subspace_distance2(found, np.eye(5)[:, 1:2]).min() > 0.5  # planted: another axis


def test_reports_average_to_the_outer_products_with_the_certified_noise() -> None:
    """Five standard errors, a fixed seed; a bias of a tenth is planted."""
    rows = users(3, 3, 1)
    seen = LdpPcaGauss().mechanism(PRIVATE, transcript=True)
    reports = seen(rows, np.random.default_rng(2), 20_000).reshape(20_000, 3, 6)
    noise = LdpPcaGauss().calibrated(rows, PRIVATE).noise_std
    off = (reports.mean(axis=0) - upper_triangles(rows)) / (noise / 20_000**0.5)
    assert np.abs(off).max() < 5
    assert np.abs(off + 0.1 / (noise / 20_000**0.5)).max() > 5
    assert reports.std(axis=0) == pytest.approx(np.full((3, 6), noise), rel=0.03)


def test_isometric_reports_are_as_private_and_err_by_half() -> None:
    rows = users(2000, 5, 6)
    plain, even = LdpPcaGauss(), LdpPcaGauss(isometric=True)
    one, other = (s.method(rows, None, s.calibrated(rows, PRIVATE).released).ask(rows[:2]) for s in (plain, even))
    whole = np.linalg.norm(np.outer(rows[0], rows[0]) - np.outer(rows[1], rows[1]))
    assert np.linalg.norm(other[0] - other[1]) == pytest.approx(whole)
    assert np.linalg.norm(one[0] - one[1]) < whole
    truth = leading((rows.T @ rows)[None], 1)[0]
    found = [s.solve(rows, PRIVATE, rng=7, trials=300) for s in (plain, even)]
    assert found[0].noise_std == found[1].noise_std
    errors = [subspace_distance2(run.w[:, :, None], truth).mean() for run in found]
    assert 0.4 < errors[1] / errors[0] < 0.6  # 0.506 ± 0.001 over seeds; 1 if the two were alike


def test_triangles_make_the_covariance() -> None:
    rows = users(10, 4, 1)
    assert np.allclose(symmetric(upper_triangles(rows).mean(axis=0)[None], 4)[0], rows.T @ rows / 10)


def test_the_published_noise_is_too_small() -> None:
    guarantee = dp.ApproxDP(1.0, 1e-5, relation=dp.LOCAL)
    stated, certified = (
        LdpPcaGauss().calibrated(np.eye(2), guarantee, how).noise_std for how in ("stated", "certified")
    )
    assert stated < 0.95 * certified
    assert certified < theory.theorem2_privacy_corrected.evaluate(eps=1.0, delta=1e-5)


def test_the_printed_bound_does_not_see_that_a_small_covariance_drowns() -> None:
    """Σ/100 has the same printed bound, and at an n where Σ is found its directions are chance, 1 - 1/p for k = 1."""
    p, n = 40, 10**10
    sizes = {"n": n, "d": p, "leading": 1, "eps": 1.0, "delta": 1e-4}
    noise = float(theory.theorem2_privacy.evaluate(eps=1.0, delta=1e-4)) / n**0.5
    Z = symmetric(noise * np.random.default_rng(0).standard_normal((50, p * (p + 1) // 2)), p)
    spike = np.diag(np.r_[1.0, np.full(p - 1, 0.5)]) / (5 * p)  # (6.7) with λ = 1
    found, lost = (subspace_distance2(leading(t * spike + Z, 1), np.eye(p)[:, :1]).mean() for t in (1.0, 0.01))
    assert found < 0.2
    assert lost > 0.9
    bounds = [theory.theorem2.evaluate(top_eigenvalue=t / (5 * p), eigengap=t / (10 * p), **sizes) for t in (1.0, 0.01)]
    assert bounds[0] == pytest.approx(bounds[1])
    assert bounds[0] < 1e-5


def test_projections_on_the_fantope_are_nearest() -> None:
    rng = np.random.default_rng(0)
    S = rng.standard_normal((3, 6, 6))
    S += S.transpose(0, 2, 1)
    X = onto_fantope(S, 2)
    values = np.linalg.eigvalsh(X)
    assert np.allclose(values.sum(axis=1), 2)
    assert values.min() > -1e-9
    assert values.max() < 1 + 1e-9
    others = onto_fantope(rng.standard_normal((3, 6, 6)) * np.ones((3, 6, 6)), 2)
    assert (((S - X) * (others - X)).sum(axis=(1, 2)) < 1e-7).all()
    assert (((S - others) * (X - others)).sum(axis=(1, 2)) > 0).any()  # planted: another point is not the nearest


def test_selection_finds_the_rows_and_without_a_penalty_the_projection() -> None:
    V = np.zeros((8, 2))
    V[[1, 4, 6]] = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 2)))[0]
    noise = symmetric(0.01 * np.random.default_rng(4).standard_normal((1, 36)), 8)
    S = (V @ V.T)[None] + noise
    rows = np.diag(selected(S, 2, 0.05, 1.0, 200)[0]) > 1e-6
    assert rows.nonzero()[0].tolist() == [1, 4, 6]
    plain = leading(S, 2)[0]
    assert np.allclose(selected(S, 2, 1e-9, 1.0, 200)[0], plain @ plain.T, atol=1e-6)


@pytest.mark.parametrize(
    ("data", "k", "words"),
    [(np.full((2, 2), 2.0), 1, "norm at most 1"), (np.eye(2), 3, "at most d"), (np.eye(2)[:0], 1, "one row a user")],
)
def test_bad_users_are_refused(data: np.ndarray, k: int, words: str) -> None:
    with pytest.raises(dp.InvalidInput, match=words):
        LdpPcaGauss(k=k).solve(data, PRIVATE)
