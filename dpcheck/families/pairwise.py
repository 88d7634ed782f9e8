"""Losses of pairs of records, streams of them, and Pairwise GIGA: what the solvers of dwang20, section 3.3, share.

Claims: bounds/library/pairwise/.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.kernels.blocks import LARGEST_BLOCK
from dpcheck.kernels.method import Array, Asked, Drawn, Method, State
from dpcheck.kernels.one_answer import HELD, repeated
from dpcheck.problems.constraints import Constraint, L2Ball
from dpcheck.problems.losses import Linear, Logistic, Loss, Squared, must_be_positive
from dpcheck.problems.problem import ROUNDING, floats
from dpcheck.settings import count, positive
from dpcheck.solver import Calibrated, Calibration, Example, Solver, approximate, gaussian_parameters

Rows = slice | NDArray[np.int64]
MOST_SUMS = 1 << 24  # numbers that sums over a stream hold
FARTHEST = 4.0  # ‖(y-y')(x-x')‖ for labels ±1, and ‖(x-x')(x-x')ᵀ‖, of rows of norm 1 at most


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
    """A stream of records (x, y), ‖x‖ ≤ 1, y = ±1, and a convex loss φ of each pair, with l2/2·‖w-w₀‖² added.

    For AUC φ((y-y')⟨w, x-x'⟩) over ‖w‖ ≤ radius, w₀ = 0; as `metric` φ(yy'(1 - (x-x')ᵀW(x-x'))) over matrices W ≥ 0 of
    Frobenius norm at most `radius`, where W has d² entries, and w₀ is half as large a multiple of I.
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
        X, y = floats("X", self.X).copy(), floats("y", self.y).copy()
        if X.ndim != 2 or y.shape != X.shape[:1] or len(X) < 3 or not np.all(np.isfinite(X)):
            limit = "finite numbers, (n, d) with a label each, n >= 3"
            raise InvalidInput("records", f"{X.shape} and {y.shape}", limit, "Pass one row a record.")
        norms = np.linalg.norm(X, axis=1)
        worst = int(norms.argmax())
        if norms[worst] > 1 + ROUNDING:
            remedy = "Divide the rows by a public bound, or clip them."
            raise InvalidInput(f"norm of row {worst}", "too large", "at most 1", remedy)
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
    def middle(self) -> Array:
        """w₀, where streams start."""
        if not self.metric:
            return np.zeros(self.width)
        size = math.isqrt(self.width)
        return self.radius / (2 * math.sqrt(size)) * np.eye(size).ravel()

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
        """∇ of the mean loss of record t with the others, at each row of W, (k, width): two products of matrices.

        For AUC those of the same class have none; squared losses of the others need but sums of x and xxᵀ.
        """
        if not self.metric and isinstance(rows, slice) and rows == slice(0, t):
            own = self._of_the_other_class(W, t) if self._sums is None else self._by_sums(W, t)
            return own + self.l2 * W
        level, slopes = self.pairs(t, rows)
        bent = self.loss.derivative(W @ slopes.T + level, 1.0)
        return bent @ slopes / len(level) + self.l2 * (W - self.middle)

    @cached_property
    def _classes(self) -> dict[float, tuple[NDArray[np.int64], Array]]:
        """Positions and rows of each class."""
        places = {label: np.flatnonzero(self.y == label) for label in (-1.0, 1.0)}
        return {label: (at, self.X[at]) for label, at in places.items()}

    def _of_the_other_class(self, W: Array, t: int) -> Array:
        """Margins are 2y⟨w, u⟩ with u = x - x' for the other class, and 0 for the same, where the gradient is 0."""
        places, rows = self._classes[-self.y[t]]
        before, x, sign = rows[: np.searchsorted(places, t)], self.X[t], 2 * self.y[t]
        bent = sign * self.loss.derivative(sign * ((W @ x)[:, None] - W @ before.T), 1.0)
        return np.asarray((np.outer(bent.sum(axis=1), x) - bent @ before) / t)

    @cached_property
    def _sums(self) -> dict[float, tuple[Array, Array, Array]] | None:
        """By class, of the records before each position: how many, their sum, and that of their outer products."""
        if self.metric or not isinstance(self.loss, Squared) or self.n * self.width**2 > MOST_SUMS:
            return None

        def before(parts: Array) -> Array:
            return np.concatenate([np.zeros((1, *parts.shape[1:])), np.cumsum(parts, axis=0)])

        found = {}
        for label in (-1.0, 1.0):
            own = self.X * (self.y == label)[:, None]
            found[label] = before(self.y == label), before(own), before(own[:, :, None] * own[:, None, :])
        return found

    def _by_sums(self, W: Array, t: int) -> Array:
        """The same for squared losses: Σ u and Σ uuᵀ are enough."""
        assert self._sums is not None
        size, total, outer = (part[t] for part in self._sums[-self.y[t]])
        x, sign = self.X[t], 2 * self.y[t]
        apart = size * x - total
        squares = size * np.outer(x, x) - np.outer(x, total) - np.outer(total, x) + outer
        return np.asarray((4 * W @ squares - sign * apart) / t)

    def value(self, W: Array) -> Array:
        """The mean loss of all pairs, (3.101), with the regulariser, at each row of W."""
        total = np.zeros(len(W))
        for t in range(1, self.n):
            level, slopes = self.pairs(t, slice(0, t))
            total += self.loss.value(W @ slopes.T + level, 1.0).sum(axis=1)
        return total * 2 / (self.n * (self.n - 1)) + self.l2 / 2 * ((W - self.middle) ** 2).sum(axis=1)


def step_size(alpha: float, time: int) -> float:
    """η at the given time, t of the document."""
    return (time - 1) / (time - 2) * 2 / (alpha * time)


def stepped(problem: PairProblem, W: Array, at: int, rows: Rows) -> Array:
    """One step of Pairwise GIGA with the record at position `at`, from 0: that of time at + 1."""
    return problem.domain.project(W - step_size(problem.l2, at + 1) * problem.gradient(W, at, rows))


def giga(problem: PairProblem, first: int) -> Array:
    """w_t for t > first = T₁, (n - T₁, width); the points before are w₀, whatever the data."""
    path = np.tile(problem.middle, (problem.n - first + 1, 1))
    for j, at in enumerate(range(first, problem.n)):
        path[j + 1] = stepped(problem, path[j : j + 1], at, slice(0, at))[0]
    return path[1:]


class Times(NamedTuple):
    """Public: T₁, n, and the strength of the regulariser."""

    first: int
    n: int
    alpha: float

    @property
    def rounds(self) -> int:
        return self.n - self.first


@dataclass(frozen=True, eq=False)
class Stream(Method):
    """At time t > T₁ it asks for t·w_t and puts out the noisy w_t, projected: the outputs side by side, or their mean.

    `feedback`: the next step goes on from what was put out; otherwise all steps are those of one run without noise.
    `buffers` are the positions that step j pairs its record with, by default all before it.
    """

    times: Times
    middle: Array
    domain: Constraint
    feedback: bool = False
    averaged: bool = False
    buffers: tuple[NDArray[np.int64], ...] | None = None

    @property
    def steps(self) -> int:  # type: ignore[override]
        return self.times.rounds

    @property
    def width(self) -> int:  # type: ignore[override]
        return len(self.middle)

    def start(self, k: int) -> State:
        size = 1 if self.averaged else self.steps
        return np.tile(self.middle, (k, 1)), np.zeros((k, size * self.width))

    def query(self, data: PairProblem, state: State, t: int, drawn: Drawn) -> Array:
        return self.asked_of(data, len(state[0]))(state, t, drawn)

    def asked_of(self, data: PairProblem, k: int) -> Asked:
        first, stream = self.times.first, data.regularised(self.times.alpha)

        def noisy(state: State, t: int, drawn: Drawn) -> Array:
            rows = slice(0, first + t) if self.buffers is None else self.buffers[t]
            return (first + t + 1) * stepped(stream, state[0], first + t, rows)

        if self.feedback:
            return noisy
        path = giga(stream, first)
        return lambda state, t, drawn: repeated((first + t + 1) * path[t], len(state[0]))

    def update(self, state: State, answer: Array, t: int) -> State:
        w, out = self.domain.project(answer / (self.times.first + t + 1)), state[1]
        if self.averaged:
            out += w / self.steps
        else:
            out[:, t * self.width : (t + 1) * self.width] = w
        return w, out

    def output(self, state: State) -> Array:
        return state[1]

    def grain(self, scale: float) -> float:
        return scale / self.times.n

    def block(self, data: PairProblem) -> int:
        return max(1, min(LARGEST_BLOCK, HELD // (self.steps * self.width)))


@dataclass(frozen=True, eq=False)
class MeanPoint(Method):
    """It asks for the mean of the n points of a run without noise, once, and projects the noisy answer."""

    times: Times
    width: int
    domain: Constraint
    steps = 1

    def start(self, k: int) -> State:
        return (np.zeros((k, self.width)),)

    def query(self, data: PairProblem, state: State, t: int, drawn: Drawn) -> Array:
        return self.asked_of(data, len(state[0]))(state, t, drawn)

    def asked_of(self, data: PairProblem, k: int) -> Asked:
        path = giga(data.regularised(self.times.alpha), self.times.first)
        mean = (self.times.first * data.middle + path.sum(axis=0)) / self.times.n
        return lambda state, t, drawn: repeated(mean, len(state[0]))

    def update(self, state: State, answer: Array, t: int) -> State:
        return (self.domain.project(answer),)

    def block(self, data: PairProblem) -> int:
        return max(1, HELD // self.width)


@dataclass(frozen=True)
class PairSolver(Solver):
    """An algorithm on a PairProblem. `first` is T₁, by default the least that the sharper Lemma 3.3.1 allows."""

    first: int | None = count(None)
    minimises: ClassVar[bool] = False

    def strength(self, data: PairProblem) -> float:
        """α: that of the regulariser."""
        return data.l2

    def must_suit(self, data: PairProblem, guarantee: Guarantee, calibration: Calibration) -> None:
        if not isinstance(data, PairProblem):
            raise InvalidInput("data", type(data).__name__, "a PairProblem", "Use PairProblem(X, y).")
        approximate(guarantee)
        alpha = self.strength(data)
        if not alpha > 0:
            remedy = "Give it l2, or use the solver for convex losses, whose name ends in _c."
            raise InvalidInput("l2", data.l2, "above 0, for strongly convex losses", remedy)
        times, least = self.plan(data, guarantee), least_first(data.curvature, alpha)
        if times.first < least:
            raise InvalidInput("first", times.first, f"at least 3 + L/α, here {least}", "Leave it out.")
        if times.rounds < 1:
            limit = f"more than T₁ = {times.first}, up to which points ignore the data"
            raise InvalidInput("records", data.n, limit, "Take more records, or a larger regulariser.")

    def plan(self, data: PairProblem, guarantee: Guarantee) -> Times:
        alpha = self.strength(data)
        return Times(self.first or least_first(data.curvature, alpha), data.n, alpha)

    def numbers(self, data: PairProblem, plan: Times) -> dict[str, float]:
        """By the names of the theorems' symbols; constants with the regulariser, as the printed noise counts them."""
        G, L = data.lipschitz + plan.alpha * data.diameter, data.curvature + plan.alpha
        return {"G": G, "L_pair": L, "alpha_pair": plan.alpha, "T1": plan.first, "rounds": plan.rounds, "n": plan.n}

    def exact(self, data: PairProblem, plan: Times) -> dict[str, float]:
        """The same for certified noise: the regulariser is common to all pairs."""
        return {**self.numbers(data, plan), "G": data.lipschitz}

    def printed(self, claim: Claim, data: PairProblem, guarantee: Guarantee, plan: Times) -> float:
        """The published noise, refused outside of its hypotheses."""
        eps, delta = gaussian_parameters(guarantee)
        return float(claim.evaluate(eps=eps, delta=delta, **self.numbers(data, plan)))

    def gradients(self, problem: PairProblem, guarantee: Guarantee) -> int:
        """Gradients of pairs: those of each record after T₁ with all before it."""
        first, n = self.plan(problem, guarantee).first, problem.n
        return (n * (n - 1) - first * (first - 1)) // 2

    def taken(self, done: Calibrated) -> int:
        return int(done.plan.rounds)

    def worst_pair(self) -> tuple[PairProblem, PairProblem]:
        """Two records after T₁, the first of which has either label."""
        first = self.first or 16
        return opposite_labels(first + 2, first, l2=4.0)

    @classmethod
    def example(cls) -> Example:
        return Example(cls(first=16), neighbour=other_record)


@dataclass(frozen=True)
class ConvexPairSolver(PairSolver):
    """The same for convex losses: the regulariser is `strong` times n to the power that the theorem says."""

    strong: float = positive(1.0)
    power: ClassVar[float] = -0.25

    def strength(self, data: PairProblem) -> float:
        return self.strong * data.n**self.power

    def numbers(self, data: PairProblem, plan: Times) -> dict[str, float]:
        """Of ℓ itself: the claims on convex losses add what the regulariser does."""
        own = {"G": data.lipschitz, "L_pair": data.curvature, "diameter": data.diameter}
        return {**super().numbers(data, plan), **own}

    @classmethod
    def example(cls) -> Example:
        return Example(cls(first=16, strong=4 * 18**-cls.power), neighbour=other_record)


def least_first(curvature: float, alpha: float) -> int:
    """T₁ that the sharper Lemma 3.3.1 asks for, in the version with a regulariser."""
    return max(4, math.ceil(3 + curvature / alpha)) if alpha > 0 else 4


def other_record(problem: PairProblem, rng: np.random.Generator) -> PairProblem:
    """One record replaced by a random one of norm 1."""
    row = rng.standard_normal(problem.X.shape[1])
    row *= (1 - ROUNDING) / float(np.linalg.norm(row))
    return problem.replace(int(rng.integers(problem.n)), row, float(rng.choice([-1.0, 1.0])))


def opposite_labels(n: int, at: int, l2: float) -> tuple[PairProblem, PairProblem]:
    """Streams of losses ∓W(x-x')² in one dimension: the record at `at`, far from all others, has either label."""
    X, y = np.full((n, 1), -1.0), np.ones(n)
    X[at] = 1.0
    stream = PairProblem(X, y, Linear(), l2=l2, metric=True)
    return stream, stream.replace(at, [1.0], -1.0)
