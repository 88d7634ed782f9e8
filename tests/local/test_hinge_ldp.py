"""Noisy copies: unbiased slopes, what they are slopes of, and minimisers where noise is small; five standard errors."""

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.families.bernstein import bernstein_basis
from dpcheck.solvers.local.glinear_ldp import SLOPES, GLinearLdp
from dpcheck.solvers.local.hinge_ldp import HingeLdp

LOCALLY = dp.ApproxDP(1.0, 1e-3, relation=dp.LOCAL)


@pytest.mark.parametrize("solver", [HingeLdp(degree=1), HingeLdp(degree=3), GLinearLdp(degree=2, loss="absolute")])
def test_gradients_are_unbiased_for_the_polynomial(solver):
    rng, trials, d = np.random.default_rng(0), 100_000, solver.degree
    row, w = np.array([[0.6, -0.3, 0.8]]), np.array([[-0.8, 0.5]])
    noise = 0.3 / solver.weaker * rng.standard_normal((trials, 3 * (1 + d * (d + 1))))
    copies = np.tile(solver.asked(row), (trials, 1)) + noise
    found = solver.gradient(copies.reshape(trials, -1, 3), np.repeat(w, trials, axis=0))
    margin = row[0, -1] * row[0, :2] @ w[0]
    exact = bernstein_basis(np.array([(1 + margin) / 2]), d) @ solver.slope(2 * np.arange(d + 1) / d - 1)
    error = found.std(axis=0) / trials**0.5
    assert np.all(np.abs(found.mean(axis=0) - exact * row[0, -1] * row[0, :2]) < 5 * error)
    printed = bernstein_basis(np.array([margin]), d) @ solver.slope(np.arange(d + 1) / d)  # planted: made for [0, 1]
    assert np.any(np.abs(found.mean(axis=0) - printed * row[0, -1] * row[0, :2]) > 5 * error)


@pytest.mark.parametrize("loss", SLOPES)
def test_smoothed_kinks_come_to_the_slope_itself(loss):
    margins = np.array([-0.8, 0.1, 0.9])
    assert np.allclose(GLinearLdp(smoothing=1e-3, loss=loss).slope(margins), SLOPES[loss](margins), atol=0.01)
    assert np.abs(GLinearLdp(smoothing=1.0, loss=loss).slope(np.linspace(-1, 1, 50))).max() <= 1


def test_hinge_is_one_of_the_convex_losses():
    margins = np.linspace(-1, 1, 9)
    other = GLinearLdp(smoothing=0.2, loss="hinge")  # it halves the distance from a kink
    assert np.allclose(HingeLdp(smoothing=0.4).slope(margins), other.slope(margins), atol=2e-3)


def test_with_little_noise_the_direction_is_found():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((3000, 2))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    data = np.column_stack([x, np.sign(x[:, 0])])
    solver = HingeLdp(degree=2)
    method = solver.method(data, None, solver.release(data, None).with_noise(0.02))
    reports = method.ask(data) + 0.02 * rng.standard_normal((4, 3000, method.each))
    assert np.all(method.server(reports)[:, 0] > 0.8)
    assert np.all(method.server(-reports)[:, 0] > 0.8)  # (x, y) and (-x, -y) are alike
    reports[..., 2::3] *= -1  # planted: labels of the other sign
    assert np.all(method.server(reports)[:, 0] < -0.8)


def test_bad_records_and_notions_are_refused():
    with pytest.raises(dp.InvalidInput, match="‖x‖₂ ≤ 1"):
        HingeLdp().solve(np.array([[1.0, 1.0, 1.0]]), LOCALLY)
    with pytest.raises(dp.InvalidInput, match="delta > 0"):
        HingeLdp().solve(np.array([[1.0, 1.0]]), dp.PureDP(1.0, relation=dp.LOCAL))
    with pytest.raises(dp.InvalidInput, match="at most 16"):
        HingeLdp(degree=17).solve(np.array([[1.0, 1.0]]), LOCALLY)
