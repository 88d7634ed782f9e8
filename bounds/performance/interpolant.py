"""Convex functions through given points, gradients and values, that can be evaluated anywhere.

Of all functions of a class through the data, the smallest: its conjugate lives on the hull of the gradients, so that
it is also Lipschitz with the largest of them. Smooth convex data that keep the interpolation inequalities together
with ||g_i|| <= M are therefore data of a function that is smooth AND M-Lipschitz: for that class the inequalities are
necessary and sufficient.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpcheck.bounds.performance.program import ConvexClass

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Interpolant:
    """A function of the class with value `f` and gradient `g` at the points `x` (rows).

    With mu/2 ||x||^2 taken off it is max over the simplex of <sum l_i g_i, x> - sum l_i c_i -
    ||sum l_i g_i||^2 / (2 (L - mu)): a small quadratic program at each point.

    >>> x, g, f = np.array([[0.0], [3.0]]), np.array([[0.0], [1.0]]), np.array([0.0, 2.5])
    >>> huber = Interpolant(x, g, f, ConvexClass(1.0))
    >>> [round(float(huber.value(np.array([at]))), 6) for at in (0.5, 2.0, 4.0)]
    [0.125, 1.5, 3.5]
    """

    x: Array
    g: Array
    f: Array
    of: ConvexClass

    def value(self, point: Array) -> float:
        weights, level = self._dual(point)
        mu, bent = self.of.strong_convexity, weights @ self._slopes
        rest = 0.0 if math.isinf(self._room) else float(bent @ bent) / (2 * self._room)
        return float(weights @ level) - rest + mu / 2 * float(point @ point)

    def gradient(self, point: Array) -> Array:
        """The gradient; where there are several, that of the nearest data point with the largest value."""
        weights, _ = self._dual(point)
        return np.asarray(weights @ self._slopes + self.of.strong_convexity * point)

    def prox(self, point: Array, step: float) -> Array:
        """argmin f(w) + ||w - point||^2 / (2 step), for a function that is not smooth: the same program."""
        smoothed = Interpolant(
            self.x + step * self.g, self.g, self.f + step / 2 * _squares(self.g), ConvexClass(1 / step)
        )
        return np.asarray(point - step * smoothed.gradient(point))

    @cached_property
    def _room(self) -> float:
        return self.of.smoothness - self.of.strong_convexity

    @cached_property
    def _slopes(self) -> Array:
        return np.asarray(self.g - self.of.strong_convexity * self.x)

    @cached_property
    def _offsets(self) -> Array:
        """c_i: the conjugate at g_i, less its quadratic."""
        mu, slopes = self.of.strong_convexity, self._slopes
        conjugate = np.einsum("ij,ij->i", slopes, self.x) - (self.f - mu / 2 * _squares(self.x))
        return np.asarray(conjugate - (0.0 if math.isinf(self._room) else _squares(slopes) / (2 * self._room)))

    def _dual(self, point: Array) -> tuple[Array, Array]:
        level = self._slopes @ point - self._offsets
        if math.isinf(self._room):
            # A subgradient at a data point is the one that was asked for: ties go to the nearest.
            top = level >= np.max(level) - 1e-7 * (1 + np.max(np.abs(level)))
            nearest = np.where(top, np.linalg.norm(self.x - point, axis=1), np.inf)
            return np.eye(len(level))[int(np.argmin(nearest))], level
        return simplex_maximum(self._slopes @ self._slopes.T / self._room, level), level


def _squares(rows: Array) -> Array:
    return np.einsum("ij,ij->i", rows, rows)


def simplex_maximum(Q: Array, level: Array) -> Array:
    """The weights >= 0 of sum 1 that maximise level.l - l'Ql / 2: interior point, to rounding.

    >>> simplex_maximum(np.eye(2), np.array([1.0, 0.5])).round(6)
    array([0.75, 0.25])
    """
    k = len(level)
    if k == 1:
        return np.ones(1)
    scale = max(float(np.max(np.abs(Q))), float(np.ptp(level)), 1e-300)
    Q, level = Q / scale, (level - np.max(level)) / scale
    at, z, price = np.full(k, 1 / k), np.ones(k), 0.0
    system = np.zeros((k + 1, k + 1))
    for _ in range(80):
        left, mass = Q @ at - level - price - z, 1 - at.sum()
        gap = float(at @ z) / k
        if gap < 1e-17 and np.max(np.abs(left)) < 1e-13:
            break
        system[:k, :k] = Q + np.diag(z / at)
        system[:k, k], system[k, :k] = -1.0, 1.0
        for centre in (0.0, 0.1) if gap > 1e-6 else (0.05,):
            right = np.append(-left - z + centre * gap / at, mass)
            move = np.linalg.solve(system, right)
            d = move[:k]
            dz = centre * gap / at - z - z / at * d
        length = 0.99 * min(_most(at, d), _most(z, dz))
        length = min(1.0, length)
        at, z, price = at + length * d, z + length * dz, price + length * move[k]
        if length < 1e-10:
            break
    return np.asarray(at / at.sum())


def _most(at: Array, by: Array) -> float:
    falling = by < 0
    return float(np.min(-at[falling] / by[falling], initial=1 / 0.99))
