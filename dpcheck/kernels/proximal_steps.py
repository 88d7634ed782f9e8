"""Noisy proximal gradient steps, x <- prox(x - eta (grad F + noise)): the method under DP-PGD, and other choices of x.

Two are broken as printed, and peek at the records: the least exact map, and a line search on the exact risk.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from dpcheck.kernels.method import Array, Asked, Drawn, Method, State
from dpcheck.problems.constraints import Constraint, WholeSpace
from dpcheck.problems.problem import Problem

GROWTH, SHRINK = 1 / 0.9, 0.5  # of a backtracked step: TFOCS tries a longer one each time, and halves what fails


@dataclass(frozen=True)
class Proximal:
    """argmin ||. - x||^2 / (2 eta) + l1 ||.||_1 + l2/2 ||.||^2 over a set: shrink, scale, project."""

    l1: float
    l2: float
    constraint: Constraint

    @classmethod
    def of(cls, problem: Problem, l1: float = 0.0) -> Proximal:
        """For a problem's regulariser and set, and an l1 term."""
        return cls(l1, problem.l2, problem.constraint)

    def __call__(self, x: Array, eta: Any) -> Array:
        if self.l1 > 0:
            x = np.sign(x) * np.maximum(np.abs(x) - eta * self.l1, 0.0)
        if self.l2 > 0:
            x = x / (1 + eta * self.l2)
        return x if isinstance(self.constraint, WholeSpace) else self.constraint.project(x)

    def map_norms(self, x: Array, gradient: Array, eta: Any) -> Array:
        """||P(x, gradient, eta)|| of wangxu19, equation (2), for each point (..., d)."""
        return np.linalg.norm(x - self(x - eta * gradient, eta), axis=-1) / eta


@dataclass(frozen=True, eq=False)
class ProximalSteps(Method):
    """Steps of size eta from `begin`. The gradients are those of the losses: the regulariser is the proximal step's."""

    begin: Array
    eta: float
    steps: int
    prox: Proximal
    rounds: Callable[[np.random.Generator, int], Any] | None = None

    @property
    def width(self) -> int:  # type: ignore[override]
        return len(self.begin)

    def start(self, k: int) -> State:
        return (np.tile(self.begin, (k, 1)),)

    def query(self, data: Problem, state: State, t: int, drawn: Drawn) -> Array:
        return losses_of(data).gradient(state[0])

    def update(self, state: State, answer: Array, t: int) -> State:
        return (self.prox(state[0] - self.eta * answer, self.eta),)

    def grain(self, scale: float) -> float:
        return self.eta * scale

    def asked_of(self, data: Problem, k: int) -> Asked:
        return partial(self.query, losses_of(data))


class NoisyMinimum(ProximalSteps):
    """The output is the iterate with the least noisy map (x_k - x_(k+1))/eta: chosen among what the noise covers."""

    def start(self, k: int) -> State:
        (x,) = super().start(k)
        return x, np.full(k, math.inf), x.copy()

    def update(self, state: State, answer: Array, t: int) -> State:
        (new,) = super().update(state, answer, t)
        return new, *least(state, np.linalg.norm(state[0] - new, axis=1) / self.eta)

    def output(self, state: State) -> Array:
        return state[2]


class ExactMinimum(NoisyMinimum):
    """The output is the iterate with the least exact map, which no noise covers."""

    def peek(self, data: Problem, state: State, t: int, asked: Array) -> State:
        return state[0], *least(state, self.prox.map_norms(state[0], asked, self.eta))

    def update(self, state: State, answer: Array, t: int) -> State:
        return *ProximalSteps.update(self, state, answer, t), *state[1:]


@dataclass(frozen=True, eq=False)
class LineSearch(ProximalSteps):
    """Step sizes halved until F lies below its quadratic model, as TFOCS does: they are read off the exact F."""

    records: Problem = field(kw_only=True)

    def start(self, k: int) -> State:
        (x,) = super().start(k)
        return x, np.full((k, 1), self.eta), np.zeros_like(x)

    def peek(self, data: Problem, state: State, t: int, asked: Array) -> State:
        return *state[:2], asked.copy()

    def update(self, state: State, answer: Array, t: int) -> State:
        x, eta, exact = state
        risk, eta = losses_of(self.records), eta.copy()
        value = risk.value(x)
        for _ in range(60):
            move = self.prox(x - eta * answer, eta) - x
            model = value + np.einsum("kd,kd->k", exact, move) + np.einsum("kd,kd->k", move, move) / (2 * eta[:, 0])
            bad = risk.value(x + move) > model + 1e-12
            if not bad.any():
                break
            eta[bad] *= SHRINK
        return self.prox(x - eta * answer, eta), eta * GROWTH, exact


def least(state: State, score: Array) -> State:
    """(best score, its point) after the present point of state (x, best, chosen) was scored."""
    x, best, chosen = state
    here = score < best
    return np.where(here, score, best), np.where(here[:, None], x, chosen)


def losses_of(problem: Problem) -> Problem:
    """Without the regulariser."""
    return problem if problem.l2 == 0 else replace(problem, l2=0.0)
