"""Mirror steps: distance generating functions of a constraint set, and the step that they make, batched over trials.

A step from x with a gradient g solves min over u in C of <g, u> + V(u, x)/gamma + l1 ||u||_1, in closed form or by
bisection in one number. Every generator has modulus 1 in its norm, whose unit ball is the set (l1 for the simplex).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.problems.constraints import Constraint, L1Ball, L2Ball, LqBall, Simplex, q_norms
from dpcheck.problems.losses import Array

LEAST = 1e-300  # entries of a distribution are kept above this: its logarithm must exist


@dataclass(frozen=True)
class Mirror(ABC):
    """A distance generating function w of a set in d dimensions."""

    d: int

    @abstractmethod
    def gradient(self, x: Array) -> Array:
        """grad w(x), shape (..., d)."""

    @abstractmethod
    def step(self, z: Array, threshold: float) -> Array:
        """The minimiser over C of w(u) - <z, u> + threshold ||u||_1, for each z."""

    @abstractmethod
    def norm(self, x: Array) -> Array:
        """The norm in which w has modulus 1."""

    @abstractmethod
    def dual_norm(self, v: Array) -> Array:
        """Its dual."""

    @property
    @abstractmethod
    def start(self) -> Array:
        """The minimiser of w over C."""

    @abstractmethod
    def smoothness(self, l2_smoothness: float) -> float:
        """Smoothness in the norm, of what is smooth in l2: L times the squared l2 diameter, as Theorem 4.1.5 has it."""

    @abstractmethod
    def dual_square(self) -> float:
        """E ||b||*^2 for standard normal b, or a little more."""


@dataclass(frozen=True)
class QNorm(Mirror):
    """w = scale ||x||_q^2 / 2 over {||x||_ball <= radius}, where ball is q itself or 1."""

    q: float
    ball: float
    radius: float

    @property
    def scale(self) -> float:
        """||x||_q^2/2 is (q-1)-strongly convex in l_q, and ||x||_1 <= d^(1-1/q) ||x||_q."""
        wider = 1.0 if self.ball == self.q else self.d ** (2 * (1 - 1 / self.q))
        return wider / ((self.q - 1) * self.radius**2)

    @property
    def p(self) -> float:
        """The dual exponent."""
        return self.q / (self.q - 1)

    def gradient(self, x: Array) -> Array:
        return self.scale * power_map(x, self.q)

    def step(self, z: Array, threshold: float) -> Array:
        free = power_map(shrunk(z, threshold), self.p) / self.scale
        sizes = q_norms(free, self.ball)
        if self.ball == self.q:  # the normal of the ball is along grad w: the step is shortened
            return np.asarray(free * np.minimum(1.0, self.radius / np.maximum(sizes, LEAST))[..., None])
        outside = sizes > self.radius
        if not np.any(outside):
            return free
        free[outside] = self._held(z[outside], threshold)
        return free

    def _held(self, z: Array, threshold: float) -> Array:
        """On the l1 ball its multiplier adds to the threshold: ||u||_1 falls as it grows, down to the radius."""
        low, high = np.full(len(z), threshold), np.abs(z).max(axis=-1)
        for _ in range(60):
            middle = (low + high) / 2
            far = q_norms(power_map(shrunk(z, middle[:, None]), self.p) / self.scale, 1.0) > self.radius
            low, high = np.where(far, middle, low), np.where(far, high, middle)
        u = power_map(shrunk(z, high[:, None]), self.p) / self.scale
        return np.asarray(u * np.minimum(1.0, self.radius / np.maximum(q_norms(u, 1.0), LEAST))[:, None])

    def norm(self, x: Array) -> Array:
        return q_norms(x, self.ball) / self.radius

    def dual_norm(self, v: Array) -> Array:
        largest = np.abs(v).max(axis=-1)
        return self.radius * (largest if self.ball == 1 else q_norms(v, self.p))

    @property
    def start(self) -> Array:
        return np.zeros(self.d)

    def smoothness(self, l2_smoothness: float) -> float:
        return l2_smoothness * (2 * self.radius) ** 2

    def dual_square(self) -> float:
        if self.ball == 1:
            return self.radius**2 * largest_square(self.d)
        moment = 2 ** (self.p / 2) * special.gamma((self.p + 1) / 2) / math.sqrt(math.pi)
        # Jensen's inequality, exact for q = 2; ||b||_p <= ||b||_2 and <= d^(1/p) max |b_i|
        several = ((self.d * moment) ** (2 / self.p), float(self.d), self.d ** (2 / self.p) * largest_square(self.d))
        return float(self.radius**2 * min(several))


@dataclass(frozen=True)
class Entropy(Mirror):
    """w = sum x log x over the simplex: modulus 1 in l1 (Pinsker). The simplex is not symmetric: see the theorem."""

    def gradient(self, x: Array) -> Array:
        return np.log(np.maximum(x, LEAST)) + 1

    def step(self, z: Array, threshold: float) -> Array:
        return np.maximum(special.softmax(z, axis=-1), LEAST)  # ||u||_1 is 1 everywhere

    def norm(self, x: Array) -> Array:
        return np.abs(x).sum(axis=-1)

    def dual_norm(self, v: Array) -> Array:
        return np.abs(v).max(axis=-1)

    @property
    def start(self) -> Array:
        return np.full(self.d, 1 / self.d)

    def smoothness(self, l2_smoothness: float) -> float:
        return l2_smoothness  # ||v||_2 <= ||v||_1

    def dual_square(self) -> float:
        return largest_square(self.d)


def mirror_of(constraint: Constraint, d: int) -> Mirror:
    """The generator that belongs to a set: l_q for its ball, l_q with q = 1 + 1/log d for the l1 ball, entropy."""
    if isinstance(constraint, L2Ball):
        return QNorm(d, 2.0, 2.0, constraint.radius)
    if isinstance(constraint, LqBall):
        return QNorm(d, constraint.q, constraint.q, constraint.radius)
    if isinstance(constraint, L1Ball):
        return QNorm(d, min(2.0, 1 + 1 / math.log(max(d, 2))), 1.0, constraint.radius)
    if isinstance(constraint, Simplex):
        return Entropy(d)
    limit = "an L2Ball, LqBall, L1Ball or Simplex"
    raise InvalidInput("constraint", constraint, limit, "Mirror steps need a generator of a bounded set.")


def largest_square(d: int) -> float:
    """E max b_i^2 of d standard normals, from its tail; rounded up by a thousandth."""
    t = np.linspace(0.0, 60.0, 60_001)
    tail = -np.expm1(d * np.log1p(-np.minimum(special.erfc(np.sqrt(t / 2)), 1 - 1e-16)))
    return float(np.sum(tail[1:] + tail[:-1]) / 2 * (t[1] - t[0])) * (1 + 1e-3)


def power_map(v: Array, q: float) -> Array:
    """The gradient of ||v||_q^2 / 2: ||v||_q^(2-q) |v|^(q-1) sign(v), for entries of any size."""
    sizes = np.abs(v)
    largest = sizes.max(axis=-1, keepdims=True)
    shape = sizes / np.where(largest > 0, largest, 1.0)
    norm = q_norms(shape, q)[..., None]
    return np.asarray(np.sign(v) * largest * np.where(norm > 0, norm, 1.0) ** (2 - q) * shape ** (q - 1))


def shrunk(z: Array, threshold: float | Array) -> Array:
    """Each entry moved towards 0 by the threshold."""
    return np.asarray(np.sign(z) * np.maximum(np.abs(z) - threshold, 0.0))
