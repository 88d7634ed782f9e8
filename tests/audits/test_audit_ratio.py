"""The exact ratio test: its level is summed over all outcomes, so nothing here can flake."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcheck.audits import epsilon_lower, ratio_bound
from dpcheck.audits.statistics.intervals import clopper_pearson
from dpcheck.audits.statistics.ratio import Ordering, order_at, p_value, tail_probability

DELTAS = st.sampled_from([0.0, 1e-3, 0.05, 0.2])


@settings(max_examples=60, deadline=None)
@given(st.integers(5, 60), st.floats(0.3, 5.0), DELTAS, st.floats(0, 1), st.floats(0, 1))
def test_the_order_is_monotone_and_its_boundary_is_where_it_says(
    n: int, z: float, delta: float, x: float, y: float
) -> None:
    order = Ordering(n, delta, z)
    ranks = np.array([[order.rank(i, j) for j in range(n + 1)] for i in range(n + 1)])
    assert np.all(ranks[1:] >= ranks[:-1] * (1 - 1e-8))
    assert np.all(ranks[:, 1:] <= ranks[:, :-1] * (1 + 1e-8))
    rank = float(ranks[round(x * n), round(y * y * n)])
    inside = np.arange(n + 1)[:, None] >= order.boundary(rank, np.arange(n + 1.0))
    assert np.all(inside[ranks >= rank])
    assert not np.any(inside[ranks < rank * (1 - 1e-6)])


@given(st.integers(5, 400), DELTAS, st.floats(0, 1), st.floats(0, 1), st.floats(0, 6), st.floats(0.01, 3))
def test_a_steeper_claim_is_harder_to_reject(n: int, delta: float, x: float, y: float, eps: float, more: float) -> None:
    """What makes the rank well defined: the excess in standard errors falls as the slope grows."""
    order, hits, other = Ordering(n, delta, 1.0), round(x * n), round(y * y * n)
    flat, steep = (order.deviations(math.exp(level), hits, other) for level in (eps, eps + more))
    assert steep <= flat * (1 + 1e-9)


@pytest.mark.parametrize("alpha", [0.05, 0.3, 1e-3])
@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_the_bound_exceeds_the_truth_with_probability_alpha_at_most(alpha: float, delta: float) -> None:
    n = 24
    k = np.arange(n + 1)
    bounds = np.array([[ratio_bound(i, j, n, delta=delta, alpha=alpha) for j in k] for i in k])
    assert np.all(np.diff(bounds, axis=0) >= -0.02)
    reached = 0.0
    for q in (0.005, 0.02, 0.1, 0.3, 0.6):
        for eps in (0.1, 0.3, 1.0, 2.0, 4.0):
            p = min(1.0, math.exp(eps) * q + delta)
            truth = math.log((p - delta) / q)
            law = np.outer(stats.binom.pmf(k, n, p), stats.binom.pmf(k, n, q))
            reached = max(reached, float(law[bounds > truth + 1e-9].sum()))
    assert alpha / 4 < reached <= alpha  # no more than alpha, and not by being useless


def test_the_sum_above_has_teeth() -> None:
    """The same bounds made for three times alpha fail it."""
    n, alpha = 24, 0.05
    k = np.arange(n + 1)
    loose = np.array([[ratio_bound(i, j, n, delta=0.0, alpha=3 * alpha) for j in k] for i in k])
    misses = []
    for q in (0.02, 0.1, 0.3):
        law = np.outer(stats.binom.pmf(k, n, math.e * q), stats.binom.pmf(k, n, q))
        misses.append(law[loose > 1 + 1e-9].sum())
    assert max(misses) > alpha


@pytest.mark.parametrize(("hits", "other"), [(300, 100), (60, 5), (900, 500), (40, 0)])
def test_a_bound_a_little_higher_would_not_be_valid(hits: int, other: int) -> None:
    """A tenth of a standard error more, and some rate that the counts leave makes such outcomes likelier than alpha."""
    n, alpha = 1000, 0.05
    order = order_at(n, 0.0, alpha)
    rank = order.rank(hits, other)
    higher = ratio_bound(hits, other, n, delta=0.0, alpha=alpha) + 0.1 * math.sqrt(1 / hits + 1 / max(other, 1))
    q = np.linspace(*clopper_pearson(other, n, 1e-3), 300)
    p = np.minimum(math.exp(higher) * q, 1.0)
    assert tail_probability(order, rank, p, q).max() > alpha


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 5), st.floats(0.05, 0.5), st.floats(0.5, 2.0), st.sampled_from([0.05, 1e-6]))
def test_it_is_stronger_than_two_limits(size: int, p: float, eps: float, alpha: float) -> None:
    n = 5 * 10**size
    k, j = round(n * p), round(n * p * math.exp(-eps))
    plain = float(epsilon_lower(k, n, j, n, delta=0.0, alpha=alpha))
    if j >= 20 and plain > 0.1:
        assert ratio_bound(k, j, n, delta=0.0, alpha=alpha) > plain


def test_unlucky_counts_cost_no_more_than_they_must() -> None:
    """An order by the excess over one slope gave 3.16 for five hits where four were expected, and 0 for a surprise."""
    assert ratio_bound(343, 5, 950_000, delta=0.0, alpha=0.05) > 3.5
    assert ratio_bound(100, 13, 10**6, delta=0.0, alpha=1e-6) > 0.75


def test_certain_leaks_and_nothing() -> None:
    assert ratio_bound(10**5, 0, 10**5, delta=0.0, alpha=1e-6) > 8
    assert ratio_bound(0, 50, 100, delta=0.0, alpha=0.05) == 0
    assert ratio_bound(50, 50, 100, delta=0.0, alpha=0.05) == 0
    assert ratio_bound(100, 100, 100, delta=0.0, alpha=0.05) == 0
    assert ratio_bound(100, 0, 100, delta=0.99, alpha=0.05) == 0


@settings(max_examples=60, deadline=None)
@given(
    st.integers(20, 300),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0.3, 5.0),
    DELTAS,
    st.floats(0.0, 6.0),
    st.sampled_from([0.005, 0.1, 1.0]),
    st.sampled_from([0.0, 0.5]),
)
def test_the_p_value_covers_every_rate_that_the_counts_leave(
    n: int, x: float, y: float, z: float, delta: float, eps: float, fine: float, width: float
) -> None:
    """A fine grid of rates finds no tail above the bounded p-value, and the bound is not far above what it finds."""
    order = Ordering(n, delta, z)
    hits, other = round(x * n), round(y * y * n)
    rank = order.rank(hits, other)
    q_low, q_high = (float(v) for v in clopper_pearson(other, n, 1e-3))
    q, j = np.linspace(q_low, q_high, 400)[:, None], np.arange(n + 1.0)
    p = np.minimum(math.exp(eps) * q + delta, 1.0)
    exact = (stats.binom.pmf(j, n, q) * stats.binom.sf(order.boundary(rank, j) - 1, n, p)).sum(axis=1).max()
    bounded = p_value(order, rank, eps, q_low, q_high, fine, width)
    assert bounded >= exact * (1 - 1e-9) - 1e-14
    if width == 0:
        assert bounded <= max((1 + fine) * 1.05 * exact, 1e-9)


def test_a_few_sampled_rates_alone_would_miss_the_worst() -> None:
    """Why the p-value is bounded and not sampled: of 60 runs against none, the worst rate lies between two of 13."""
    missed = []
    for hits in range(20, 400, 20):
        order = order_at(1500, 0.0, 0.05)
        rank, (q_low, q_high) = order.rank(hits, 0), clopper_pearson(0, 1500, 1e-3)
        eps = math.log(rank)
        q = np.linspace(float(q_low), float(q_high), 13)
        sampled = tail_probability(order, rank, np.minimum(math.exp(eps) * q, 1.0), q).max()
        missed.append(sampled / p_value(order, rank, eps, float(q_low), float(q_high), 0.005))
    assert min(missed) < 0.95


@pytest.mark.parametrize("n", [10**3, 10**5, 10**7])
def test_blocks_and_sums_agree(n: int) -> None:
    """Wide blocks only raise the tail, and the incomplete beta function gives what sums give."""
    order = order_at(n, 0.0, 0.05)
    q = np.array([0.1, 0.1002])
    p = 2 * q
    rank = order.rank(round(0.2 * n), round(0.1 * n) - round(n**0.5))
    exact = tail_probability(order, rank, p, q)
    wide = tail_probability(order, rank, p, q, 0.3)
    assert np.all((exact <= wide * (1 + 1e-9)) & (wide <= 1.6 * exact))
    reach = 9 * math.sqrt(0.1 * n)
    j = np.arange(max(0, round(0.1 * n - reach)), 0.1 * n + reach)
    direct = stats.binom.pmf(j, n, q[:, None]) * stats.binom.sf(order.boundary(rank, j) - 1, n, p[:, None])
    assert exact == pytest.approx(direct.sum(axis=1), rel=1e-6)
