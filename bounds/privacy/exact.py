"""Exact accountants of one release and of compositions, and the loose textbook ones that papers use.

What is exact is rounded to the safe side; what is not is an Interval with a sound bound on each side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy  # its parts are imported on first use

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import floats, whole
from dpcheck.bounds.language.guarantees import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    RenyiDP,
    gaussian_delta,
    smallest_epsilon,
)

Array = np.ndarray
Pair = Callable[[float, float, float, float], tuple[int, Array, Array]]
FAR = 40.0  # the normal tail beyond this many deviations is below the least positive double
UNIT = np.finfo(float).eps
# Beyond, doubles do not tell one profile from another: refused.
EPSILONS, DELTAS, MUS = (1e-100, 1e8), (1e-300, math.nextafter(1.0, 0.0)), (1e-100, 1e4)
SLACK = 1e-9  # relative room for rounding in every comparison of a computed delta with a stated one


@dataclass(frozen=True)
class Interval:
    """Sound bounds of a number: low <= truth <= high."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


# ---------------------------------------------------------------- one release


def gaussian_mu(eps: Any, delta: Any) -> Any:
    """The largest sensitivity / noise that keeps (eps, delta), exact and rounded down (vectorised).

    >>> round(gaussian_mu(1.0, 1e-5), 6)
    0.268051
    """
    eps, delta = np.broadcast_arrays(within("eps", eps, EPSILONS), within("delta", delta, DELTAS))
    # At these ends eps/mu - mu/2 is +-FAR, so that the exact delta rounds to 0 and to 1.
    root = np.sqrt(FAR**2 + 2 * eps)
    low, high = 2 * eps / (root + FAR), root + FAR
    for i in range(160):  # first by orders of magnitude, where there are many
        middle = np.where((i < 80) & (low < high / 1e9), np.sqrt(low) * np.sqrt(high), (low + high) / 2)
        keeps = gaussian_delta(eps, middle) * (1 + SLACK) <= delta
        low, high = np.where(keeps, middle, low), np.where(keeps, high, middle)
        if np.all((low + high) / 2 == low):
            break
    return _plain(low)


def gaussian_sigma(eps: Any, delta: Any, sensitivity: float = 1.0) -> Any:
    """The least Gaussian noise that is (eps, delta)-DP, exact (Balle-Wang 2018), rounded up (vectorised).

    >>> round(gaussian_sigma(1.0, 1e-5), 5)
    3.73063
    """
    return _plain(np.nextafter(positive("sensitivity", sensitivity) / gaussian_mu(eps, delta), np.inf))


def gaussian_sigma_classical(eps: Any, delta: Any, sensitivity: float = 1.0) -> Any:
    """sqrt(2 log(1.25/delta)) sensitivity / eps (Dwork-Roth 2014, A.1): proved for eps < 1 only."""
    noise = np.sqrt(2 * np.log(1.25 / fraction("delta", delta))) / positive("eps", eps)
    return _plain(positive("sensitivity", sensitivity) * noise)


def gaussian_epsilon(delta: Any, mu: Any) -> Any:
    """The least eps >= 0 at which sensitivity / noise = mu is (eps, delta)-DP, rounded up (vectorised)."""
    delta, mu = np.broadcast_arrays(within("delta", delta, DELTAS), within("mu", mu, MUS))
    low, high = np.zeros(mu.shape), mu * (mu / 2 + FAR)
    for _ in range(80):
        middle = (low + high) / 2
        keeps = gaussian_delta(middle, mu) * (1 + SLACK) <= delta
        low, high = np.where(keeps, low, middle), np.where(keeps, middle, high)
    return _plain(np.where(gaussian_delta(0.0, mu) <= delta, 0.0, high))


def laplace_delta(eps: Any, ratio: Any) -> Any:
    """Exact profile of Laplace noise in one dimension, sensitivity / scale = ratio (vectorised).

    >>> round(laplace_delta(0.5, 1.0), 6)
    0.221199
    """
    eps, ratio = np.asarray(eps, float), positive("ratio", ratio)
    inside = -np.expm1((np.minimum(eps, ratio) - ratio) / 2)
    return _plain(np.where(eps < -ratio, -np.expm1(np.minimum(eps, 0.0)), inside))


# ---------------------------------------------------------------- calibration


@lru_cache(maxsize=1024)
def least_noise(guarantee: Guarantee, *, steps: int = 1) -> float:
    """The least certified noise deviation, per unit of l2 sensitivity of one step, that gives `guarantee`.

    `steps` adaptive Gaussian releases of all records, the whole transcript seen; for sampled ones see release.py.

    >>> round(least_noise(ApproxDP(1.0, 1e-5), steps=100), 4)
    37.3063
    >>> round(least_noise(ZCDP(0.5), steps=4), 6)
    2.0
    """
    return float(np.nextafter(math.sqrt(counted("steps", steps)) / _full_batch_mu(guarantee), np.inf))


def _full_batch_mu(guarantee: Guarantee) -> float:
    """The largest total sensitivity / noise that keeps the guarantee."""
    if isinstance(guarantee, ApproxDP):
        return float(gaussian_mu(guarantee.eps, guarantee.delta))
    if isinstance(guarantee, ZCDP):
        return math.sqrt(2 * guarantee.rho)
    if isinstance(guarantee, RenyiDP):
        return math.sqrt(2 * float(positive("eps", guarantee.eps)) / guarantee.alpha)
    if isinstance(guarantee, GaussianDP):
        return float(guarantee.mu)
    limit = "ApproxDP, ZCDP, RenyiDP or GaussianDP"
    raise InvalidInput("guarantee", str(guarantee), limit, "Gaussian noise gives no pure DP; use Laplace noise.")


# ---------------------------------------------------------------- textbook composition and sampling


def strong_composition(eps: float, steps: int, slack: float) -> float:
    """eps' of `steps` eps-DP releases at an extra delta of `slack` (Dwork-Rothblum-Vadhan 2010)."""
    eps, slack = float(positive("eps", eps)), float(fraction("slack", slack))
    steps = counted("steps", steps)
    return math.sqrt(2 * steps * math.log(1 / slack)) * eps + steps * eps * math.expm1(eps)


def amplified_epsilon(eps: Any, q: Any) -> Any:
    """log(1 + q (e^eps - 1)): eps after sampling a fraction q without replacement, replace-one neighbours."""
    eps, q = np.asarray(eps, float), np.asarray(q, float)
    if not (np.all(eps >= 0) and np.all((q > 0) & (q <= 1))):
        raise InvalidInput("(eps, q)", (eps, q), "eps >= 0 and 0 < q <= 1", "q is batch / n.")
    # By its logarithm where e^eps would overflow.
    large = np.logaddexp(0.0, np.log(q) + eps + np.log1p(-np.exp(-np.maximum(eps, 1.0))))
    return _plain(np.where(eps > 1, large, np.log1p(q * np.expm1(np.minimum(eps, 1.0)))))


@dataclass(frozen=True)
class Composition:
    """`steps` adaptive releases, each (eps, delta)-DP: exact, attained (Kairouz-Oh-Viswanath 2015, Thm 3.3)."""

    eps: float
    delta: float
    steps: int

    def profile(self, at: Any) -> Any:
        """The least total delta at each total epsilon (vectorised)."""
        at = np.asarray(at, float)[..., None]
        lost = np.arange(self.steps + 1)
        choose = scipy.special.gammaln(self.steps + 1) - scipy.special.gammaln(lost + 1)
        log_mass = choose - scipy.special.gammaln(self.steps - lost + 1) - lost * self.eps
        log_mass = log_mass + self.steps * scipy.special.log_expit(self.eps)
        loss = (self.steps - 2 * lost) * self.eps
        hockey = (np.exp(log_mass) * -np.expm1(np.minimum(at - loss, 0.0))).sum(axis=-1)
        with np.errstate(divide="ignore"):  # a hockey stick of 1 leaves nothing
            return _plain(-np.expm1(self.steps * math.log1p(-self.delta) + np.log1p(-np.minimum(hockey, 1.0))))

    def epsilon(self, delta: float) -> float:
        """The least total epsilon at a total delta; infinite below 1 - (1 - delta)^steps."""
        target = float(fraction("delta", delta))
        return smallest_epsilon(lambda at: float(self.profile(at)), target)


def optimal_composition(eps: float, delta: float, steps: int) -> Composition:
    """The exact composition of `steps` (eps, delta)-DP releases: ask it for profile(at) or epsilon(delta).

    >>> round(optimal_composition(0.1, 0.0, 100).epsilon(1e-5), 4) < strong_composition(0.1, 100, 1e-5)
    True
    """
    if not 0 <= delta < 1:
        raise InvalidInput("delta", delta, "a number in [0, 1)", "Use 0 for pure DP.")
    return Composition(float(positive("eps", eps)), float(delta), counted("steps", steps))


# ---------------------------------------------------------------- input


def positive(name: str, value: Any) -> Array:
    """The value as floats, all finite and > 0."""
    array = floats(name, value, "a finite number > 0")
    if not np.all((array > 0) & np.isfinite(array)):
        raise InvalidInput(name, value, "a finite number > 0", f"Give another {name}.")
    return array


def fraction(name: str, value: Any) -> Array:
    """The value as floats, all strictly between 0 and 1."""
    array = floats(name, value, "a number in (0, 1)", "Use 1e-5 for example.")
    if not np.all((array > 0) & (array < 1)):
        raise InvalidInput(name, value, "a number in (0, 1)", "Use 1e-5 for example.")
    return array


def within(name: str, value: Any, ends: tuple[float, float]) -> Array:
    """The value as floats, all between these ends."""
    array = fraction(name, value) if ends[1] < 1 else positive(name, value)
    if not np.all((array >= ends[0]) & (array <= ends[1])):
        limit = f"between {ends[0]:g} and {ends[1]:g}, where profiles are certified"
        raise InvalidInput(name, value, limit, f"Give another {name}.")
    return array


def counted(name: str, value: Any) -> int:
    """The value as a whole number >= 1."""
    return whole(name, value, "an integer >= 1", f"Give another {name}.")


def _plain(array: Any) -> Any:
    """A float for a scalar, else the array."""
    array = np.asarray(array, float)
    return float(array) if array.ndim == 0 else array
