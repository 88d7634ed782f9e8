"""Selections: the probability of each outcome on both datasets, and what these lose.

The largest of noisy scores is a selection whose probabilities are one integral each; with Gumbel noise they are those
of the exponential mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from dpcheck.audits.same_noise.noisy_values import Selection
from dpcheck.audits.same_noise.responses import Units, response
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP

MOST = 300  # that are selected from
ADD_UP = 1e-7  # log of what the probabilities add up to
ENDS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 14.0, 22.0, 32.0, 45.0)  # of pieces, in units of noise; nothing counts beyond
NODES, SHARES = np.polynomial.legendre.leggauss(10)
FREE = 600
Log = Callable[[np.ndarray], np.ndarray]


def _log_laplace_cdf(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, np.minimum(x, 0) - math.log(2), np.log1p(-np.exp(-np.maximum(x, 0)) / 2))


LAWS: dict[str, tuple[Log, Log]] = {  # log density and log distribution function of a unit
    "Laplace": (lambda x: -np.abs(x) - math.log(2), _log_laplace_cdf),
    "Gaussian": (lambda x: -x * x / 2 - math.log(2 * math.pi) / 2, special.log_ndtr),
    "Gumbel": (lambda x: -x - np.exp(-np.maximum(x, -700)), lambda x: -np.exp(-np.maximum(x, -700))),
    "logistic": (lambda x: special.log_expit(x) + special.log_expit(-x), special.log_expit),
}


def log_weights(selection: Selection, units: Units, used: set[int]) -> np.ndarray | None:
    """Log probability of each outcome; None where it is not known. `used` collects the units behind it.

    Noise that hides something else as well says no more than that it is used twice: None.
    """
    if selection.weights is not None:
        with np.errstate(divide="ignore"):
            return np.log(selection.weights / selection.weights.sum())
    scores = selection.scores
    assert scores is not None
    found = response(lambda move: np.asarray(scores.again(units.moved(move)), float), scores.value, units, FREE)
    if found is None or len(scores.value) > MOST or sorted(found.row.tolist()) != [*range(len(scores.value))]:
        return None
    order = np.argsort(found.row)
    unit, slope = found.unit[order], found.slope[order]
    laws = {str(law) for law in found.laws[unit]}
    if len({*unit.tolist()}) < len(unit) or used & {*unit.tolist()} or len(laws) != 1 or not laws <= {*LAWS}:
        return None
    if np.any(units.uniform()) or ("Gumbel" in laws and np.any(slope < 0)):
        return None
    used |= {*unit.tolist()}
    base, scale = scores.value - slope * units.values[unit], np.abs(slope)
    if laws == {"Gumbel"} and np.ptp(scale) <= 1e-9 * scale.max():
        return np.asarray(base / scale - special.logsumexp(base / scale))
    weights = _largest(base, scale, *LAWS[laws.pop()])
    return weights if abs(special.logsumexp(weights)) < ADD_UP else None


def _largest(base: np.ndarray, scale: np.ndarray, density: Log, distribution: Log) -> np.ndarray:
    """Log probability that each is the largest: its density times that all others lie below.

    Between densities' kinks and tails, at the scale of each, by Gauss's rule.
    """
    ends = np.unique(base[:, None] + scale[:, None] * np.array([-e for e in ENDS if e] + [*ENDS]))
    half = np.diff(ends) / 2
    x = np.ravel(ends[:-1, None] + half[:, None] * (1 + NODES))
    share = np.ravel(half[:, None] * SHARES)
    at = (x - base[:, None]) / scale[:, None]
    below = distribution(at)
    each = density(at) - np.log(scale)[:, None] + below.sum(axis=0) - below
    return np.asarray(special.logsumexp(each, b=share, axis=1))


def losses(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> tuple[float, float]:
    """What all selections lose at delta = 0, towards the first dataset and towards the second."""
    total = [0.0, 0.0]
    for p, q in zip(first, second, strict=True):
        possible = np.isfinite(p) | np.isfinite(q)
        with np.errstate(invalid="ignore"):
            ratio = np.where(possible, p - q, 0.0)
        total[0] += float(np.max(ratio))
        total[1] += float(np.max(-ratio))
    return total[0], total[1]


def added(low: float, high: float, lost: tuple[float, float], guarantee: Guarantee) -> tuple[float, float]:
    """Bounds on the guarantee's parameter with what selections lose, independently, on top."""
    extra = max(lost)
    if extra <= 1e-12:
        return low, high
    if isinstance(guarantee, PureDP) or (isinstance(guarantee, ApproxDP) and guarantee.delta == 0):
        return low + extra, high + extra
    if math.isinf(extra):
        return low, math.inf
    if isinstance(guarantee, ApproxDP):
        return low, high + extra
    if isinstance(guarantee, RenyiDP):
        return low, high + PureDP(extra).renyi(guarantee.alpha)
    return low, high + PureDP(extra).to_zcdp().rho if isinstance(guarantee, ZCDP) else math.inf
