"""Private moments and public rows: the sensitivity over the whole domain, roots, and what is left at w* = 0."""

import numpy as np
import pytest
from scipy.special import expit

import dpcheck as dp
from dpcheck.families.public_rows import PublicRows, reported, smallest_roots
from dpcheck.solvers.local.nldp_glm_public import LocalGLM
from dpcheck.solvers.local.nldp_nlr_public import LocalRegression


def users(n, w, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.choice([-1.0, 1.0], (n, len(w)))
    y = (rng.random(n) < expit(X @ w)).astype(float)
    return PublicRows(X, y, rng.choice([-1.0, 1.0], (5000, len(w))), row_bound=len(w) ** 0.5)


def test_no_two_records_move_the_reports_by_more():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 2, 3))
    X /= np.linalg.norm(X, axis=2, keepdims=True)
    y = rng.choice([-1.0, 1.0], (20_000, 2))
    first, second = (reported(PublicRows(X[:, i], y[:, i], X[:1, 0], row_bound=1 + 1e-9), 1.0) for i in (0, 1))
    moved = np.linalg.norm(first - second, axis=1).max()
    assert 1.9 < moved <= 4.5**0.5
    pair = [reported(data, 1.0) for data in LocalGLM().worst_pair()]
    assert np.linalg.norm(pair[0] - pair[1]) == pytest.approx(4.5**0.5)


def test_without_noise_it_finds_the_parameter():
    w = np.array([0.4, -0.2])
    data = users(400_000, w)
    found = LocalGLM().served(reported(data, data.row_bound)[None], data.public, data.row_bound)
    assert np.abs(found - w).max() < 0.03
    assert np.abs(found / 2 - w).max() > 0.05  # planted: half of the root


def test_noise_does_not_vanish_with_the_parameter():
    """The lower bound by which dwang20.theorem5.2.2 is refuted, at n = 10^6: noise of the sum, drawn at once."""
    data, rng = users(2000, np.zeros(2)), np.random.default_rng(0)
    scale = 4 * np.sqrt(32 * np.log(2.5e6)) / 1e3  # r² = 2 would be less; ‖x‖₁ ≤ r = 2
    reports = np.array([1.0, 0, 1, 0, 0]) * [1, 1, 1, 2, 2] + scale * rng.standard_normal((400, 1, 5))
    found = LocalGLM().served(reports, data.public, 2.0)
    assert (np.abs(found).max(axis=1) > 1e-3).mean() > 0.9


def test_the_smaller_of_two_roots():
    margins = 0.2 * np.random.default_rng(0).standard_normal(200)
    root = smallest_roots(LocalGLM().change, margins[None])[0]
    assert 4 < root < 6
    assert np.isnan(smallest_roots(LocalGLM().change, 10 * margins[None])[0])


def test_the_cubic_root_is_closed_form():
    margins = np.random.default_rng(0).standard_normal(500)
    assert smallest_roots(LocalRegression().change, margins[None])[0] == pytest.approx(np.mean(margins**2) ** (-1 / 3))


def test_labels_beyond_their_bound_are_refused():
    with pytest.raises(dp.InvalidInput, match="Clip"):
        PublicRows(np.ones((2, 1)), np.array([0.0, 3.0]), np.ones((1, 1)))
