"""Intervals cover what they promise, checked by summing the exact binomial law, so nothing here can flake."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpcheck.audits import (
    anytime,
    clopper_pearson,
    dkw_width,
    epsilon_lower,
    jeffreys,
    lower_limit,
    mu_lower,
    upper_limit,
)
from dpcheck.bounds.language.errors import InvalidInput


@given(st.integers(1, 60), st.floats(0.001, 0.999), st.floats(0.001, 0.3))
def test_clopper_pearson_misses_at_most_alpha_on_each_side(n: int, p: float, alpha: float) -> None:
    k = np.arange(n + 1)
    law = stats.binom.pmf(k, n, p)
    assert law[lower_limit(k, n, alpha) > p].sum() <= alpha + 1e-12
    assert law[upper_limit(k, n, alpha) < p].sum() <= alpha + 1e-12


def test_jeffreys_is_not_a_confidence_limit() -> None:
    """The same sum flags an interval that promises less: the test above can fail."""
    n, alpha = 20, 0.05
    k = np.arange(n + 1)
    misses = [stats.binom.pmf(k, n, p)[jeffreys(k, n, 2 * alpha)[0] > p].sum() for p in np.linspace(0.01, 0.99, 99)]
    assert max(misses) > alpha


@given(st.integers(1, 10**6), st.data())
def test_limits_are_ordered(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    low, high = clopper_pearson(k, n, 0.05)
    slow, shigh = anytime(k, n, 0.05)
    assert 0 <= slow <= low + 1e-9
    assert low <= k / n <= high
    assert high <= shigh + 1e-9 <= 1 + 1e-9


def test_confidence_sequence_holds_at_all_times() -> None:
    """False-alarm rate 1e-3 per path over 200 looks: none of 300 seeded paths leaves it (0.3 expected at most)."""
    rng = np.random.default_rng(5)
    n = np.unique(np.geomspace(1, 20_000, 200).astype(int))
    left = 0
    fixed = 0
    for _ in range(300):
        k = np.cumsum(rng.random(20_000) < 0.3)[n - 1]
        low, high = anytime(k, n, 1e-3)
        left += bool(np.any((low > 0.3) | (high < 0.3)))
        low, high = clopper_pearson(k, n, 0.05)
        fixed += bool(np.any((low > 0.3) | (high < 0.3)))
    assert left <= 3
    assert fixed > 60, "a fixed-sample interval watched at 200 looks must fail: the check has teeth"


@given(st.integers(20, 300), st.floats(0.05, 0.5), st.floats(0.1, 2.0), st.sampled_from([0.0, 0.01]))
def test_epsilon_lower_exceeds_the_truth_rarely(n: int, q: float, eps: float, delta: float) -> None:
    """Exact: the two binomial laws are summed."""
    p = min(1.0, q * np.exp(eps) + delta)
    truth = np.log((p - delta) / q)
    k = np.arange(n + 1)
    bound = epsilon_lower(k[:, None], n, k[None, :], n, delta=delta, alpha=0.05)
    law = np.outer(stats.binom.pmf(k, n, p), stats.binom.pmf(k, n, q))
    assert law[bound > truth + 1e-12].sum() <= 0.05


def test_epsilon_lower_finds_a_planted_ratio() -> None:
    assert epsilon_lower(50_000, 100_000, 5_000, 100_000, delta=0.0, alpha=1e-6) > 2.1
    assert epsilon_lower(0, 100, 50, 100, delta=0.0, alpha=0.05) == 0
    assert mu_lower(84_134, 100_000, 50_000, 100_000, alpha=0.05) == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize(("k", "n", "alpha"), [(-1, 10, 0.05), (11, 10, 0.05), (0, 0, 0.05), (1, 2, 0.0), (1, 2, 1.0)])
def test_bad_counts_are_refused(k: int, n: int, alpha: float) -> None:
    with pytest.raises(InvalidInput):
        lower_limit(k, n, alpha)


def test_dkw() -> None:
    assert dkw_width(10_000, 0.05) == pytest.approx(0.01358, abs=1e-4)
