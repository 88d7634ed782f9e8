"""The average of noisy numbers: unbiased, within its corrected bound, refuses what it must; fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.bounds.library.local import laplace_sums as sums
from dpcheck.bounds.library.local import ldp_avg_1d as theory
from dpcheck.solvers.local.ldp_avg_1d import LdpAvg1D

LOCAL = dp.PureDP(1.0, relation=dp.LOCAL)
USERS = np.linspace(0, 3, 50) ** 2 / 3


def off(w: np.ndarray) -> float:
    return float(abs(w.mean() - USERS.mean()) / (w.std() / len(w) ** 0.5))


def test_the_average_is_unbiased_and_spreads_as_laplace_noise_does() -> None:
    found = LdpAvg1D(upper=3.0).solve(USERS, LOCAL, rng=0, trials=4000)
    assert off(found.w) < 5
    assert off(np.sign(found.w) * found.w**2 / USERS.mean()) > 5  # planted: a server that does not average
    assert found.w.var() == pytest.approx(2 * 3.0**2 / len(USERS), rel=0.15)


def test_errors_keep_the_corrected_bound_and_the_exact_quantile() -> None:
    gamma, n = 0.05, len(USERS)
    error = abs(LdpAvg1D(upper=3.0).solve(USERS, LOCAL, rng=1, trials=4000).w[:, 0] - USERS.mean())
    bound = theory.lemma1_corrected.evaluate(n=n, gamma=gamma, eps=1.0, b_user=3.0)
    assert (error > bound).mean() < gamma
    exact = 3.0 * sums.exact_quantile(np.array([n]), np.array([gamma]))[0] / n
    missed = (error > exact).mean()
    assert abs(missed - gamma) < 5 * (gamma / len(error)) ** 0.5
    assert exact < bound


def test_the_exact_tail_is_that_of_one_draw_and_of_many() -> None:
    t = np.array([0.5, 3.0])
    assert sums.exact_tail(np.array([1, 1]), t) == pytest.approx(np.exp(-t))
    draws = np.random.default_rng(0).laplace(size=(100_000, 7)).sum(axis=1)
    exact = sums.exact_tail(np.array([7]), np.array([6.0]))[0]
    assert (abs(draws) >= 6).mean() == pytest.approx(exact, abs=5 * (exact / len(draws)) ** 0.5)


def test_it_conforms() -> None:
    dp.check_solver(LdpAvg1D())


@pytest.mark.parametrize("users", [USERS - 1, 9 * USERS, USERS[:0], USERS[:, None], list(USERS), USERS * np.nan])
def test_users_outside_are_refused(users: np.ndarray) -> None:
    with pytest.raises(dp.InvalidInput, match="users"):
        LdpAvg1D(upper=3.0).solve(users, LOCAL)


def test_other_notions_are_refused() -> None:
    with pytest.raises(dp.InvalidInput, match="PureDP"):
        LdpAvg1D().solve(USERS / 3, dp.ApproxDP(1.0, 1e-5, relation=dp.LOCAL))
