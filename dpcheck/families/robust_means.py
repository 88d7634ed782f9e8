"""Robust means of heavy-tailed numbers: soft truncation, averaged over multiplicative noise (dwang20, (3.64)-(3.77)).

φ(u) = u - u³/6 up to √2 and constant beyond; what is averaged is E φ(u(1+η)), η ~ N(0, 1/κ), for u = x/s. Its closed
form subtracts numbers of size u³: from u of about 1e5 on nothing but rounding is left in doubles, and with it the bound
that privacy rests on is gone. Here it is summed where it is small, and integrated where it is not.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import special

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import floats, number
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.heavy_tail import ht_robust_mean as theory
from dpcheck.bounds.privacy.exact import gaussian_sigma
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.kernels.blocks import Seed
from dpcheck.kernels.method import Array
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.kernels.running import run
from dpcheck.solver import on_grid, warn_of_seed

ROOT2, LARGEST = math.sqrt(2), 2 * math.sqrt(2) / 3  # where φ ends, and its value there
CLEAR = 9.0  # deviations to √2 beyond which nothing of a normal law is left in doubles
WIDE = 0.35  # deviation from which on 48 nodes integrate the normal density over [-√2, √2] to 1e-15
NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)
HELD = 1 << 16  # numbers whose integrals are taken at once


def smoothed_phi(u: Array, kappa: float) -> Array:
    """E φ(u(1+η)) for η ~ N(0, 1/κ), within 1e-12 and never beyond ±2√2/3, however large u is.

    >>> smoothed_phi(np.array([0.0, 0.1, -1e300]), 4.0).round(6)
    array([ 0.      ,  0.099708, -0.899911])
    """
    size = np.abs(np.asarray(u, float))
    spread = size / math.sqrt(kappa)
    found = np.empty_like(size)
    inner = size + CLEAR * spread < ROOT2
    found[inner] = size[inner] - size[inner] ** 3 / 6 * (1 + 3 / kappa)
    middle = ~inner & (spread < WIDE)
    found[middle] = _closed_form(size[middle], spread[middle])
    outer = np.flatnonzero(~inner & ~middle)
    for first in range(0, len(outer), HELD):
        some = outer[first : first + HELD]
        found.flat[some] = _integrated(size.flat[some], spread.flat[some])
    return np.asarray(np.copysign(np.clip(found, 0, LARGEST), u))


def _closed_form(a: Array, b: Array) -> Array:
    """(3.68), for a of a few units at most."""
    b = np.maximum(b, 1e-12)
    low, high = (ROOT2 - a) / b, (ROOT2 + a) / b
    F_low, F_high = special.ndtr(-low), special.ndtr(-high)
    E_low, E_high = (np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) for x in (low, high))
    return np.asarray(
        a * (1 - b**2 / 2)
        - a**3 / 6
        + LARGEST * (F_low - F_high)
        - (a - a**3 / 6) * (F_low + F_high)
        + b * (1 - a**2 / 2) * (E_high - E_low)
        + a * b**2 / 2 * (F_high + F_low + high * E_high + low * E_low)
        + b**3 / 6 * ((2 + low**2) * E_low - (2 + high**2) * E_high)
    )


def _integrated(a: Array, b: Array) -> Array:
    """The same by quadrature, stable for any a: b is wide, and the density over [-√2, √2] nearly flat."""
    x = ROOT2 * NODES
    density = np.exp(-(((x - a[:, None]) / b[:, None]) ** 2) / 2) / (math.sqrt(2 * math.pi) * b[:, None])
    outside = special.ndtr((a - ROOT2) / b) - special.ndtr(-(a + ROOT2) / b)
    return np.asarray(density @ ((x - x**3 / 6) * WEIGHTS * ROOT2) + LARGEST * outside)


def robust_average(X: Array, scale: Any, kappa: float, axis: int = 0) -> Array:
    """s·mean E φ(x(1+η)/s) along an axis: a record moves each number of it by at most 4√2/3·s/n."""
    return np.asarray(scale * smoothed_phi(X / scale, kappa).mean(axis=axis))


# Where to truncate, from public numbers alone ----------------------------------------------------------
def printed_truncation(n: int, second_moment: float, failure: float) -> float:
    """s of Lemma 3.2.3, which knows of no noise: √(nv/(2 log(1/γ)))."""
    return math.sqrt(n * second_moment / (2 * math.log(1 / failure)))


def tuned_truncation(n: int, second_moment: float, failure: float, kappa: float, noise: float) -> float:
    """The s that makes v/(2s)·(1+1/κ) + s/n·(κ/2 + log(2/γ) + 4√2/3·noise·√(2 log(2/γ))) least.

    The first two terms bound the error of the robust mean (dwang20.lemma3.2.3.explicit), the third that of noise with
    `noise` times the sensitivity as deviation: the more noise, the earlier it pays to truncate.
    """
    tail = math.log(2 / failure)
    cost = kappa / 2 + tail + 2 * LARGEST * noise * math.sqrt(2 * tail)
    return math.sqrt(n * second_moment * (1 + 1 / kappa) / (2 * cost))


def robust_mean(
    x: Any, epsilon: float, delta: float, second_moment: Any, *, failure: float = 0.05, random_state: Any = None
) -> Any:
    """An (epsilon, delta)-private mean of numbers that may have heavy tails, given a bound on their second moment.

    `x` has one number a record, or one row. `second_moment` bounds E x² (of each column, one number or one a column);
    it is public, and a wrong one costs accuracy, never privacy: neighbours differ in one record, of any size. `failure`
    is the probability for which the truncation is chosen. One number is returned, or one a column. Noise has the
    operating system's entropy; `random_state` is for tests and warns. Raises InvalidInput on what is not finite.

    >>> import warnings; warnings.simplefilter("ignore")
    >>> x = np.random.default_rng(0).standard_t(3, size=100_000) + 5
    >>> round(robust_mean(x, 1.0, 1e-6, second_moment=30.0, random_state=0), 1)
    5.0
    """
    rows, moments = must_be_rows(x), floats("second_moment", second_moment, remedy="It bounds E x² and is public.")
    d = rows.shape[1]
    if moments.shape not in ((), (d,)) or not np.all((moments > 0) & (moments < math.inf)):
        raise InvalidInput("second_moment", second_moment, f"> 0, one number or {d}", "It bounds E x² and is public.")
    failure = number("failure", failure, "a number in (0, 1)", "Leave it out for 0.05.", lambda found: 0 < found < 1)
    limit, remedy = "above 0 and below 1, as the noise is Gaussian", "Use delta=1e-6, well below 1/n."
    delta = number("delta", delta, limit, remedy, lambda found: 0 < found < 1)
    if random_state is not None:
        warn_of_seed("random_state")
    found = noisy_means(rows, ApproxDP(epsilon, delta), np.broadcast_to(moments, d), failure, random_state, 1)[0]
    return float(found[0]) if np.ndim(x) == 1 else found


def noisy_means(rows: Array, guarantee: ApproxDP, moments: Array, failure: float, seed: Seed, trials: int) -> Array:
    """`trials` independent private means of the columns, (trials, d), each with the whole guarantee."""
    n, d = rows.shape
    kappa = 2 * math.log(2 * d / failure)
    unit = float(gaussian_sigma(guarantee.eps, guarantee.delta, 1.0)) * math.sqrt(d)
    scales = np.array([tuned_truncation(n, float(v), failure / d, kappa, unit) for v in moments])
    ask = OneAnswer(lambda data: robust_average(data / scales, 1.0, kappa), d)  # in units of the scales
    moved = float(theory.sensitivity.evaluate(s_trunc=1.0, n=n)) * math.sqrt(d)
    released = Release(moved, Gaussian(1.0)).calibrated(guarantee)  # privacy: dwang20.equation3.80.sensitivity
    noisy = run(ask, released, rows, seed=seed, trials=trials).w
    return np.asarray(on_grid(noisy, float(released.law.scale), None) * scales)


def must_be_rows(x: Any) -> Array:
    """One row a record, (n, d); refuses what has other axes or is not finite, naming no record."""
    rows = None
    with suppress(TypeError, ValueError, OverflowError):  # numpy's own message would quote what is no number
        rows = np.asarray(x, float)
    if rows is None:
        raise InvalidInput("x", type(x).__name__, "numbers", "Use np.asarray(values, float).")
    if rows.ndim not in (1, 2) or len(rows) < 2 or rows.size == 0:
        raise InvalidInput("x", f"shape {rows.shape}", "one number or one row a record, of two or more", "Add records.")
    if not np.all(np.isfinite(rows)):
        raise InvalidInput("x", "some", "finite numbers", "Replace missing values by a public number.")
    return rows.reshape(len(rows), -1)
