"""Draws whose law is exact, by integer arithmetic alone: what delta = 0 needs.

The tail of a double's logarithm misses numbers: one dataset attains some that its neighbour cannot, in about 2e-7 of
all draws of Laplace noise. Here uniform integers are compared with integers (Canonne, Kamath and Steinke 2020, The
Discrete Gaussian for Differential Privacy, Algorithms 1 and 2), so that probabilities are those of the formulas. Where
a law has no such form, ideal real noise is rounded to whole numbers: computed from the first bits of its uniform
numbers, with a bound on the error, and from more bits wherever that leaves the rounding open (Haney, Desfontaines,
Hartman, Shrestha and Hay 2022, Precision-based attacks and interval refining).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mpmath.ctx_iv import MPIntervalContext
from numpy.typing import NDArray

from dpcheck.bounds.language.errors import InvalidInput

Whole = NDArray[np.int64]
LARGEST_SCALE = 1 << 56  # times the few dozen rounds of a flip it is still a 64-bit number
COIN = 62
LEADING, MORE = 53, 128  # bits of a uniform number: at first, and whenever they do not decide
FUNCTIONS = 2.0**-49  # of a value: more than numpy's logarithm, root, sine and cosine are off by


def flips(rng: np.random.Generator, numerators: Whole, denominator: int) -> NDArray[np.bool_]:
    """True with probability exp(-numerator/denominator) each, for numerators from 0 to the denominator.

    As long as a coin of probability x/k falls heads, k = 1, 2, ...: an odd number of rounds has probability e^-x.
    """
    odd = np.zeros(numerators.shape, bool)
    running = np.arange(numerators.size)
    left, k = numerators.ravel(), 1
    while len(running):
        if k > 100:  # of probability below 1/100!
            raise InvalidInput("rounds", k, "at most 100", "The generator is broken.")
        heads = rng.integers(0, denominator * k, size=len(running)) < left
        odd.ravel()[running[~heads]] = k % 2 == 1
        running, left, k = running[heads], left[heads], k + 1
    return odd


def ones(rng: np.random.Generator, shape: int) -> Whole:
    """How often a coin of probability exp(-1) falls heads before tails."""
    count = np.zeros(shape, np.int64)
    running = np.arange(shape)
    while len(running):
        running = running[flips(rng, np.ones(len(running), np.int64), 1)]
        count[running] += 1
    return count


def discrete_laplace(rng: np.random.Generator, scale: int, shape: Any) -> Whole:
    """Whole numbers z of probability proportional to exp(-|z| / scale), the scale being whole."""
    if not 1 <= scale <= LARGEST_SCALE:
        raise InvalidInput("scale", scale, f"a whole number from 1 to {LARGEST_SCALE}", "Use a coarser grid.")
    total = math.prod(np.atleast_1d(shape).tolist())
    found, missing = np.empty(total, np.int64), np.arange(total)
    while len(missing):
        size = rng.integers(0, scale, size=len(missing))
        taken = flips(rng, size, scale)
        size, places = size[taken], missing[taken]
        size = size + scale * ones(rng, len(size))
        minus = rng.integers(0, 2, size=len(size)).astype(bool)
        fine = ~(minus & (size == 0))  # 0 has no sign: once is enough
        found[places[fine]] = np.where(minus, -size, size)[fine]
        missing = np.concatenate([missing[~taken], places[~fine]])
    return found.reshape(shape)


def kept(rng: np.random.Generator, behind: Whole, scale: int) -> NDArray[np.bool_]:
    """True with probability exp(-behind/scale) each."""
    steps, rest = np.divmod(behind, scale)
    heads = flips(rng, rest, scale)
    # exp(-steps): as many more heads in a row, which are more than can be counted only where none is likely.
    heads[heads] = ones(rng, int(heads.sum())) >= steps[heads]
    return heads


def exponential_choice(rng: np.random.Generator, behind: Whole, scale: int) -> Whole:
    """One column a row of `behind`, (k, m), with probability proportional to exp(-behind / scale).

    By rejection: a column is drawn uniformly and kept with its probability; some column must be 0 behind.
    """
    k, m = behind.shape
    found, missing = np.empty(k, np.int64), np.arange(k)
    while len(missing):
        column = rng.integers(0, m, size=len(missing))
        heads = kept(rng, behind[missing, column], scale)
        found[missing[heads]] = column[heads]
        missing = missing[~heads]
    return found


def permute_and_flip(rng: np.random.Generator, behind: Whole, scale: int) -> Whole:
    """One column a row of `behind`, (k, m): in random order the first that is kept, with exp(-behind / scale)."""
    k, m = behind.shape
    order = rng.permuted(np.tile(np.arange(m), (k, 1)), axis=1)
    found, missing = np.empty(k, np.int64), np.arange(k)
    for place in range(m):
        column = order[missing, place]
        heads = kept(rng, behind[missing, column], scale)
        found[missing[heads]] = column[heads]
        missing = missing[~heads]
    return found


def noisy_maximum(rng: np.random.Generator, places: Whole, scale: int) -> Whole:
    """The largest of each row of `places`, (k, m), after discrete Laplace noise; the first of equal ones.

    With ties broken so, the least noise that makes a column win is a whole number, which moves by twice as much as a
    score does: the proof for reals holds word for word.
    """
    return np.asarray((places + discrete_laplace(rng, scale, places.shape)).argmax(axis=1))


def reports(rng: np.random.Generator, asked: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """1 with probability (1 + asked/scale)/2, else -1, but for `rare`."""
    rarely = rng.integers(0, 1 << COIN, size=asked.shape) < rare(asked, scale)
    return np.where(rarely, -1.0, 1.0) * np.where(asked < 0, -1.0, 1.0)


def rare(asked: NDArray[np.float64], scale: float) -> Whole:
    """How many of 2^COIN coins make the rarer report: (1 - |asked|/scale)/2 of them and a hair more.

    2^-50 is more than scale and quotient are rounded by, so that the ratio of both reports is never above e^eps.
    """
    share = np.maximum(0.0, (scale - np.abs(asked)) / (2 * scale)) * (1 + 2.0**-50) + 2.0**-50
    return np.asarray(np.minimum(0.5, share) * 2.0**COIN, np.int64)


# Rounded ideal noise ---------------------------------------------------------------------------------
def rounded_l2_laplace(rng: np.random.Generator, scale: int, trials: int, d: int) -> Whole:
    """scale * z rounded to whole numbers, (trials, d), z of density proportional to exp(-||z||_2).

    Its length is a sum of d exponential numbers, its direction that of a normal vector (Box and Muller). Added to whole
    numbers it is ideal noise that was added to them and then rounded.
    """
    if not 1 <= scale <= LARGEST_SCALE // d:
        limit = f"a whole number from 1 to {LARGEST_SCALE // d}"
        raise InvalidInput("scale", scale, limit, "Use a coarser grid.")
    pairs = (d + 1) // 2
    leading = rng.integers(0, 1 << LEADING, size=(trials, d + 2 * pairs))
    z, off = _in_doubles(leading, d)
    z *= scale
    open_ = np.abs(np.abs(z - np.rint(z)) - 0.5) <= (scale * off)[:, None] + FUNCTIONS * np.abs(z)
    with np.errstate(invalid="ignore"):
        found = np.rint(z).astype(np.int64)
    for i in np.flatnonzero(~np.isfinite(off) | open_.any(axis=1)):
        found[i] = _refined(rng, scale, [int(bits) for bits in leading[i]], d)
    return found


def _in_doubles(leading: Whole, d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """z, (k, d), from the first bits of its uniform numbers; and how far off each of its entries may be, (k,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unknown, logs = logarithms(leading[:, :d])
        length = logs.sum(axis=1)
        length_off = unknown.sum(axis=1) + (d + 1) * FUNCTIONS * length
        normal, each_off = normals(leading[:, d:])
        normal_off = np.sqrt((each_off**2).sum(axis=1))
        norm = np.linalg.norm(normal[:, :d], axis=1)
        # Two vectors at a distance e have directions at most 2e over the longer of their norms apart.
        off = length_off + length * (2 * normal_off / norm + (d + 1) * FUNCTIONS)
        return (length / norm)[:, None] * normal[:, :d], np.where(np.isfinite(off), off, np.inf)


def logarithms(leading: Whole) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of uniform numbers with these first bits, how far off they may be, and themselves times -1."""
    # Half for the bits to come, half for rounding the number; infinite at 0.
    return 1.0 / leading, -np.log((leading + 0.5) * 2.0**-LEADING)


def normals(leading: Whole) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """As many normal numbers as uniform ones, (k, 2m), by Box and Muller, and how far off each may be.

    Column j is the cosine, column m + j the sine of the turn in column m + j, times the length in column j.
    """
    sizes, turns = np.split(leading, 2, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        unknown, logs = logarithms(sizes)
        size = np.sqrt(2 * logs)
        off = 2 * (2 * unknown + FUNCTIONS * size**2) / size + 16 * FUNCTIONS * size
        turn = 2 * np.pi * (turns + 0.5) * 2.0**-LEADING
        return np.concatenate([size * np.cos(turn), size * np.sin(turn)], axis=1), np.concatenate([off, off], axis=1)


def _refined(rng: np.random.Generator, scale: int, leading: list[int], d: int) -> list[int]:
    """The same for one trial in interval arithmetic, with more bits of the same numbers until all is decided."""
    pairs, bits = (len(leading) - d) // 2, LEADING
    iv = MPIntervalContext()
    while True:
        leading = [(first << MORE) | int.from_bytes(rng.bytes(MORE // 8), "little") for first in leading]
        bits += MORE
        iv.prec = bits + 32
        u = [iv.mpf([low, low + 1]) / iv.mpf(2) ** bits for low in leading]
        if min(leading) == 0:
            continue
        length = -sum((iv.log(x) for x in u[:d]), iv.mpf(0))
        sizes = [iv.sqrt(-2 * iv.log(x)) for x in u[d : d + pairs]]
        turns = [2 * iv.pi * x for x in u[d + pairs :]]
        normal = [f(turn) * size for f in (iv.cos, iv.sin) for size, turn in zip(sizes, turns, strict=True)][:d]
        squared = sum((x**2 for x in normal), iv.mpf(0))
        if not squared.a > 0:
            continue
        z = [scale * length * x / iv.sqrt(squared) + iv.mpf(1) / 2 for x in normal]
        low, high = ([floor_of(end) for end in ends] for ends in ([x.a for x in z], [x.b for x in z]))
        if low == high:
            return low


def floor_of(end: Any) -> int:
    """Of one end of an interval, exactly: its mantissa shifted by its exponent."""
    sign, mantissa, exponent, _ = end._mpi_[0]
    whole = -int(mantissa) if sign else int(mantissa)
    return whole << exponent if exponent >= 0 else whole >> -exponent
