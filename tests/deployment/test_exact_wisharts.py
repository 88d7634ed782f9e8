"""Rounded differences of Wishart matrices: their law, bounds on errors, refinement (false alarms 1e-6, fixed seeds)."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels import exact_wisharts

FALSE_ALARM = 1e-6


@pytest.mark.parametrize(("d", "scale", "trials"), [(1, 1 << 20, 20_000), (3, 1 << 20, 20_000), (2, 1 << 46, 60)])
def test_rounded_noise_has_its_law(d: int, scale: int, trials: int) -> None:
    """A diagonal entry is a difference of Gamma variables; at 2^46 intervals decide nearly all."""
    width = d * (d + 1) // 2
    drawn = exact_wisharts.rounded_wishart_difference(np.random.default_rng(d), scale, trials, width) / scale
    gammas = np.random.default_rng(9).gamma((d + 1) / 2, size=(2, 200_000))
    assert stats.ks_2samp(drawn[:, -1], gammas[0] - gammas[1]).pvalue > FALSE_ALARM
    if trials > 1000:
        assert stats.ks_2samp(1.2 * drawn[:, -1], gammas[0] - gammas[1]).pvalue < FALSE_ALARM
        if d > 1:
            assert drawn[:, 1].var() == pytest.approx((d + 1) / 2, rel=0.06)


def test_doubles_are_as_exact_as_they_say() -> None:
    """Against intervals that know 128 bits more, over draws that are hard: small, near 1, and as they come."""
    rng, d, one = np.random.default_rng(0), 2, 1 << 100
    leading = rng.integers(0, 1 << 53, size=(30, 2 * d * (d + 1)))
    for i in range(15):
        end = int(rng.integers(1, 1000))
        leading[i, rng.integers(leading.shape[1])] = end if i % 2 else (1 << 53) - end
    z, off = exact_wisharts.in_doubles(leading, 1, d)
    shares = []
    for i, row in enumerate(leading):
        refined = exact_wisharts.Refining(rng, [int(bits) for bits in row], one, d)
        for e in range(3):
            gap = abs(mpmath.mpf(refined.entry(e)) / one - z[i, e])
            shares.append(float(gap / off[i, e]))
    assert max(shares) <= 1
    assert max(shares) > 1e-3  # a bound that says something


def test_a_uniform_number_of_zero_is_left_open_and_refined() -> None:
    rng = np.random.default_rng(1)
    leading = rng.integers(0, 1 << 53, size=(1, 12))
    leading[0, 0] = 0
    _, off = exact_wisharts.in_doubles(leading, 1, 2)
    assert not (off < 1).all()
    refined = exact_wisharts.Refining(rng, [int(bits) for bits in leading[0]], 1 << 20, 2)
    assert abs(refined.entry(0)) < 1 << 40


@pytest.mark.parametrize(("scale", "width"), [(0, 3), (1 << 60, 3), (10, 4)])
def test_what_does_not_fit_is_refused(scale: int, width: int) -> None:
    with pytest.raises(InvalidInput):
        exact_wisharts.rounded_wishart_difference(np.random.default_rng(0), scale, 2, width)
