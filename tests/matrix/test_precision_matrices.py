"""The graphical lasso under privacy: its solver, repair, packed noise, players' messages, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import dpcheck as dp
from dpcheck.bounds.library.matrix import graphical_lasso as theory
from dpcheck.bounds.library.matrix import sicov_cov_gaussian, sicov_cov_laplace
from dpcheck.bounds.privacy.laws import Wishart
from dpcheck.families.precision_matrices import (
    distance_bound,
    exact_moments,
    lacks_a_minimiser,
    may_lack_a_minimiser,
    moments,
    positive_part,
    precisions,
    repaired,
    sturdy,
)
from dpcheck.kernels.wishart import unpacked
from dpcheck.solvers.matrix.sicov_cov_gaussian import SicovCovGaussian
from dpcheck.solvers.matrix.sicov_cov_laplace import SicovCovLaplace
from dpcheck.solvers.matrix.sicov_cov_wishart_approx import SicovCovWishartApprox
from dpcheck.solvers.matrix.sicov_cov_wishart_pure import SicovCovWishartPure
from dpcheck.solvers.matrix.sicov_distributed import SicovDistributed, directions_of
from dpcheck.solvers.matrix.sicov_ldp_gaussian import SicovLdpGaussian
from dpcheck.solvers.matrix.sicov_output_wishart import SicovOutputWishart, exact_solution

PRIVATE, LOCAL = dp.ApproxDP(1.0, 1e-2), dp.ApproxDP(1.0, 1e-2, relation=dp.LOCAL)
# Where noise is looked at, a penalty that leaves nothing to descend for.
CENTRAL = [kind(rho=1e3) for kind in (SicovCovWishartPure, SicovCovWishartApprox, SicovCovGaussian, SicovDistributed)]


def rows(n: int, d: int, seed: int) -> np.ndarray:
    """Vectors of the ball, the first two coordinates alike."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[:, 1] = 0.8 * X[:, 0] + 0.2 * X[:, 1]
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def value(theta: np.ndarray, S: np.ndarray, rho: float) -> float:
    return float(-np.linalg.slogdet(theta)[1] + (S * theta).sum() + rho * np.abs(theta).sum())


# The problem -------------------------------------------------------------------------------------------
def test_solutions_are_minimisers_with_the_diagonal_penalised() -> None:
    """Against a search over Cholesky factors; planted: scikit-learn's own problem, without the diagonal."""
    S, rho = unpacked(moments(rows(20, 3, 0))[None], 3), 0.05
    theta = precisions(S, rho, 1e-9)[0]
    lower = np.tril_indices(3)

    def objective(x: np.ndarray) -> float:
        factor = np.zeros((3, 3))
        factor[lower] = x
        return value(factor @ factor.T + 1e-9 * np.eye(3), S[0], rho)

    found = minimize(objective, np.linalg.cholesky(theta + 0.1 * np.eye(3))[lower], method="Nelder-Mead",
                     options={"maxiter": 20_000, "maxfev": 20_000, "xatol": 1e-10, "fatol": 1e-13})  # fmt: skip
    assert value(theta, S[0], rho) <= found.fun + 1e-9
    from sklearn.covariance import graphical_lasso

    assert value(graphical_lasso(S[0], rho)[1], S[0], rho) > found.fun + 1e-3
    assert np.linalg.norm(theta - precisions(S, rho, 1e-12)[0]) <= distance_bound(S[0], theta, rho)
    assert distance_bound(S[0], theta * 1.1, rho) > np.linalg.norm(theta * 0.1) * 0.9


def test_a_diagonal_solution_is_found_without_descent() -> None:
    S = np.diag([0.5, 0.2, 0.3]) + 0.05
    assert np.allclose(precisions(S[None], 0.06)[0], np.diag(1 / (np.diag(S) + 0.06)))
    near, beyond = (precisions(S[None], rho, 1e-9)[0] for rho in (0.05, 0.049))
    assert np.count_nonzero(near) == 3
    assert np.count_nonzero(beyond) > 3
    assert np.linalg.norm(near - beyond) < 0.1


def test_without_repair_the_objective_falls_for_ever_and_that_is_refused() -> None:
    """Along a direction in which S̃ + ρI is negative enough, -log det wins against nothing."""
    S, rho = np.diag([0.5, -0.3])[None], 0.1
    assert lacks_a_minimiser(S, rho)[0]
    assert value(np.diag([1.0, 1e6]), S[0], rho) < value(np.diag([1.0, 1e3]), S[0], rho) < value(np.eye(2), S[0], rho)
    with pytest.raises(dp.InvalidInput, match="minimiser may not exist"):
        repaired(S, rho, "refuse")
    kept = repaired(np.concatenate([S, np.eye(2)[None]]), rho, "project")
    assert np.allclose(kept[0], np.diag([0.5, 0.0]))
    assert np.array_equal(kept[1], np.eye(2))
    assert not may_lack_a_minimiser(kept, rho).any()
    fine = np.diag([0.5, -0.05])[None]  # not semidefinite, and has a minimiser all the same
    assert not may_lack_a_minimiser(fine, rho)[0]
    assert repaired(fine, rho, "refuse") is fine


def test_where_scikit_learn_fails_the_penalty_is_raised_and_nothing_else_is_refused() -> None:
    S = positive_part(1e4 * unpacked(np.random.default_rng(5).standard_normal((4, 36)), 8))
    made = sturdy(S, 1e-3)
    assert np.linalg.eigvalsh(made).min() > 0
    easy = positive_part(unpacked(np.random.default_rng(5).standard_normal((4, 6)), 3))
    assert np.array_equal(sturdy(easy, 0.1), precisions(easy, 0.1))
    with pytest.raises(dp.InvalidInput, match="rho"):  # planted: without raising it
        precisions(S, 1e-3)


def test_the_positive_part_is_nearest() -> None:
    S = unpacked(np.random.default_rng(0).standard_normal((5, 6)), 3)
    P = positive_part(S)
    assert np.linalg.eigvalsh(P).min() > -1e-12
    others = positive_part(unpacked(np.random.default_rng(1).standard_normal((5, 6)), 3))
    assert (((S - P) * (others - P)).sum(axis=(1, 2)) < 1e-9).all()


# Noise ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("solver", CENTRAL, ids=lambda s: s.name)
def test_an_entry_and_its_mirror_image_have_one_noise(solver: dp.Solver) -> None:
    """Five standard errors on means of a packed answer; what it lets out has d(d+1)/2 numbers, no entry twice."""
    data = rows(3, 2, 1)
    seen = solver.mechanism(PRIVATE, transcript=True)(data, np.random.default_rng(0), 20_000).reshape(20_000, 3)
    law = solver.calibrated(data, PRIVATE).released.parts[0].law
    mean = np.zeros(3)
    if isinstance(solver, SicovCovWishartPure | SicovCovWishartApprox | SicovDistributed):
        assert isinstance(law, Wishart)
        mean = float(law.degrees) * float(law.scale) * np.array([1.0, 0.0, 1.0])
    off = (seen.mean(axis=0) - exact_moments(data) - mean) / (seen.std(axis=0) / 20_000**0.5)
    assert np.abs(off).max() < 5
    assert np.abs(off + 0.1 * np.abs(seen.std(axis=0)) / (seen.std(axis=0) / 20_000**0.5)).max() > 5  # planted: a bias
    assert solver.solve(data, PRIVATE, rng=0, trials=2).w.shape == (2, 3)


def test_wishart_noise_keeps_moments_semidefinite_and_the_others_do_not() -> None:
    data, few = rows(2000, 4, 2), rows(10, 4, 2)
    for solver in (SicovCovWishartPure(), SicovCovWishartApprox()):
        seen = solver.mechanism(PRIVATE, transcript=True)(data, np.random.default_rng(0), 20).reshape(20, -1)
        assert np.linalg.eigvalsh(unpacked(seen, 4)).min() > -1e-12
        kept = solver.solve(data, PRIVATE, rng=0, trials=5)
        assert np.array_equal(kept.w, type(solver)(repair="refuse").solve(data, PRIVATE, rng=0, trials=5).w)
    for other in (SicovCovGaussian(rho=0.01), SicovCovLaplace(rho=0.01)):
        claimed = dp.PureDP(1.0) if isinstance(other, SicovCovLaplace) else PRIVATE
        seen = other.mechanism(claimed, transcript=True)(few, np.random.default_rng(0), 20).reshape(20, -1)
        assert np.linalg.eigvalsh(unpacked(seen, 4)).min() < -0.01
        made = unpacked(other.solve(few, claimed, rng=0, trials=5).w, 4)
        assert np.linalg.eigvalsh(made).min() > 0
        with pytest.raises(dp.InvalidInput, match="minimiser"):
            type(other)(rho=0.01, repair="refuse").solve(few, claimed, rng=0, trials=5)


def test_pure_privacy_is_exact_or_refused() -> None:
    data = rows(10, 3, 3)
    for solver in (SicovCovWishartPure(), SicovOutputWishart()):
        with pytest.raises(dp.InvalidInput, match="delta > 0"):
            solver.solve(data, dp.PureDP(1.0))
    found = SicovCovLaplace().solve(data, dp.PureDP(1.0))
    assert found.guarantee == dp.PureDP(1.0)
    assert not any("doubles" in word for word in found.caveats)
    with pytest.raises(dp.InvalidInput, match="PureDP"):
        SicovCovLaplace().solve(data, PRIVATE)


def test_published_noise_is_less_or_more_than_what_it_takes() -> None:
    data, tight = rows(50, 6, 4), dp.ApproxDP(1.0, 1e-5)
    gauss = [SicovCovGaussian().calibrated(data, tight, how).noise_std for how in ("stated", "certified")]
    assert gauss[0] < 0.95 * gauss[1]
    assert gauss[1] < sicov_cov_gaussian.corrected.evaluate(n=50, eps=1.0, delta=1e-5)
    laplace = [
        SicovCovLaplace().calibrated(data, dp.PureDP(1.0), how).released.law.scale  # type: ignore[union-attr]
        for how in ("stated", "certified")
    ]
    assert laplace[0] == pytest.approx(sicov_cov_laplace.privacy.evaluate(n=50, d=6, eps=1.0))
    assert laplace[0] / laplace[1] == pytest.approx(12 / 27**0.5, rel=1e-6)
    wide = [
        SicovCovWishartApprox().calibrated(data, dp.ApproxDP(0.9, 1e-5), how).noise_std
        for how in ("stated", "certified")
    ]
    assert wide[0] > 1.2 * wide[1]


def test_isometric_triangles_are_as_private_and_have_half_the_variance_off_the_diagonal() -> None:
    data = rows(5, 2, 5)
    plain, even = (SicovCovGaussian(isometric=how).calibrated(data, PRIVATE) for how in (False, True))
    assert plain.noise_std == even.noise_std
    for solver in (SicovCovGaussian(rho=10.0, isometric=True), SicovLdpGaussian(rho=10.0, isometric=True)):
        found = dp.check_solver(solver, promises=["sensitivity_is_kept_and_reached", "certified_noise_is_private"])
        assert not found.untried


def test_the_mean_of_the_noise_is_taken_off_after_the_fact() -> None:
    data = rows(2000, 3, 6)
    errors = []
    for centred in (False, True):
        made = unpacked(SicovCovWishartApprox(rho=0.05, centred=centred).solve(data, PRIVATE, rng=0, trials=8).w, 3)
        truth = precisions(unpacked(moments(data)[None], 3), 0.05)
        errors.append(np.linalg.norm(made - truth, axis=(1, 2)).mean())
    assert errors[1] < errors[0] / 3


# Sensitivity ------------------------------------------------------------------------------------------
def test_no_pair_is_farther_than_stated_and_of_two_entries_one_attains_it() -> None:
    """A climb from random pairs, for vectors of all directions; axes alone fall short of the worst pair in l1."""
    for d in (2, 3):
        best = 0.0
        for seed in range(4):
            start = np.random.default_rng([d, seed]).standard_normal(2 * d)

            def less(v: np.ndarray, d: int = d) -> float:
                x, y = (u / np.linalg.norm(u) for u in (v[:d], v[d:]))
                return -float(np.abs(moments(x[None]) - moments(y[None])).sum())

            found = minimize(less, start, method="Nelder-Mead", options={"maxiter": 4000, "maxfev": 8000})
            best = max(best, -float(found.fun))
        stated = float(theory.triangle_sensitivity.evaluate(n=1, d=d))
        assert 2 < best <= stated * (1 + 1e-9)  # 2 is what two axes give
        assert best > 0.9 * stated
    one, other = SicovCovLaplace().worst_pair()
    assert np.abs(moments(one) - moments(other)).sum() * 2 == pytest.approx(5**0.5)


# Players ------------------------------------------------------------------------------------------------
def test_a_message_gives_its_players_record_away_but_for_a_line_in_a_plane() -> None:
    """What the server sees; of noise that hides, the record would be 0.6 from a random plane of five dimensions."""
    data = rows(4, 5, 7)
    seen = SicovDistributed(seen="messages").mechanism(dp.ApproxDP(0.9, 1e-2), "stated", transcript=True)
    sent = unpacked(seen(data, np.random.default_rng(0), 1).reshape(4, 15), 5)
    for x, message in zip(data, sent, strict=True):
        plane = directions_of(message)
        assert np.linalg.norm(x - plane @ (plane.T @ x)) < 1e-6
        other = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 2)))[0]
        assert np.linalg.norm(x - other @ (other.T @ x)) > 0.1  # planted: another plane
    with pytest.raises(dp.InvalidInput, match="rank one"):
        SicovDistributed(seen="messages").solve(data, dp.ApproxDP(0.9, 1e-2))
    with pytest.raises(dp.InvalidInput, match="no density"):
        seen.log_density(np.zeros((1, 60)), data)  # type: ignore[attr-defined]


def test_messages_and_the_servers_matrices_add_up_to_the_law_of_the_sum() -> None:
    """First two moments of the noise, five standard errors; planted: a server that forgets its own part."""
    data, guarantee, trials = rows(3, 2, 8), dp.ApproxDP(0.9, 1e-2), 20_000
    sums = SicovDistributed().calibrated(data, guarantee, "stated")
    m, scale = int(sums.plan), float(sums.released.law.scale)  # type: ignore[union-attr]
    rng = np.random.default_rng(0)
    seen = SicovDistributed(rho=1e3, seen="messages").mechanism(guarantee, "stated", transcript=True)(data, rng, trials)
    players = seen.reshape(trials, 3, 3).sum(axis=1) - exact_moments(data)
    own = rng.standard_normal((trials, 2, m - 3)) * scale**0.5
    server = (own @ own.transpose(0, 2, 1))[:, [0, 0, 1], [0, 1, 1]]
    for found, fits in ((players + server, True), (players, False)):
        mean = np.array([m, 0, m]) * scale
        variance = np.array([2 * m, m, 2 * m]) * scale**2
        off = np.abs(found.mean(axis=0) - mean) / np.sqrt(variance / trials)
        assert bool(off.max() < 5) is fits
        assert bool(np.abs(found.var(axis=0) / variance - 1).max() < 0.1) is fits


def test_colluding_players_are_paid_for() -> None:
    data = rows(4, 3, 9)
    laws = [SicovDistributed(colluding=t).calibrated(data, PRIVATE) for t in (0, 2)]
    assert laws[1].plan == laws[0].plan + 2
    assert laws[1].released == laws[0].released
    for wrong in (4, 1.5):
        with pytest.raises(dp.InvalidInput, match="colluding"):
            SicovDistributed(colluding=wrong).solve(data, PRIVATE)
    with pytest.raises(dp.InvalidInput, match="players"):
        SicovDistributed().calibrated(rows(9, 3, 0), dp.PureDP(1.0), "stated")


@pytest.mark.parametrize("solver", [SicovCovGaussian(), SicovDistributed(), SicovOutputWishart()], ids=lambda s: s.name)
@pytest.mark.parametrize("data", [np.full((2, 2), 2.0), np.eye(2)[:0], np.array([[np.nan, 0.0]]), [[1.0]]])
def test_bad_records_are_refused(solver: dp.Solver, data: object) -> None:
    with pytest.raises(dp.InvalidInput, match="users"):
        solver.solve(data, PRIVATE)


def test_a_solution_that_is_not_exact_enough_is_refused() -> None:
    assert len(exact_solution(rows(5, 3, 0), 0.1, 1e-3)) == 6
    with pytest.raises(dp.InvalidInput, match="exact enough"):
        exact_solution(rows(5, 3, 0), 0.1, 0.0)
