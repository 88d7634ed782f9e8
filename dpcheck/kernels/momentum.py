"""Noisy descent with momentum: 1 / theta times as far a step where the risk is flat.

The points where gradients are asked for stay in the constraint set, so their sensitivity is that of plain descent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcheck.kernels.method import Array, Drawn, Method, State
from dpcheck.problems.constraints import Constraint
from dpcheck.problems.problem import Problem


@dataclass(frozen=True, eq=False)
class MomentumSteps(Method):
    """From w = z = `begin`, with theta = 1 - momentum and g the noisy gradient at x = (1 - theta) w + theta z:

        z = project(z - step_size / theta g),   w = (1 - theta) w + theta z.

    theta = 1 is plain descent. Over the whole space it is Nesterov's method with constant momentum. Without noise,
    and if step_size <= 1/L, F(w) - F(v) + theta^2 / (2 step_size) ||z - v||^2 never grows, for v any point of the set
    that is no worse than w (Tseng 2008, proof of Proposition 1). Unlike a growing momentum it weighs all gradients but
    the last few alike, which adds up their noise the least.
    """

    steps: int
    step_size: float
    momentum: float
    begin: Array
    constraint: Constraint

    @property
    def width(self) -> int:  # type: ignore[override]
        return len(self.begin)

    def start(self, k: int) -> State:
        w = np.tile(self.begin, (k, 1))
        return w, w.copy()

    def query(self, data: Problem, state: State, t: int, drawn: Drawn) -> Array:
        return data.gradient(self._between(*state))

    def update(self, state: State, answer: Array, t: int) -> State:
        w, z = state
        z = self.constraint.project(z - self.step_size / (1 - self.momentum) * answer)
        return self._between(w, z), z

    def grain(self, scale: float) -> float:
        return self.step_size * scale

    def _between(self, w: Array, z: Array) -> Array:
        return self.momentum * w + (1 - self.momentum) * z
