"""Noise on a grid: made of secret bits inside the computation, or of the parties' own draws. Fixed seeds throughout."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpcheck as dp
from dpcheck.parties.noise import Coin, InsideNoise, SharedNoise

FALSE_ALARM = 1e-6


def exact_law(noise: InsideNoise, coins: tuple[Coin, ...] | None = None) -> np.ndarray:
    """P(z) for z from -largest to largest, from the coins themselves."""
    law = np.ones(1)
    for coin in coins or noise.coins:
        chance = coin.chance / 2**coin.places
        law = np.concatenate([law * (1 - chance), law * chance])
    return np.convolve(law, law[::-1])


@pytest.mark.parametrize("scale", [1.0, 3.7, 40.0])
def test_coins_make_discrete_laplace_noise_but_for_what_delta_pays(scale: float) -> None:
    """The exact loss of a shift by one cell is 1/scale on the inner half of the range; planted: rarer coins."""
    noise = InsideNoise(scale)
    law = exact_law(noise)
    z = np.arange(-noise.largest, noise.largest + 1)
    near = np.abs(z) <= noise.largest // 2
    loss = np.abs(np.diff(np.log(law[near])))
    assert loss.max() <= 1 / scale + noise.rounding + 1e-9
    assert law[~near].sum() <= noise.delta(1) < 1e-13
    halved = exact_law(noise, tuple(Coin(c.chance // 2, c.places) for c in noise.coins))
    assert np.abs(np.diff(np.log(halved[len(halved) // 2 :][:5]))).max() > 1 / scale + 0.01


def test_the_ladder_draws_the_coins() -> None:
    """Chi-squared on 6,000 draws at p < 1e-6; planted: a ladder that starts at the wrong end."""
    noise, rng = InsideNoise(2.0), np.random.default_rng(0)
    draws = noise.made_of(rng.integers(0, 2, 6_000 * noise.bits, dtype=np.int64), 6_000)
    law = exact_law(noise)[noise.largest - 8 : noise.largest + 9]
    flipped = replace(noise)
    object.__setattr__(flipped, "coins", tuple(Coin(int(f"{c:0{p}b}"[::-1], 2), p) for c, p in noise.coins))
    wrong = flipped.made_of(rng.integers(0, 2, 1_000 * noise.bits), 1_000)
    for found, fits in ((draws, True), (wrong, False)):
        seen = np.array([np.sum(found == z) for z in range(-8, 9)])
        rest = len(found) - seen.sum()
        expected = np.r_[law, 1 - law.sum()] * len(found)
        assert (stats.chisquare(np.r_[seen, rest], expected).pvalue > FALSE_ALARM) == fits


@pytest.mark.parametrize("variance", [100, 37_001, 4096**2])
def test_shares_are_discrete_gaussian(variance: int) -> None:
    """Kolmogorov-Smirnov against the Gaussian of this variance, at p < 1e-6; a deviation 10% off is flagged."""
    draws = SharedNoise(variance).draw(np.random.default_rng(1), (4, 5_000)).ravel()
    smooth = draws + np.random.default_rng(2).uniform(-0.5, 0.5, len(draws))
    for off, fits in ((1.0, True), (1.1, False)):
        law = stats.norm(scale=off * math.sqrt(variance + 1 / 12))
        assert (stats.kstest(smooth, law.cdf).pvalue > FALSE_ALARM) == fits


def test_sums_of_shares_are_as_private_as_the_gaussian_of_their_variance() -> None:
    """Two shares, exactly: their δ at every ε, shifted by 7 cells, within 1e-5 of the continuous curve's."""
    variance, shift = 400, 7
    z = np.arange(-400, 401)
    share = np.exp(-(z**2) / (2 * variance))
    law = np.convolve(share, share) / share.sum() ** 2
    for eps in (0.05, 0.3, 1.0):
        apart = law[:-shift] - math.exp(eps) * law[shift:]
        ratio, rise = shift / math.sqrt(2 * variance), eps * math.sqrt(2 * variance) / shift
        gauss = stats.norm.cdf(ratio / 2 - rise) - math.exp(eps) * stats.norm.cdf(-ratio / 2 - rise)
        assert np.maximum(apart, 0).sum() == pytest.approx(gauss, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize(
    ("noise", "size"), [(InsideNoise, 0.5), (InsideNoise, 2.0**41), (SharedNoise, 99), (SharedNoise, 2**30)]
)
def test_scales_beyond_the_grid_are_refused(noise: Any, size: float) -> None:
    with pytest.raises(dp.InvalidInput, match="another grid"):
        noise(size)
