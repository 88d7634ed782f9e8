"""Noise of density exp(-eps ||z|| / Delta) (zhang17, Algorithm 1 and Lemma 6)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcheck.bounds.library.mechanisms.l2_laplace import algorithm1_pure, lemma6
from dpcheck.kernels import noise

FALSE_ALARM = 1e-6
vectors = st.lists(st.floats(-5, 5), min_size=3, max_size=3).map(np.array)


@given(z=vectors, first=vectors, second=vectors, eps=st.floats(0.05, 5))
@settings(max_examples=100, deadline=None)
def test_density_ratios_stay_within_eps(z: np.ndarray, first: np.ndarray, second: np.ndarray, eps: float) -> None:
    """The constant of the density is common, so the log ratio is the difference of the distances over the scale."""
    apart = max(float(np.linalg.norm(first - second)), 1e-3)
    scale = algorithm1_pure.evaluate(Delta=apart, eps=eps)
    ratio = (np.linalg.norm(z - second) - np.linalg.norm(z - first)) / scale
    assert ratio <= eps * (1 + 1e-9)
    ahead = first + 2 * (first - second) / apart  # beyond the first answer, seen from the second
    if np.linalg.norm(first - second) >= 1e-3:
        attained = (np.linalg.norm(ahead - second) - np.linalg.norm(ahead - first)) / scale
        assert attained == pytest.approx(eps, rel=1e-6)


@pytest.mark.parametrize("d", [1, 2, 5, 20])
def test_lemma_6(d: int) -> None:
    """The sampled mean of ||z||^2 within the band that it leaves once in a million.

    Planted: d independent Laplaces, whose moment is 2 d sigma^2; noise 5% off.
    """
    sigma, trials = 0.7, 200_000
    claimed = lemma6.evaluate(d=d, sigma=sigma)
    # ||z|| is Gamma(d, sigma): moments d(d+1) and d(d+1)(d+2)(d+3).
    deviation = sigma**2 * math.sqrt((d * (d + 1) * (d + 2) * (d + 3) - (d * (d + 1)) ** 2) / trials)

    def fits(z: np.ndarray) -> bool:
        return abs(float(np.einsum("ij,ij->i", z, z).mean()) - claimed) < stats.norm.isf(FALSE_ALARM / 2) * deviation

    rng = np.random.default_rng(d)
    assert fits(noise.l2_laplace(rng, sigma, trials, d))
    assert not fits(noise.l2_laplace(rng, 1.05 * sigma, trials, d))
    assert d == 1 or not fits(noise.laplace(rng, sigma, (trials, d)))
