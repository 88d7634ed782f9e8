"""Noise on sums of random batches, many times: sound bounds on the tight epsilon from both sides.

Above: a dominating pair, its losses summed with every rounding counted. Below: an attack that is attained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import scipy  # its parts are imported on first use

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ADD_REMOVE, REPLACE_ONE, Relation
from dpcheck.bounds.privacy.batches import NoisySum as NoisySum
from dpcheck.bounds.privacy.batches import every_record as every_record
from dpcheck.bounds.privacy.batches import poisson as poisson
from dpcheck.bounds.privacy.batches import with_replacement as with_replacement
from dpcheck.bounds.privacy.batches import without_replacement as without_replacement
from dpcheck.bounds.privacy.exact import (
    SLACK,
    UNIT,
    Interval,
    amplified_epsilon,
    fraction,
    gaussian_epsilon,
    gaussian_mu,
    positive,
)
from dpcheck.bounds.privacy.loss_pairs import attacked, dominating, highest_loss, pairs, spotted, symmetric
from dpcheck.bounds.privacy.loss_sums import attained_epsilon, least_epsilon, total_loss

Array = np.ndarray
FARTHEST = 600.0  # losses above count as infinite
MARGIN = 6.0  # losses this far above epsilon may count as infinite: they add e^-6 of themselves to delta
FINEST = 1 << 15  # cells of one step's loss, at most
TAIL = 1e-7  # mass beyond the grid, relative to delta


@lru_cache(maxsize=4096)
def epsilon_bounds(
    releases: tuple[NoisySum, ...], delta: float, relation: Relation = REPLACE_ONE, tolerance: float = 5e-4
) -> Interval:
    """Sound bounds of the tight epsilon at `delta` of all `releases` together, adaptively chosen.

    `tolerance` is about what discretising may add to epsilon, relative.

    >>> bounds = epsilon_bounds((without_replacement(0.5, 50, batch=10, n=100),), 1e-5)
    >>> 0 < bounds.low <= bounds.high < 1.2 * bounds.low
    True
    """
    return Interval(
        epsilon_low(releases, delta, relation, tolerance), epsilon_high(releases, delta, relation, tolerance)
    )


def epsilon_low(releases: tuple[NoisySum, ...], delta: float, relation: Relation, tolerance: float = 5e-4) -> float:
    """The lower one alone."""
    delta, releases = float(fraction("delta", delta)), _supported(releases, relation)
    known = _known(releases, delta)
    return attained(releases, delta, relation, tolerance) if known is None else known.low


def epsilon_high(releases: tuple[NoisySum, ...], delta: float, relation: Relation, tolerance: float = 5e-4) -> float:
    """The upper one alone; infinity where the noise is so small that the losses leave the range of floats."""
    delta, releases = float(fraction("delta", delta)), _supported(releases, relation)
    known = _known(releases, delta)
    try:
        return sound(releases, delta, relation, tolerance) if known is None else known.high
    except OverflowError:
        return math.inf


def subsampled_gaussian_epsilon(
    noise_multiplier: float, n: int, batch: int, steps: int, delta: float, tolerance: float = 5e-4
) -> Interval:
    """Sound bounds of the tight epsilon, replace-one neighbours.

    Each step adds N(0, (noise_multiplier L)^2) to the sum of `batch` of `n` records drawn without
    replacement, each of norm at most L.

    >>> bounds = subsampled_gaussian_epsilon(4.0, n=100, batch=10, steps=50, delta=1e-5)
    >>> 0 < bounds.low <= bounds.high < 1.2 * bounds.low
    True
    """
    release = without_replacement(2 / float(positive("noise_multiplier", noise_multiplier)), steps, batch, n)
    return epsilon_bounds((release,), delta, tolerance=tolerance)


def subsampled_gaussian_noise(eps: float, delta: float, n: int, batch: int, steps: int) -> float:
    """The least noise multiplier (to 1e-4) whose upper bound on epsilon is at most `eps`.

    >>> noise = subsampled_gaussian_noise(1.0, 1e-5, n=100, batch=10, steps=50)
    >>> subsampled_gaussian_epsilon(noise, 100, 10, 50, 1e-5).high <= 1.0
    True
    """
    return 2 * least_factor((without_replacement(1.0, steps, batch, n),), eps, delta)


@lru_cache(maxsize=1024)
def least_factor(
    releases: tuple[NoisySum, ...], eps: float, delta: float, relation: Relation = REPLACE_ONE, tolerance: float = 5e-4
) -> float:
    """The least factor (to 1e-4) on all noise whose upper bound on epsilon is at most `eps`."""
    target, delta, plain = float(positive("eps", eps)), float(fraction("delta", delta)), _supported(releases, relation)
    mu = _plain_gaussian(plain)
    if mu is not None:
        return mu / float(gaussian_mu(target, delta)) * (1 + SLACK)

    def excess(factor: float) -> float:
        return epsilon_high(with_noise_times(releases, factor), delta, relation, tolerance) / target - 1

    return crossing(excess)[1]


def crossing(excess: Callable[[float], float], start: float = 1.0, accuracy: float = 1e-4) -> tuple[float, float]:
    """Where a falling function of a positive number reaches 0: a number before (above 0) and one behind (at most 0)."""
    low = high = start
    while excess(high) > 0:
        low, high = high, 4 * high
        if high > 1e30:
            return low, math.inf
    while low == high or excess(low) <= 0:
        low, high = low / 4, low
        if low < 1e-30:
            return 0.0, high

    def cut(log: float) -> float:
        return min(excess(math.exp(log)), 10.0)

    root = float(scipy.optimize.brentq(cut, math.log(low), math.log(high), xtol=accuracy / 5))
    before, behind = (math.exp(root + sign * accuracy / 5) for sign in (-1, 1))
    while excess(behind) > 0:
        behind *= 1 + accuracy / 2
    while excess(before) <= 0:
        before /= 1 + accuracy / 2
    return before, behind


def with_noise_times(releases: Sequence[NoisySum], factor: float) -> tuple[NoisySum, ...]:
    """The same with all noise multiplied."""
    return tuple(replace(r, ratio=r.ratio / factor) for r in releases)


def _supported(releases: tuple[NoisySum, ...], relation: Relation) -> tuple[NoisySum, ...]:
    """Refuse what no pair is known for. Added or removed, a record shifts an empty Poisson batch in full."""
    if relation == REPLACE_ONE:
        return releases
    if relation != ADD_REMOVE:
        raise InvalidInput("relation", str(relation), "replace-one or add/remove-one", "Convert the guarantee.")
    if any(r.sampled and r.filled for r in releases):
        remedy = "Use Poisson sampling, or replace-one neighbours."
        raise InvalidInput("sampling", "batches of fixed size", "Poisson under add/remove-one", remedy)
    return tuple(replace(r, filled=True) for r in releases)


# Closed forms ----------------------------------------------------------------------------------------


def _known(releases: tuple[NoisySum, ...], delta: float) -> Interval | None:
    """Gaussian sums of all records; one step of either noise, sampled once (Balle-Barthe-Gaboardi 2018)."""
    mu = _plain_gaussian(releases)
    if mu is not None:
        if mu > FARTHEST:  # the closed form would round to its end
            return Interval(mu * (mu / 2 - 40), math.inf)
        return _around(lambda d: float(gaussian_epsilon(d, mu)), delta)
    only = releases[0]
    if len(releases) > 1 or only.steps > 1 or len(only.picks) > 2 or not only.filled:
        return None
    q = only.picks[1]
    if delta >= q:
        return Interval(0.0, 0.0)
    full = gaussian_epsilon if only.noise == "gaussian" else laplace_epsilon
    if only.ratio > FARTHEST:
        return None
    return _around(lambda d: 0.0 if d >= q else float(amplified_epsilon(full(d / q, only.ratio), q)), delta)


def _plain_gaussian(releases: Sequence[NoisySum]) -> float | None:
    """Total sensitivity over noise if all is Gaussian and every record is in every sum."""
    if any(r.noise != "gaussian" or r.sampled or len(r.picks) > 2 for r in releases):
        return None
    return math.sqrt(sum(r.steps * r.ratio**2 for r in releases))


def laplace_epsilon(delta: float, ratio: float) -> float:
    """The least eps of one Laplace release, sensitivity / scale = ratio."""
    return max(0.0, ratio + 2 * math.log1p(-delta))


def _around(epsilon: Callable[[float], float], delta: float) -> Interval:
    """What a closed form says, with room for its rounding on both sides."""
    return Interval(epsilon(min(delta * (1 + 4 * SLACK), 1 - UNIT)) * (1 - SLACK), epsilon(delta) * (1 + SLACK))


# Bounds on a grid ------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def sound(releases: tuple[NoisySum, ...], delta: float, relation: Relation, tolerance: float = 5e-4) -> float:
    """Upper bound: the losses of a dominating pair; their moments where the sum loses its digits.

    The pair is exact for one step; composed, a few percent may be lost (Lebeda et al. 2024).
    """
    rough, order = moments_epsilon(releases, delta)
    if not math.isfinite(rough) or rough == 0:
        return rough
    found = _summed(releases, delta, relation, _grid(releases, delta, rough, order, tolerance))
    if 0 < found < rough / 2:  # moments misjudged it, so the grid was too coarse
        finer = _grid(releases, delta, found, order * rough / found, tolerance)
        found = min(found, _summed(releases, delta, relation, finer))
    return min(found, rough)


def _summed(releases: Sequence[NoisySum], delta: float, relation: Relation, grid: tuple[float, float]) -> float:
    step, top = grid
    found = []
    for forward in (True, False) if relation == ADD_REMOVE else (None,):
        parts = [dominating(r, step, top, forward) for r in releases]
        sums = total_loss(parts, step, delta)
        certain = -math.expm1(sum(p.steps * math.log1p(-p.infinite) for p in parts))
        found.append(math.inf if sums is None else least_epsilon(sums, delta - certain))
    return max(found)


@lru_cache(maxsize=4096)
def attained(releases: tuple[NoisySum, ...], delta: float, relation: Relation, tolerance: float = 5e-4) -> float:
    """Lower bound: an attacker who adds up the rounded losses of a real pair of datasets.

    Rounding is post-processing, so the two exact laws of the sum bound epsilon from below whatever the grid.
    """
    rough, order = moments_epsilon(releases, delta)
    rough = min(rough, FARTHEST)
    if rough == 0:
        return 0.0
    best = max(spotted(r, *pair(r), delta) for pair in pairs(releases, relation) for r in releases)
    try:
        step, top = _grid(releases, delta, rough, order, tolerance / 4)
        for pair in pairs(releases, relation):
            sums = total_loss([attacked(r, *pair(r), step, top) for r in releases], step, delta)
            best = best if sums is None else max(best, attained_epsilon(sums, delta))
    except (OverflowError, ZeroDivisionError):  # so little noise that sums leave the range of floats
        return best  # what the largest output shows
    return best


def _grid(
    releases: Sequence[NoisySum], delta: float, rough: float, order: float, tolerance: float
) -> tuple[float, float]:
    """Width of a cell and the largest loss kept.

    Splitting a loss between the ends of its cell adds at most |loss| width and width^2/4 to its variance; variance
    v of the sum adds about order v/2 to epsilon.
    """
    steps = sum(r.steps for r in releases)
    top = min(rough + MARGIN, FARTHEST, max(highest_loss(r, _per_step(delta, steps)) for r in releases))
    first = sum(r.steps * _mean_loss(r, delta, steps, rough) for r in releases)
    variance = 2 * tolerance * rough / order
    width = max(variance / first, 2 * math.sqrt(variance / steps))
    return max(min(width, rough / 16, 0.1), top / FINEST), top


def _mean_loss(release: NoisySum, delta: float, steps: int, most: float) -> float:
    """The mean of one step's absolute loss, cut at `most`."""
    loss, mass, _ = _uneven(replace(release, steps=1), _per_step(delta, steps))
    return float(mass @ np.minimum(np.abs(loss), most))


def _per_step(delta: float, steps: int) -> float:
    """The mass that one step's grid may leave out, rounded so that nearby calls share their laws."""
    return 10.0 ** math.floor(math.log10(delta * TAIL / steps))


ORDERS = np.geomspace(1e-3, 1e5, 128)


def moments_epsilon(releases: Sequence[NoisySum], delta: float) -> tuple[float, float]:
    """Upper bound from the moments of the dominating losses, and the order that gives it (Renyi accounting)."""
    tail = _per_step(delta, sum(r.steps for r in releases))
    total, infinite = np.zeros(len(ORDERS)), 0.0
    for release in releases:
        logs, lost = log_moments(replace(release, steps=1), tail)
        total += release.steps * (logs + 64 * UNIT)  # the rounding of a number near 1, many times
        infinite += release.steps * lost
    return best_order(total, delta - infinite)


def best_order(logs: Array, delta: float) -> tuple[float, float]:
    """The least epsilon over all orders of log E e^(order loss), and its order (Canonne-Kamath-Steinke 2020)."""
    if delta <= 0:
        return math.inf, float(ORDERS[0])
    room = np.log1p(1 / ORDERS) * ORDERS + np.log1p(ORDERS) + math.log(delta)
    found = (logs - room) / ORDERS
    best = int(np.argmin(found))
    return max(0.0, float(found[best])), float(ORDERS[best])


@lru_cache(maxsize=8192)
def log_moments(one_step: NoisySum, tail: float) -> tuple[Array, float]:
    """log E e^(order loss) of one step's dominating pair at each of ORDERS, and the mass of infinite loss."""
    loss, mass, infinite = _uneven(one_step, tail)
    useful = mass > 0
    powers = np.multiply.outer(ORDERS, loss[useful])
    return scipy.special.logsumexp(powers, axis=1, b=mass[useful]), infinite


@lru_cache(maxsize=256)
def _uneven(one_step: NoisySum, tail: float) -> tuple[Array, Array, float]:
    """The dominating losses on a geometric grid: (losses, masses, mass of infinite loss)."""
    release = one_step
    top = min(highest_loss(release, tail), FARTHEST)
    least = 1e-3 * (1 - release.picks[0]) * min(1.0, release.ratio)
    edges = np.concatenate([[0.0], np.geomspace(least, max(top, 2 * least), 360)])
    right, left, infinite = symmetric(release, edges)
    return np.concatenate([-edges[::-1], edges]), np.concatenate([left[::-1], right]), infinite
