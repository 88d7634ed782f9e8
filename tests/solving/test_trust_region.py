"""Trust-region steps: no point of the ball is lower, and the conditions of Lemma 4.3.1 hold, the hard case included."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.kernels.trust_region import trust_region_steps

cases = given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 5),
    radius=st.floats(1e-3, 10),
    size=st.sampled_from([0.0, 1e-12, 1e-3, 1.0, 100.0]),
    hard=st.booleans(),
    definite=st.booleans(),
)


def problems(seed: int, d: int, size: float, hard: bool, definite: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    H = rng.standard_normal((20, d, d))
    H = H @ H.transpose(0, 2, 1) if definite else H + H.transpose(0, 2, 1)
    vectors = np.linalg.eigh(H)[1]
    g = size * rng.standard_normal((20, d))
    if hard:
        g[:, 0] = 0.0
    return np.einsum("kij,kj->ki", vectors, g), H


def value(g: np.ndarray, H: np.ndarray, h: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("ki,k...i->k...", g, h) + np.einsum("k...i,kij,k...j->k...", h, H, h) / 2)


@cases
@settings(max_examples=60, deadline=None)
def test_steps_meet_the_conditions_of_a_global_minimum(
    seed: int, d: int, radius: float, size: float, hard: bool, definite: bool
) -> None:
    g, H = problems(seed, d, size, hard, definite)
    h, lam = trust_region_steps(g, H, radius)
    scale = np.abs(H).max() * radius + np.abs(g).max()
    residual = np.einsum("kij,kj->ki", H, h) + lam[:, None] * h + g
    assert np.abs(residual).max() <= 1e-10 * scale
    assert np.linalg.norm(h, axis=1).max() <= radius * (1 + 1e-12)
    assert np.all(lam >= 0)
    assert np.all(np.linalg.eigvalsh(H)[:, 0] + lam >= -1e-10 * np.abs(H).max())
    assert np.abs(lam * (np.linalg.norm(h, axis=1) - radius)).max() <= 1e-9 * scale


@cases
@settings(max_examples=30, deadline=None)
def test_no_point_of_the_ball_is_lower(
    seed: int, d: int, radius: float, size: float, hard: bool, definite: bool
) -> None:
    """Planted: a step that stays inside in the hard case, as the formula alone would have it, is above some point."""
    g, H = problems(seed, d, size, hard, definite)
    points = np.random.default_rng(seed + 1).standard_normal((20, 2000, d))
    points *= radius / np.maximum(np.linalg.norm(points, axis=2, keepdims=True), 1.0)
    least = value(g, H, points).min(axis=1)
    found = value(g, H, trust_region_steps(g, H, radius)[0])
    assert np.all(found <= least + 1e-9 * (np.abs(H).max() * radius**2 + size * radius))


def test_the_hard_case_goes_to_the_rim() -> None:
    H, g = np.diag([-2.0, 1.0])[None], np.array([[0.0, 0.3]])
    h, lam = trust_region_steps(g, H, 1.0)
    np.testing.assert_allclose(h, [[np.sqrt(1 - 0.01), -0.1]], atol=1e-12)
    np.testing.assert_allclose(lam, [2.0])
    inside = np.array([[0.0, -0.1]])  # what -(H + lam)^+ g alone gives
    assert value(g, H, h)[0] < value(g, H, inside)[0] - 0.9


def test_each_trial_may_have_a_radius_of_its_own() -> None:
    g, H = problems(3, 3, 1.0, False, False)
    radii = np.linspace(0.1, 2, 20)
    apart = [trust_region_steps(g[i : i + 1], H[i : i + 1], float(radii[i]))[0][0] for i in range(20)]
    np.testing.assert_allclose(trust_region_steps(g, H, radii)[0], apart, atol=1e-10)
