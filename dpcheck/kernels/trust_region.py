"""The trust-region step: min <g, h> + <h, H h>/2 over ||h|| <= r, exactly, for many (g, H) at once.

h = -(H + lam I)^+ g with lam >= 0, H + lam I >= 0 and lam (||h|| - r) = 0 (dwang20, Lemma 4.3.1). lam is found by
halving in the basis of H's eigenvectors, as its distance from the pole at minus the least eigenvalue, so that no
digits are lost near it. Where g has no part along that eigenvector (the hard case), the rest of the length goes there.
"""

from __future__ import annotations

import numpy as np

from dpcheck.kernels.method import Array

HALVINGS = 200  # down to 1e-60 of the first interval: a hard case but for rounding is found as one


def trust_region_steps(gradients: Array, hessians: Array, radius: float) -> tuple[Array, Array]:
    """The minimisers, (k, d), and their multipliers lam, (k,).

    >>> steps, lam = trust_region_steps(np.zeros((1, 2)), np.diag([-1.0, 3.0])[None], 0.5)
    >>> np.abs(steps).tolist(), lam.tolist()
    ([[0.5, 0.0]], [1.0])
    """
    values, vectors = np.linalg.eigh(hessians)
    g = np.einsum("kij,ki->kj", vectors, gradients)
    least, above = values[:, 0], values - values[:, :1]

    def step(pole: Array) -> Array:
        """-g/(H + lam) at lam = pole - least eigenvalue; 0 where nothing pulls."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(g == 0, 0.0, -g / (above + pole[:, None]))

    def longer(pole: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.linalg.norm(step(pole), axis=1) > radius

    low = np.maximum(least, 0.0)  # lam = max(0, -least)
    high = low + np.linalg.norm(gradients, axis=1) / radius
    inside = (least > 0) & ~longer(low)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        far = longer(middle)
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    pole = np.where(inside, least, high)
    h = step(pole)
    missing = np.sqrt(np.maximum(radius**2 - np.einsum("kd,kd->k", h, h), 0.0))
    h[:, 0] += np.where(inside, 0.0, np.where(g[:, 0] > 0, -1.0, 1.0) * rest(missing, h[:, 0]))
    lam = np.where(inside, 0.0, np.maximum(pole - least, 0.0))
    return np.einsum("kij,kj->ki", vectors, h), lam


def rest(missing: Array, along: Array) -> Array:
    """What to add to a part of this size so that its square grows by missing^2."""
    return np.sqrt(along**2 + missing**2) - np.abs(along)
