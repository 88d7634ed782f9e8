"""Bounds on epsilon at thousands of points at once: moments of the privacy loss above, one simple attack below.

Coarser than the sums of bounds/privacy/sampled_gaussian.py, and as sound: they screen points and certify whole cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its parts are imported on first use

from dpcheck.bounds.privacy.batches import Noise
from dpcheck.bounds.privacy.exact import SLACK, UNIT
from dpcheck.bounds.privacy.sampled_gaussian import FARTHEST

Array = np.ndarray
CHUNK = 1024  # points at a time, so that the arrays stay in the cache
EDGES = 72  # cells of one step's loss
AROUND = np.geomspace(0.15, 5.0, 11)  # orders tried, over 2 log(1/delta) / eps


@dataclass(frozen=True)
class Sampled:
    """One release at many points, arrays of one shape; the record is picked once at most (sampled_gaussian.NoisySum).

    On cells the numbers are upper ends, and `product` may bound steps (picked ratio)^2 better than they do.
    """

    ratio: Array
    steps: Array
    picked: Array
    filled: bool = True
    noise: Noise = "gaussian"
    product: Array | None = None

    def at(self, which: Any) -> Sampled:
        """At some of the points."""
        product = None if self.product is None else self.product[which]
        return Sampled(self.ratio[which], self.steps[which], self.picked[which], self.filled, self.noise, product)


def epsilon_above(parts: Sequence[Sampled], eps: Array, delta: Array) -> Array:
    """An upper bound on the true epsilon at delta, sharpest where it is near `eps`; infinite where nothing is known."""
    size = len(eps)
    found = np.full(size, np.inf)
    for first in range(0, size, CHUNK):
        own = slice(first, first + CHUNK)
        found[own] = _epsilon_above([p.at(own) for p in parts], eps[own], delta[own])
    return found


def _epsilon_above(parts: Sequence[Sampled], eps: Array, delta: Array) -> Array:
    orders = (2 * np.log(1 / delta) / eps)[:, None] * AROUND
    orders = np.where(orders < 1, orders, np.rint(orders))
    tail = delta * 1e-4 / sum(p.steps for p in parts)
    best = np.full(len(eps), np.inf)
    with np.errstate(all="ignore"):
        spent = [_spent(part, orders, tail) for part in parts]
        ways = [spent]
        joined = [p.product is not None and not np.all(p.picked == 1) for p in parts]
        if any(joined):
            whole = np.where(orders < 1, np.inf, 0.0)
            jointly = [
                (_spent_jointly(p, orders) + whole, 0.0 * eps) if j else None
                for p, j in zip(parts, joined, strict=True)
            ]
            ways.append([j or s for j, s in zip(jointly, spent, strict=True)])
        for way in ways:
            total, infinite = sum(t for t, _ in way), sum(i for _, i in way)
            # Canonne-Kamath-Steinke 2020, with order = alpha - 1.
            left = np.log(np.maximum(delta - infinite, 0.0))[:, None]
            found = (total - np.log1p(1 / orders) * orders - np.log1p(orders) - left) / orders * (1 + SLACK)
            best = np.minimum(best, np.where(np.isnan(found), np.inf, np.maximum(found, 0.0)).min(axis=1))
        # At a large delta the total variation may be enough by itself (Pinsker).
        apart = np.sqrt(sum(_divergence(part) for part in parts) / 2) * (1 + SLACK)
    return np.where(apart <= delta, 0.0, best)


def _divergence(part: Sampled) -> Array:
    """A bound on the mean loss of all steps: the mean of u^2 over u > 0, in the notation of _spent_jointly."""
    if part.noise != "gaussian" or not part.filled:
        return np.full(part.ratio.shape, np.inf)
    square = part.steps * (np.minimum(part.picked, 1.0) * part.ratio) ** 2
    square = square if part.product is None else np.minimum(square, part.product)
    ratio = part.ratio
    exact = (
        np.exp(ratio**2) * scipy.special.ndtr(1.5 * ratio)
        - 2 * scipy.special.ndtr(ratio / 2)
        + scipy.special.ndtr(-ratio / 2)
    )
    per_square = np.where(ratio < 1e-3, 0.5 + 2 * ratio, exact / ratio**2 * (1 + 1e-6))
    return square * np.where(part.picked == 1, 0.5, per_square)


def _spent(part: Sampled, orders: Array, tail: Array) -> tuple[Array, Array]:
    """log E e^(order loss) of all steps of a dominating pair, and the mass of infinite loss."""
    steps = part.steps
    if part.noise == "gaussian" and np.all(part.picked == 1):
        square = part.steps * part.ratio**2 if part.product is None else np.minimum(steps * part.ratio**2, part.product)
        return orders * (orders + 1) * square[:, None] / 2, np.zeros(len(tail))
    ratio, picked = part.ratio, np.minimum(part.picked, 1.0)
    far = ratio - scipy.special.ndtri_exp(np.log(tail)) if part.noise == "gaussian" else ratio
    most = ratio * far - ratio**2 / 2 if part.noise == "gaussian" else ratio
    top = np.minimum(np.logaddexp(np.log1p(-picked), np.log(picked) + most), FARTHEST)
    edges = _from_zero(1e-2 * picked * np.minimum(1.0, ratio), top)
    above_a, above_b = _tails(part, edges)
    in_a, in_b = -np.diff(above_a), -np.diff(above_b)
    low, high = edges[:, :-1], edges[:, 1:]
    up, near = _upwards(in_a, in_b, low, high), _upwards(in_b, in_a, -high, -low)
    right, left = np.zeros(edges.shape), np.zeros(edges.shape)
    right[:, 1:] += up
    right[:, :-1] += in_a - up
    left[:, :-1] += near
    left[:, 1:] += in_b - near
    right[:, 0] += np.maximum(0.0, 1 - above_a[:, 0] - above_b[:, 0])
    at_top = np.minimum(above_a[:, -1], above_b[:, -1] * np.exp(edges[:, -1]))
    right[:, -1] += at_top
    left[:, -1] += above_b[:, -1]
    powers = orders[:, :, None] * edges[:, None, :]
    highest = powers[:, :, -1:]
    moments = np.einsum("noe,ne->no", np.exp(powers - highest), right)
    moments += np.einsum("noe,ne->no", np.exp(-powers - highest), left)
    logs = highest[:, :, 0] + np.log(moments) + 64 * UNIT  # the rounding of a number near 1, many times
    return steps[:, None] * logs, steps * (above_a[:, -1] - at_top)


def _from_zero(least: Array, top: Array) -> Array:
    """0 and a geometric grid, one row for each point."""
    grid = least[:, None] * (np.maximum(top, 2 * least) / least)[:, None] ** np.linspace(0, 1, EDGES)
    return np.concatenate([np.zeros((len(grid), 1)), grid], axis=1)


def _spent_jointly(part: Sampled, orders: Array) -> Array:
    """A bound on log E e^(order loss) of all steps by `product`, for whole orders a - 1 and Gaussian noise.

    With u = picked v and v = e^(ratio x - ratio^2/2) - 1, x standard normal, a step adds at most the mean over v > 0 of
    (1+u)^a - 1 - a u + a(a-1) u^2/2. That mean over (picked ratio)^2 rises with picked (the coefficients of a power
    series in u, from u^2 on, are positive) and with ratio (v is a geometric Brownian motion at time ratio^2, and the
    mean of a series in v > 0 is convex in that time). So the ends of a cell bound it, times `product`.
    """
    ratio, picked = part.ratio[:, None], np.minimum(part.picked, 1.0)[:, None]
    a = orders[:, None, :] + 1
    most = orders[:, -1:] + 1
    last = most * ratio + 9.0
    x = ratio / 2 + _from_zero(np.minimum(0.02, last[:, 0] / 100), (last - ratio / 2)[:, 0])
    v = np.expm1(ratio * x - ratio**2 / 2)
    in_b, in_shifted = -np.diff(scipy.special.ndtr(-x)), -np.diff(scipy.special.ndtr(ratio - x))
    mean = np.where(in_b > 0, in_shifted / in_b - 1, v[:, 1:])
    up = np.clip((mean - v[:, :-1]) / np.diff(v) + 1e-9, 0.0, 1.0)
    weights = np.zeros(x.shape)
    weights[:, 1:] += in_b * up
    weights[:, :-1] += in_b * (1 - up)
    u = (picked * v)[:, :, None]
    plain = np.expm1(a * np.log1p(u)) - a * u
    # Near 0 the difference loses its digits, and Taylor's remainder is as good.
    taylor = a * (a - 1) / 2 * u**2 * np.exp(np.maximum(a - 2, 0) * np.log1p(u))
    series = np.where(a * u < 1e-3, taylor, plain) + a * (a - 1) / 2 * u**2
    mean_series = np.einsum("nxo,nx->no", series, weights)
    beyond = 2 * np.exp(
        a * (a - 1) / 2 * ratio[:, :, None] ** 2 + scipy.special.log_ndtr(a * ratio[:, :, None] - last[:, :, None])
    )
    per_square = (mean_series + beyond[:, 0]) / (picked * ratio) ** 2 * (1 + 1e-6)
    assert part.product is not None
    return part.product[:, None] * per_square


def _tails(part: Sampled, loss: Array) -> tuple[Array, Array]:
    """P(L > loss) under both laws of the pair, as in sampled_gaussian."""
    ratio, picked = part.ratio[:, None], np.minimum(part.picked, 1.0)[:, None]
    if part.noise == "gaussian" and not part.filled:
        half = ratio / 2
        pull = np.exp(np.minimum(np.log((1 - picked) / picked) + half**2 / 2, FARTHEST))
        x = (loss / 2 + np.arcsinh(pull * np.sinh(loss / 2))) / half
        both = (1 - picked) * scipy.special.ndtr(-x)
        return both + picked * scipy.special.ndtr(half - x), both + picked * scipy.special.ndtr(-half - x)
    inner = np.log1p(np.expm1(loss) / picked)
    if part.noise == "gaussian":
        x = inner / ratio + ratio / 2
        in_b, in_a = scipy.special.ndtr(-x), scipy.special.ndtr(ratio - x)
    else:  # for losses >= 0 the noise lies above 0
        in_b = np.where(inner >= ratio, 0.0, np.exp(-np.maximum((inner + ratio) / 2, 0.0)) / 2)
        in_a = np.where(inner >= ratio, 0.0, 1 - np.exp((inner - ratio) / 2) / 2)
    return (1 - picked) * in_b + picked * in_a, in_b


def _upwards(in_p: Array, in_q: Array, low: Array, high: Array) -> Array:
    """How much of each cell goes to its upper end (sampled_gaussian._split)."""
    scale = -np.expm1(low - high)
    return np.clip((in_p - in_q * np.exp(low)) / scale + 8 * UNIT * in_p / scale, 0.0, in_p)


def epsilon_below(part: Sampled, delta: Array, alone: bool) -> Array:
    """A lower bound: an attacker who looks at the largest of all outputs, or at their sum.

    `alone` says that one of the two laws is noise alone; otherwise they shift by half the ratio either way.
    """
    shift = part.ratio if alone else part.ratio / 2
    with np.errstate(all="ignore"):
        best = _by_largest(part, shift, delta, alone)
        if part.noise == "gaussian":
            best = np.maximum(best, _by_sum(part, shift, delta))
    return best


def _by_largest(part: Sampled, shift: Array, delta: Array, alone: bool) -> Array:
    """Strong where the noise is small and the record is picked a few times."""
    picked, up = part.picked[:, None], shift[:, None]
    size = len(delta)
    t = np.concatenate([np.broadcast_to(np.linspace(0, 9, 37), (size, 37)), up + np.linspace(-4, 6, 41)], axis=1)
    over = [(1 - picked) * _beyond(t, part) + picked * _beyond(t - s, part) for s in (up, 0 * up if alone else -up)]
    seen = [-np.expm1(part.steps[:, None] * np.log1p(-share)) for share in over]
    gain = np.log(seen[0] * (1 - 1e-9) - delta[:, None]) - np.log(np.maximum(seen[1] * (1 + 1e-9), 1e-300))
    return np.maximum(np.where(np.isnan(gain), 0.0, gain).max(axis=1), 0.0)


def _by_sum(part: Sampled, shift: Array, delta: Array) -> Array:
    """Strong where it is picked many times: the sum shifts by at least `often` times the shift with a known chance."""
    steps, picked = part.steps[:, None], np.minimum(part.picked, 1.0)[:, None]
    spread = np.sqrt(steps * picked * (1 - picked))
    often = np.clip(np.ceil(steps * picked + spread * np.linspace(-4, 1, 6)), 1.0, steps)
    chance = np.where(picked == 1, 1.0, scipy.special.betainc(often, steps - often + 1, picked)) * (1 - 1e-6)
    moved = (shift[:, None] * often / np.sqrt(steps))[:, :, None]
    t = moved + np.linspace(-6, 3, 28)
    seen = chance[:, :, None] * scipy.special.ndtr(moved - t) * (1 - 1e-9)
    gain = np.log(seen - delta[:, None, None]) - scipy.special.log_ndtr(-t)
    return np.maximum(np.where(np.isnan(gain), 0.0, gain).max(axis=(1, 2)) * (1 - 1e-9), 0.0)


def _beyond(x: Any, part: Sampled) -> Any:
    if part.noise == "gaussian":
        return scipy.special.ndtr(-x)
    return np.where(x > 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)
