"""The accountant of variance-reduced gradients: sound for one step by quadrature, exact for full batches, monotone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import gaussian_delta
from dpcheck.bounds.privacy.reduced_gaussian import reduced_epsilon, reduced_noise
from dpcheck.bounds.privacy.sampled_gaussian import epsilon_bounds, without_replacement

GRID = np.linspace(-60.0, 60.0, 240_001)


def normal(mean: float, sigma: float) -> np.ndarray:
    return np.exp(-(((GRID - mean) / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))


def one_step(
    noise: float, n: int, old: tuple[float, float], new: tuple[float, float], rest: float
) -> tuple[np.ndarray, np.ndarray]:
    """Densities of a step on single records: gradients of the differing one at (x~, x), differences of the others."""
    laws = []
    for at_snap, at_x in (old, new):
        full = at_snap / n
        drawn = normal(at_x - at_snap + full, noise)
        laws.append((1 - 1 / n) * normal(rest + full, noise) + drawn / n)
    return laws[0], laws[1]


def hockey_stick(p: np.ndarray, q: np.ndarray, eps: float) -> float:
    return float(np.maximum(p - math.exp(eps) * q, 0.0).sum() * (GRID[1] - GRID[0]))


gradients = st.tuples(st.floats(-1, 1), st.floats(-1, 1))


@given(
    noise=st.floats(1.0, 4), n=st.integers(2, 12), delta=st.floats(1e-3, 0.1), old=gradients, new=gradients,
    rest=st.floats(-2, 2),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_one_step_never_leaks_more_than_the_bound(
    noise: float, n: int, delta: float, old: tuple[float, float], new: tuple[float, float], rest: float
) -> None:
    """Gradients of size at most G = 1, in all signs: what the bound for two dimensions and more covers."""
    high = reduced_epsilon(noise, n, 1, 1, delta).high
    assert math.isfinite(high)
    p, q = one_step(noise, n, old, new, rest)
    for first, second in ((p, q), (q, p)):
        assert hockey_stick(first, second, high) <= delta * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("dimension", [1, 2])
def test_the_bound_is_near_what_the_worst_gradients_leak(dimension: int) -> None:
    """Within 2.5 in epsilon, over all corners; in one dimension those with f(x) <= f(x~) for the slopes, as x < x~."""
    noise, n, delta = 1.5, 8, 1e-2
    high = reduced_epsilon(noise, n, 1, 1, delta, dimension).high
    corners = [(a, b) for a in (-1.0, 1.0) for b in (-1.0, 1.0) if dimension == 2 or b <= a]
    rests = (-2.0, 0.0) if dimension == 1 else (-2.0, 0.0, 2.0)
    cases = [one_step(noise, n, old, new, rest) for old in corners for new in corners for rest in rests]
    assert (
        max(hockey_stick(p, q, high) for p, q in cases) <= delta < max(hockey_stick(p, q, high / 2.5) for p, q in cases)
    )


@pytest.mark.parametrize(("n", "steps"), [(5, 1), (20, 40)])
def test_full_batches_are_exact(n: int, steps: int) -> None:
    """All records drawn: the step is the full gradient at x, 2G/n apart."""
    noise = reduced_noise(1.0, 1e-3, n, n, steps)
    ratio = 2 * math.sqrt(steps) / (n * noise)
    assert gaussian_delta(1.0, ratio) <= 1e-3 < gaussian_delta(1.0, 1.001 * ratio)


@given(
    eps=st.floats(0.2, 3), delta=st.floats(1e-4, 0.05), n=st.integers(3, 30), steps=st.integers(1, 50),
    dimension=st.integers(1, 3),
)  # fmt: skip
@settings(max_examples=5, deadline=None)
def test_calibrated_noise_is_enough_and_not_idle(eps: float, delta: float, n: int, steps: int, dimension: int) -> None:
    noise = reduced_noise(eps, delta, n, 1, steps, dimension)
    found = reduced_epsilon(noise, n, 1, steps, delta, dimension)
    assert found.low <= found.high <= eps
    assert reduced_epsilon(0.99 * noise, n, 1, steps, delta, dimension).high > eps


def test_one_dimension_needs_less_and_larger_batches_too() -> None:
    plain = reduced_noise(1.0, 1e-3, 20, 1, 30)
    assert reduced_noise(1.0, 1e-3, 20, 1, 30, dimension=1) < plain
    assert reduced_noise(1.0, 1e-3, 20, 5, 30) < plain
    assert reduced_noise(1.0, 1e-3, 20, 1, 60) > plain


def test_the_lower_bound_is_the_attack_on_a_drawn_record() -> None:
    """Opposite gradients at x, equal ones at x~: a sampled Gaussian of shift 2G."""
    alone = epsilon_bounds((without_replacement(2 / 0.5, 4, 1, 20),), 1e-2).low
    assert reduced_epsilon(0.5, 20, 1, 4, 1e-2).low == alone > 1


@pytest.mark.parametrize(
    ("bad", "word"),
    [({"noise": 0.0}, "noise"), ({"batch": 30}, "batch"), ({"steps": 0}, "steps"), ({"delta": 1.0}, "delta")],
)
def test_bad_numbers_are_named(bad: dict[str, float], word: str) -> None:
    good = {"noise": 1.0, "n": 20, "batch": 1, "steps": 5, "delta": 1e-2}
    with pytest.raises(InvalidInput, match=word):
        reduced_epsilon(**good | bad)
