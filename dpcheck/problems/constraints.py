"""Constraint sets of a problem: projection, linear minimisation and size, batched over trials.
Every method takes points of shape (..., d) and treats the leading axes as independent trials.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import floats, number
from dpcheck.problems.losses import Array, must_be_positive


@dataclass(frozen=True)
class Constraint(ABC):
    """A closed convex set."""

    @abstractmethod
    def project(self, W: Array, out: Array | None = None) -> Array:
        """The nearest point of the set, for each point of W; `out` may be W itself."""

    @abstractmethod
    def linear_minimiser(self, G: Array) -> Array:
        """A point v of the set with the least <g, v>, for each g of G (the Frank-Wolfe step)."""

    @abstractmethod
    def contains(self, W: Array, tol: float = 1e-9) -> Any:
        """Whether each point of W lies within `tol` of the set's defining inequalities."""

    @abstractmethod
    def reach(self, d: int) -> float:
        """The supremum of ||w||_2 over the set in d dimensions."""

    @abstractmethod
    def diameter(self, d: int) -> float:
        """The supremum of ||v - w||_2 over the set in d dimensions."""


@dataclass(frozen=True)
class WholeSpace(Constraint):
    """No constraint."""

    @property
    def radius(self) -> float:
        return math.inf

    def project(self, W: Array, out: Array | None = None) -> Array:
        return filled(W, out)

    def linear_minimiser(self, G: Array) -> Array:
        raise InvalidInput(
            "constraint", "WholeSpace()", "a bounded set", "Pass constraint=L2Ball(1.0) to use linear steps."
        )

    def contains(self, W: Array, tol: float = 1e-9) -> Any:
        return np.isfinite(W).all(axis=-1)

    def reach(self, d: int) -> float:
        return math.inf

    def diameter(self, d: int) -> float:
        return math.inf


@dataclass(frozen=True)
class L2Ball(Constraint):
    """||w||_2 <= radius.

    >>> L2Ball(1.0).project(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """

    radius: float = 1.0

    def __post_init__(self) -> None:
        must_be_positive("radius", self.radius)

    def project(self, W: Array, out: Array | None = None) -> Array:
        # The largest entry is divided out so that squares can neither overflow nor vanish.
        norms = stable_norms(W)[..., None]
        return np.multiply(W, self.radius / np.maximum(norms, self.radius), out=out)

    def linear_minimiser(self, G: Array) -> Array:
        norms = stable_norms(G)[..., None]
        return np.where(norms > 0, -self.radius * (G / np.where(norms > 0, norms, 1.0)), 0.0)

    def contains(self, W: Array, tol: float = 1e-9) -> Any:
        return stable_norms(W) <= self.radius + tol

    def reach(self, d: int) -> float:
        return self.radius

    def diameter(self, d: int) -> float:
        return 2 * self.radius


@dataclass(frozen=True)
class L1Ball(Constraint):
    """||w||_1 <= radius."""

    radius: float = 1.0

    def __post_init__(self) -> None:
        must_be_positive("radius", self.radius)

    def project(self, W: Array, out: Array | None = None) -> Array:
        out = filled(W, out)
        outside = np.abs(out).sum(axis=-1) > self.radius
        if np.any(outside):
            rows = out[outside]
            # Outside, the projection is that of |w| on the scaled simplex, with the signs of w (Duchi et al. 2008).
            out[outside] = np.copysign(project_on_simplex(np.abs(rows), self.radius), rows)
        return out

    def linear_minimiser(self, G: Array) -> Array:
        largest = np.abs(G).argmax(axis=-1)[..., None]
        vertex = np.zeros_like(G, dtype=float)
        np.put_along_axis(vertex, largest, -self.radius * np.sign(np.take_along_axis(G, largest, -1)), -1)
        return vertex

    def contains(self, W: Array, tol: float = 1e-9) -> Any:
        return np.abs(W).sum(axis=-1) <= self.radius + tol

    def reach(self, d: int) -> float:
        return self.radius

    def diameter(self, d: int) -> float:
        return 2 * self.radius


@dataclass(frozen=True)
class LqBall(Constraint):
    """||w||_q <= radius, for 1 < q <= 2."""

    radius: float = 1.0
    q: float = 1.5

    def __post_init__(self) -> None:
        must_be_positive("radius", self.radius)
        number("q", self.q, "above 1 and at most 2", "Use L1Ball for q = 1.", lambda found: 1 < found <= 2)

    def norms(self, W: Array) -> Array:
        """||w||_q of each point."""
        return q_norms(W, self.q)

    def project(self, W: Array, out: Array | None = None) -> Array:
        """By bisection: |u| + m q |u|^(q-1) = |w| in each coordinate, with the least m >= 0 that is enough."""
        W = np.asarray(W, float)
        outside = self.norms(W) > self.radius
        if not np.any(outside):
            return filled(W, out)
        sizes = np.abs(W) / self.radius
        low, high = np.zeros(W.shape[:-1]), np.maximum(sizes.max(axis=-1), 1.0) * W.shape[-1]
        for _ in range(60):
            middle = (low + high) / 2
            far = q_norms(self._shrunk(sizes, middle[..., None]), self.q) > 1
            low, high = np.where(far, middle, low), np.where(far, high, middle)
        found = self.radius * np.sign(W) * self._shrunk(sizes, high[..., None])
        return filled(np.where(outside[..., None], found, W), out)

    def _shrunk(self, sizes: Array, weight: Array) -> Array:
        """u >= 0 with u + weight q u^(q-1) = size: Newton's steps on a concave function, from below."""
        slope, power = weight * self.q, self.q - 1
        with np.errstate(all="ignore"):
            u = np.minimum(sizes / 2, (sizes / (2 * slope)) ** (1 / power))
            for _ in range(12):
                step = (sizes - u - slope * u**power) / (1 + slope * power * u ** (power - 1))
                u = u + np.where(np.isfinite(step), np.maximum(step, 0.0), 0.0)
        return np.minimum(u, sizes)

    def linear_minimiser(self, G: Array) -> Array:
        G = np.asarray(G, float)
        largest = np.abs(G).max(axis=-1, keepdims=True)
        shape = np.abs(G / np.where(largest > 0, largest, 1.0)) ** (1 / (self.q - 1))
        sizes = q_norms(shape, self.q)[..., None]
        return np.where(largest > 0, -self.radius * np.sign(G) * shape / np.where(sizes > 0, sizes, 1.0), 0.0)

    def contains(self, W: Array, tol: float = 1e-9) -> Any:
        return self.norms(W) <= self.radius + tol

    def reach(self, d: int) -> float:
        return self.radius

    def diameter(self, d: int) -> float:
        return 2 * self.radius


@dataclass(frozen=True)
class Simplex(Constraint):
    """w >= 0 and sum w = 1."""

    @property
    def radius(self) -> float:
        return 1.0

    def project(self, W: Array, out: Array | None = None) -> Array:
        return filled(project_on_simplex(np.asarray(W, float), 1.0), out)

    def linear_minimiser(self, G: Array) -> Array:
        vertex = np.zeros_like(G, dtype=float)
        np.put_along_axis(vertex, np.argmin(G, axis=-1)[..., None], 1.0, -1)
        return vertex

    def contains(self, W: Array, tol: float = 1e-9) -> Any:
        return (np.min(W, axis=-1) >= -tol) & (np.abs(np.sum(W, axis=-1) - 1) <= tol)

    def reach(self, d: int) -> float:
        return 1.0

    def diameter(self, d: int) -> float:
        return math.sqrt(2) if d > 1 else 0.0


@dataclass(frozen=True)
class Box(Constraint):
    """low <= w <= high in every coordinate; each is one number, or a tuple with one number a coordinate."""

    low: float | tuple[float, ...] = -1.0
    high: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        remedy = "Pass Box(-1.0, 1.0) for example."
        low, high = floats("low", self.low, remedy=remedy), floats("high", self.high, remedy=remedy)
        fits = low.ndim < 2 and high.ndim < 2 and (low.shape == high.shape or not low.ndim or not high.ndim)
        gap = high - low if fits else np.array(math.nan)
        if not (np.all(np.isfinite(gap)) and np.all(gap > 0)):
            raise InvalidInput("box", (self.low, self.high), "finite with low < high", remedy)

    @property
    def radius(self) -> float:
        """Known without a dimension only if the corners are given coordinate by coordinate."""
        sides = np.maximum(np.abs(self.low), np.abs(self.high))
        if sides.ndim == 0:
            raise InvalidInput("radius of a box", self, "asked in d dimensions", "Use reach(d).")
        return float(np.linalg.norm(sides))

    def project(self, W: Array, out: Array | None = None) -> Array:
        return np.clip(W, self.low, self.high, out=out)

    def linear_minimiser(self, G: Array) -> Array:
        return np.where(np.asarray(G) > 0, self.low, self.high) + 0.0

    def contains(self, W: Array, tol: float = 1e-9) -> Any:
        return ((np.subtract(self.low, tol) <= W) & (np.add(self.high, tol) >= W)).all(axis=-1)

    def reach(self, d: int) -> float:
        return float(np.linalg.norm(self._in(np.maximum(np.abs(self.low), np.abs(self.high)), d)))

    def diameter(self, d: int) -> float:
        return float(np.linalg.norm(self._in(np.subtract(self.high, self.low), d)))

    def _in(self, sides: Any, d: int) -> Array:
        if np.ndim(sides) == 1 and len(sides) != d:
            raise InvalidInput("box", f"given in {len(sides)} coordinates", f"in {d}", "Match it to the data.")
        return np.broadcast_to(sides, (d,))


def project_on_simplex(V: Array, total: float) -> Array:
    """Projection on {w >= 0, sum w = total}: subtract the threshold found by sorting (Duchi et al. 2008)."""
    # The answer ignores a common shift and what lies `total` below the top: this keeps every digit.
    V = np.maximum(V - V.max(axis=-1, keepdims=True), -total)
    falling = -np.sort(-V, axis=-1)
    count = np.arange(1, V.shape[-1] + 1)
    threshold = (np.cumsum(falling, axis=-1) - total) / count
    support = (falling > threshold).sum(axis=-1, keepdims=True)
    theta = np.take_along_axis(threshold, np.maximum(support, 1) - 1, axis=-1)
    return np.maximum(V - theta, 0.0)


def q_norms(W: Array, q: float) -> Array:
    """||w||_q along the last axis, for entries of any size."""
    sizes = np.abs(np.asarray(W, float))
    largest = sizes.max(axis=-1, keepdims=True)
    scaled = sizes / np.where(largest > 0, largest, 1.0)
    return np.asarray(largest[..., 0] * (scaled**q).sum(axis=-1) ** (1 / q))


def stable_norms(W: Array) -> Array:
    """Euclidean norms along the last axis, for entries of any size."""
    W = np.asarray(W, float)
    squares = np.einsum("...i,...i->...", W, W)
    extreme = (squares < 1e-200) | (squares > 1e200)
    if np.any(extreme):
        largest = np.abs(W).max(axis=-1, keepdims=True, initial=0.0)
        scaled = W / np.where(largest > 0, largest, 1.0)
        return np.asarray(largest[..., 0] * np.sqrt(np.einsum("...i,...i->...", scaled, scaled)))
    return np.asarray(np.sqrt(squares))


def filled(W: Array, out: Array | None) -> Array:
    """W in `out`, or in a new array."""
    if out is None:
        return np.array(W, dtype=float)
    if out is not W:
        out[...] = W
    return out
