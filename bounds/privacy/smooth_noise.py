"""Noise as wide as the data call for: accounts of smooth sensitivity (Nissim, Raskhodnikova and Smith 2007).

A record moves an answer by at most S, in either dataset, and log S by at most t; the answer gets noise S·scale·Z. On
neighbours the laws of it are a shift of at most 1/scale and a dilation of at most e^t apart.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import scipy  # its parts are imported on first use

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, Guarantee, gaussian_delta
from dpcheck.bounds.privacy.exact import SLACK

SPLITS = 100  # of epsilon between dilation and shift
HALVINGS = 60


def arsinh_epsilon(shift: float, smoothness: float) -> float:
    """sinh of a normal, so shifted and dilated, is ε²/2-zCDP with this ε (Bun and Steinke 2019, Proposition 5)."""
    return math.sqrt(smoothness * (smoothness + 3)) + shift * 7 / 6


def arsinh_scale(guarantee: Guarantee, smoothness: float, count: int) -> float:
    """The least scale, 1/shift, with which `count` numbers with noise of their own keep zCDP or (eps, delta)-DP."""
    each = math.sqrt(2 * concentrated(guarantee) / count)
    room = (each - arsinh_epsilon(0.0, smoothness)) * 6 / 7
    if room <= 0:
        limit = f"below {each**2 / (3 + each**2):.3g}, as the width of the noise alone tells too much"
        raise InvalidInput("smoothness", smoothness, limit, "Lower it (trim more records), or ask for less privacy.")
    return (1 + SLACK) / room


@lru_cache(maxsize=256)
def concentrated(guarantee: Guarantee) -> float:
    """The largest rho whose zCDP implies the guarantee, rounded down."""
    if isinstance(guarantee, ZCDP):
        return float(guarantee.rho)
    assert isinstance(guarantee, ApproxDP)
    eps, delta = float(guarantee.eps), float(guarantee.delta)
    low, high = 0.0, eps  # rho-zCDP with rho = eps keeps no delta below 1/2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if ZCDP(middle).profile(eps) * (1 + SLACK) <= delta else (low, middle)
    return low


def dilation_delta(eps: np.ndarray, smoothness: float, width: int) -> np.ndarray:
    """The exact delta at each eps of N(0, I) and N(0, e^2t I) of `width` numbers, whichever comes first; it grows in t.

    The ratio of the densities is a function of ‖z‖², and passes e^eps on one ball or outside of it.
    """
    found = []
    for ratio in (math.exp(smoothness), math.exp(-smoothness)):  # deviation of the first law over that of the second
        # log ratio at r² = ‖z‖²/σ₂²: -width·log(ratio) + r²(1 - 1/ratio²)/2
        edge = np.maximum(2 * (eps + width * math.log(ratio)) / (1 - ratio**-2), 0.0)
        mass = scipy.special.gammaincc if ratio > 1 else scipy.special.gammainc  # of a chi-square law
        found.append(mass(width / 2, edge / ratio**2 / 2) - np.exp(eps) * mass(width / 2, edge / 2))
    return np.maximum(np.max(found, axis=0), 0.0)


def smooth_gaussian_delta(eps: float, shift: float, smoothness: float, width: int) -> float:
    """An upper bound on delta at eps: dilation first, then shift, with the best share of eps for each."""
    first = eps * np.arange(1, SPLITS) / SPLITS
    widened, moved = dilation_delta(first, smoothness, width), gaussian_delta(eps - first, shift)
    return float(np.min(widened + np.exp(first) * moved) * (1 + SLACK))


@lru_cache(maxsize=256)
def smooth_gaussian_scale(guarantee: ApproxDP, smoothness: float, width: int) -> float:
    """The least scale of Gaussian noise, one S for `width` numbers, that keeps (eps, delta)-DP, rounded up."""
    eps, delta = float(guarantee.eps), float(guarantee.delta)
    if smooth_gaussian_delta(eps, 1e-12, smoothness, width) > delta:
        limit = "so low that the width of the noise alone keeps delta"
        raise InvalidInput("smoothness", smoothness, limit, "Lower it, or ask for less privacy.")
    low, high = -12.0, 3.0  # log10 of the shift
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        keeps = smooth_gaussian_delta(eps, 10.0**middle, smoothness, width) <= delta
        low, high = (middle, high) if keeps else (low, middle)
        if high - low < 1e-9:
            break
    return float(10.0**-low)
