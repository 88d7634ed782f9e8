"""Frank-Wolfe steps: to the vertex that a noisy gradient points at, or to a corner that is selected by its score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.kernels.method import Array, Drawn, Method, State
from dpcheck.problems.constraints import Constraint
from dpcheck.problems.polytopes import Corners
from dpcheck.problems.problem import Problem


@dataclass(frozen=True, eq=False)
class VertexSteps(Method):
    """x <- x + gamma (v - x), v the vertex of the set that minimises <v, noisy gradient>, from 0."""

    width: int
    constraint: Constraint
    gamma: float
    steps: int
    rounds: Callable[[np.random.Generator, int], Any] | None = None

    def start(self, k: int) -> State:
        return (np.zeros((k, self.width)),)

    def query(self, data: Problem, state: State, t: int, drawn: Drawn) -> Array:
        return data.gradient(state[0])

    def update(self, state: State, answer: Array, t: int) -> State:
        (x,) = state
        return (x + self.gamma * (self.constraint.linear_minimiser(answer) - x),)

    def grain(self, scale: float) -> float:
        """A vertex is a discontinuous function of the noise: the grid is that of the steps."""
        return self.gamma * self.constraint.diameter(self.width)


@dataclass(frozen=True, eq=False)
class CornerSteps(Method):
    """x <- (1 - pace) x + pace s from the mean of the corners; s is selected by its score, -<s, grad F(x)>."""

    corners: Corners
    pace: float
    steps: int
    rounds: Callable[[np.random.Generator, int], Any] | None = None
    lattice: float = 0.0

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.corners.count

    def start(self, k: int) -> State:
        return (np.tile(self.corners.centre(), (k, 1)),)

    def query(self, data: Problem, state: State, t: int, drawn: Drawn) -> Array:
        return -self.corners.products(data.gradient(state[0]))

    def update(self, state: State, answer: Array, t: int) -> State:
        return ((1 - self.pace) * state[0] + self.pace * self.corners.at(answer[:, 0].astype(int)),)

    def grain(self, scale: float) -> float:
        """None: what is added to x is a corner, whose bits tell nothing else."""
        return 0.0
