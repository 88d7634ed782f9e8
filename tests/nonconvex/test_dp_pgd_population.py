"""Uniform convergence of gradients and the population's gradient: exact populations, bounds with teeth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.claim import Effort
from dpcheck.bounds.library.nonconvex import dp_pgd_population as theory
from dpcheck.bounds.registry import library
from dpcheck.evidence.checks import Trend, exceeds
from dpcheck.evidence.nonconvex import dp_pgd_population as population


def test_the_whole_population_as_a_sample_has_no_error() -> None:
    whole = population.population(2)
    same = whole.with_data(whole.X, whole.y)
    np.testing.assert_array_equal(same.gradient(np.ones((3, 2))), whole.gradient(np.ones((3, 2))))
    rng = np.random.default_rng(0)
    errors = [population.largest_error(2, n, rng) for n in (20, 500, 20_000)]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


@given(
    n=st.integers(10, 100), d=st.integers(1, 4), T=st.integers(1, 30), noise=st.floats(0, 0.5),
    seed=st.integers(0, 10**6),
)  # fmt: skip
@settings(max_examples=8, deadline=None)
def test_runs_on_a_sample_keep_the_corrected_bound(**case: Any) -> None:
    assert not exceeds(*population.triangle(case))


def test_the_trend_check_tells_a_rate_of_1_over_n_apart() -> None:
    """Planted: errors that do not fall, which contradict the claimed rate."""
    claim = library["dwang20.lemma4.1.3"]
    flat = Trend("n", (50, 200, 800), lambda n, trials, seed: np.ones(trials), "")
    assert flat.run(claim, Effort()).verdict == "UNCHECKED"


def test_the_two_coins_of_the_counterexample() -> None:
    """Total variation of 100 tosses with means ±1/20 is below 0.8, by exact binomials; so is the quoted 0.503."""
    from scipy import stats

    n, h = 100, 1 / (2 * math.sqrt(100))
    heads = np.arange(n + 1)
    tv = 0.5 * np.abs(stats.binom.pmf(heads, n, (1 + h) / 2) - stats.binom.pmf(heads, n, (1 - h) / 2)).sum()
    assert tv <= h * math.sqrt(n) / math.sqrt(1 - h**2) < 0.503 < 0.8
    value = float(theory.two_means.subs(dict.fromkeys(theory.two_means.free_symbols, n)))
    assert value == 1e-3 * h
    # The losses k(log cosh x - zx): slopes within k of their mean, curvature k, its slope 0.77k, at k = 1/1000.
    x = np.linspace(-3, 3, 2001)
    assert np.max(np.abs(-2 * np.tanh(x) / np.cosh(x) ** 2)) * 1e-3 <= 0.77e-3 + 1e-6 <= 0.1**3
    assert 1e-3 <= 0.1**2
