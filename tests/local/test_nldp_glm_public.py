"""GLM regression from local reports: unbiased reports, the right scale, refusals. Five standard errors, fixed seeds."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

import dpcheck as dp
from dpcheck.bounds.library.local.scaled_least_squares import report_shift
from dpcheck.families.scaled_least_squares import (
    LabelledUsers,
    Slope,
    another_user,
    fitting_scale,
    least_squares,
    report,
    worst_users,
)
from dpcheck.solvers.local.nldp_glm_public import SLOPES, PublicGLM

RNG = np.random.default_rng(3)
X = RNG.choice([-0.7, 0.7], (40, 2))
USERS = LabelledUsers(X, (RNG.random(40) < special.expit(X @ [1.0, -2.0])).astype(float), X[:10])
LOOSE = dp.ApproxDP(40.0, 0.4, relation=dp.LOCAL)


def test_without_noise_the_server_finds_least_squares_and_its_scale() -> None:
    mean = report(USERS.X, USERS.y, 1.0, 1.0).mean(axis=0, keepdims=True)
    exact = np.linalg.lstsq(USERS.X, USERS.y, rcond=None)[0]
    assert least_squares(mean, 2, 1.0, 1.0)[0] == pytest.approx(exact)
    predicted = USERS.public @ exact
    (c,) = fitting_scale(SLOPES["logistic"], predicted[None])
    assert c * SLOPES["logistic"].of(c * predicted).mean() == pytest.approx(1)
    assert fitting_scale(SLOPES["linear"], predicted[None]) == pytest.approx([1.0])


def test_the_least_of_two_scales_is_taken_and_the_nearest_where_there_is_none() -> None:
    predicted = np.array([[0.2, -0.3, 0.1], [3.0, -4.0, 5.0]])
    least, nearest = fitting_scale(SLOPES["logistic"], predicted)
    tried = np.linspace(0.01, least * 0.999, 2000)
    heights = [c * SLOPES["logistic"].of(c * predicted[0]).mean() for c in tried]
    assert max(heights) < 1
    assert nearest * SLOPES["logistic"].of(nearest * predicted[1]).mean() < 1


def test_a_large_noise_free_sample_recovers_the_model() -> None:
    patterns = np.array([[a, b] for a in (-0.3, 0.3) for b in (-0.3, 0.3)])
    w = np.array([0.8, -0.5])
    mean = report(patterns, special.expit(patterns @ w), 1.0, 1.0).mean(axis=0, keepdims=True)
    solution = least_squares(mean, 2, 1.0, 1.0)
    scaled = fitting_scale(SLOPES["logistic"], solution @ patterns.T)[:, None] * solution
    assert scaled[0] == pytest.approx(w, rel=0.01)
    assert solution[0] != pytest.approx(w, rel=0.5)  # planted: a server that forgets to scale


def test_mean_reports_are_unbiased() -> None:
    found = PublicGLM().solution(USERS, LOOSE, 0, trials=4000, trace=True)
    reports = found.trace.answers[0].reshape(4000, USERS.n, -1).mean(axis=1)
    gap = reports.mean(axis=0) - report(USERS.X, USERS.y, 1.0, 1.0).mean(axis=0)
    error = reports.std(axis=0) / 4000**0.5
    assert np.all(np.abs(gap) < 5 * error)
    assert np.any(np.abs(gap + 0.01) > 5 * error)  # planted: a bias of a hundredth


def test_no_two_users_are_further_apart_than_the_release_says() -> None:
    rng, most = np.random.default_rng(0), float(report_shift.formula)

    def moved(first: LabelledUsers, second: LabelledUsers) -> float:
        reports = [report(d.X, d.y, 1.0, 1.0) for d in (first, second)]
        return float(((reports[0] - reports[1]) ** 2).sum())

    assert moved(*worst_users(1.0)) == pytest.approx(most)
    single = LabelledUsers(np.zeros((1, 3)), np.zeros(1), np.ones((2, 3)) / 2)
    found = [moved(another_user(single, rng, 1.0), another_user(single, rng, 1.0)) for _ in range(3000)]
    assert 0.8 * most < max(found) <= most


def test_bad_data_are_refused_by_name() -> None:
    ask = dp.ApproxDP(0.9, 1e-2, relation=dp.LOCAL)
    with pytest.raises(dp.InvalidInput, match="at most 1"):
        LabelledUsers(2 * X, USERS.y, X)
    with pytest.raises(dp.InvalidInput, match="label"):
        PublicGLM().solve(replace(USERS, y=3 * np.ones(40)), ask)
    with pytest.raises(dp.InvalidInput, match=r"\(n, p\)"):
        LabelledUsers(X, USERS.y[:-1], X)
    with pytest.raises(dp.InvalidInput, match="public"):
        LabelledUsers(X, USERS.y, np.empty((0, 2)))
    with pytest.raises(dp.InvalidInput, match="row_bound"):
        LabelledUsers(X, USERS.y, X, row_bound=0.0)
    with pytest.raises(dp.InvalidInput, match="finite"):
        LabelledUsers(X * np.nan, USERS.y, X)


def test_published_noise_is_claimed_below_one_only() -> None:
    assert PublicGLM().calibrated(USERS, dp.ApproxDP(0.9, 1e-2, relation=dp.LOCAL), "stated").noise_std > 10
    with pytest.raises(dp.InvalidInput, match="ε < 1"):
        PublicGLM().calibrated(USERS, dp.ApproxDP(2.0, 1e-2, relation=dp.LOCAL), "stated")


def test_a_scale_may_need_no_bound() -> None:
    (c,) = fitting_scale(Slope(np.square), np.array([[0.1, -0.2]]))
    assert c == pytest.approx(np.mean([0.01, 0.04]) ** (-1 / 3))
