"""Accounts of smooth sensitivity against divergences that are integrated: sound, and strict about the width."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

import dpcheck as dp
from dpcheck.bounds.privacy import smooth_noise
from dpcheck.bounds.privacy.laws import SmoothNoise
from dpcheck.bounds.privacy.release import Release

Y = np.linspace(-14, 14, 40_001)


def divergence(order: float, shift: float, dilation: float) -> float:
    """D_order/order of sinh(Y) and e^dilation sinh(Y) + shift, in the variable of the normal."""

    def log_density(z: np.ndarray) -> np.ndarray:
        return np.asarray(-(np.arcsinh(z) ** 2) / 2 - np.log1p(z**2) / 2)

    z = np.sinh(Y)
    other = log_density((z - shift) * np.exp(-dilation)) - dilation - log_density(z)
    logs = -(Y**2) / 2 - np.log(2 * np.pi) / 2 - (order - 1) * other
    most = logs.max()
    return float((most + np.log(integrate.trapezoid(np.exp(logs - most), Y))) / (order - 1) / order)


@given(st.floats(0.0, 1.0), st.floats(1e-4, 0.3), st.floats(1.01, 50.0), st.booleans())
def test_arsinh_noise_is_as_concentrated_as_stated(shift: float, t: float, order: float, wider: bool) -> None:
    found = divergence(order, shift, t if wider else -t)
    assert found <= smooth_noise.arsinh_epsilon(shift * (1 if wider else np.exp(t)), t) ** 2 / 2 + 1e-9


def test_less_than_the_stated_shift_is_not_enough() -> None:
    assert divergence(1.01, 1.0, 0.0) > (0.6 * smooth_noise.arsinh_epsilon(1.0, 0.0)) ** 2 / 2  # planted: 0.6 of it


@pytest.mark.parametrize("width", [1, 3])
def test_the_loss_of_a_dilation_is_exact(width: int) -> None:
    t, eps = 0.3, np.array([0.2, 0.5])
    r, found = np.linspace(0, 60, 400_001), smooth_noise.dilation_delta(eps, t, width)
    for i, e in enumerate(eps):
        laws = [stats.chi2(width, scale=np.exp(2 * s)).pdf(r[1:]) for s in (t, 0.0)]
        both = [integrate.trapezoid(np.maximum(p - np.exp(e) * q, 0), r[1:]) for p, q in (laws, laws[::-1])]
        assert found[i] == pytest.approx(max(both), rel=2e-2)


def hockey_stick(eps: float, shift: float, t: float) -> float:
    z = np.linspace(-30, 30, 60_001)
    gap = stats.norm.pdf(z) - np.exp(eps) * stats.norm.pdf(z, shift, np.exp(t))
    return float(integrate.trapezoid(np.maximum(gap, 0), z))


@given(st.floats(0.1, 3.0), st.floats(0.01, 1.0), st.floats(-0.3, 0.3).filter(lambda t: abs(t) > 1e-3))
def test_gaussian_noise_of_two_widths_loses_no_more_than_stated(eps: float, shift: float, t: float) -> None:
    moved = shift * np.exp(max(0.0, -t))  # in units of the lesser width
    assert hockey_stick(eps, shift, t) <= smooth_noise.smooth_gaussian_delta(eps, moved, abs(t), 1) + 1e-7


def test_releases_are_calibrated_and_no_further() -> None:
    aim = dp.ApproxDP(1.0, 1e-5)
    wide = Release(1.0, SmoothNoise(1.0, 1e-3, 2, "gaussian")).calibrated(aim)
    scale = float(wide.law.scale)
    assert smooth_noise.smooth_gaussian_delta(1.0, 1 / scale, 1e-3, 2) <= 1e-5
    assert smooth_noise.smooth_gaussian_delta(1.0, 1.02 / scale, 1e-3, 2) > 1e-5
    arsinh = Release(1.0, SmoothNoise(1.0, 1e-4), steps=4).calibrated(dp.ZCDP(0.5))
    assert 4 * smooth_noise.arsinh_epsilon(1 / float(arsinh.law.scale), 1e-4) ** 2 / 2 == pytest.approx(0.5)
    assert dp.ZCDP(smooth_noise.concentrated(aim)).epsilon(1e-5) == pytest.approx(1.0, rel=1e-6)


def test_what_the_width_alone_gives_away_is_refused() -> None:
    with pytest.raises(dp.InvalidInput, match="smoothness"):
        Release(1.0, SmoothNoise(1.0, 1.0)).calibrated(dp.ZCDP(0.01))
    with pytest.raises(dp.InvalidInput, match="smoothness"):
        Release(1.0, SmoothNoise(1.0, 1.0, 2, "gaussian")).calibrated(dp.ApproxDP(0.1, 1e-9))
    with pytest.raises(dp.InvalidInput, match="zCDP"):
        Release(1.0, SmoothNoise(1.0, 1e-3)).calibrated(dp.PureDP(1.0))
