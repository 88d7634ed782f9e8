"""Gaussian mixtures with k components, and one round of expectation maximisation from clipped statistics.

All runs over trials at once: weights (t, k), means (t, k, d), covariances (t, k, d, d). A record enters a round by
z_j = L_j⁻¹(x - μ_j), clipped to a length ρ, and its responsibilities r_j, which add up to 1:

    r_j/√3,   r_j z_j/(ρ√3),   r_j φ(z_j)/(ρ²√3)     for each j,

with φ(z) = zzᵀ, z∘z or ‖z‖², as covariances are full, diagonal or spherical. Whatever record and parameters are, that
is a vector of norm at most 1, and those of two records are nowhere at more than a right angle
(dwang20.section7.2.6.clipped).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from dpcheck.families.outer_products import symmetric
from dpcheck.kernels.method import Array

Shape = Literal["full", "diag", "spherical"]
HELD = 1 << 21  # numbers of whitened records in memory at once
ROOT3 = math.sqrt(3.0)
STARTS, MOVES = 16, 12  # attempts at k-means on the cells of a histogram, and Lloyd's moves of each
UNIFORMS = np.random.default_rng(7).random((STARTS, 64))  # public, the same in all runs
NARROW, WIDE = 0.25, 2.5  # how far a round may shrink or stretch a covariance
LEAST_SHARE = 0.02  # of 1/k: no weight is below


class Mixture(NamedTuple):
    """Weights (t, k), means (t, k, d) and covariances (t, k, d, d) of t trials."""

    weights: Array
    means: Array
    covariances: Array

    def scaled(self, factor: float) -> Mixture:
        """All parameters times a number."""
        return Mixture(*(factor * part for part in self))

    def plus(self, other: Mixture) -> Mixture:
        """The sum of all parameters."""
        return Mixture(*(a + b for a, b in zip(self, other, strict=True)))


def features(d: int, shape: Shape) -> int:
    """Numbers in φ(z)."""
    return {"full": d * (d + 1) // 2, "diag": d, "spherical": 1}[shape]


def width_of(k: int, d: int, shape: Shape) -> int:
    """Numbers that a round asks for."""
    return k * (1 + d + features(d, shape))


def _doubled(d: int) -> Array:
    """√2 for the entries of an upper triangle that stand for two."""
    return np.where(np.equal(*np.triu_indices(d)), 1.0, math.sqrt(2))


def responsibilities(lengths2: Array, roots: Array, weights: Array) -> Array:
    """(t, k, n), from ‖L_j⁻¹(x - μ_j)‖²; those of the nearest component where all densities vanish."""
    scores = -lengths2 / 2
    scores += (np.log(weights) - np.log(np.diagonal(roots, axis1=2, axis2=3)).sum(axis=2))[:, :, None]
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def statistics(rows: Array, now: Mixture, reach: float, shape: Shape) -> Array:
    """The mean over the records of what stands above, (t, width_of(k, d, shape))."""
    (t, k, d), n = now.means.shape, len(rows)
    roots = np.linalg.cholesky(now.covariances)
    inverses = np.linalg.inv(roots).swapaxes(2, 3)
    total = np.zeros((t, width_of(k, d, shape)))
    size = max(1, HELD // (t * k * d))
    for first in range(0, n, size):
        some = rows[first : first + size]
        z = (some - now.means[:, :, None]) @ inverses
        lengths2 = np.einsum("tknd,tknd->tkn", z, z)
        r = responsibilities(lengths2, roots, now.weights)
        z *= np.minimum(1.0, reach / np.sqrt(np.maximum(lengths2, reach**2 / 4)))[..., None] / reach
        firsts = (r[:, :, None, :] @ z)[:, :, 0]
        total += np.concatenate([r.sum(axis=2), firsts.reshape(t, -1), _seconds(r, z, shape).reshape(t, -1)], axis=1)
    return total / (n * ROOT3)


def _seconds(r: Array, z: Array, shape: Shape) -> Array:
    d = z.shape[-1]
    if shape == "full":
        matrices = (z * r[..., None]).swapaxes(2, 3) @ z
        return matrices[:, :, *np.triu_indices(d)] * _doubled(d)
    if shape == "diag":
        return (r[:, :, None, :] @ z**2)[:, :, 0]
    return np.einsum("tkn,tknd,tknd->tk", r, z, z)[..., None]


# What is made of a noisy answer -----------------------------------------------------------------------
@dataclass(frozen=True)
class Round:
    """How noisy statistics move a mixture: public numbers only.

    `deviation` is that of the noise on each number of the answer. What noise alone would look like is held back: a mean
    moves by as much as its step exceeds its noise, a covariance takes the form that its noise lets through (James and
    Stein). A component that no weight is left of stands up again beside the heaviest one, of which it takes a half.
    """

    reach: float
    shape: Shape
    deviation: float

    def moved(self, now: Mixture, answer: Array, low: Array, high: Array, *, whole: bool = False) -> Mixture:
        """The next mixture; eigenvalues are kept in [low, high], (t,). `whole`: one component that has all weight."""
        t, k, d = now.means.shape
        counts, firsts, seconds = self.read(answer, k, d)
        floor = max(2 * ROOT3 * self.deviation, LEAST_SHARE / k)
        empty = np.zeros((t, k), bool) if whole else counts < floor
        counts = np.ones((t, k)) if whole else np.maximum(counts, floor)
        step, noise = firsts / counts[..., None], ROOT3 * self.reach * self.deviation / counts
        length2 = (step**2).sum(axis=2)
        kept = np.maximum(0.0, 1 - d * noise**2 / np.maximum(length2, 1e-300)) ** 0.5
        step *= np.minimum(kept, self.reach / np.sqrt(np.maximum(length2, 1e-300)))[..., None]
        form = self.formed(seconds / counts[..., None, None], step, self.reach * noise)
        roots = np.linalg.cholesky(now.covariances)
        means = now.means + np.einsum("tkij,tkj->tki", roots, step)
        covariances = within(roots @ form @ roots.swapaxes(2, 3), low[:, None], high[:, None], self.shape)
        found = Mixture(counts / counts.sum(axis=1, keepdims=True), means, covariances)
        return raised(found, empty) if np.any(empty) else found

    def read(self, answer: Array, k: int, d: int) -> tuple[Array, Array, Array]:
        """Counts (t, k), sums of z (t, k, d) and of zzᵀ (t, k, d, d), all of them means over the records."""
        f, t = features(d, self.shape), len(answer)
        parts = np.split(answer[:, : width_of(k, d, self.shape)] * ROOT3, [k, k + k * d], axis=1)
        raw = parts[2].reshape(t * k, f) * self.reach**2
        if self.shape == "full":
            matrices = symmetric(raw / _doubled(d), d)
        else:
            matrices = np.einsum("md,de->mde", np.broadcast_to(raw, (t * k, d)) / (d if f == 1 else 1), np.eye(d))
        return parts[0], parts[1].reshape(t, k, d) * self.reach, matrices.reshape(t, k, d, d)

    def formed(self, seconds: Array, step: Array, noise: Array) -> Array:
        """Of the whitened second moments, what is kept as covariance: eigenvalues in [NARROW, WIDE]."""
        d = step.shape[-1]
        about = step[..., :, None] * step[..., None, :]
        if self.shape != "full":
            about = about * np.eye(d)
        if self.shape == "spherical":
            about = np.eye(d) * (np.trace(about, axis1=2, axis2=3) / d)[..., None, None]
        found = seconds - about
        level = np.eye(d) * (np.trace(found, axis1=2, axis2=3) / d)[..., None, None]
        off = found - level
        size2 = np.maximum((off**2).sum(axis=(2, 3)), 1e-300)
        kept = np.maximum(0.0, 1 - features(d, self.shape) * noise**2 / size2)
        return clipped_eigenvalues(level + kept[..., None, None] * off, NARROW, WIDE)


def clipped_eigenvalues(matrices: Array, low: Array | float, high: Array | float) -> Array:
    """Symmetric matrices with their eigenvalues brought into [low, high]."""
    values, vectors = np.linalg.eigh((matrices + matrices.swapaxes(-1, -2)) / 2)
    values = np.clip(values, np.asarray(low)[..., None], np.asarray(high)[..., None])
    found = (vectors * values[..., None, :]) @ vectors.swapaxes(-1, -2)
    return np.asarray((found + found.swapaxes(-1, -2)) / 2)


def within(covariances: Array, low: Array, high: Array, shape: Shape) -> Array:
    """Covariances of this shape with eigenvalues in [low, high]."""
    d = covariances.shape[-1]
    if shape == "diag":
        covariances = covariances * np.eye(d)
    elif shape == "spherical":
        covariances = np.eye(d) * (np.trace(covariances, axis1=-2, axis2=-1) / d)[..., None, None]
    return clipped_eigenvalues(covariances, low, high)


def raised(found: Mixture, empty: Array) -> Mixture:
    """Each empty component beside the heaviest: both a deviation from its mean, along its longest axis, on half its
    weight.
    """
    weights, means, covariances = (part.copy() for part in found)
    for trial, j in np.argwhere(empty):
        heavy = int(
            np.argmax(np.where(empty[trial], 0.0, weights[trial]) if not empty[trial].all() else weights[trial])
        )
        if heavy == j:
            continue
        values, vectors = np.linalg.eigh(covariances[trial, heavy])
        apart = math.sqrt(values[-1]) * vectors[:, -1] * np.sign(vectors[np.abs(vectors[:, -1]).argmax(), -1])
        means[trial, j], means[trial, heavy] = means[trial, heavy] + apart, means[trial, heavy] - apart
        covariances[trial, j] = covariances[trial, heavy]
        weights[trial, [j, heavy]] = (weights[trial, j] + weights[trial, heavy]) / 2
    return Mixture(weights, means, covariances)


# Where components begin: a histogram along the leading axes of all records ----------------------------
@dataclass(frozen=True)
class Cells:
    """A grid of `side`^`axes` cells over ±2.5 deviations along the leading axes of the whole data's covariance."""

    axes: int
    side: int
    span: float = 2.5

    @property
    def count(self) -> int:
        return int(self.side**self.axes)

    @property
    def centres(self) -> Array:
        """(count, axes), in deviations."""
        places = np.unravel_index(np.arange(self.count), (self.side,) * self.axes)
        return (2 * (np.array(places).T + 0.5) / self.side - 1) * self.span

    def frame(self, whole: Mixture) -> tuple[Array, Array]:
        """The leading axes (t, d, axes) and the deviations along them (t, axes) of one component."""
        values, vectors = np.linalg.eigh(whole.covariances[:, 0])
        largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None], axis=1)
        vectors = vectors * np.where(largest < 0, -1.0, 1.0)
        return vectors[:, :, -self.axes :], np.sqrt(values[:, -self.axes :])

    def histogram(self, rows: Array, whole: Mixture) -> Array:
        """The share of the records in each cell, (t, count); what lies outside counts in the outermost cells."""
        axes, deviations = self.frame(whole)
        places = (rows - whole.means[:, 0][:, None]) @ (axes / deviations[:, None])
        cells = np.clip(((places / self.span + 1) / 2 * self.side), 0, self.side - 0.5).astype(int)
        codes = cells @ (self.side ** np.arange(self.axes)[::-1])
        t = len(codes)
        codes += self.count * np.arange(t)[:, None]
        return np.bincount(codes.ravel(), minlength=t * self.count).reshape(t, -1) / len(rows)

    def begun(self, whole: Mixture, shares: Array, deviation: float, k: int, shape: Shape) -> Mixture:
        """k components at the best k-means of the cells that stand out of the noise."""
        sure = np.where(shares > 2 * deviation, shares, 0.0)
        few = (sure > 0).sum(axis=1) < k
        sure[few] = np.maximum(shares[few], 0.0)
        sure += 1e-9 / self.count
        centres, masses, spread = clustered(self.centres, sure / sure.sum(axis=1, keepdims=True), k)
        axes, deviations = self.frame(whole)
        means = whole.means + np.einsum("tkr,tdr->tkd", centres * deviations[:, None], axes)
        values, vectors = np.linalg.eigh(whole.covariances[:, 0])
        inside = np.minimum(1.0, spread + (2 * self.span / self.side) ** 2 / 12)
        values[:, -self.axes :] *= inside[:, None]
        one = (vectors * values[:, None]) @ vectors.swapaxes(1, 2)
        covariances = within(np.repeat(one[:, None], k, axis=1), values.min(1)[:, None], values.max(1)[:, None], shape)
        weights = np.maximum(masses, 0.2 / k)
        return Mixture(weights / weights.sum(axis=1, keepdims=True), means, covariances)


def clustered(points: Array, masses: Array, k: int) -> tuple[Array, Array, Array]:
    """Of weighted points the best of STARTS runs of k-means: centres (t, k, r), masses (t, k), variance per axis (t,).

    Starts are those of k-means++ with public uniforms. Nothing here sees a record.
    """
    (t, _), (count, r) = masses.shape, points.shape
    apart = ((points[:, None] - points) ** 2).sum(axis=2)
    chosen, near = np.empty((t, STARTS, k), int), np.ones((t, STARTS, count))
    for j in range(k):
        odds = np.cumsum(masses[:, None] * near, axis=2)
        drawn = UNIFORMS[:, j % UNIFORMS.shape[1]][None, :, None] * odds[:, :, -1:]
        chosen[:, :, j] = np.minimum((odds < drawn).sum(axis=2), count - 1)
        reached = apart[chosen[:, :, j]]
        near = reached if j == 0 else np.minimum(near, reached)
    centres = points[chosen]
    for _ in range(MOVES):
        mine = _nearest(points, centres)[0]
        held = np.stack([np.where(mine == j, masses[:, None], 0.0) for j in range(k)], axis=2)
        total = held.sum(axis=3)
        centres = np.where(total[..., None] > 0, held @ points / np.maximum(total, 1e-300)[..., None], centres)
    mine, lengths2 = _nearest(points, centres)
    costs = (masses[:, None] * lengths2).sum(axis=2)
    best = costs.argmin(axis=1)
    of = np.arange(t)
    shares = np.stack([np.where(mine[of, best] == j, masses, 0.0).sum(axis=1) for j in range(k)], axis=1)
    return centres[of, best], shares, costs[of, best] / r


def _nearest(points: Array, centres: Array) -> tuple[Array, Array]:
    """Which centre is nearest to each point, (t, s, count), and its squared distance."""
    lengths2 = (points**2).sum(axis=1) - 2 * centres @ points.T + (centres**2).sum(axis=3)[..., None]
    return lengths2.argmin(axis=2), np.maximum(lengths2.min(axis=2), 0.0)
