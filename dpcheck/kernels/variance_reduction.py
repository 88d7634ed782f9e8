"""Noisy variance-reduced gradient steps: SVRG, Katyusha and SVRG++ are settings of one method.

An epoch takes the full gradient at a snapshot x~; each of its steps moves along
v = (grad f_i(y) - grad f_i(x~)) + grad F(x~) + noise with y = theta x + (1 - theta) x~, and ends in a proximal step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.kernels.blocks import Seed
from dpcheck.kernels.gradient_steps import must_be_batch, starting_point
from dpcheck.kernels.method import Asked, Drawn, Method, State
from dpcheck.kernels.noise import must_be_counts
from dpcheck.kernels.running import Run, run
from dpcheck.problems.constraints import Constraint, WholeSpace
from dpcheck.problems.losses import Array, must_be_positive
from dpcheck.problems.problem import Problem
from dpcheck.problems.rows import BoundedRows


@dataclass(frozen=True)
class Epochs:
    """How a run goes: the number of steps of each epoch, and `batch` records a step.

    theta = 1 looks at x itself. The new snapshot is theta times the mean of the iterates, with weights growth^j,
    plus 1 - theta times the old one. With `restart` an epoch begins at its snapshot, else where the last one ended.
    """

    lengths: Sequence[int]
    step_size: float
    theta: float = 1.0
    growth: float = 1.0
    restart: bool = True
    batch: int = 1

    def __post_init__(self) -> None:
        if not self.lengths:
            raise InvalidInput("lengths", self.lengths, "at least one", "Pass lengths=(100,).")
        for length in self.lengths:
            must_be_counts(lengths=length)
        must_be_counts(batch=self.batch)
        must_be_positive("step_size", self.step_size)
        must_be_positive("growth", self.growth)
        if not 0 < self.theta <= 1:
            raise InvalidInput("theta", self.theta, "a number in (0, 1]", "Pass theta=1.0 for no momentum.")

    @property
    def steps(self) -> int:
        return sum(self.lengths)


@dataclass(frozen=True, eq=False)
class ReducedSteps(Method):
    """The steps on F + l2/2 ||x||^2 + l1 ||x||_1 over a set, from `begin`; the last snapshot is released.

    A state is the iterate, the snapshot and the mean so far. The snapshot is never written into: each is a new array.
    """

    epochs: Epochs
    begin: Array
    constraint: Constraint
    l2: float = 0.0
    l1: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.l1 < math.inf:
            raise InvalidInput("l1", self.l1, "a finite number >= 0", "Pass l1=0.0 for none.")
        if self.l1 > 0 and not isinstance(self.constraint, WholeSpace):
            raise InvalidInput("l1", self.l1, "0 over a constraint set", "Drop one of the two.")

    @property
    def steps(self) -> int:  # type: ignore[override]
        return self.epochs.steps

    @property
    def width(self) -> int:  # type: ignore[override]
        return len(self.begin)

    @cached_property
    def shares(self) -> list[float]:
        """The weight of each iterate in the mean of its epoch."""
        epochs = self.epochs
        weights = [epochs.growth ** np.arange(1.0 - length, 1.0) for length in epochs.lengths]
        return np.concatenate([weight / weight.sum() for weight in weights]).tolist()

    @cached_property
    def ends(self) -> frozenset[int]:
        """The last step of each epoch."""
        return frozenset((np.cumsum(self.epochs.lengths) - 1).tolist())

    def start(self, k: int) -> State:
        x = np.tile(self.begin, (k, 1))
        return x, x.copy(), np.zeros_like(x)

    def query(self, data: Problem, state: State, t: int, drawn: Drawn) -> Array:
        return _Estimates(self, data)(state, t, drawn)

    def update(self, state: State, answer: Array, t: int) -> State:
        return self.moved(state, answer, self.epochs.step_size, t)

    def moved(self, state: State, v: Array, eta: Any, t: int) -> State:
        """A proximal step of this size and, after the last of an epoch, the new snapshot."""
        x, snap, mean = state
        v *= eta
        x -= v
        x = shrunk(x, eta, self.l1, self.l2, self.constraint)
        mean += self.shares[t] * x
        if t not in self.ends:
            return x, snap, mean
        theta = self.epochs.theta
        snap = mean if theta == 1 else theta * mean + (1 - theta) * snap
        return (snap.copy() if self.epochs.restart else x), snap, np.zeros_like(x)

    def output(self, state: State) -> Array:
        return state[1]

    def grain(self, scale: float) -> float:
        """The last step's own noise, as the mean and the proximal step leave it."""
        eta, last = self.epochs.step_size, self.epochs.lengths[-1]
        return self.epochs.theta * eta * scale / (last * (1 + eta * self.l2))

    def asked_of(self, data: Problem, k: int) -> Asked:
        return _Estimates(self, data)


class _Estimates:
    """Estimates of grad F(y) before noise. The full gradient is taken once a snapshot, and kept between steps."""

    def __init__(self, method: ReducedSteps, data: Problem) -> None:
        self.theta, self.data = method.epochs.theta, replace(data, l2=0.0)  # the proximal step has the regulariser
        self.snap: Array | None = None
        self.slopes, self.full = np.empty((0, 0)), np.empty((0, 0))

    def __call__(self, state: State, t: int, drawn: Drawn) -> Array:
        x, snap = state[0], state[1]
        y = x if self.theta == 1 else self.theta * x + (1 - self.theta) * snap
        if drawn is None:
            return self.data.gradient(y)
        if snap is not self.snap:
            self.snap = snap
            self._look_from(snap)
        return self._estimate(y, drawn)

    def _look_from(self, snap: Array) -> None:
        """The slope of each record at the snapshot and their gradient. Bounded rows are passed over once, in blocks."""
        rows: Any = self.data.X
        if not isinstance(rows, BoundedRows) or len(snap) > 1:
            self.slopes = self.data.loss.derivative(snap @ rows.T, self.data.y)
            self.full = self.slopes @ rows / self.data.n
            return
        slopes = self.slopes = np.empty((1, self.data.n))

        def kept(margins: Array, places: NDArray[np.int64]) -> Array:
            slopes[0, places] = self.data.loss.derivative(margins, self.data.y[places])
            return slopes[0, places]

        self.full = rows.pass_over(snap[0], kept, np.arange(self.data.n))[None] / self.data.n

    def _estimate(self, y: Array, drawn: NDArray[np.int64]) -> Array:
        k, n = self.slopes.shape
        places = drawn + np.arange(0, k * n, n).reshape((k,) + (1,) * (drawn.ndim - 1))
        rows, labels = self.data.X.take(drawn, axis=0), self.data.y.take(drawn)
        inward = "kd,kd->k" if drawn.ndim == 1 else "kbd,kd->kb"
        moved = self.data.loss.derivative(np.einsum(inward, rows, y), labels)
        moved -= self.slopes.ravel().take(places)
        if drawn.ndim == 1:
            rows *= moved[:, None]
            rows += self.full
            return rows
        return np.einsum("kb,kbd->kd", moved, rows) / drawn.shape[1] + self.full


def reduced_steps(problem: Problem, epochs: Epochs, l1: float = 0.0, start: Any = None) -> ReducedSteps:
    """The method on this problem, by default from the projection of zero."""
    must_be_batch(epochs.batch, problem.n)
    return ReducedSteps(epochs, starting_point(problem, start), problem.constraint, problem.l2, l1)


def reduced_descent(
    problem: Problem,
    epochs: Epochs,
    *,
    noise_std: float,
    seed: Seed,
    trials: int,
    l1: float = 0.0,
    start: Any = None,
    trace: bool = False,
) -> Run:
    """`trials` independent runs with noise of any size: promises nothing.

    Each step draws `batch` records without replacement (all of them: v is the full gradient at y, with noise).

    >>> from dpcheck.problems.losses import Squared
    >>> p = Problem([[1.0], [1.0]], [0.5, 0.7], Squared())
    >>> reduced_descent(p, Epochs((50,) * 4, 0.5), noise_std=0.0, seed=0, trials=2).w.round(6)
    array([[0.6],
           [0.6]])
    """
    if not 0 <= noise_std < math.inf:
        raise InvalidInput("noise_std", noise_std, "a finite number >= 0", "Pass noise_std=0.0 for none.")
    method = reduced_steps(problem, epochs, l1, start)
    released = Release(1.0, Gaussian(noise_std), WithoutReplacement(epochs.batch, problem.n), epochs.steps)
    return run(method, released, problem, seed=seed, trials=trials, trace=trace)


# The objective with both regularisers ---------------------------------------------------------------
def proximal(problem: Problem, l1: float, x: Array, eta: Any) -> Array:
    """argmin ||. - x||^2 / (2 eta) + l1 ||.||_1 + l2/2 ||.||^2 over the problem's set."""
    return shrunk(x, eta, l1, problem.l2, problem.constraint)


def shrunk(x: Array, eta: Any, l1: float, l2: float, constraint: Constraint) -> Array:
    """The proximal step: shrink, scale, project."""
    if l1 > 0:
        x = np.sign(x) * np.maximum(np.abs(x) - eta * l1, 0.0)
    if l2 > 0:
        x = x / (1 + eta * l2)
    return x if isinstance(constraint, WholeSpace) else constraint.project(x)


def composite_value(problem: Problem, W: Array, l1: float = 0.0) -> Any:
    """F + l2/2 ||w||^2 + l1 ||w||_1 at each point."""
    return problem.value(W) + l1 * np.abs(W).sum(axis=-1)


def composite_minimum(problem: Problem, l1: float = 0.0) -> float:
    """Its least value; with an l1 term by accelerated proximal steps, to about 1e-9 (Beck-Teboulle 2009, restarted)."""
    if l1 == 0:
        return problem.minimiser()[1]
    bend = problem.loss.curvature_range(math.inf, problem.label_bound)[1]
    eta = 1 / (bend * float(np.linalg.norm(problem.X, 2)) ** 2 / problem.n + problem.l2)
    w, ahead, weight = np.zeros(problem.d), np.zeros(problem.d), 1.0
    for _ in range(50_000):
        moved = ahead - eta * problem.gradient(ahead)
        new = np.sign(moved) * np.maximum(np.abs(moved) - eta * l1, 0.0)
        if (ahead - new) @ (new - w) > 0:
            weight = 1.0
        heavier = (1 + math.sqrt(1 + 4 * weight**2)) / 2
        ahead, gone = new + (weight - 1) / heavier * (new - w), float(np.linalg.norm(new - w))
        w, weight = new, heavier
        if gone <= 1e-9 * eta * (1 + float(np.linalg.norm(w))):
            break
    return float(composite_value(problem, w, l1))
