"""Noisy projected gradient steps, w <- project(w - eta_t (g(w) + noise)): the method under the descent solvers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Composed, Release, Released
from dpcheck.kernels.blocks import Seed
from dpcheck.kernels.method import Array, Asked, Drawn, Method, State
from dpcheck.kernels.noise import must_be_counts
from dpcheck.kernels.running import Run, run
from dpcheck.kernels.single_precision import SingleGradient, hidden_by_noise
from dpcheck.problems.constraints import Constraint, WholeSpace
from dpcheck.problems.problem import Problem, rows_to_pass
from dpcheck.problems.sensing import Sensing

Schedule = float | Sequence[float] | Array


@dataclass(frozen=True, eq=False)
class GradientSteps(Method):
    """One gradient a step, of all records or of a batch. `begin` is one point, (d,), or one a trial.

    `single`: full gradients are evaluated in single precision (kernels/single_precision.py).
    """

    etas: Array
    begin: Array
    constraint: Constraint
    rounds: Callable[[np.random.Generator, int], Any] | None = None
    single: bool = False

    @property
    def steps(self) -> int:  # type: ignore[override]
        return len(self.etas)

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.begin.shape[-1]

    def start(self, k: int) -> State:
        return (np.tile(self.begin, (k, 1)),)

    def query(self, data: Problem, state: State, t: int, drawn: Drawn) -> Array:
        return data.gradient(state[0]) if drawn is None else data.gradient_at(state[0], drawn)

    def update(self, state: State, answer: Array, t: int) -> State:
        (w,) = state
        answer *= self.etas[t]
        w -= answer
        if not isinstance(self.constraint, WholeSpace):
            self.constraint.project(w, out=w)
        return (w,)

    def grain(self, scale: float) -> float:
        return float(self.etas[-1]) * scale

    def asked_of(self, data: Problem, k: int) -> Asked:
        return _Buffered(self, data, k)


class _Buffered:
    """The gradients of a run in memory that all its steps share."""

    def __init__(self, method: GradientSteps, data: Problem, k: int) -> None:
        self.method, self.data = method, data
        self.gradient = np.empty((k, data.d))
        in_passes = k == 1 and not method.single and rows_to_pass(data.X) is not None  # which hold no margins
        self.margins = np.empty((k, 0 if in_passes else data.n))
        self.single = SingleGradient(data, k) if method.single else None

    def __call__(self, state: State, t: int, drawn: Drawn) -> Array:
        w, m = state[0], len(state[0])
        if drawn is not None:
            return self.method.query(self.data, state, t, drawn)
        if self.single is None:
            return self.data.gradient(w, out=self.gradient[:m], margins=self.margins[:m])
        self.single.fill(w, self.gradient[:m], self.margins[:m])
        return self.gradient[:m]


def noisy_descent(
    problem: Problem,
    *,
    steps: int,
    step_size: Schedule,
    noise_std: Schedule,
    seed: Seed,
    trials: int,
    batch: int | None = None,
    start: Any = None,
    rounds: Callable[[np.random.Generator, int], Any] | None = None,
    trace: bool = False,
    precision: Literal["auto", "double"] = "auto",
    blocks: range | None = None,
) -> Run:
    """`trials` independent runs of `steps` noisy projected gradient steps, with noise of any size: promises nothing.

    `step_size` and `noise_std` (per coordinate, on the gradient) are numbers or one number a step. With a
    `batch`, each trial and step averages that many records, drawn without replacement. `start` is one point, by
    default the projection of zero. `rounds(rng, k)` draws each trial's number of steps. `precision="auto"` evaluates
    tanh in single precision where the noise hides it (see `hidden_by_noise`). Raises InvalidInput on bad settings
    and on iterates that overflow.

    >>> from dpcheck.problems.losses import Squared
    >>> p = Problem([[1.0], [1.0]], [0.5, 0.7], Squared())
    >>> noisy_descent(p, steps=60, step_size=0.5, noise_std=0.0, seed=0, trials=2).w.round(6)
    array([[0.6],
           [0.6]])
    """
    must_be_counts(steps=steps)
    must_be_batch(batch, problem.n)
    if precision not in ("auto", "double"):
        raise InvalidInput("precision", precision, "auto or double", "Use auto.")
    sigmas = schedule("noise_std", noise_std, steps, zero=True)
    single = precision == "auto" and batch is None and hidden_by_noise(problem, float(sigmas.min()), steps)
    etas = schedule("step_size", step_size, steps, zero=False)
    method = GradientSteps(etas, starting_point(problem, start), problem.constraint, rounds, single)
    released = _released(sigmas, None if batch is None else WithoutReplacement(batch, problem.n))
    return run(method, released, problem, seed=seed, trials=trials, trace=trace, blocks=blocks)


def _released(sigmas: Array, sampling: WithoutReplacement | None) -> Released:
    if np.all(sigmas == sigmas[0]):
        return Release(1.0, Gaussian(float(sigmas[0])), sampling, len(sigmas))
    return Composed(tuple(Release(1.0, Gaussian(float(s)), sampling, 1) for s in sigmas))


def schedule(what: str, value: Schedule, steps: int, *, zero: bool) -> Array:
    """One number a step."""
    values = np.asarray(value, float)
    if values.shape not in ((), (steps,)):
        raise InvalidInput(f"length of {what}", values.shape, f"one number, or {steps}", "Give one a step.")
    if not np.all(np.isfinite(values) & ((values >= 0) if zero else (values > 0))):
        limit = f"finite and {'>= 0' if zero else '> 0'}"
        raise InvalidInput(what, value, limit, f"Pass {what}=0.1 for example.")
    return np.broadcast_to(values, (steps,))


def starting_point(problem: Problem | Sensing, start: Any = None) -> Array:
    """A feasible point, by default the projection of zero."""
    if start is None:
        return problem.constraint.project(np.zeros(problem.d))
    point = np.asarray(start, float)
    if point.shape != (problem.d,):
        raise InvalidInput("shape of start", point.shape, f"({problem.d},)", "Give one point for all trials.")
    if not (np.all(np.isfinite(point)) and np.all(problem.constraint.contains(point))):
        raise InvalidInput("start", start, "finite and in the constraint set", "Project it first.")
    return point


def must_be_batch(batch: int | None, n: int) -> None:
    """Refuse a batch larger than the data."""
    if batch is None:
        return
    must_be_counts(batch=batch)
    if batch > n:
        raise InvalidInput("batch", batch, f"at most n={n}", "Pass batch=None for the full gradient.")
