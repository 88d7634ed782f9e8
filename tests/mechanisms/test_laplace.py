"""The Laplace mechanism (zhang17, Lemma 1; dwang20, Definition 2.1.2): its density ratio and sensitivity, exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.library.mechanisms.laplace import lemma1
from dpcheck.problems.extreme_pairs import turned_row
from dpcheck.solvers.mechanisms.laplace import LaplaceMechanism, l1_sensitivity

vectors = st.lists(st.floats(-5, 5), min_size=3, max_size=3).map(np.array)


@given(z=vectors, first=vectors, second=vectors, eps=st.floats(0.05, 5))
@settings(max_examples=100, deadline=None)
def test_density_ratios_stay_within_eps(z: np.ndarray, first: np.ndarray, second: np.ndarray, eps: float) -> None:
    """And reach it at the answer itself. Planted: the l2 distance for the l1 distance."""
    apart = np.abs(first - second)
    if apart.min() < 0.1:
        second, apart = first + 1.0, np.ones(3)
    scale = lemma1.evaluate(Delta1=apart.sum(), eps=eps)
    assert (np.abs(z - second) - np.abs(z - first)).sum() / scale <= eps * (1 + 1e-9)
    assert apart.sum() / scale == pytest.approx(eps)
    assert apart.sum() / lemma1.evaluate(Delta1=float(np.linalg.norm(apart)), eps=eps) > eps * 1.01


@given(d=st.integers(1, 6), n=st.integers(1, 9), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_the_sensitivity_covers_all_neighbours_and_is_attained(d: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = turned_row(d, n)
    assert np.abs(first.X.mean(0) - second.X.mean(0)).sum() == pytest.approx(l1_sensitivity(first), rel=1e-9)
    rows = rng.normal(size=(2, d))
    rows /= np.maximum(1, np.linalg.norm(rows, axis=1))[:, None]
    pair = [first.replace(0, row, 0.0) for row in rows]
    assert np.abs(pair[0].X.mean(0) - pair[1].X.mean(0)).sum() <= l1_sensitivity(first) * (1 + 1e-9)


def test_other_guarantees_are_refused_and_noise_std_is_the_deviation() -> None:
    """Five standard errors of the variance, which is 2 scale^2 with fourth moment 24 scale^4."""
    problem, _ = turned_row(2)
    with pytest.raises(InvalidInput, match="PureDP"):
        LaplaceMechanism().solve(problem, ApproxDP(1.0, 1e-5), 0)
    found = LaplaceMechanism().solve(problem, PureDP(1.0), 3, trials=50_000)
    assert found.w.var() == pytest.approx(found.noise_std**2, rel=5 * math.sqrt(5 / found.w.size))
