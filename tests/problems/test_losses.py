"""Losses: derivatives against finite differences, and every bound both respected and attained."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.problems.losses import Huber, Linear, Logistic, Loss, Sigmoid, SignLoss, SmoothedHinge, Squared

LOSSES = [
    *(Logistic(), Sigmoid(), Squared(), Linear(), Huber(0.3), Huber(2.0), Huber(9.0)),
    *(SmoothedHinge(0.2), SmoothedHinge(1.5), SmoothedHinge(4.0)),
]
losses = st.sampled_from(LOSSES)
margin_bounds = st.floats(0.05, 12.0)
label_bounds = st.floats(0.1, 3.0)


def labels_of(loss: Loss, label_bound: float) -> np.ndarray:
    return np.array([-1.0, 1.0]) if loss.labels == "sign" else np.linspace(-label_bound, label_bound, 41)


def grid(loss: Loss, margin_bound: float, label_bound: float) -> tuple[np.ndarray, np.ndarray]:
    return np.linspace(-margin_bound, margin_bound, 4001)[:, None], labels_of(loss, label_bound)


@settings(derandomize=True, deadline=None)
@given(losses, margin_bounds, label_bounds)
def test_derivative_bound_holds_and_is_attained(loss: Loss, margin_bound: float, label_bound: float) -> None:
    measured = np.abs(loss.derivative(*grid(loss, margin_bound, label_bound))).max()
    bound = loss.derivative_bound(margin_bound, label_bound)
    assert 0.9 * bound <= measured <= bound * (1 + 1e-12)


@settings(derandomize=True, deadline=None)
@given(losses, margin_bounds, label_bounds)
def test_curvature_range_holds_and_is_attained(loss: Loss, margin_bound: float, label_bound: float) -> None:
    margins, labels = grid(loss, margin_bound, label_bound)
    slopes = np.broadcast_to(loss.derivative(margins, labels), (len(margins), len(labels)))
    bends = np.diff(slopes, axis=0) / np.diff(margins, axis=0)
    low, high = loss.curvature_range(margin_bound, label_bound)
    slack = 1e-9 * max(1.0, high)
    assert low - slack <= bends.min() <= low + 0.1 * abs(low) + 1e-4
    # A kink within one cell of the end of the range is the only way to miss the top.
    at_a_kink = isinstance(loss, SmoothedHinge) and 0 < margin_bound - abs(1 - loss.smoothing) < 0.02
    assert bends.max() <= high + slack
    assert at_a_kink or bends.max() >= 0.9 * high


@settings(derandomize=True, deadline=None)
@given(losses, margin_bounds, label_bounds)
def test_third_derivative_bound_holds_and_is_attained(loss: Loss, margin_bound: float, label_bound: float) -> None:
    """Planted: a bound a tenth lower is exceeded."""
    bound = loss.third_derivative_bound(margin_bound, label_bound)
    margins, labels = grid(loss, margin_bound, label_bound)
    bends = np.broadcast_to(loss.second_derivative(margins, labels), (len(margins), len(labels)))
    turns = np.abs(np.diff(bends, axis=0) / np.diff(margins, axis=0)).max()
    assert math.isinf(bound) or 0.9 * bound <= turns <= bound * (1 + 1e-6) + 1e-9


@settings(derandomize=True, deadline=None)
@given(losses, st.floats(-8, 8), st.floats(-1, 1))
def test_derivatives_match_finite_differences(loss: Loss, margin: float, label: float) -> None:
    y = math.copysign(1.0, label) if loss.labels == "sign" else label
    h = 1e-6
    central = (loss.value(margin + h, y) - loss.value(margin - h, y)) / (2 * h)
    assert loss.derivative(margin, y) == pytest.approx(central, abs=2e-6)
    one_sided = [(loss.derivative(margin + s, y) - loss.derivative(margin - t, y)) / h for s, t in ((h, 0), (0, h))]
    near = min(abs(loss.second_derivative(margin, y) - bend) for bend in one_sided)
    assert near <= 1e-4 + (1 / loss.smoothing if isinstance(loss, SmoothedHinge) and near_kink(loss, margin * y) else 0)


def near_kink(loss: SmoothedHinge, u: float) -> bool:
    return min(abs(u - 1), abs(u - 1 + loss.smoothing)) <= 2e-6


@settings(derandomize=True, deadline=None)
@given(losses, st.floats(0.2, 3.0), st.floats(0.2, 3.0), label_bounds, st.sampled_from([0.0, 0.01, 0.1, 1.0]))
def test_gradient_bound_holds_and_is_attained(
    loss: Loss, row_bound: float, radius: float, label_bound: float, l2: float
) -> None:
    """Over the plane of x and w, which is enough: only norms and the angle matter."""
    angle = np.linspace(0, math.pi, 2001)[:, None]
    y = labels_of(loss, label_bound)
    slope = loss.derivative(row_bound * radius * np.cos(angle), y)
    along = slope * row_bound * np.cos(angle) + l2 * radius
    measured = np.hypot(along, slope * row_bound * np.sin(angle)).max()
    bound = loss.gradient_bound(row_bound, radius, label_bound, l2)
    assert 0.99 * bound <= measured <= bound * (1 + 1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_convex_flag_is_the_sign_of_the_curvature(loss: Loss) -> None:
    assert loss.convex == (loss.curvature_range(math.inf, 1.0)[0] >= 0)


@pytest.mark.parametrize("loss", [Logistic(), Sigmoid(), SmoothedHinge(0.5)], ids=repr)
def test_slope_in_place_and_at_extreme_margins(loss: SignLoss) -> None:
    u = np.array([-1e4, -800.0, -1.0, 0.0, 1.0, 800.0, 1e4])
    expected = loss.slope(u)
    assert np.all(np.isfinite(expected))
    assert np.all(np.isfinite(loss.value(u, 1.0)))
    buffer = u.copy()
    assert loss.slope(buffer, out=buffer) is buffer
    np.testing.assert_array_equal(buffer, expected)


def test_single_precision_slopes_are_as_exact_as_stated() -> None:
    u = np.concatenate([np.linspace(-100, 100, 400_001), np.linspace(-2, 2, 400_001), [-1e30, 1e30]])
    loss = Logistic()
    assert loss.tanh_form is not None
    shift, height, rate = loss.tanh_form
    np.testing.assert_allclose(shift + height * np.tanh(rate * u), loss.slope(u), atol=1e-15)
    single = shift + height * np.tanh((rate * u).astype(np.float32)).astype(float)
    error = np.abs(single - loss.slope(u)).max()
    assert loss.single_error / 5 <= error <= loss.single_error


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_parameters_are_refused(bad: float) -> None:
    with pytest.raises(InvalidInput, match="threshold"):
        Huber(bad)
    with pytest.raises(InvalidInput, match="smoothing"):
        SmoothedHinge(bad)
