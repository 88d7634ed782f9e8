"""Sensing: derivatives match differences, constants are never exceeded and nearly reached; saddles are saddles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.problems.saddles import NAMES, saddle
from dpcheck.problems.sensing import Sensing, sensing_constants

STEP = 1e-5


def random_problem(seed: int, rank: int, n: int = 5) -> tuple[Sensing, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    X /= np.linalg.norm(X, axis=1)[:, None]
    return Sensing(X, rng.random(n), rank), rng.standard_normal((4, 3 * rank))


@given(seed=st.integers(0, 10**6), rank=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_derivatives_match_differences_and_batches_average(seed: int, rank: int) -> None:
    problem, W = random_problem(seed, rank)
    axes = STEP * np.eye(problem.d)
    slopes = np.stack([(problem.value(W + e) - problem.value(W - e)) / (2 * STEP) for e in axes], axis=1)
    np.testing.assert_allclose(problem.gradient(W), slopes, atol=1e-8)
    bends = np.stack([(problem.gradient(W + e) - problem.gradient(W - e)) / (2 * STEP) for e in axes], axis=2)
    np.testing.assert_allclose(problem.hessians(W), bends, atol=1e-7)
    each = [problem.hessians(W, np.full(4, i)) for i in range(problem.n)]
    np.testing.assert_allclose(np.mean(each, axis=0), problem.hessians(W), atol=1e-12)


def test_constants_are_never_exceeded_and_nearly_reached() -> None:
    """One record, along it: the worst of the loss as a function of a number, by differences on a fine grid."""
    m, best = np.linspace(-3, 3, 20_001)[:, None], np.zeros(3)
    for y in np.linspace(0, 1, 21):
        one = Sensing(np.ones((1, 1)), np.array([y]))
        slopes = one.gradient(m)[:, 0]
        bends = one.hessians(m)[:, 0, 0]
        turns = np.diff(bends) / np.diff(m[:, 0])
        best = np.maximum(best, [np.abs(part).max() for part in (slopes, bends, turns)])
    constants = np.array(sensing_constants())
    assert np.all(best <= constants)
    assert np.all(best >= 0.98 * constants)


@given(seed=st.integers(0, 10**6), rank=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_constants_hold_for_columns_of_any_number(seed: int, rank: int) -> None:
    problem, W = random_problem(seed, rank, n=1)
    G, M, rho = sensing_constants()
    other = W + 0.01 * np.random.default_rng(seed).standard_normal(W.shape)
    apart = np.linalg.norm(other - W, axis=1)
    assert np.all(np.linalg.norm(problem.gradient(W), axis=1) <= G)
    assert np.all(np.linalg.norm(problem.hessians(W), 2, axis=(1, 2)) <= M)
    assert np.all(np.linalg.norm(problem.hessians(W) - problem.hessians(other), 2, axis=(1, 2)) <= rho * apart)
    assert np.linalg.matrix_rank(problem.hessians(W)[0], tol=1e-9) <= rank


@pytest.mark.parametrize("name", NAMES)
def test_saddles_are_saddles(name: Any) -> None:
    found = saddle(name)
    assert np.abs(found.problem.gradient(found.at[None])).max() < 1e-12
    assert found.least < -0.02


def test_labels_and_rows_outside_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"label 1.*\[0, 1\]"):
        Sensing([[1.0], [1.0]], [0.5, 1.5])
    with pytest.raises(InvalidInput, match="norm of row 0"):
        Sensing([[2.0]], [0.5])
