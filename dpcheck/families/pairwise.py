"""Losses of pairs of records, streams of them, and Pairwise GIGA: what the solvers of section 3.3 of dwang20 share.

Claims: bounds/library/pairs/.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels.method import Array, Asked, Drawn, Method, State
from dpcheck.kernels.one_answer import HELD
from dpcheck.problems.constraints import Constraint, L2Ball
from dpcheck.problems.losses import Linear, Logistic, Loss, must_be_positive
from dpcheck.problems.problem import ROUNDING

Rows = slice | NDArray[np.int64]
FARTHEST = 4.0  # ‖(y-y')(x-x')‖ for labels ±1, and ‖(x-x')(x-x')ᵀ‖, of rows of norm 1 at most
OWN_STEP = "Lipschitz constant of ℓ: the regulariser is common to all pairs"


@dataclass(frozen=True)
class PSDBall(L2Ball):
    """Symmetric matrices W ≥ 0 with ‖W‖_F ≤ radius, as rows of their entries."""

    def project(self, W: Array, out: Array | None = None) -> Array:
        size = math.isqrt(W.shape[-1])
        square = W.reshape(*W.shape[:-1], size, size)
        values, vectors = np.linalg.eigh((square + np.swapaxes(square, -1, -2)) / 2)
        cone = (vectors * np.maximum(values, 0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
        return super().project(cone.reshape(W.shape), out)  # a cone's projection comes first, then the ball's


@dataclass(frozen=True, eq=False)
class PairProblem:
    """A stream of records (x, y), ‖x‖ ≤ 1, y = ±1, and a convex loss φ of each pair with an l2 regulariser.

    For AUC φ((y-y')⟨w, x-x'⟩) over ‖w‖ ≤ radius; as `metric` φ(yy'(1 - (x-x')ᵀW(x-x'))) over matrices W ≥ 0 of Frobenius
    norm at most `radius`, where W has d² entries.
    """

    X: Array
    y: Array
    loss: Loss = field(default_factory=Logistic)
    l2: float = 0.0
    radius: float = 1.0
    metric: bool = False

    def __post_init__(self) -> None:
        must_be_positive("radius", self.radius)
        if not 0 <= self.l2 < math.inf:
            raise InvalidInput("l2", self.l2, "a finite number >= 0", "Pass l2=0.0 for none.")
        X, y = np.array(self.X, float), np.array(self.y, float)
        if X.ndim != 2 or y.shape != X.shape[:1] or len(X) < 3 or not np.all(np.isfinite(X)):
            limit = "finite numbers, (n, d) with a label each, n >= 3"
            raise InvalidInput("records", f"{X.shape} and {y.shape}", limit, "Pass one row a record.")
        longest = float(np.linalg.norm(X, axis=1).max())
        if longest > 1 + ROUNDING:
            raise InvalidInput("row norm", longest, "at most 1", "Divide the rows by a public bound, or clip them.")
        if not np.all(np.abs(y) == 1):
            raise InvalidInput("labels", "others", "-1 or 1", "Map the two classes to them.")
        if not self.loss.convex or not math.isfinite(self.curvature):
            raise InvalidInput("loss", type(self.loss).__name__, "a smooth convex loss", "Use Logistic().")
        X.setflags(write=False)
        y.setflags(write=False)
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)

    @property
    def n(self) -> int:
        return len(self.X)

    @property
    def width(self) -> int:
        """The number of parameters."""
        return int(self.X.shape[1]) ** (2 if self.metric else 1)

    @property
    def domain(self) -> Constraint:
        """The set C."""
        return PSDBall(self.radius) if self.metric else L2Ball(self.radius)

    @property
    def diameter(self) -> float:
        """Of the set, or a bound on it: ‖C‖₂."""
        return 2 * self.radius

    @property
    def lipschitz(self) -> float:
        """G of ℓ, its regulariser apart."""
        return FARTHEST * self.loss.derivative_bound(FARTHEST * self.radius + self.metric)

    @property
    def curvature(self) -> float:
        """L of ℓ, its regulariser apart."""
        return FARTHEST**2 * self.loss.curvature_range(FARTHEST * self.radius + self.metric)[1]

    @property
    def facts(self) -> Mapping[str, bool]:
        """What hypotheses ask of the losses: constants are derived, and finite."""
        return {"convex": True, "smooth": True, "Lipschitz": True, "strongly convex": self.l2 > 0}

    def constants(self) -> dict[str, float]:
        """By the names of the theorems' symbols, with the regulariser as the printed ones count it."""
        return {
            "G": self.lipschitz + self.l2 * self.diameter, "L_pair": self.curvature + self.l2, "alpha_pair": self.l2,
            "diameter": self.diameter, "n": self.n,
        }

    def regularised(self, alpha: float) -> PairProblem:
        """With α/2·‖w‖² added."""
        return replace(self, l2=alpha)

    def replace(self, i: int, x: Any, y: float) -> PairProblem:
        """The neighbouring stream whose record at position i, from 0, is (x, y)."""
        X, labels = self.X.copy(), self.y.copy()
        X[i], labels[i] = x, y
        return replace(self, X=X, y=labels)

    def pairs(self, t: int, rows: Rows) -> tuple[Array, Array]:
        """Margins a + ⟨w, b⟩ of record t with each of others: a (..., m) and b (..., m, width)."""
        apart, labels = self.X[t] - self.X[rows], self.y[rows]
        if not self.metric:
            return np.zeros(labels.shape), (self.y[t] - labels)[..., None] * apart
        alike = self.y[t] * labels
        outer = (apart[..., :, None] * apart[..., None, :]).reshape(*apart.shape[:-1], -1)
        return alike, -alike[..., None] * outer

    def gradient(self, W: Array, t: int, rows: Rows) -> Array:
        """∇ of the mean loss of record t with the others, at each row of W, (k, width): two products of matrices."""
        level, slopes = self.pairs(t, rows)
        bent = self.loss.derivative(W @ slopes.T + level, 1.0)
        return bent @ slopes / len(level) + self.l2 * W

    def value(self, W: Array) -> Array:
        """The mean loss of all pairs, (3.101), with the regulariser, at each row of W."""
        total = np.zeros(len(W))
        for t in range(1, self.n):
            level, slopes = self.pairs(t, slice(0, t))
            total += self.loss.value(W @ slopes.T + level, 1.0).sum(axis=1)
        return total * 2 / (self.n * (self.n - 1)) + self.l2 / 2 * (W**2).sum(axis=1)


def step_size(alpha: float, time: int) -> float:
    """η at the given time, t of the document."""
    return (time - 1) / (time - 2) * 2 / (alpha * time)


def stepped(problem: PairProblem, W: Array, at: int, rows: Rows) -> Array:
    """One step of Pairwise GIGA with the record at position `at`, from 0: that of time at + 1."""
    return problem.domain.project(W - step_size(problem.l2, at + 1) * problem.gradient(W, at, rows))


def giga(problem: PairProblem, first: int) -> Array:
    """w_t for t > first = T₁, (n - T₁, width); the points before are the middle of the set, 0, whatever the data."""
    path = np.zeros((problem.n - first + 1, problem.width))
    for j, at in enumerate(range(first, problem.n)):
        path[j + 1] = stepped(problem, path[j : j + 1], at, slice(0, at))[0]
    return path[1:]


@dataclass(frozen=True, eq=False)
class Stream(Method):
    """At time t > T₁ it asks for t·w_t and puts out the noisy w_t, projected: the outputs side by side, or their mean.

    `feedback`: the next step goes on from what was put out; otherwise all steps are those of one run without noise.
    `buffers` are the positions that step j pairs its record with, by default all before it.
    """

    problem: PairProblem  # its public parts: n, set, l2
    first: int
    feedback: bool = False
    averaged: bool = False
    buffers: tuple[NDArray[np.int64], ...] | None = None

    @property
    def steps(self) -> int:  # type: ignore[override]
        return self.problem.n - self.first

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.problem.width

    def start(self, k: int) -> State:
        size = 1 if self.averaged else self.steps
        return np.zeros((k, self.width)), np.zeros((k, size * self.width))

    def rows(self, j: int) -> Rows:
        """The positions that are paired with that of step j."""
        return slice(0, self.first + j) if self.buffers is None else self.buffers[j]

    def query(self, data: PairProblem, state: State, t: int, drawn: Drawn) -> Array:
        return self.asked_of(data, len(state[0]))(state, t, drawn)

    def asked_of(self, data: PairProblem, k: int) -> Asked:
        if self.feedback:
            data = data.regularised(self.problem.l2)
            return lambda state, t, drawn: (self.first + t + 1) * stepped(
                data, state[0], self.first + t, self.rows(t)
            )
        path = giga(data.regularised(self.problem.l2), self.first)
        return lambda state, t, drawn: np.repeat((self.first + t + 1) * path[t : t + 1], len(state[0]), axis=0)

    def update(self, state: State, answer: Array, t: int) -> State:
        w = self.problem.domain.project(answer / (self.first + t + 1))
        _, out = state
        if self.averaged:
            out += w / self.steps
        else:
            out[:, t * self.width : (t + 1) * self.width] = w
        return w, out

    def output(self, state: State) -> Array:
        return state[1]

    def grain(self, scale: float) -> float:
        return scale / self.problem.n

    def block(self, data: PairProblem) -> int:
        return max(1, min(2048, HELD // (self.steps * self.width)))


def other_record(problem: PairProblem, rng: np.random.Generator) -> PairProblem:
    """One record replaced by a random one of norm 1."""
    row = rng.standard_normal(problem.X.shape[1])
    row *= (1 - ROUNDING) / np.linalg.norm(row)
    return problem.replace(int(rng.integers(problem.n)), row, float(rng.choice([-1.0, 1.0])))


def opposite_labels(n: int, at: int, l2: float) -> tuple[PairProblem, PairProblem]:
    """Streams of losses ∓W(x-x')² in one dimension: the record at `at`, far from all others, has either label."""
    X, y = np.full((n, 1), -1.0), np.ones(n)
    X[at] = 1.0
    stream = PairProblem(X, y, Linear(), l2=l2, metric=True)
    return stream, stream.replace(at, [1.0], -1.0)
