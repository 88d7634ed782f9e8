"""The exact ratio test: its level is summed over all outcomes, so nothing here can flake."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from audits import epsilon_lower
from audits.intervals import clopper_pearson
from audits.ratio import Ordering, p_value, ratio_bound, sampled_p_value


@given(
    st.integers(5, 50),
    st.integers(5, 50),
    st.floats(1.0, 20.0),
    st.sampled_from([0.0, 0.01, 0.1]),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_the_ordering_is_monotone_and_its_boundary_is_exact(
    n: int, m: int, slope: float, delta: float, x: float, y: float
) -> None:
    order = Ordering(n, m, slope, delta)
    ranks = np.array([[order.statistic(i, j) for j in range(m + 1)] for i in range(n + 1)])
    assert np.all(ranks[1:] >= ranks[:-1] - 1e-9)
    assert np.all(ranks[:, 1:] <= ranks[:, :-1] + 1e-9)
    rank = ranks[round(x * n), round(y * m)]
    if math.isfinite(rank):
        inside = np.arange(n + 1)[:, None] >= order.boundary(float(rank), np.arange(m + 1.0))
        assert np.all(inside | (ranks < rank))


@pytest.mark.parametrize("slope", [1.0, 2.0, 6.0])
@pytest.mark.parametrize("delta", [0.0, 0.02])
@pytest.mark.parametrize("q", [0.02, 0.1, 0.3])
def test_the_bound_exceeds_the_truth_with_probability_alpha_at_most(slope: float, delta: float, q: float) -> None:
    n, alpha = 24, 0.05
    k = np.arange(n + 1)
    bounds = np.array([[ratio_bound(i, n, j, n, delta=delta, alpha=alpha, slope=slope) for j in k] for i in k])
    for eps in (0.3, 1.0):
        p = min(1.0, math.exp(eps) * q + delta)
        truth = math.log((p - delta) / q)
        law = np.outer(stats.binom.pmf(k, n, p), stats.binom.pmf(k, n, q))
        assert law[bounds > truth + 1e-9].sum() <= alpha


def test_the_sum_above_has_teeth() -> None:
    """Two limits at alpha each, instead of half of it, fail the same sum somewhere."""
    n, alpha = 24, 0.05
    k = np.arange(n + 1)
    naive = epsilon_lower(k[:, None], n, k[None, :], n, delta=0.0, alpha=min(0.99, 10 * alpha))
    misses = []
    for q in np.linspace(0.02, 0.3, 15):
        p = math.e * q
        law = np.outer(stats.binom.pmf(k, n, p), stats.binom.pmf(k, n, q))
        misses.append(law[naive > 1 + 1e-9].sum())
    assert max(misses) > alpha


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 4), st.floats(0.05, 0.5), st.floats(0.5, 2.0), st.sampled_from([0.05, 1e-6]))
def test_it_is_stronger_than_two_limits(size: int, p: float, eps: float, alpha: float) -> None:
    n = 5 * 10**size
    k, j = round(n * p), round(n * p * math.exp(-eps))
    plain = float(epsilon_lower(k, n, j, n, delta=0.0, alpha=alpha))
    if j >= 20 and plain > 0.1:
        assert ratio_bound(k, n, j, n, delta=0.0, alpha=alpha, slope=math.exp(plain)) > plain


def test_certain_leaks_and_nothing() -> None:
    assert ratio_bound(10**5, 10**5, 0, 10**5, delta=0.0, alpha=1e-6, slope=1.0) > 8
    assert ratio_bound(0, 100, 50, 100, delta=0.0, alpha=0.05) == 0
    assert ratio_bound(50, 100, 50, 100, delta=0.0, alpha=0.05) == 0


@settings(max_examples=40, deadline=None)
@given(
    st.integers(20, 300),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(1.0, 100.0),
    st.sampled_from([0.0, 1e-3, 0.05]),
    st.floats(0.0, 6.0),
)
def test_the_p_value_covers_every_rate_that_the_counts_leave(
    n: int, x: float, y: float, slope: float, delta: float, eps: float
) -> None:
    """A fine grid of rates finds no tail above the bounded p-value, and the bound is not far above what it finds."""
    order = Ordering(n, n, slope, delta)
    hits, other = round(x * n), round(y * y * n)
    rank = order.statistic(hits, other)
    q_low, q_high = (float(v) for v in clopper_pearson(other, n, 1e-3))
    if math.isinf(rank):
        return
    q, j = np.linspace(q_low, q_high, 400)[:, None], np.arange(n + 1.0)
    p = np.minimum(math.exp(eps) * q + delta, 1.0)
    exact = (stats.binom.pmf(j, n, q) * stats.binom.sf(order.boundary(rank, j) - 1, n, p)).sum(axis=1).max()
    bounded = p_value(order, rank, eps, q_low, q_high)
    assert bounded >= exact * (1 - 1e-9) - 1e-14
    assert bounded <= max(1.3 * exact, 1e-9)


def test_a_few_sampled_rates_alone_would_miss_the_worst() -> None:
    """Why the p-value is bounded and not sampled: 450 of 1500 runs against none."""
    order = Ordering(1500, 1500, 360.0, 0.0)
    rank = order.statistic(450, 0)
    q_low, q_high = (float(v) for v in clopper_pearson(0, 1500, 1e-3))
    assert sampled_p_value(order, rank, 5.1, q_low, q_high) < 0.9 * p_value(order, rank, 5.1, q_low, q_high)
