"""The private robust mean: stable where the closed form is not, right on heavy tails, refuses what it must."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

import dpcheck as dp
from dpcheck.bounds.library.heavy_tail import ht_robust_mean as theory
from dpcheck.families.robust_means import (
    LARGEST,
    _closed_form,
    noisy_means,
    printed_truncation,
    robust_average,
    smoothed_phi,
    tuned_truncation,
)
from dpcheck.solvers.heavy_tail.ht_robust_mean import HtRobustMean

KAPPA = np.log(100)


def as_printed(u: float, kappa: float) -> float:
    """(3.68) in doubles, term by term."""
    return float(_closed_form(np.array([u]), np.array([u / kappa**0.5]))[0])


def by_quadrature(u: float, kappa: float) -> float:
    law, ends = stats.norm(u, abs(u) / kappa**0.5), (-(2**0.5), 2**0.5)
    middle = integrate.quad(lambda x: (x - x**3 / 6) * law.pdf(x), *ends, points=[np.clip(u, *ends)], epsabs=1e-12)[0]
    return float(middle + LARGEST * (law.sf(ends[1]) - law.cdf(ends[0])))


@given(st.floats(-300, 300), st.booleans(), st.floats(-1, 3))
def test_it_is_odd_bounded_and_keeps_its_sign(power: float, negative: bool, log_kappa: float) -> None:
    u = np.array([-(10.0**power) if negative else 10.0**power])
    found = smoothed_phi(u, 10.0**log_kappa)
    assert np.all(np.abs(found) <= LARGEST)
    assert np.all(found * u >= 0)
    assert smoothed_phi(-u, 10.0**log_kappa) == -found


@pytest.mark.parametrize("u", [1e-3, 0.3, 0.74, 0.76, 1.5, 6.0, 200.0])
def test_it_is_the_integral_and_where_it_is_small_the_printed_form(u: float) -> None:
    found = smoothed_phi(np.array([u]), KAPPA)[0]
    assert found == pytest.approx(by_quadrature(u, KAPPA), abs=1e-10)
    assert found == pytest.approx(as_printed(u, KAPPA), abs=1e-8)


def test_the_printed_form_breaks_its_own_bound_in_doubles() -> None:
    large = [1e6, 1e7, 1e8]
    assert max(abs(as_printed(u, KAPPA)) for u in large) > 10 * LARGEST  # planted: what the text tells to compute
    assert np.abs(smoothed_phi(np.array(large), KAPPA)).max() <= LARGEST


def test_errors_keep_the_bound_that_truncation_is_tuned_by() -> None:
    n, gamma, v = 400, 0.1, 4.0
    kappa, x = 2 * np.log(1 / gamma), 1 + np.random.default_rng(0).standard_t(3, size=(n, 2000))
    s = printed_truncation(n, v, gamma)
    bound = theory.explicit_error.evaluate(n=n, gamma=gamma, v_moment=v, kappa_tr=kappa, s_trunc=s)
    missed = (abs(robust_average(x, s, kappa) - 1) > bound).mean()
    assert missed < gamma
    assert (abs(robust_average(x, s / 30, kappa) - 1) > bound).mean() > gamma  # planted: truncated far too early
    assert tuned_truncation(n, v, gamma, kappa, 0.0) < s  # two sides are paid for, not one
    assert tuned_truncation(n, v, gamma, kappa, 10.0) < tuned_truncation(n, v, gamma, kappa, 0.0)


def test_it_conforms() -> None:
    dp.check_solver(HtRobustMean())


# For practice ----------------------------------------------------------------------------------------
def quietly(*args: Any, **how: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return dp.robust_mean(*args, **how)


def test_means_of_heavy_tails_are_found_in_each_column() -> None:
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.standard_t(3, 20_000) + 2, rng.pareto(3, 20_000)])
    found = quietly(x, 1.0, 1e-6, [8.0, 2.0], random_state=0)
    assert found == pytest.approx([2.0, 0.5], abs=0.15)
    one = quietly(x[:, 0], 1.0, 1e-6, 8.0, random_state=0)
    assert isinstance(one, float)
    assert one == pytest.approx(2.0, abs=0.15)


def test_its_noise_hides_a_record_of_any_size_and_a_third_of_it_does_not() -> None:
    claimed, far = dp.ApproxDP(1.0, 1e-2), np.full((10, 1), -1e200)
    near = far.copy()
    near[0] = 1e200

    def flagged(epsilon: float) -> bool:
        def mechanism(x: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
            return noisy_means(x, dp.ApproxDP(epsilon, 1e-2), np.ones(1), 0.05, rng, trials)

        found = dp.audit(mechanism, pair=(far, near), guarantee=claimed, max_trials=5000, alpha=1e-6, seed=0)
        return bool(found.violated)

    assert not flagged(1.0)
    assert flagged(3.0)  # planted: a third of the noise


@pytest.mark.parametrize(
    ("x", "how", "said"),
    [
        ([1.0, np.nan], {}, "finite"),
        ([1.0], {}, "two or more"),
        (["a", "b"], {}, "numbers"),
        (np.zeros((2, 2, 2)), {}, "one row"),
        ([1.0, 2.0], {"second_moment": 0.0}, "second_moment"),
        ([1.0, 2.0], {"second_moment": [1.0, 2.0]}, "second_moment"),
        ([1.0, 2.0], {"delta": 0.0}, "delta"),
        ([1.0, 2.0], {"epsilon": -1.0}, "eps"),
        ([1.0, 2.0], {"failure": 1.0}, "failure"),
    ],
)
def test_what_it_cannot_take_is_refused_by_name(x: Any, how: dict[str, Any], said: str) -> None:
    with pytest.raises(dp.InvalidInput, match=said):
        dp.robust_mean(x, **{"epsilon": 1.0, "delta": 1e-6, "second_moment": 1.0} | how)


def test_a_seed_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="random_state"):
        dp.robust_mean([1.0, 2.0], 1.0, 1e-6, 5.0, random_state=3)
