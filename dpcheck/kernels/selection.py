"""Private selection in batches: one candidate a trial, by noise on scores; and the exact law of what is selected."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.problems.losses import Array, must_be_positive

Noise = Literal["gumbel", "exponential", "laplace"]
BOUNDED_RANGE: tuple[Noise, ...] = ("gumbel",)  # selections whose log ratio has range eps, not only size eps
NODES = 40  # of the quadrature between two scores; the law of Laplace noise is smooth there


def select(scores: Array, eps: float, sensitivity: float, rng: np.random.Generator, noise: Noise) -> NDArray[np.int64]:
    """One index per row of `scores`, (k, m): the largest after noise of scale 2 sensitivity / eps on each.

    Gumbel noise makes it the exponential mechanism, exponential noise permute-and-flip, Laplace report-noisy-max.
    """
    utilities = scaled(scores, eps, sensitivity)
    draw: dict[str, Callable[..., Array]] = {
        "gumbel": rng.gumbel,
        "exponential": rng.standard_exponential,
        "laplace": rng.laplace,
    }
    noisy = draw[must_be_noise(noise)](size=utilities.shape)
    noisy += utilities
    return np.asarray(noisy.argmax(axis=1))


def selection_logs(scores: Array, eps: float, sensitivity: float, noise: Noise) -> Array:
    """The log probability of each candidate, (k, m): exact but for Laplace noise, which is integrated to 1e-9."""
    utilities = scaled(scores, eps, sensitivity)
    if must_be_noise(noise) == "gumbel":
        return special.log_softmax(utilities, axis=1)
    u = utilities - utilities.max(axis=1, keepdims=True)
    found = _exponential_law(u) if noise == "exponential" else _laplace_law(u)
    with np.errstate(divide="ignore"):
        return np.log(found)


def _exponential_law(u: Array) -> Array:
    """P(i) is the integral over v in (0, 1) of w_i prod_(j != i) (1 - v w_j), w = e^u: a polynomial of degree m - 1."""
    w = np.exp(u)
    nodes, weights = np.polynomial.legendre.leggauss(u.shape[1] // 2 + 1)
    v = (nodes + 1) / 2
    others = 1 - v * w[..., None]  # (k, m, nodes)
    return np.einsum("kmv,v->km", w[..., None] * _left_out(others), weights / 2)


def _laplace_law(u: Array) -> Array:
    """The integral of f(z - u_i) prod_(j != i) F(z - u_j), piece by piece between the scores, and 60 beyond."""
    ends = np.sort(
        np.concatenate([u, u[:, :1] * 0 - 60.0, u[:, :1] * 0, u[:, :1] * 0 + 3.0, u[:, :1] * 0 + 60.0], axis=1)
    )
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    width = np.diff(ends, axis=1)[..., None]
    z = (ends[:, :-1, None] + width * (nodes + 1) / 2).reshape(len(u), -1)
    weight = (width * weights / 2).reshape(len(u), -1)
    gap = z[:, None, :] - u[..., None]  # (k, m, points)
    density = np.exp(-np.abs(gap)) / 2
    below = np.where(gap < 0, density, 1 - density)
    return np.einsum("kmz,kz->km", density * _left_out(below), weight)


def _left_out(factors: Array) -> Array:
    """For each i the product of all factors but the i-th, along axis 1."""
    ahead, behind = np.ones_like(factors), np.ones_like(factors)
    np.cumprod(factors[:, :-1], axis=1, out=ahead[:, 1:])
    behind[:, :-1] = np.cumprod(factors[:, :0:-1], axis=1)[:, ::-1]
    return ahead * behind


def scaled(scores: Any, eps: float, sensitivity: float) -> Array:
    """Scores in units of the noise, 2 sensitivity / eps; finite and one row a trial."""
    must_be_positive("eps", eps)
    must_be_positive("sensitivity", sensitivity)
    utilities = np.asarray(scores, float) * (eps / (2 * sensitivity))
    if utilities.ndim != 2 or utilities.shape[1] == 0 or not math.isfinite(float(np.sum(np.abs(utilities)))):
        limit = "finite, one row a trial and one column a candidate"
        raise InvalidInput("scores", np.shape(scores), limit, "Rescale the loss or the data.")
    return utilities


def must_be_noise(noise: Noise) -> Noise:
    """Refuse an unknown kind."""
    if noise not in get_args(Noise):
        raise InvalidInput("noise", noise, f"one of {', '.join(get_args(Noise))}", "Use gumbel.")
    return noise
