"""Wishart noise on symmetric matrices, packed as upper triangles: draws for a block of trials, and its log density."""

from __future__ import annotations

import math

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput

Array = np.ndarray


def wishart_triangles(rng: np.random.Generator, scale: float, degrees: float, side: int, trials: int) -> Array:
    """Upper triangles of W_d(degrees, scale I), (trials, d(d+1)/2), by Bartlett's factor; sums of outer products where
    the degrees are fewer than d, and whole.
    """
    if degrees > side - 1:
        factor = np.zeros((trials, side, side))
        below = np.tril_indices(side, -1)
        factor[:, below[0], below[1]] = rng.standard_normal((trials, len(below[0])))
        diagonal = np.arange(side)
        factor[:, diagonal, diagonal] = np.sqrt(rng.chisquare(degrees - diagonal, (trials, side)))
    else:
        factor = rng.standard_normal((trials, side, math.ceil(degrees)))
    return scale * packed(factor @ factor.transpose(0, 2, 1))


def wishart_log_density(gaps: Array, scale: float, degrees: float, side: int) -> Array:
    """Of upper triangles, up to a constant, (k,); -inf outside the cone, where the noise cannot be."""
    if degrees <= side - 1:
        limit = f"above {side - 1}, the side less one: below, the noise has rank below the side and no density"
        raise InvalidInput("degrees of freedom", degrees, limit, "Audit the output.")
    matrices = unpacked(gaps, side) / scale
    with np.errstate(divide="ignore"):
        values = np.linalg.eigvalsh(matrices)
        logs = np.log(np.maximum(values, 0.0)).sum(axis=1) if degrees != side + 1 else np.zeros(len(gaps))
    return np.where(values[:, 0] > 0, (degrees - side - 1) / 2 * logs - values.sum(axis=1) / 2, -np.inf)


def cone_movement(gaps: Array, side: int) -> Array:
    """The larger trace of the positive and the negative part of each upper triangle's matrix, (k,)."""
    values = np.linalg.eigvalsh(unpacked(gaps, side))
    return np.asarray(np.maximum(np.maximum(values, 0).sum(axis=1), np.maximum(-values, 0).sum(axis=1)))


def packed(matrices: Array) -> Array:
    """Symmetric matrices (k, d, d) as upper triangles, row by row, diagonal included: each entry once."""
    first, second = np.triu_indices(matrices.shape[-1])
    return np.asarray(matrices[:, first, second])


def unpacked(triangles: Array, side: int) -> Array:
    """The other way."""
    first, second = np.triu_indices(side)
    found = np.empty((len(triangles), side, side))
    found[:, first, second] = triangles
    found[:, second, first] = triangles
    return found
