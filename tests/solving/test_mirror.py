"""Mirror steps, on whatever solver takes them: optimality conditions, the modulus of the generators, dual norms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.evidence.nonconvex.dp_pmd import geometry
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.mirror import mirror_of

sets = {"kind": st.integers(0, 3), "radius": st.floats(0.3, 4), "q": st.floats(1.1, 2.0), "d": st.integers(1, 6)}


@given(**sets, seed=st.integers(0, 10**6), l1=st.floats(0, 1), size=st.floats(0.1, 20))
@settings(max_examples=60, deadline=None)
def test_steps_satisfy_their_optimality_conditions(
    kind: int, radius: float, q: float, d: int, seed: int, l1: float, size: float
) -> None:
    """<grad w(u) - z, v - u> + l1 (|v| - |u|) >= 0 for every v of the set characterises the step u."""
    where, rng = geometry(kind, radius, q), np.random.default_rng(seed)
    mirror = mirror_of(where, d)
    z = size / radius * rng.standard_normal((5, d))
    u = mirror.step(z, l1)
    assert np.all(where.contains(u, tol=1e-9 * max(1.0, radius)))
    v = where.project(2 * radius * rng.standard_normal((200, d)))
    v = np.concatenate([v, np.where(np.eye(d) > 0, where.reach(d), 0.0), 0.5 * u + 0.5 * v[:5]])
    slope = mirror.gradient(u) - z
    ahead = np.einsum("kd,vkd->vk", slope, v[:, None] - u)
    ahead += l1 * (np.abs(v).sum(axis=1)[:, None] - np.abs(u).sum(axis=1))
    assert ahead.min() >= -1e-6 * (1 + np.abs(slope).max() * radius)


@given(**sets, seed=st.integers(0, 10**6), size=st.floats(0.1, 5))
@settings(max_examples=60, deadline=None)
def test_generators_have_modulus_one(kind: int, radius: float, q: float, d: int, seed: int, size: float) -> None:
    """<grad w(x) - grad w(y), x - y> >= ||x - y||^2 in the set's norm; half as strong a generator would fail."""
    where, rng = geometry(kind, radius, q), np.random.default_rng(seed)
    mirror = mirror_of(where, d)
    x, y = mirror.step(size * rng.standard_normal((2, 20, d)).reshape(40, d) / radius, 0.0).reshape(2, 20, d)
    inner = np.einsum("kd,kd->k", mirror.gradient(x) - mirror.gradient(y), x - y)
    assert np.all(inner >= mirror.norm(x - y) ** 2 * (1 - 1e-7) - 1e-12)


def test_the_modulus_is_attained() -> None:
    """On an l2 ball everywhere; so w/2 would break the test above."""
    mirror = mirror_of(L2Ball(3.0), 2)
    x = np.array([[0.5, 1.0]])
    assert (mirror.gradient(x) * x).sum() == pytest.approx(float(mirror.norm(x)[0]) ** 2)


@given(**sets, seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_dual_norms_and_their_mean_squares(kind: int, radius: float, q: float, d: int, seed: int) -> None:
    """<v, x> <= ||v||* ||x||; E||b||*^2 is at most what dual_square says, by five standard errors."""
    where, rng = geometry(kind, radius, q), np.random.default_rng(seed)
    mirror = mirror_of(where, d)
    v, x = rng.standard_normal((2, 2000, d))
    assert np.all(np.abs(np.einsum("kd,kd->k", v, x)) <= mirror.dual_norm(v) * mirror.norm(x) * (1 + 1e-9))
    squares = mirror.dual_norm(v) ** 2
    slack = 5 * squares.std() / math.sqrt(len(squares))
    assert squares.mean() - slack <= mirror.dual_square() <= 1.5 * squares.mean() + slack
