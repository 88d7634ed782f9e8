"""GLM regression from local reports: unbiased reports, the right scale, refusals. Five standard errors, fixed seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

import dpcheck as dp
from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.library.local import scaled_least_squares as theory
from dpcheck.evidence.local.nldp_glm_public import EveryRunEnds
from dpcheck.families.scaled_least_squares import (
    LabelledUsers,
    Slope,
    enough_users,
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
ASKED = dp.ApproxDP(0.9, 1e-2, relation=dp.LOCAL)


# The server ------------------------------------------------------------------------------------------
def test_without_noise_the_server_finds_least_squares_and_its_scale() -> None:
    mean = report(USERS.X, USERS.y, 1.0, 1.0).mean(axis=0, keepdims=True)
    exact = np.linalg.lstsq(USERS.X, USERS.y, rcond=None)[0]
    assert least_squares(mean, 2, 1.0, 1.0)[0] == pytest.approx(exact)
    predicted = USERS.public @ exact
    (c,), found = fitting_scale(SLOPES["logistic"], predicted[None])
    assert found.all()
    assert c * SLOPES["logistic"].of(c * predicted).mean() == pytest.approx(1)
    assert fitting_scale(SLOPES["linear"], predicted[None])[0] == pytest.approx([1.0])


def test_the_least_of_two_scales_is_taken_and_the_nearest_where_there_is_none() -> None:
    predicted = np.array([[0.2, -0.3, 0.1], [3.0, -4.0, 5.0]])
    (least, nearest), found = fitting_scale(SLOPES["logistic"], predicted)
    assert found.tolist() == [True, False]
    tried = np.linspace(0.01, least * 0.999, 2000)
    assert max(c * SLOPES["logistic"].of(c * predicted[0]).mean() for c in tried) < 1
    assert nearest * SLOPES["logistic"].of(nearest * predicted[1]).mean() < 1


def test_a_formula_and_a_search_find_the_same_scale() -> None:
    predicted = np.array([[0.1, -0.2], [0.7, 2.0]])
    by_formula, by_search = (fitting_scale(Slope(np.square, degree=degree), predicted)[0] for degree in (2, None))
    assert by_formula == pytest.approx(by_search)
    often = fitting_scale(Slope(np.square, degree=2), predicted, np.array([[1, 3], [1, 3]]))[0]
    assert often[0] == pytest.approx(np.mean([0.01, 0.04, 0.04, 0.04]) ** (-1 / 3))


def test_enough_users_are_enough_and_far_fewer_are_not() -> None:
    """Whether the noisy Gram matrix is positive definite in nearly all of 200 runs; p = 10, features ±1/10."""
    rng, p, noise = np.random.default_rng(0), 10, 2.0
    enough = enough_users(np.vstack([np.eye(p), -np.eye(p)]) * np.sqrt(p) / 10, 1.0, noise)
    E = np.triu(rng.standard_normal((200, p, p)))
    E += np.triu(E, 1).transpose(0, 2, 1)
    definite = [
        (np.linalg.eigvalsh(np.eye(p) / 100 + noise / users**0.5 * E)[:, 0] > 0).mean()
        for users in (enough, enough / 16)
    ]
    assert definite[0] > 0.99
    assert definite[1] < 0.5
    with pytest.raises(dp.InvalidInput, match="full rank"):
        enough_users(np.ones((5, 2)), 1.0, noise)


def test_a_large_noise_free_sample_recovers_the_model() -> None:
    patterns = np.array([[a, b] for a in (-0.3, 0.3) for b in (-0.3, 0.3)])
    w = np.array([0.8, -0.5])
    mean = report(patterns, special.expit(patterns @ w), 1.0, 1.0).mean(axis=0, keepdims=True)
    solution = least_squares(mean, 2, 1.0, 1.0)
    scaled = fitting_scale(SLOPES["logistic"], solution @ patterns.T)[0][:, None] * solution
    assert scaled[0] == pytest.approx(w, rel=0.01)
    assert solution[0] != pytest.approx(w, rel=0.5)  # planted: a server that forgets to scale


# Users -----------------------------------------------------------------------------------------------
def test_mean_reports_are_unbiased() -> None:
    found = PublicGLM().solution(USERS, LOOSE, 0, trials=4000, trace=True)
    assert found.trace is not None
    reports = found.trace.answers[0].reshape(4000, USERS.n, -1).mean(axis=1)
    gap = reports.mean(axis=0) - report(USERS.X, USERS.y, 1.0, 1.0).mean(axis=0)
    error = reports.std(axis=0) / 4000**0.5
    assert np.all(np.abs(gap) < 5 * error)
    assert np.any(np.abs(gap + 0.01) > 5 * error)  # planted: a bias of a hundredth


def test_the_worst_pair_moves_the_report_as_far_as_any_may() -> None:
    first, second = (report(d.X, d.y, 1.0, 1.0) for d in worst_users(1.0))
    assert ((first - second) ** 2).sum() == pytest.approx(float(theory.report_shift.formula))


def test_bad_data_are_refused_by_name_and_not_quoted() -> None:
    with pytest.raises(dp.InvalidInput, match="norm at most 1") as refused:
        LabelledUsers(1.234567 * X, USERS.y, X)
    assert "0.86" not in str(refused.value)
    with pytest.raises(dp.InvalidInput, match="labels"):
        PublicGLM().solve(replace(USERS, y=3 * np.ones(40)), ASKED)
    with pytest.raises(dp.InvalidInput, match="LabelledUsers"):
        PublicGLM().solve(X, ASKED)
    with pytest.raises(dp.InvalidInput, match=r"\(n, p\)"):
        LabelledUsers(X, USERS.y[:-1], X)
    with pytest.raises(dp.InvalidInput, match="public"):
        LabelledUsers(X, USERS.y, np.empty((0, 2)))
    with pytest.raises(dp.InvalidInput, match="row_bound"):
        LabelledUsers(X, USERS.y, X, row_bound=0.0)
    with pytest.raises(dp.InvalidInput, match="finite"):
        LabelledUsers(X * np.nan, USERS.y, X)


def test_published_noise_is_claimed_below_one_only() -> None:
    assert PublicGLM().calibrated(USERS, ASKED, "stated").noise_std > 10
    with pytest.raises(dp.InvalidInput, match="ε < 1"):
        PublicGLM().calibrated(USERS, dp.ApproxDP(2.0, 1e-2, relation=dp.LOCAL), "stated")


# Claims ----------------------------------------------------------------------------------------------
def off_by(p: int, runs: int = 40) -> float:
    """The median of ‖ŵ_ols - w̃_ols‖² over (5.28) with constant 1, along the path that refutes Lemma 5.2.9."""
    rng, unit = np.random.default_rng(p), 32 * np.log(250)
    n = unit / 4 * p**5
    E = np.triu(rng.standard_normal((runs, p, p)))
    E += np.triu(E, 1).transpose(0, 2, 1)
    gram = n / p**2 * np.eye(p) + np.sqrt(n * unit) * E  # features ±1/p; XᵀX is off its mean by far less
    moved = np.linalg.solve(gram, np.sqrt(n * unit) * rng.standard_normal((runs, p, 1)))[..., 0]
    at = {"d": p, "features_r": 1.0, "data_norm": 0.0, "delta": 0.01, "gamma": 0.01, "eps": 1.0, "lam_min": p**-2.0}
    return float(np.median((moved**2).sum(axis=1)) / theory.lemma9.evaluate(n=round(n), **at))


def test_noise_outgrows_the_bound_of_lemma_9_along_the_path_that_refutes_it() -> None:
    assert off_by(160) > 3 * off_by(20)


@pytest.mark.parametrize(("share", "verdict"), [(0.0, Verdict.UNCHECKED), (0.3, Verdict.NOT_REPRODUCED)])
def test_a_mean_needs_every_run(share: float, verdict: Verdict) -> None:
    def ended(setting: object, trials: int, seed: int) -> np.ndarray:
        return np.random.default_rng(seed).random(trials) >= share

    check = EveryRunEnds(ended, [{"n": 1.0}], "planted")
    assert check.run(theory.lemma9, Effort()).verdict is verdict
