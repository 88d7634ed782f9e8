"""Sums of privacy losses on a grid: convolution powers by FFT, with every rounding counted.

A law of a dominating pair gives a sound upper bound on epsilon; the two laws of a real pair, a sound lower one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy  # its parts are imported on first use

from dpcheck.bounds.privacy.exact import UNIT

Array = np.ndarray
LONGEST = 1 << 20  # grid points of a sum; beyond, the caller falls back on moments
ONE_LEVEL = 1 << 16  # a longer sum is made in two levels, the second on a coarser grid
MOST_STEPS = 10**12  # beyond, roundings add up to too much
# Tilted mass that a window may leave out; it is counted as error. At epsilon it weighs e^(order (tail - epsilon)) times
# as much, thousands of times where epsilon is near 0: so it is as small as the roundings of the transform.
DROPPED = 1e-12
LEAST = 1e-280  # of e^loss times a probability: below, what its terms have lost by underflow may be all of it
HIGHEST = 600.0  # exponents are cut here, and nothing is known of a law where its own is cut
TRANSFORM = 4.0  # constant of the error bound of a fast Fourier transform, in units of log2(size) roundings


@dataclass(frozen=True)
class Losses:
    """One release's loss on the grid step * (lowest + i), released `steps` times.

    `masses` holds one law (of a dominating pair) or two (a real pair: P, and Q times e^loss, which has P's tails).
    `infinite` is the mass of infinite loss.
    """

    lowest: int
    masses: tuple[Array, ...]
    steps: int
    infinite: float = 0.0


@dataclass(frozen=True)
class Sums:
    """Laws of a sum of losses; `error[i]` bounds how far off the sum of all masses from i upwards may be.

    The second law and its errors are divided by e^scale, where their own size is beyond floats.
    """

    loss: Array
    masses: list[Array]
    errors: list[Array]
    scale: float = 0.0


@dataclass(frozen=True)
class _Tilted:
    """A law times e^(order index - log), of total about 1, from the index `first` on; `error` bounds its l1 error."""

    first: int
    mass: Array
    log: float
    error: float


def total_loss(parts: Sequence[Losses], step: float, delta: float) -> Sums | None:
    """The law of the sum over all parts and steps; None if its grid would be too long.

    Each law is tilted by e^(order index), which moves its centre to where about delta is left: the errors of the
    transform are then small against delta, not against 1.
    """
    if sum(p.steps for p in parts) > MOST_STEPS:
        return None
    laws = len(parts[0].masses)
    order = _order_at(parts, delta)
    totals = [_total([(_tilt(p.masses[i], p.lowest, order), p.steps) for p in parts], order) for i in range(laws)]
    factor = 1
    if any(t is None for t in totals):
        factor = max(2, round(math.sqrt(max(_block(p.steps) for p in parts))))
        blocks = [[_in_blocks(p, i, order, factor, step, laws) for p in parts] for i in range(laws)]
        if any(b is None for row in blocks for b in row):
            return None
        totals = [_total([pair for b in row if b for pair in b], order * factor, LONGEST) for row in blocks]
        if any(t is None for t in totals):
            return None
    found = [t for t in totals if t is not None]
    if max(t.error for t in found) > 1e-2:  # nothing useful is known
        return None
    first = min(t.first for t in found)
    last = max(t.first + len(t.mass) for t in found)
    index = np.arange(first, last)
    masses: list[Array] = []
    errors: list[Array] = []
    scale = 0.0
    for t in found:
        exponent = t.log - order * factor * index
        if masses and np.abs(exponent).max() > HIGHEST:
            scale = float(exponent[len(index) // 2])
            exponent -= scale
        back = np.exp(np.minimum(exponent, HIGHEST))
        padded = np.zeros(len(index))
        padded[t.first - first : t.first - first + len(t.mass)] = t.mass
        masses.append(padded * back)
        errors.append(np.where(exponent < HIGHEST, t.error * back, np.inf))
    return Sums(step * factor * index, masses, errors, scale)


def least_epsilon(sums: Sums, delta: float) -> float:
    """The least eps >= 0 at which the losses' hockey-stick divergence is at most delta; infinite if none is."""
    loss, mass, error = sums.loss, sums.masses[0], sums.errors[0]
    step = float(loss[1] - loss[0])
    tail, discounted = np.cumsum(mass[::-1])[::-1] + error, _discounted_tail(mass, step)
    above = np.flatnonzero(tail - discounted > delta)  # the divergence at eps = loss
    if len(above) == 0:
        return max(0.0, float(loss[0]))
    at = int(above[-1]) + 1
    if at == len(mass):
        return math.inf
    # Between two grid points the divergence is tail - discounted e^(eps - loss).
    surplus, slope = float(tail[at]) - delta, float(discounted[at])
    inside = -step if surplus <= 0 else max(-step, math.log(surplus / slope))
    return max(0.0, float(loss[at]) + inside)


def attained_epsilon(sums: Sums, delta: float) -> float:
    """max over t of log((P(loss >= t) - delta) / Q(loss >= t)), Q given times e^loss; each error against us."""
    (mass, lifted), (error, other_error) = sums.masses, sums.errors
    surplus = np.cumsum(mass[::-1])[::-1] - delta - error
    other = np.maximum(_discounted_tail(lifted, float(sums.loss[1] - sums.loss[0])), 0.0) + other_error
    useful = (surplus > 0) & (other > LEAST) & (other < math.inf)
    if not np.any(useful):
        return 0.0
    return max(0.0, float(np.max(sums.loss[useful] + np.log(surplus[useful] / other[useful]))) - sums.scale)


def _discounted_tail(mass: Array, step: float) -> Array:
    """sum over k >= t of mass[k] e^-(k - t) step, for every t."""
    return scipy.signal.lfilter([1.0], [1.0, -math.exp(-step)], mass[::-1])[::-1]


# Tilted laws -----------------------------------------------------------------------------------------


def _tilt(mass: Array, lowest: int, order: float) -> _Tilted:
    exponents = order * np.arange(lowest, lowest + len(mass))
    if abs(exponents[0]) <= HIGHEST and abs(exponents[-1]) <= HIGHEST:
        tilted = mass * np.exp(exponents)
        total = float(tilted.sum())
        return _Tilted(lowest, tilted / total, math.log(total), 0.0)
    with np.errstate(divide="ignore"):
        logs = exponents + np.log(mass)
    log = float(scipy.special.logsumexp(logs))
    return _Tilted(lowest, np.exp(np.maximum(logs - log, -HIGHEST)), log, 0.0)


def _total(terms: Sequence[tuple[_Tilted, int]], order: float, longest: int = ONE_LEVEL) -> _Tilted | None:
    """The sum's law on a ring that holds all but DROPPED of it; None if that is longer than `longest`."""
    low, high = _window([(t.mass, k) for t, k in terms], DROPPED)
    if high - low >= longest:
        return None
    size = scipy.fft.next_fast_len(high - low + 1, real=True)
    spectrum, error = np.ones(size // 2 + 1, complex), DROPPED
    roundings = 0.0
    for tilted, steps in terms:
        ring = np.bincount(np.arange(len(tilted.mass)) % size, weights=tilted.mass, minlength=size)
        spectrum *= scipy.fft.rfft(ring) ** steps
        # Each coefficient is below 1, so an error of the transform counts `steps` times, in l2 and thus in l1.
        roundings += steps * (TRANSFORM * math.log2(size + 1) * math.sqrt(float(np.square(ring).sum())) + 8)
        error += math.expm1(min(steps * tilted.error, 1.0))
    law = np.roll(scipy.fft.irfft(spectrum, size), -(low % size))
    error += roundings * UNIT * math.sqrt(size)
    log = sum(steps * t.log for t, steps in terms)
    return _Tilted(low + sum(steps * t.first for t, steps in terms), law, log, error)


def _block(steps: int) -> int:
    """How many steps the first level adds up."""
    return max(1, math.isqrt(steps))


LARGEST_EXPONENT = 700.0  # of e, in floats


def _in_blocks(
    part: Losses, law: int, order: float, factor: int, step: float, laws: int
) -> list[tuple[_Tilted, int]] | None:
    """The first level: blocks of about sqrt(steps), and the rest, on a grid coarser by `factor`."""
    one = _tilt(part.masses[law], part.lowest, order)
    size = _block(part.steps)
    many, left = divmod(part.steps, size)
    made = []
    for steps, times in ((size, many), (left, 1)):
        if steps == 0:
            continue
        block = _total([(one, steps)], order, LONGEST)
        if block is None:
            return None
        if (order + step) * factor > LARGEST_EXPONENT:
            raise OverflowError(f"weights up to e^{(order + step) * factor:.0f}")
        block = replace(block, mass=np.maximum(block.mass, 0.0))
        coarser = _shared_out(block, factor, order, step) if laws == 1 else _rounded(block, factor, order, step, law)
        made.append((coarser, times))
    return made


def _shared_out(block: _Tilted, factor: int, order: float, step: float) -> _Tilted:
    """Each mass split between the two coarse points around it so that P and Q are kept (Doroshenko et al. 2022)."""
    index = np.arange(block.first, block.first + len(block.mass))
    below, inside = np.divmod(index, factor)
    up = np.expm1(-inside * step) / math.expm1(-factor * step)
    lower = block.mass * (1 - up) * np.exp(-order * inside)
    upper = block.mass * up * np.exp(order * (factor - inside))
    return _gathered(
        block, below[0], np.concatenate([below, below + 1]), np.concatenate([lower, upper]), order * factor
    )


def _rounded(block: _Tilted, factor: int, order: float, step: float, law: int) -> _Tilted:
    """Each mass moved to the nearest coarse point: post-processing. The second law carries a factor e^loss."""
    index = np.arange(block.first, block.first + len(block.mass))
    nearest = np.floor_divide(index + factor // 2, factor)
    moved = nearest * factor - index
    weights = block.mass * np.exp(order * moved + (step * moved if law == 1 else 0.0))
    return _gathered(block, nearest[0], nearest, weights, (order + step) * factor)


def _gathered(block: _Tilted, first: int, where: Array, weights: Array, room: float) -> _Tilted:
    mass = np.bincount(where - first, weights=weights)
    total = float(mass.sum())
    error = (block.error + 8 * UNIT) * math.exp(room) / total
    return _Tilted(int(first), mass / total, block.log + math.log(total), error)


# Chernoff bounds -------------------------------------------------------------------------------------


def _order_at(parts: Sequence[Losses], delta: float) -> float:
    """The order at which Chernoff's bound on the sum's upper tail reaches delta first."""
    terms = [(p.masses[0], p.steps) for p in parts]
    orders, logs = _cumulants(terms)
    return float(orders[np.argmin((logs - math.log(delta)) / orders)])


def _cumulants(terms: Sequence[tuple[Array, int]], sign: int = 1) -> tuple[Array, Array]:
    """Orders that matter for a sum, and a bound on log E e^(sign order index) of it (indices from the laws' starts).

    Neighbouring masses are taken together at the worse end: that keeps the bound and saves most of the work.
    """
    bins = [(*_binned(mass, sign), steps) for mass, steps in terms]
    variance = sum(k * max(float(mass @ (at - mass @ at) ** 2), 1e-12) for at, mass, k in bins)
    orders = np.geomspace(1e-3, 16, 24) / math.sqrt(variance)
    logs = np.zeros(len(orders))
    for (at, mass, steps), (law, _) in zip(bins, terms, strict=True):
        powers = sign * np.multiply.outer(orders, at)
        top = powers.max(axis=1)
        mean = np.maximum(np.exp(powers - top[:, None]) @ mass, 1e-300)  # what underflows is below this
        logs += steps * (top + np.log(mean) + math.log(float(law.sum())))
    return orders, logs


def _binned(mass: Array, sign: int, bins: int = 1500) -> tuple[Array, Array]:
    """(indices, shares) of at most `bins` groups of neighbours, each at its upper end, or at its lower for sign -1."""
    width = -(-len(mass) // bins)
    starts = np.arange(0, len(mass), width)
    ends = np.minimum(starts + width, len(mass)) - 1
    shares = np.maximum(np.add.reduceat(mass, starts), 0.0)
    return (ends if sign > 0 else starts), shares / float(mass.sum())


def _window(terms: Sequence[tuple[Array, int]], dropped: float) -> tuple[int, int]:
    """Index range (from the laws' starts) outside which the sum's law has mass at most `dropped`."""
    room = math.log(2 / dropped)
    orders, logs = _cumulants(terms)
    high = float(np.min((logs + room) / orders))
    orders, logs = _cumulants(terms, -1)
    low = float(np.max((-logs - room) / orders))
    whole = sum(steps * (len(mass) - 1) for mass, steps in terms)
    return max(0, math.floor(low)), min(whole, math.ceil(high))
