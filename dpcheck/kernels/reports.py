"""What users report of a vector, for whole arrays of users: a point of a half sphere; and the chances of reports.

A report is on the record's own side with probability (1 + norm/scale)/2, where scale is at least the largest norm.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from dpcheck.kernels import exact_draws

Array = np.ndarray
USERS_HELD = 1 << 14  # numbers of a block of users: what is computed of them stays in cache


def half_spheres(rng: np.random.Generator, asked: Array, scale: float, length: float = 1.0) -> Array:
    """A vector of this length for each row x: on the half sphere around x with probability (1 + ‖x‖₂/scale)/2.

    Its bits tell no more than its side: the normal vector that it is made of is as likely as its negative, of which
    the computed sides are opposite too, so that the ratio of two records' chances is that of their coins.
    """
    users, width = asked.shape
    found, held = np.empty((users, width)), max(1, USERS_HELD // width)
    for first in range(0, users, held):
        rows, vectors = asked[first : first + held], found[first : first + held]
        rng.standard_normal(out=vectors)
        own_side = exact_draws.reports(rng, np.sqrt(np.einsum("ij,ij->i", rows, rows)), scale)
        size = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        here = np.where(np.einsum("ij,ij->i", vectors, rows) >= 0, 1.0, -1.0)
        vectors *= (length * own_side * here / size)[:, None]
    return found


def log_chances(sides: Array, norms: Array, scale: float) -> Array:
    """log((1 + side norm/scale)/2): of a bit, and up to a constant of a point of the sphere."""
    with np.errstate(divide="ignore"):
        return np.log(np.clip(0.5 * (1 + sides * norms / scale), 0.0, 1.0))


def half_sphere_log_density(reports: Array, asked: Array, scale: float) -> Array:
    """Of unit vectors in rows, with respect to twice the uniform law of the sphere."""
    sides = np.where(np.einsum("...j,...j->...", reports, asked) >= 0, 1.0, -1.0)
    return log_chances(sides, np.linalg.norm(asked, axis=-1), scale)


def unbiased_radius(width: int) -> float:
    """1/E|u₁| of a uniform unit vector u: scale times it times a half sphere's report averages to the record."""
    return math.sqrt(math.pi) * math.exp(float(gammaln((width + 1) / 2) - gammaln(width / 2)))
