"""Constraint sets: projections, linear minimisers and sizes, against their definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.problems.constraints import Box, Constraint, L1Ball, L2Ball, LqBall, Simplex, WholeSpace

BALLS = [L2Ball(0.7), L2Ball(3.0), L1Ball(0.7), L1Ball(3.0), LqBall(0.7, 1.3), LqBall(3.0, 1.7)]
BOUNDED = [*BALLS, Simplex(), Box(-0.5, 2.0), Box(0.25, 0.5)]
bounded = st.sampled_from(BOUNDED)
cases = given(bounded, st.integers(1, 7), st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1.0, 30.0]))
quick = settings(derandomize=True, deadline=None)


def vertices(of: Constraint, d: int) -> np.ndarray:
    """Extreme points; for the Euclidean ball, its poles."""
    if isinstance(of, Box):
        return np.array(list(itertools.product((of.low, of.high), repeat=d)), float)
    if isinstance(of, Simplex):
        return np.eye(d)
    return of.reach(d) * np.concatenate([np.eye(d), -np.eye(d)])


def members(of: Constraint, d: int, rng: np.random.Generator) -> np.ndarray:
    corners = vertices(of, d)
    inside = rng.dirichlet(np.full(len(corners), 0.3), 50) @ corners
    return np.concatenate([corners, inside])


@quick
@cases
def test_projection_is_feasible_idempotent_and_nearest(of: Constraint, d: int, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    W = scale * rng.standard_normal((20, d))
    P = of.project(W)
    assert np.all(of.contains(P))
    np.testing.assert_allclose(of.project(P), P, atol=1e-12)
    # Variational inequality: <w - Pw, v - Pw> <= 0 for all v of the set characterises the projection.
    products = np.einsum("ki,vki->vk", W - P, members(of, d, rng)[:, None] - P)
    assert products.max() <= 1e-9 * max(1.0, scale) * max(1.0, of.reach(d))


@quick
@cases
def test_projection_is_non_expansive(of: Constraint, d: int, seed: int, scale: float) -> None:
    V, W = scale * np.random.default_rng(seed).standard_normal((2, 40, d))
    moved = np.linalg.norm(of.project(V) - of.project(W), axis=1)
    assert np.all(moved <= np.linalg.norm(V - W, axis=1) + 1e-12)


@quick
@cases
def test_projection_in_place_and_any_leading_shape(of: Constraint, d: int, seed: int, scale: float) -> None:
    W = scale * np.random.default_rng(seed).standard_normal((6, d))
    expected = of.project(W)
    np.testing.assert_array_equal(of.project(W.reshape(2, 3, d)).reshape(6, d), expected)
    # Powers only: a vector unit may round their last bit otherwise than the scalar code that serves a short row.
    rounding = {"rtol": 1e-13, "atol": 1e-15} if isinstance(of, LqBall) else {"rtol": 0.0, "atol": 0.0}
    np.testing.assert_allclose(np.array([of.project(w) for w in W]), expected, **rounding)
    assert of.project(W, out=W) is W
    np.testing.assert_array_equal(W, expected)


@quick
@cases
def test_linear_minimiser_beats_every_member(of: Constraint, d: int, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    G = scale * rng.standard_normal((20, d))
    best = of.linear_minimiser(G)
    assert np.all(of.contains(best))
    least = np.einsum("ki,ki->k", G, best)
    others = members(of, d, rng) @ G.T
    tolerance = 1e-12 * scale * max(1.0, of.reach(d)) * d
    assert np.all(least <= others.min(axis=0) + tolerance)
    if isinstance(of, L2Ball):
        np.testing.assert_allclose(least, -of.radius * np.linalg.norm(G, axis=1))


@quick
@given(bounded, st.integers(1, 7))
def test_sizes_are_attained_by_vertices(of: Constraint, d: int) -> None:
    corners = vertices(of, d)
    assert np.linalg.norm(corners, axis=1).max() == pytest.approx(of.reach(d))
    gaps = np.linalg.norm(corners[:, None] - corners, axis=-1)
    assert gaps.max() == pytest.approx(of.diameter(d))


@quick
@given(bounded, st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_sizes_are_never_exceeded(of: Constraint, d: int, seed: int) -> None:
    P = of.project(10 * np.random.default_rng(seed).standard_normal((60, d)))
    assert np.linalg.norm(P, axis=1).max() <= of.reach(d) * (1 + 1e-12)
    assert np.linalg.norm(P[:, None] - P, axis=-1).max() <= of.diameter(d) * (1 + 1e-12)


@pytest.mark.parametrize("of", BOUNDED, ids=repr)
def test_zero_gradient_and_extreme_points(of: Constraint) -> None:
    assert of.contains(of.linear_minimiser(np.zeros(4)))
    for size in (1e-300, 1e300):
        P = of.project(np.array([[size, -size, 0.0], [size, size, size]]))
        assert np.all(of.contains(P)), size


def test_contains_refuses_what_lies_outside() -> None:
    for of in BOUNDED:
        assert not of.contains(np.array([9.0, 9.0, 9.0]))
    assert not Simplex().contains(np.array([0.2, 0.2]))


def test_radius_is_known_without_a_dimension() -> None:
    assert (L2Ball(2.0).radius, L1Ball(2.0).radius, Simplex().radius) == (2.0, 2.0, 1.0)
    assert WholeSpace().radius == WholeSpace().diameter(3) == math.inf
    assert Box((-1.0, 0.0), (1.0, 2.0)).radius == pytest.approx(math.sqrt(5))


def test_whole_space_leaves_points_alone() -> None:
    W = np.array([[1.0, 1e9]])
    np.testing.assert_array_equal(WholeSpace().project(W), W)
    assert WholeSpace().project(W) is not W


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_radius_is_refused(bad: float) -> None:
    for ball in (L2Ball, L1Ball, LqBall):
        with pytest.raises(InvalidInput, match="radius"):
            ball(bad)


@pytest.mark.parametrize("q", [1.0, 0.5, 2.1, math.nan])
def test_bad_exponent_is_refused(q: float) -> None:
    with pytest.raises(InvalidInput, match="q is"):
        LqBall(1.0, q)


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (math.nan, 1.0), (0.0, math.inf)])
def test_bad_box_is_refused(low: float, high: float) -> None:
    with pytest.raises(InvalidInput, match="box"):
        Box(low, high)


def test_whole_space_has_no_linear_minimiser() -> None:
    with pytest.raises(InvalidInput, match="bounded set"):
        WholeSpace().linear_minimiser(np.ones(2))


def test_box_needs_a_dimension_and_keeps_to_it() -> None:
    with pytest.raises(InvalidInput, match="reach"):
        _ = Box(0.0, 1.0).radius
    with pytest.raises(InvalidInput, match="coordinates"):
        Box((0.0, 0.0), (1.0, 1.0)).diameter(3)
