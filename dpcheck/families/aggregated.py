"""Sample and aggregate: the centre of what subsets of the records say, and how far a record moves it (Algorithm 3.2.5).

A record enters at most s = √m of m subsets. r_i(t) is the distance from z_i to the t-th nearest of the m points, itself
the first, and the diameter for t > m; the centre has the least r_i((m+s)/2+1).
"""

from __future__ import annotations

import math

import numpy as np

from dpcheck.kernels.method import Array


def subsets(n: int, m: int, seed: int) -> Array:
    """m subsets of n/m records each, (m, n/m), drawn until no record is in more than √m; no record is looked at."""
    rng, size = np.random.default_rng(seed), n // m
    while True:
        drawn = np.array([rng.choice(n, size, replace=False) for _ in range(m)])
        if np.bincount(drawn.ravel(), minlength=n).max() <= math.isqrt(m):
            return drawn


def levels(m: int) -> Array:
    """t₀ and t₀ + (k+1)s for k = 0, 1, ... up to the first beyond m."""
    s = math.isqrt(m)
    first = (m + s) // 2 + 1
    more = max(0, (m - first) // s) + 1
    return first + s * np.arange(more + 1)


def distances(points: Array, diameter: float) -> tuple[Array, Array, Array]:
    """The different points, how many of each there are, and r_i(t) of each at every level, (u, levels)."""
    found, count = np.unique(points, axis=0, return_counts=True)
    apart = np.linalg.norm(found[:, None] - found[None], axis=2)
    order = np.argsort(apart, axis=1)
    sorted_, reached = np.take_along_axis(apart, order, axis=1), np.cumsum(count[order], axis=1)
    rows, radii = np.arange(len(found)), []
    for t in levels(len(points)):
        place = (reached < t).sum(axis=1)
        radii.append(np.full(len(found), diameter) if t > len(points) else sorted_[rows, place])
    return found, count, np.stack(radii, axis=1)


def centre_and_width(points: Array, beta: float, diameter: float, *, largest: bool = False) -> Array:
    """The centre (d,), and S = 2 max_k ρ(t₀+(k+1)s) e^-βk, d times; ρ(t) is the mean of the ⌈s/β⌉ least r_i(t).

    The text says "top". By the `largest`, a record of one subset far off is enough to widen S.
    """
    found, count, radii = distances(points, diameter)
    centre, averaged = found[np.argmin(radii[:, 0])], math.ceil(math.isqrt(len(points)) / beta)
    widths = []
    for k, column in enumerate(radii.T[1:]):
        order = np.argsort(-column if largest else column)
        taken = np.diff(np.minimum(np.cumsum(count[order]), averaged), prepend=0)
        widths.append(float(taken @ column[order]) / min(averaged, len(points)) * math.exp(-beta * k))
    return np.concatenate([centre, np.full(len(centre), 2 * max(widths))])


def least_width(m: int, beta: float, diameter: float) -> float:
    """What S never falls below: 2·diameter·e^-βk at the first level beyond m."""
    return 2 * diameter * math.exp(-beta * (len(levels(m)) - 2))


def printed_beta(eps: float, delta: float, d: int) -> float:
    """ε/(4(d + log(2/δ))) of line 1."""
    return eps / (4 * (d + math.log(2 / delta)))
