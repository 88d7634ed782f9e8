"""Noise distributions and selection mechanisms, vectorised over independent trials.
Each states the density it samples from; the scale that makes it private is the caller's claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy import exact as accounting
from dpcheck.problems.losses import Array, must_be_positive

Shape = int | tuple[int, ...]
# Rows of (trials, candidates) noise held at once by a selection.
CHUNK = 1 << 20


def laplace(rng: np.random.Generator, scale: float, shape: Shape) -> Array:
    """Independent entries of density exp(-|z| / scale) / (2 scale)."""
    must_be_positive("scale", scale)
    return rng.laplace(scale=scale, size=shape)


def gaussian(rng: np.random.Generator, sigma: float, shape: Shape) -> Array:
    """Independent N(0, sigma^2) entries."""
    must_be_positive("sigma", sigma)
    noise = rng.standard_normal(shape)
    noise *= sigma
    return noise


def l2_laplace(rng: np.random.Generator, scale: float, trials: int, d: int) -> Array:
    """Vectors of density proportional to exp(-||z||_2 / scale), shape (trials, d).

    In polar form the density of the radius is r^(d-1) exp(-r / scale), a Gamma(d, scale); the direction
    is uniform (Chaudhuri, Monteleoni, Sarwate 2011; 003, Algorithm 1 in the pure case).
    """
    must_be_positive("scale", scale)
    must_be_counts(trials=trials, d=d)
    direction = rng.standard_normal((trials, d))
    radius = rng.gamma(d, scale, size=trials)
    direction *= (radius / np.linalg.norm(direction, axis=1))[:, None]
    return direction


def wishart_difference(rng: np.random.Generator, scale: float, trials: int, d: int) -> Array:
    """Upper triangles of scale/2·(GGᵀ - HHᵀ), (trials, d(d+1)/2), for d × (d+1) matrices of standard normals."""
    must_be_positive("scale", scale)
    must_be_counts(trials=trials, d=d)
    g, h = rng.standard_normal((2, trials, d, d + 1))
    drawn = g @ g.transpose(0, 2, 1) - h @ h.transpose(0, 2, 1)
    first, second = np.triu_indices(d)
    return np.asarray(scale / 2 * drawn[:, first, second])


def exponential_mechanism(
    scores: Any, eps: float, sensitivity: float, rng: np.random.Generator, trials: int
) -> NDArray[np.int64]:
    """Indices drawn with probability proportional to exp(eps * score / (2 sensitivity))."""
    utilities = scaled_scores(scores, eps, sensitivity)
    must_be_counts(trials=trials)
    weights = np.exp(utilities - utilities.max())
    return rng.choice(len(weights), size=trials, p=weights / weights.sum())


def report_noisy_max(
    scores: Any,
    eps: float,
    sensitivity: float,
    rng: np.random.Generator,
    trials: int,
    noise: Literal["laplace", "gumbel", "exponential"] = "laplace",
) -> NDArray[np.int64]:
    """Indices of the largest noisy score; noise of scale 2 sensitivity / eps on each.

    Gumbel noise is the exponential mechanism; one-sided exponential noise is permute-and-flip
    (McKenna, Sheldon 2020; Ding et al. 2021).
    """
    utilities = scaled_scores(scores, eps, sensitivity)
    must_be_counts(trials=trials)
    draws: dict[str, Callable[..., Array]] = {
        "laplace": rng.laplace,
        "gumbel": rng.gumbel,
        "exponential": rng.exponential,
    }
    if noise not in draws:
        raise InvalidInput("noise", noise, f"one of {', '.join(draws)}", "Use laplace.")
    picked = np.empty(trials, dtype=np.int64)
    rows = max(1, CHUNK // len(utilities))
    for first in range(0, trials, rows):
        k = min(rows, trials - first)
        noisy = draws[noise](size=(k, len(utilities)))
        noisy += utilities
        picked[first : first + k] = noisy.argmax(axis=1)
    return picked


def gaussian_sigma(
    sensitivity: float, eps: float, delta: float, method: Literal["exact", "classical"] = "exact"
) -> float:
    """The sigma of Gaussian noise that is (eps, delta)-DP: exactly, or as the textbook formula has it."""
    if method == "exact":
        return float(accounting.gaussian_sigma(eps, delta, sensitivity))
    if method == "classical":
        return float(accounting.gaussian_sigma_classical(eps, delta, sensitivity))
    raise InvalidInput("method", method, "exact or classical", "Use exact.")


def scaled_scores(scores: Any, eps: float, sensitivity: float) -> Array:
    """Scores in units of the selection's noise scale, 2 sensitivity / eps."""
    must_be_positive("eps", eps)
    must_be_positive("sensitivity", sensitivity)
    values = np.asarray(scores, float)
    if values.ndim != 1 or values.size == 0 or not np.all(np.isfinite(values)):
        raise InvalidInput("scores", scores, "a non-empty list of finite numbers", "One score a candidate.")
    utilities = values * (eps / (2 * sensitivity))
    if not math.isfinite(float(utilities.max() - utilities.min())):
        raise InvalidInput("eps * scores / sensitivity", float("inf"), "finite", "Rescale the scores.")
    return utilities


def must_be_counts(**counts: int) -> None:
    """Refuse anything but whole numbers >= 1."""
    for what, value in counts.items():
        if not (isinstance(value, int | np.integer) and value >= 1):
            raise InvalidInput(what, value, "a whole number >= 1", f"Pass {what}=1000 for example.")
