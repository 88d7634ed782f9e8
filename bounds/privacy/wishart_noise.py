"""Additive Wishart noise: its exact privacy loss, bounded from both sides.

The noise is W_d(m, cI), k = m - d + 1. A neighbour moves the matrix by M, the traces of whose positive and negative
part are at most s each. The density is log-concave for k >= 2 (and so is min(p(x), e^eps p(x - M)), jointly), so that
1 - delta is log-concave in M (Prékopa): the worst M is an extreme one, svvᵀ, -svvᵀ or suuᵀ - svvᵀ with orthogonal u, v.
The first two have the loss of a gamma variable of shape k/2 moved by r = s/(2c); the third is a problem of 2 x 2
matrices, of which two gamma variables are left to integrate over. A matrix that leaves the cone shows at once: no delta
below 1 - exp(-r) (k = 2), or P(gamma < r), is kept at any epsilon.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import scipy  # its parts are imported on first use

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.privacy.exact import SLACK, Interval

Array = np.ndarray
CELLS = 192  # of each variable that is integrated over
LEFT_OUT = 1e-13  # of probability, beyond the cells
CONCAVE_FROM = 2.0  # k below which the density has poles at the edge of the cone


def outside(move: Any, excess: Any) -> Array:
    """The chance that the matrix without noise is seen not to be the neighbour's: what no epsilon helps against.

    For excess <= 0 the noise has less rank than the matrix, and its edge tells with certainty.
    """
    move, excess = np.broadcast_arrays(np.asarray(move, float), np.asarray(excess, float))
    fits = (excess > 0) & np.isfinite(excess) & np.isfinite(move)
    found = scipy.special.gammainc(np.where(fits, excess, 1.0) / 2, np.where(fits, move, 1.0))
    return np.where(fits, found, np.where(excess <= 0, 1.0, np.nan))


def one_way_delta(eps: Any, move: Any, excess: Any) -> Array:
    """The exact delta of ±svvᵀ, whichever way is worse; `move` is s/(2c)."""
    eps, move, excess = np.broadcast_arrays(*(np.asarray(v, float) for v in (eps, move, excess)))
    shape, law = np.maximum(excess / 2, 1e-9), scipy.special
    above = np.maximum(shape - 1, 0.0)
    with np.errstate(all="ignore"):
        # (shape - 1) log(y/(y - r)) - r passes eps at y = r + r/(ratio - 1).
        edge = move / np.expm1((eps + move) / above)  # y - r; 0 where shape = 1
        added = law.gammainc(shape, move + edge) - np.exp(eps) * law.gammainc(shape, edge)
        edge = move / np.expm1((move - eps) / above)
        taken = law.gammaincc(shape, edge) - np.exp(eps) * law.gammaincc(shape, move + edge)
    taken = np.where(move > eps, np.nan_to_num(taken), 0.0)
    return np.where(excess >= CONCAVE_FROM, np.clip(np.maximum(added, taken), 0.0, 1.0), outside(move, excess))


def two_way_delta(eps: float, move: float, excess: float, left_out: float = LEFT_OUT) -> Interval:
    """Sound bounds on the delta of suuᵀ - svvᵀ.

    With u² and w gamma variables of the first row, and y one of what is left of the second, the ratio of the densities
    is ((u+r)/u · (y-y₀)/y)^(k/2-1), y₀ = r(u+r-w)/(u+r). What is integrated rises in u and falls in w.
    """
    law, shape = scipy.special, excess / 2
    low, high = (math.sqrt(float(law.gammainccinv(shape + 0.5, p))) for p in (1 - left_out, left_out))
    u = np.linspace(low, high, CELLS + 1) ** 2
    w = np.linspace(0.0, math.sqrt(float(law.gammainccinv(0.5, left_out))), CELLS + 1) ** 2
    weights = np.outer(masses(shape + 0.5, u), masses(0.5, w))
    values = inner_delta(eps, move, shape, u[:, None], w[None, :])
    low = float((weights * values[:-1, 1:]).sum())
    high = float((weights * values[1:, :-1]).sum()) + 3 * left_out
    return Interval(max(0.0, low * (1 - SLACK)), min(1.0, high * (1 + SLACK)))


def masses(shape: float, ends: Array) -> Array:
    """The probability of a gamma variable between each two ends, from the side on which it is the smaller."""
    below, above = scipy.special.gammainc(shape, ends), scipy.special.gammaincc(shape, ends)
    return np.maximum(np.where(ends[:-1] > shape, above[:-1] - above[1:], below[1:] - below[:-1]), 0.0)


def inner_delta(eps: float, move: float, shape: float, u: Array, w: Array) -> Array:
    """Given u and w, the delta of y: a half line of it is worth seeing."""
    law, above = scipy.special, shape - 1
    start = move * (u + move - w) / (u + move)
    grown = above * np.log1p(move / u)  # logarithm of ((u+r)/u)^(k/2-1)
    with np.errstate(all="ignore"):
        past = start / np.expm1((eps + grown) / above) if above > 0 else np.zeros_like(start)
        found = law.gammainc(shape, start + past) - np.exp(eps + grown - start) * law.gammainc(shape, past)
    return np.where(start > 0, np.clip(np.nan_to_num(found), 0.0, 1.0), 0.0)


def split_delta(eps: Any, move: Any, excess: Any, shares: int = 16) -> Array:
    """An upper bound for every move, at many points: one record taken, then one added, with a share of eps each."""
    eps = np.asarray(eps, float)
    worst = np.full(np.broadcast_shapes(eps.shape, np.shape(move), np.shape(excess)), np.inf)
    for share in np.linspace(0.0, 1.0, shares + 1):
        first = share * eps
        both = one_way_delta(first, move, excess) + np.exp(first) * one_way_delta(eps - first, move, excess)
        worst = np.minimum(worst, both)
    # At k = 2 the loss of suuᵀ - svvᵀ is 0 or infinite: it is no worse than one way.
    exactly = one_way_delta(eps, move, excess)
    found = np.where(np.asarray(excess) == CONCAVE_FROM, exactly, np.minimum(worst, 1.0)) * (1 + SLACK)
    return np.where(np.asarray(excess) >= CONCAVE_FROM, found, 1.0)  # below, no upper bound is known


@lru_cache(maxsize=4096)
def delta_bounds(eps: float, move: float, excess: float) -> Interval:
    """Sound bounds on the tight delta at eps; below k = 2 the lower one alone is known."""
    one_way = float(one_way_delta(eps, move, excess))
    if excess < CONCAVE_FROM:
        return Interval(one_way * (1 - SLACK), 1.0)
    both = two_way_delta(eps, move, excess) if excess > CONCAVE_FROM else Interval(0.0, 0.0)
    return Interval(max(one_way * (1 - SLACK), both.low), min(1.0, max(one_way * (1 + SLACK), both.high)))


@lru_cache(maxsize=256)
def largest_move(guarantee: ApproxDP, excess: float) -> float:
    """The largest s/(2c) that keeps (eps, delta)-DP, rounded down."""
    eps, delta = float(guarantee.eps), float(guarantee.delta)
    if excess < CONCAVE_FROM:
        limit = f"at least {CONCAVE_FROM:g}: m >= d + 1 degrees of freedom"
        raise InvalidInput("m - d + 1", excess, limit, "Add Wishart noise with more degrees of freedom.")
    low, high = -12.0, math.log10(2 * eps + excess + 40)  # of its logarithm; delta rises along a ray
    while high - low > 1e-5:
        middle = (low + high) / 2
        keeps = delta_bounds(eps, 10.0**middle, excess).high <= delta
        low, high = (middle, high) if keeps else (low, middle)
    if low == -12.0:
        raise InvalidInput("delta", delta, "large enough for a move of 1e-12", "Ask for less privacy.")
    return float(10.0**low)
