"""One step's privacy loss on a grid: of a pair that dominates it, and of real pairs of datasets.

B is noise alone and A the sum over k of picks[k] times noise shifted by k ratio: every other record pushes one way, the
differing record pushes the same way in one dataset and the other way in its neighbour.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy  # its parts are imported on first use

from dpcheck.bounds.language.guarantees import ADD_REMOVE, Relation
from dpcheck.bounds.privacy.batches import Noise, NoisySum
from dpcheck.bounds.privacy.exact import UNIT
from dpcheck.bounds.privacy.loss_sums import HIGHEST, Losses

Array = np.ndarray
Mixture = tuple[tuple[float, float], ...]  # (weight, mean) of each component


def _above(x: Array, noise: Noise) -> Array:
    """P(noise > x)."""
    if noise == "gaussian":
        return scipy.special.ndtr(-x)
    return np.where(x > 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)


def _where_loss(loss: Array, shift: float, noise: Noise) -> Array:
    """The x beyond which log density(x - shift) / density(x) exceeds `loss`."""
    if noise == "gaussian":
        return loss / shift + shift / 2
    inside = (loss + shift) / 2
    return np.where(loss >= shift, np.inf, np.where(loss < -shift, -np.inf, inside))


def _tails(release: NoisySum, loss: Array) -> tuple[Array, Array]:
    """P(L > loss) under A and under B, for a record picked at most once.

    A Poisson batch without the record lies half-way between the two: A and B are then the mixtures of noise at 0
    with noise at +-ratio/2. That pair dominates: by advanced joint convexity it is to compare one Gaussian with a
    mixture of two, and sums of lognormals of given laws are largest in convex order when they rise together.
    """
    if not release.filled:
        missed, picked = release.picks
        half = release.ratio / 2
        pull = math.log(missed / picked) + half**2 / 2
        with np.errstate(over="ignore"):
            x = (loss / 2 + np.arcsinh(np.exp(np.minimum(pull, HIGHEST)) * np.sinh(loss / 2))) / half
        both = missed * scipy.special.ndtr(-x)
        return both + picked * scipy.special.ndtr(half - x), both + picked * scipy.special.ndtr(-half - x)
    x = _where_loss(_unsampled(loss, release.picks[1]), release.ratio, release.noise)
    in_b = _above(x, release.noise)
    return release.picks[0] * in_b + release.picks[1] * _above(x - release.ratio, release.noise), in_b


def _unsampled(loss: Array, picked: float) -> Array:
    """The loss of a batch that holds the record, from the loss of one that may not: log(1 + (e^loss - 1)/picked)."""
    if picked == 1:
        return loss
    with np.errstate(divide="ignore"):
        return np.log1p(np.maximum(np.expm1(loss) / picked, -1.0))


def highest_loss(release: NoisySum, tail: float) -> float:
    """Above it lies less than `tail` of A."""
    picked, k = 1 - release.picks[0], len(release.picks) - 1
    shift = k * release.ratio
    x = shift - float(scipy.special.ndtri_exp(math.log(tail))) if release.noise == "gaussian" else math.inf
    loss = shift * x - shift**2 / 2 if release.noise == "gaussian" else shift
    return float(np.logaddexp(math.log1p(-picked) if picked < 1 else -math.inf, math.log(picked) + loss))


def _split(in_p: Array, in_q: Array, low: Array, high: Array) -> Array:
    """How much of each cell's mass of P goes to its upper end, so that the masses of P and of Q are both kept.

    That can only help the attacker (Doroshenko et al. 2022), and so does rounding up.
    """
    scale = -np.expm1(low - high)
    return np.clip((in_p - in_q * np.exp(low)) / scale + 8 * UNIT * in_p / scale, 0.0, in_p)


def symmetric(release: NoisySum, edges: Array) -> tuple[Array, Array, float]:
    """A pair that dominates one step under replace-one: masses at +edges and at -edges, and at infinity.

    Positive losses are those of (A, B), negative ones those of (B, A), the rest is an atom at 0
    (Balle-Barthe-Gaboardi 2018; Zhu-Dong-Wang 2022).
    """
    if len(release.picks) > 2 or (release.noise == "laplace" and not release.filled):
        return _from_profile(edges, _profile(release, edges))
    above_a, above_b = _tails(release, edges)
    in_a, in_b = -np.diff(above_a), -np.diff(above_b)
    low, high = edges[:-1], edges[1:]
    up = _split(in_a, in_b, low, high)
    near = _split(in_b, in_a, -high, -low)  # the mirrored cell: its upper end is the one nearest to 0
    right, left = np.zeros(len(edges)), np.zeros(len(edges))
    right[1:] += up
    right[:-1] += in_a - up
    left[:-1] += near
    left[1:] += in_b - near
    right[0] += max(0.0, 1 - above_a[0] - above_b[0])
    at_top = min(float(above_a[-1]), float(above_b[-1] * math.exp(edges[-1])))
    right[-1] += at_top
    left[-1] += above_b[-1]
    return right, left, max(0.0, float(above_a[-1]) - at_top)


def _profile(release: NoisySum, loss: Array) -> Array:
    """A bound on one step's delta at each eps = loss >= 0 under replace-one.

    Advanced joint convexity (Balle-Barthe-Gaboardi 2018, Theorem 2): with a = 1 + (e^eps - 1)/picked and
    b = e^eps / a, delta is at most picked times (1-b) H_a(picked, empty) + b H_a(picked, picked otherwise).
    """
    picked = 1 - release.picks[0]
    inner = _unsampled(loss, picked)
    towards_other = np.exp(loss - inner)
    counts = [(p / picked, k * release.ratio) for k, p in enumerate(release.picks) if k and p]
    replaced = sum(w * _hockey(inner, ((1.0, shift),), release.noise) for w, shift in counts)
    scale = 1.0 if release.filled else 0.5  # an empty Poisson batch lies half-way between the two records
    emptied = _hockey(inner, tuple((w, scale * shift) for w, shift in counts), release.noise)
    return picked * ((1 - towards_other) * emptied + towards_other * replaced) * (1 + 1e-10)


def _hockey(loss: Array, law: Mixture, noise: Noise) -> Array:
    """sup over x of P(mixture > x) - e^loss P(noise > x), which is their hockey-stick divergence."""
    if len(law) == 1:
        x = _where_loss(loss, law[0][1], noise)
    else:
        grid = np.linspace(-12, law[-1][1] + 12, 6001)
        x = np.interp(loss, _log_density(grid, law, noise) - _log_density(grid, ((1.0, 0.0),), noise), grid)
    with np.errstate(over="ignore", invalid="ignore"):
        other = np.exp(loss) * _above(x, noise)
    return np.maximum(_mass_above(x, law, noise) - np.where(np.isfinite(other), other, 0.0), 0.0)


def _from_profile(edges: Array, delta: Array) -> tuple[Array, Array, float]:
    """The symmetric pair whose profile joins the points (e^edge, delta), or their lower convex hull if below.

    A true profile is convex in e^eps, so it lies below the hull of any points above it.
    """
    scale = np.expm1(edges)
    hull: list[int] = []
    for i in range(len(edges)):
        while len(hull) > 1 and (delta[hull[-1]] - delta[hull[-2]]) * (scale[i] - scale[hull[-1]]) >= (
            delta[i] - delta[hull[-1]]
        ) * (scale[hull[-1]] - scale[hull[-2]]):
            hull.pop()
        hull.append(i)
    slope = np.append(np.diff(delta[hull]) / np.diff(scale[hull]), 0.0)
    in_q = np.maximum(np.diff(slope), 0.0)  # at hull[1:]; minus the slope is Q(loss > eps)
    right, left = np.zeros(len(edges)), np.zeros(len(edges))
    right[hull[1:]], left[hull[1:]] = in_q * np.exp(edges[hull[1:]]), in_q
    right[0] = max(0.0, 1 - float(delta[0]) - 2 * float(in_q.sum()))
    return right, left, float(delta[-1])


def dominating(release: NoisySum, step: float, top: float, forward: bool | None) -> Losses:
    """A dominating pair's losses on the grid; `forward` (A, B), backward (B, A), or both at once (None)."""
    if forward is None:
        count = max(2, math.ceil(top / step))
        right, left, infinite = symmetric(release, step * np.arange(count + 1))
        mass = np.concatenate([left[:0:-1], right])
        mass[count] += left[0]
        return Losses(-count, (mass,), release.steps, infinite)
    least = max(math.log(release.picks[0]) if release.sampled else -top, -top)
    lowest, highest = math.floor(least / step), math.ceil(top / step)
    edges = step * np.arange(lowest, highest + 1)
    x = _where_loss(_unsampled(edges, release.picks[1]), release.ratio, release.noise)
    in_p, in_q = (_cell_masses(x, law, release.noise) for law in (_present(release), _absent(release)))
    if not forward:
        lowest, edges, in_p, in_q = -highest, -edges[::-1], in_q[::-1], in_p[::-1]
    up = _split(in_p[1:-1], in_q[1:-1], edges[:-1], edges[1:])
    mass = np.zeros(len(edges))
    mass[1:] += up
    mass[:-1] += in_p[1:-1] - up
    mass[0] += in_p[0]
    at_top = min(float(in_p[-1]), float(in_q[-1] * math.exp(edges[-1])))
    mass[-1] += at_top
    return Losses(lowest, (mass,), release.steps, max(0.0, float(in_p[-1]) - at_top))


# Attacks ---------------------------------------------------------------------------------------------


def pairs(releases: Sequence[NoisySum], relation: Relation) -> list[Callable[[NoisySum], tuple[Mixture, Mixture]]]:
    """The pairs of laws that a real pair of datasets attains at every step."""
    if relation == ADD_REMOVE:
        return [lambda r: (_present(r), _absent(r)), lambda r: (_absent(r), _present(r))]
    opposite = [lambda r: (_present(r, 0.5), _present(r, -0.5))]
    if all(r.filled for r in releases):
        return [lambda r: (_present(r), _absent(r)), lambda r: (_absent(r), _present(r)), *opposite]
    return opposite


def _present(release: NoisySum, share: float = 1.0) -> Mixture:
    """The record shifts the sum by `share` of the ratio for each time it is picked."""
    return tuple((p, k * share * release.ratio) for k, p in enumerate(release.picks) if p)


def _absent(release: NoisySum) -> Mixture:
    return ((1.0, 0.0),)


def _mass_above(x: Array, law: Mixture, noise: Noise) -> Array:
    return sum((w * _above(x - mean, noise) for w, mean in law), np.zeros(np.shape(x)))


def attacked(release: NoisySum, first: Mixture, second: Mixture, step: float, top: float) -> Losses:
    """Both exact laws of one step's loss, rounded to the grid.

    Where the roundings lie is found by interpolation: any place is as sound, only less sharp.
    """
    if sum(w * mean for w, mean in first) < sum(w * mean for w, mean in second):  # so that the loss grows with x
        first, second = (tuple((w, -mean) for w, mean in law) for law in (first, second))
    means = [mean for _, mean in (*first, *second)]
    x = np.linspace(min(means) - 12, max(means) + 12, 4001)
    loss = np.maximum.accumulate(_log_density(x, first, release.noise) - _log_density(x, second, release.noise))
    low, high = math.floor(max(loss[0], -top) / step), math.ceil(min(loss[-1], top) / step)
    inner = np.interp(step * (np.arange(low, high) + 0.5), loss, x)
    grid = step * np.arange(low, high + 1)
    return Losses(
        low,
        (_cell_masses(inner, first, release.noise), _cell_masses(inner, second, release.noise) * np.exp(grid)),
        release.steps,
    )


def _log_density(x: Array, law: Mixture, noise: Noise) -> Array:
    """Up to a constant that both laws of a pair share."""
    power = (lambda y: -(y**2) / 2) if noise == "gaussian" else (lambda y: -np.abs(y))
    return scipy.special.logsumexp([math.log(w) + power(x - mean) for w, mean in law], axis=0)


def _cell_masses(inner: Array, law: Mixture, noise: Noise) -> Array:
    """Masses between consecutive edges, the outer cells unbounded; each tail keeps its digits."""
    edges = np.concatenate([[-np.inf], inner, [np.inf]])
    total = np.zeros(len(edges) - 1)
    for weight, mean in law:
        x = edges - mean
        upper, lower = _above(x, noise), _above(-x, noise)
        total += weight * np.where(x[:-1] > 0, upper[:-1] - upper[1:], lower[1:] - lower[:-1])
    return total


def spotted(release: NoisySum, first: Mixture, second: Mixture, delta: float) -> float:
    """Lower bound of an attacker who looks at the largest of all outputs: strong where the noise is small."""
    span = max(abs(mean) for _, mean in (*first, *second))
    t = np.concatenate([np.linspace(0, 9, 91), np.linspace(-4, 9, 131) + span])
    with np.errstate(divide="ignore"):
        some, other = (
            -np.expm1(release.steps * np.log1p(-np.minimum(_mass_above(t, law, release.noise), 1.0)))
            for law in (first, second)
        )
    surplus = some * (1 - 1e-12) - delta
    useful = surplus > 0
    if not np.any(useful):
        return 0.0
    # A probability below the least double still has a logarithm above this.
    return max(0.0, float(np.max(np.log(surplus[useful]) - np.log(np.maximum(other[useful], 1e-300)))) - 1e-12)
