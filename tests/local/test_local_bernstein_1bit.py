"""The published bit: what it estimates, and what it leaks, exactly."""

import math

import numpy as np
import pytest

from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.library.local import local_bernstein_1bit as theory
from dpcheck.evidence.local.local_bernstein_1bit import kept_bits
from dpcheck.evidence.local.local_bernstein_genprot import loss, place_law
from dpcheck.families.bernstein import GridLosses, level
from dpcheck.solvers.local.local_bernstein_genprot import LocalBernsteinGenProt


@pytest.mark.parametrize("v", [0.0, 0.3, 1.0])
def test_half_of_the_bits_are_kept_and_twice_their_mean_is_the_loss(v):
    y, kept = kept_bits(2.0)(np.array([v]), np.random.default_rng(0), 400_000).T
    assert abs(kept.mean() - 0.5) < 5 * 0.5 / 400_000**0.5
    twice = 2 * y * kept
    assert abs(twice.mean() - v) < 5 * twice.std() / 400_000**0.5


@pytest.mark.parametrize("eps", [0.1, 0.5])
def test_the_exact_loss_is_what_the_check_says(eps):
    y, v = np.linspace(-3, 3, 601)[:, None], np.linspace(0, 1, 101)
    kept = 0.5 * np.exp(eps * (np.abs(y) - np.abs(y - v)))
    largest = max(np.ptp(np.log(chance), axis=1).max() for chance in (kept, 1 - kept))
    assert math.isclose(largest, float(theory.not_kept.subs(theory.sigma, 1 / eps)), rel_tol=1e-9)
    assert largest > eps


def test_the_law_of_the_place_is_exact():
    kept, rng, trials = np.array([0.6, 0.4, 0.5]), np.random.default_rng(0), 400_000
    bits = rng.random((trials, 3)) < kept
    bits[~bits.any(axis=1)] = True
    sent = np.argmax(rng.random((trials, 3)) * bits, axis=1)
    share = np.bincount(sent) / trials
    assert np.allclose(place_law(kept).sum(), 1)
    assert np.all(np.abs(share - place_law(kept)) < 5 * 0.5 / trials**0.5)


def test_many_messages_leak_twice_epsilon():
    y = np.array([2.0] + [-1.0] * 30)
    assert 1.99 < loss(y, 0.0, 1.0, 0.1) / 0.1 < 2.01


def test_places_are_those_of_the_loss_with_noise():
    """Means of kept numbers are the losses; planted: a server that averages the places themselves."""
    users = GridLosses(np.full((60, 1), 0.7), level)
    solver, promised = LocalBernsteinGenProt(cells=1), PureDP(2.0, relation=LOCAL)
    seen = solver.mechanism(promised, transcript=True)(users, np.random.default_rng(0), 2000)
    numbers, places = seen[:, 60:-60].reshape(2000, 60, 32), seen[:, -60:].astype(int)
    kept = np.take_along_axis(numbers, places[..., None], axis=2)
    error = kept.std() / kept.size**0.5
    assert abs(kept.mean() - 0.7) < 5 * error
    assert kept.std() == pytest.approx(2**0.5, rel=0.05)  # Laplace noise of scale 2/ε
    assert abs(places.mean() - 0.7) > 5 * error
