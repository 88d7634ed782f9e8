"""IGHT without noise: it finds a sparse truth, and stays ε/λ away from it where Lemma 3.6.2 has ε/β̄."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.library.sparse import ight as theory
from dpcheck.families.thresholded_descent import ight, keep_largest

Array = np.ndarray


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 1 << 30))
@settings(max_examples=50, deadline=None)
def test_the_largest_are_kept_and_nothing_else_changes(d: int, kept: int, seed: int) -> None:
    w = np.random.default_rng(seed).standard_normal((3, d))
    found = keep_largest(w.copy(), kept)
    assert np.all((found == w) | (found == 0))
    for row, after in zip(w, found, strict=True):
        assert set(np.flatnonzero(after)) == set(np.argsort(-np.abs(row))[:kept])


def test_it_finds_a_sparse_truth_and_climbing_does_not() -> None:
    rng = np.random.default_rng(0)
    X, truth = rng.standard_normal((200, 400)), np.r_[2.0, -1.0, 1.0, np.zeros(397)]

    def gradient(w: Array) -> Array:
        return np.asarray((w - truth) @ X.T @ X / len(X))

    start = np.zeros((1, 400))
    assert np.linalg.norm(ight(gradient, start, 6, 0.5, 200)[0] - truth) < 1e-6
    assert not np.any(start)  # the caller's point stays as it was
    assert np.linalg.norm(ight(gradient, start, 6, -0.5, 20)[0] - truth) > 1  # planted: the other sign


@pytest.mark.parametrize("smooth", [10.0, 100.0])
def test_the_printed_limit_is_passed_and_the_corrected_one_is_not(smooth: float) -> None:
    """L̄ = ε·θ₁ + (β̄-λ)/2·θ₂² + λ/2·‖θ‖² from θ₀ = θ* = 0, the step size as printed: Lemma 3.6.2's counterexample."""
    slope, ridge = 0.3, 1.0

    def gradient(w: Array) -> Array:
        return np.asarray(w * [ridge, smooth] + [slope, 0.0])

    steps = int(20 * (smooth / ridge) ** 2)
    off2 = float(np.sum(ight(gradient, np.zeros((1, 2)), 2, ridge / smooth**2, steps) ** 2))
    at = {"s_star": 1, "beta_bar": smooth, "ridge": ridge, "statistical": slope, "largest_truth": 0.0}
    assert off2 == pytest.approx((slope / ridge) ** 2, rel=1e-6)
    assert off2 > 0.9 * smooth**2 * float(theory.lemma2.evaluate(**at))  # by κ², which no constant makes up for
    assert off2 < float(theory.lemma2_corrected.evaluate(**at, T=steps, start2=0.0))
