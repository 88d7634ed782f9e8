"""Noisy sums of random batches, many times: sound bounds on the tight epsilon from both sides.

Above: a dominating pair, its losses summed by FFT with every rounding counted. Below: an attack that is attained.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import fft, signal, special

from bounds.accounting import (
    SLACK,
    UNIT,
    Interval,
    amplified_epsilon,
    counted,
    fraction,
    gaussian_epsilon,
    gaussian_sigma,
    positive,
)
from bounds.errors import InvalidInput

Array = np.ndarray
Pair = Callable[[float, float, float, float], tuple[int, Array, Array]]
DROPPED = 1e-6  # mass a grid may leave out, relative to delta; it is counted as error
COARSEST = 0.02  # widest cell of privacy loss to start from


def subsampled_gaussian_epsilon(
    noise_multiplier: float, n: int, batch: int, steps: int, delta: float, resolution: int = 32
) -> Interval:
    """Sound bounds of the tight epsilon, replace-one neighbours.

    Each step adds N(0, (noise_multiplier L)^2) to the sum of `batch` of `n` records drawn without
    replacement, each of norm at most L. `resolution` is grid points per deviation of one step's loss.

    >>> bounds = subsampled_gaussian_epsilon(4.0, n=100, batch=10, steps=50, delta=1e-5)
    >>> 0 < bounds.low <= bounds.high < 1.2 * bounds.low
    True
    """
    q, mu, steps, delta = _sampling(noise_multiplier, n, batch, steps, delta)
    known = _exactly(q, mu, steps, delta)
    if known is not None:
        return Interval(known, known)
    return Interval(_attained_epsilon(q, mu, steps, delta, resolution), _sound_epsilon(q, mu, steps, delta, resolution))


@lru_cache(maxsize=256)
def subsampled_gaussian_noise(eps: float, delta: float, n: int, batch: int, steps: int) -> float:
    """The least noise multiplier (to 1e-4) whose upper bound on epsilon is at most `eps`.

    >>> noise = subsampled_gaussian_noise(1.0, 1e-5, n=100, batch=10, steps=50)
    >>> subsampled_gaussian_epsilon(noise, 100, 10, 50, 1e-5).high <= 1.0
    True
    """
    target = float(positive("eps", eps))

    def keeps(multiplier: float) -> bool:
        q, mu, k, d = _sampling(multiplier, n, batch, steps, delta)
        known = _exactly(q, mu, k, d)
        return (_sound_epsilon(q, mu, k, d, 32) if known is None else known) <= target

    # Sampling only helps, so the noise of full batches is enough.
    high = 2 * math.sqrt(counted("steps", steps)) * gaussian_sigma(target, delta) * (1 + SLACK)
    low = high / 2
    while keeps(low):
        low, high = low / 2, low
        if low < 1e-6:
            return high
    while high > low * (1 + 1e-4):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high


def _sampling(noise_multiplier: float, n: int, batch: int, steps: int, delta: float) -> tuple[float, float, int, float]:
    """Sampled fraction, two-point distance over noise, steps, delta: checked."""
    n, batch = counted("n", n), counted("batch", batch)
    if batch > n:
        raise InvalidInput("batch", batch, f"at most n={n}", "Sampling is without replacement.")
    mu = 2 / float(positive("noise_multiplier", noise_multiplier))
    return batch / n, mu, counted("steps", steps), float(fraction("delta", delta))


def _exactly(q: float, mu: float, steps: int, delta: float) -> float | None:
    """The two cases with a closed form: full batches, and a single step (Balle-Barthe-Gaboardi 2018)."""
    if q == 1:
        return float(gaussian_epsilon(delta, mu * math.sqrt(steps)))
    if steps == 1:
        return 0.0 if delta >= q else float(amplified_epsilon(gaussian_epsilon(delta / q, mu), q))
    return None


def _sound_epsilon(q: float, mu: float, steps: int, delta: float, resolution: int) -> float:
    """Upper bound: the losses of a dominating pair; Renyi accounting where their sum loses its digits.

    The pair is exact for one step; composed, a few percent may be lost (Lebeda et al. 2024).
    """
    step = min(_deviation(q, mu) / resolution, COARSEST)
    while True:
        lowest, mass, infinite = _dominating_losses(q, mu, step, delta * DROPPED / steps)
        sums = _self_compose([mass], lowest, step, steps, delta)
        if sums is not None:
            break
        step *= 2
    certain = -math.expm1(steps * math.log1p(-infinite))
    high = _least_epsilon(sums.loss, step, sums.mass[0], sums.error[0], delta - certain)
    return high if math.isfinite(high) else _renyi_epsilon(q, mu, steps, delta)


def _attained_epsilon(q: float, mu: float, steps: int, delta: float, resolution: int) -> float:
    """Lower bound: an attacker who adds up the rounded losses of a real pair of datasets.

    Rounding is post-processing, so the two exact laws of the sum bound epsilon from below whatever the grid.
    """
    return max(
        _attack_epsilon(pair, q, mu, steps, delta, resolution)
        for pair in (_shifted_pair, _mirrored_pair, _opposite_pair)
    )


def _attack_epsilon(pair: Pair, q: float, mu: float, steps: int, delta: float, resolution: int) -> float:
    step = min(_deviation(q, mu) / resolution, COARSEST)
    while True:
        lowest, mass, other = pair(q, mu, step, delta * DROPPED / steps)
        # Times e^loss the second law is close to the first, and its far tail keeps its digits.
        lifted = other * np.exp(step * (lowest + np.arange(len(other))))
        scale = float(lifted.sum())
        sums = _self_compose([mass, lifted / scale], lowest, step, steps, delta)
        if sums is not None:
            break
        step *= 2
    return max(0.0, _best_threshold(sums, step, delta) - steps * math.log(scale))


def _renyi_epsilon(q: float, mu: float, steps: int, delta: float) -> float:
    """Wang-Balle-Kasiviswanathan 2019, as dp-accounting computes it; it helps where losses are heavy-tailed."""
    from dp_accounting import dp_event, privacy_accountant, rdp

    relation = privacy_accountant.NeighboringRelation.REPLACE_ONE
    whole = 10**9  # only the sampled fraction enters; rounded up, which is the safe side
    sample = dp_event.SampledWithoutReplacementDpEvent(whole, math.ceil(q * whole), dp_event.GaussianDpEvent(1 / mu))
    accountant = rdp.RdpAccountant(neighboring_relation=relation)
    return float(accountant.compose(sample, steps).get_epsilon(delta))


# One step's privacy loss. B = N(0,1) and A = (1-q) N(0,1) + q N(mu,1): every other record pushes one way, the
# differing record pushes the same way in one dataset and the other way in its neighbour.


def _where_loss(loss: Array, q: float, mu: float) -> Array:
    """The x at which log A(x)/B(x) = loss; minus infinity below the least loss log(1 - q)."""
    ratio = np.expm1(loss) / q
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(ratio <= -1, -np.inf, np.log1p(np.maximum(ratio, -1.0)) / mu + mu / 2)


def _loss_at(x: Any, q: float, mu: float) -> Any:
    return np.logaddexp(math.log1p(-q), math.log(q) + mu * x - mu**2 / 2)


def _deviation(q: float, mu: float) -> float:
    """Root mean square of one step's dominating loss, to a percent: it sets the grid."""
    x = mu / 2 + np.linspace(0, mu + 9, 4001)
    density = np.exp(-(x**2) / 2) * (2 - q) + q * np.exp(-((x - mu) ** 2) / 2)
    total = np.sum(_loss_at(x, q, mu) ** 2 * density) * (x[1] - x[0])
    return math.sqrt(total / math.sqrt(2 * math.pi))


def _far_point(mu: float, tail: float) -> float:
    """Beyond it lies less than `tail` of N(mu, 1)."""
    return mu - float(special.ndtri_exp(math.log(tail)))


def _dominating_losses(q: float, mu: float, step: float, tail: float) -> tuple[int, Array, float]:
    """Loss of a pair that dominates one step, on a grid: (lowest index, masses, mass at infinity).

    Positive losses are those of (A, B), negative ones those of (B, A), the rest is an atom at 0
    (Balle-Barthe-Gaboardi 2018; Zhu-Dong-Wang 2022). Each cell's two masses are split between
    the cell's ends so that both are kept, which can only help the attacker (Doroshenko et al. 2022).
    """
    count = max(2, math.ceil(float(_loss_at(_far_point(mu, tail), q, mu)) / step))
    edges = step * np.arange(count + 1)
    x = _where_loss(edges, q, mu)
    above_b = special.ndtr(-x)
    above_a = (1 - q) * above_b + q * special.ndtr(mu - x)
    in_a, in_b = -np.diff(above_a), -np.diff(above_b)
    scale = -math.expm1(-step)
    right = np.clip((in_a - in_b * np.exp(edges[:-1])) / scale, 0.0, in_a)
    left = np.clip((in_b - in_a * np.exp(-edges[1:])) / scale, 0.0, in_b)  # the mirrored cell's end nearest to 0
    mass = np.zeros(2 * count + 1)
    mass[count + 1 :] += right
    mass[count:-1] += in_a - right
    mass[1 : count + 1] += left[::-1]
    mass[:count] += (in_b - left)[::-1]
    mass[count] += max(0.0, 1 - above_a[0] - above_b[0])
    at_top = min(above_a[-1], float(np.exp(edges[-1] + special.log_ndtr(-x[-1]))))
    mass[-1] += at_top
    mass[0] += above_b[-1]
    return -count, mass, float(above_a[-1] - at_top)


def _shifted_pair(q: float, mu: float, step: float, tail: float) -> tuple[int, Array, Array]:
    """(lowest index, masses of A, masses of B) by loss rounded to the grid."""
    lowest = math.floor(math.log1p(-q) / step)
    highest = math.ceil(float(_loss_at(_far_point(mu, tail), q, mu)) / step)
    inner = _where_loss(step * (np.arange(lowest, highest) + 0.5), q, mu)
    in_b = _cell_masses(inner, 0.0)
    return lowest, (1 - q) * in_b + q * _cell_masses(inner, mu), in_b


def _mirrored_pair(q: float, mu: float, step: float, tail: float) -> tuple[int, Array, Array]:
    """The neighbours in the other order: (B, A)."""
    lowest, in_a, in_b = _shifted_pair(q, mu, step, tail)
    return -(lowest + len(in_a) - 1), in_b[::-1], in_a[::-1]


def _opposite_pair(q: float, mu: float, step: float, tail: float) -> tuple[int, Array, Array]:
    """The other records are 0 and the differing one pushes either way: shifts of +-mu/2."""
    half = mu / 2
    x = _far_point(half, tail)
    top = float(_loss_at(x, q, half) - _loss_at(-x, q, half))
    highest = math.ceil(top / step)
    loss = step * (np.arange(-highest, highest) + 0.5)
    pull = (1 - q) / q * math.exp(min(half**2 / 2, 700.0)) * np.sinh(np.clip(loss / 2, -300.0, 300.0))
    inner = np.maximum.accumulate((loss / 2 + np.arcsinh(pull)) / half)
    middle = (1 - q) * _cell_masses(inner, 0.0)
    return -highest, middle + q * _cell_masses(inner, half), middle + q * _cell_masses(inner, -half)


def _cell_masses(inner: Array, mean: float) -> Array:
    """Normal mass between consecutive edges, the outer cells unbounded; each tail keeps its digits."""
    x = np.concatenate([[-np.inf], inner, [np.inf]]) - mean
    low, high = x[:-1], x[1:]
    return np.where(low > 0, special.ndtr(-low) - special.ndtr(-high), special.ndtr(high) - special.ndtr(low))


# Sums of losses on a grid.

LONGEST = 1 << 21  # grid points of a sum; a coarser grid is tried beyond
HIGHEST = 600.0  # exponents are cut here: errors of that size say that nothing is known


@dataclass(frozen=True)
class _Sums:
    """Laws of a sum of losses, and how far off each may be in total from each loss upwards."""

    loss: Array
    mass: list[Array]
    error: list[Array]


def _self_compose(masses: list[Array], lowest: int, step: float, steps: int, delta: float) -> _Sums | None:
    """The `steps`-fold convolution of each law; None if its grid would be too long.

    Where rounding would show at delta, each law is first tilted by e^(order k), which moves its centre to
    where about delta is left: the errors of the transform are then small against delta, not against 1.
    """
    plain = steps * UNIT < delta * 3e-4
    order, dropped = (0.0, delta * DROPPED) if plain else (_order_at(masses[0], steps, delta), DROPPED)
    logs = [_log_mean_exp(mass, order) for mass in masses]
    at = np.arange(len(masses[0]))
    tilts = [mass * np.exp(np.minimum(order * at - log, HIGHEST)) for mass, log in zip(masses, logs, strict=True)]
    windows = [_window(tilted, steps, dropped) for tilted in tilts]
    first, last = min(w[0] for w in windows), max(w[1] for w in windows)
    if last - first >= LONGEST:
        return None
    size = fft.next_fast_len(last - first + 1, real=True)
    index = first + np.arange(size)
    back = [np.exp(np.minimum(steps * log - order * index, HIGHEST)) for log in logs]
    laws, errors = zip(*(_ring_power(tilted, steps, size, first) for tilted in tilts), strict=True)
    total = [law * untilt for law, untilt in zip(laws, back, strict=True)]
    error = [(rounding + dropped) * untilt for rounding, untilt in zip(errors, back, strict=True)]
    return _Sums(step * (index + steps * lowest), total, error)


def _order_at(mass: Array, steps: int, delta: float) -> float:
    """The order at which Chernoff's bound on the sum's upper tail reaches delta first."""
    orders, logs = _cumulants(mass, steps)
    return float(orders[np.argmin((steps * logs - math.log(delta)) / orders)])


def _ring_power(mass: Array, steps: int, size: int, first: int) -> tuple[Array, float]:
    """Convolution power on a ring that starts at `first`, and a bound on its total error.

    Rounding is bounded to first order: the relative error of the transform, times the power, by Parseval.
    """
    ring = np.bincount(np.arange(len(mass)) % size, weights=mass, minlength=size)
    power = fft.rfft(ring) ** steps
    relative = steps * UNIT * (math.log2(size) * float(np.linalg.norm(mass)) + 2)
    rounding = relative * math.sqrt(size) * math.sqrt(2 * float(np.mean(np.abs(power) ** 2)))
    return np.roll(fft.irfft(power, size), -(first % size)), rounding


def _cumulants(mass: Array, steps: int, sign: int = 1) -> tuple[Array, Array]:
    """Orders that matter for a sum of `steps`, and log E e^(sign order index) at each."""
    at = np.arange(len(mass))
    total = float(mass.sum())
    mean = float(mass @ at) / total
    spread = math.sqrt(max(float(mass @ (at - mean) ** 2) / total, 1e-12))
    orders = np.concatenate([[0.01, 0.1, 0.3, 1.0], np.linspace(2, 14, 13)]) / (spread * math.sqrt(steps))
    return orders, np.array([_log_mean_exp(mass, sign * order) for order in orders])


def _log_mean_exp(mass: Array, order: float) -> float:
    exponents = order * np.arange(len(mass))
    if abs(exponents[-1]) <= HIGHEST:
        return math.log(float(mass @ np.exp(exponents)))
    exponents += np.log(np.maximum(mass, 1e-320))  # rare, and slower
    top = float(exponents.max())
    return top + math.log(float(np.exp(np.maximum(exponents - top, -HIGHEST)).sum()))


def _window(mass: Array, steps: int, dropped: float) -> tuple[int, int]:
    """Index range (from the array's own start) outside which the sum's law has mass at most `dropped` (Chernoff)."""
    room = math.log(2 / dropped)
    orders, logs = _cumulants(mass, steps)
    high = float(np.min((steps * logs + room) / orders))
    orders, logs = _cumulants(mass, steps, -1)
    low = float(np.max((-steps * logs - room) / orders))
    return max(0, math.floor(low)), min(steps * (len(mass) - 1), math.ceil(high))


def _discounted_tail(mass: Array, step: float) -> Array:
    """sum over k >= t of mass[k] e^-(k - t) step, for every t."""
    return signal.lfilter([1.0], [1.0, -math.exp(-step)], mass[::-1])[::-1]


def _least_epsilon(loss: Array, step: float, mass: Array, error: Array, delta: float) -> float:
    """The least eps >= 0 at which the losses' hockey-stick divergence is at most delta; infinite if none is."""
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


def _best_threshold(sums: _Sums, step: float, delta: float) -> float:
    """max over t of log((P(loss >= t) - delta) / Q(loss >= t)), Q given times e^loss; each error against us."""
    (mass, lifted), (error, other_error) = sums.mass, sums.error
    surplus = np.cumsum(mass[::-1])[::-1] - delta - error
    other = np.maximum(_discounted_tail(lifted, step), 0.0) + other_error
    useful = surplus > 0
    return float(np.max(sums.loss[useful] + np.log(surplus[useful] / other[useful]))) if np.any(useful) else 0.0
