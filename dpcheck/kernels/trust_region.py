"""The trust-region step: min <g, h> + <h, H h>/2 over ||h|| <= r, exactly, for many (g, H, r) at once.

h = -(H + lam I)^+ g with lam >= 0, H + lam I >= 0 and lam (||h|| - r) = 0 (dwang20, Lemma 4.3.1). lam is found in the
basis of H's eigenvectors as its distance from the pole at minus the least eigenvalue, so that no digits are lost near
it: by Newton's method on 1/||h|| - 1/r and halving in turn. Where g has no part along that
eigenvector (the hard case), the rest of the length goes there.
"""

from __future__ import annotations

import numpy as np

from dpcheck.kernels.method import Array

ROUNDS = 200  # by halving alone down to 1e-60 of the first bracket: a hard case but for rounding is found as one
CLOSE = 1e-14  # of ||h|| to r


def trust_region_steps(gradients: Array, hessians: Array, radius: float | Array) -> tuple[Array, Array]:
    """The minimisers, (k, d), and their multipliers lam, (k,); `radius` may be one a trial.

    >>> steps, lam = trust_region_steps(np.zeros((1, 2)), np.diag([-1.0, 3.0])[None], 0.5)
    >>> np.abs(steps).tolist(), lam.tolist()
    ([[0.5, 0.0]], [1.0])
    """
    values, vectors = np.linalg.eigh(hessians)
    g = np.einsum("kij,ki->kj", vectors, gradients)
    least, above = values[:, 0], values - values[:, :1]
    r = np.broadcast_to(np.asarray(radius, float), least.shape)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inside = (least > 0) & (np.linalg.norm(-g / values, axis=1) <= r)
        # What lies inside needs no search: without a pull it is over at once.
        pole = distance_from_pole(np.where(inside[:, None], 0.0, g), above, np.maximum(least, 0.0), r)
        h = np.where(g == 0, 0.0, -g / (above + pole[:, None]))
    missing = r**2 - np.einsum("kd,kd->k", h, h)
    missing = np.where(missing > 4 * CLOSE * r**2, missing, 0.0)  # the hard case, and not rounding
    rest = np.sqrt(h[:, 0] ** 2 + missing) - np.abs(h[:, 0])
    h[:, 0] += np.where(inside, 0.0, np.where(g[:, 0] > 0, -rest, rest))
    return np.einsum("kij,kj->ki", vectors, h), np.where(inside, 0.0, np.maximum(pole - least, 0.0))


def distance_from_pole(g: Array, above: Array, low: Array, r: Array) -> Array:
    """The s >= low with ||g/(above + s)|| = r, or the least s allowed where even there it is shorter, (k,)."""
    high = low + np.linalg.norm(g, axis=1) / r
    s = high
    for round_ in range(ROUNDS):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            h = np.where(g == 0, 0.0, g / (above + s[:, None]))
            length = np.linalg.norm(h, axis=1)
            bent = np.where(h == 0, 0.0, h**2 / (above + s[:, None])).sum(axis=1)
            newton = s + (length / r - 1) * length**2 / bent
        found, far = np.abs(length - r) <= CLOSE * r, length > r
        low, high = np.where(found | far, s, low), np.where(found | ~far, s, high)
        if np.all(high - low <= CLOSE * high):
            break
        allowed = (newton > low) & (newton < high) & (round_ % 2 == 0)
        s = np.where(allowed, newton, (low + high) / 2)
    return high
