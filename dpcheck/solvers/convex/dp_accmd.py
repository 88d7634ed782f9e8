"""DP-AccMD (dwang20, Algorithm 3.1.4), as printed and repaired. Claims: bounds/library/convex/dp_accmd.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.convex import dp_accmd as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.method import Array, Drawn, Method, State
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, flag, positive
from dpcheck.solver import Calibration, Solver, approximate, must_meet


@dataclass(frozen=True)
class DPAccMD(Solver):
    """Accelerated mirror descent over an l2 ball of radius R, with w = ||x||^2 / (2 R^2); y_T is released.

    `repaired`: one noisy gradient in both steps, and step sizes for the smoothness L (2R)^2 in the norm of the set.
    `repaired=False` is the algorithm as printed, whose y steps, and so its output, use exact gradients: to be
    attacked, and refused when certified. `c` is the constant that the published noise hides. `steps` is T, by
    default that of Theorem 3.1.7 with V(x*, x_0) <= 1/2, from x_0 = 0.
    """

    steps: int | None = count()
    repaired: bool = flag(True)
    c: float = positive(1.0, kw_only=True)
    name: ClassVar[str] = "dp_accmd"
    multiclass: ClassVar[bool] = True

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        if not isinstance(data.constraint, L2Ball) or data.l2 > 0:
            limit = "an l2 ball, without a regulariser"
            raise InvalidInput("constraint", data.constraint, limit, "Pass constraint=L2Ball(1.0), l2=0.")
        if not self.repaired and calibration == "certified":
            raise InvalidInput("repaired", False, "True", "Algorithm 3.1.4 as printed releases an exact gradient step.")

    def plan(self, data: Problem, guarantee: Guarantee) -> int:
        return self.steps or self.default_steps(data, approximate(guarantee))

    def default_steps(self, problem: Problem, guarantee: ApproxDP) -> int:
        """The square root of (3.59), at least 1 and at most 1000."""
        R = problem.constraint.reach(problem.d)
        width = R * math.sqrt(problem.d)
        spread = math.hypot(width, 2 * R)
        noise = problem.data_lipschitz * math.sqrt(math.log(1 / guarantee.delta)) * spread
        square = problem.smoothness * (2 * R) ** 2 * math.sqrt(0.5) * problem.n * guarantee.eps / noise
        return int(min(1000, max(1, round(math.sqrt(square)))))

    def release(self, data: Problem, plan: int) -> Release:
        return theory.released.at(G=data.data_lipschitz, n=data.n, T=plan)  # privacy: dwang20.theorem3.1.6.corrected

    def method(self, data: Problem, plan: int, released: Released) -> AcceleratedMirrorSteps:
        kind = AcceleratedMirrorSteps if self.repaired else PrintedSteps
        return kind(plan, data.d, data.smoothness, data.constraint.reach(data.d))

    def stated(self, data: Problem, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        claim, aim = theory.theorem6, approximate(guarantee)
        values = {"n": data.n, "G": data.data_lipschitz, "T": plan, "c": self.c, **aim.parameters}
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: Problem, plan: int) -> Sequence[Claim]:
        return [theory.theorem6_corrected]

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses over a ball, one of which turns round: full gradients differ by 2G/n everywhere."""
        return opposite_pair(5, L2Ball(100.0))


@dataclass(frozen=True)
class AcceleratedMirrorSteps(Method):
    """Repaired: y_(k+1) and z_(k+1) both move by the noisy gradient at x = 2/(k+2) z_k + k/(k+2) y_k."""

    steps: int
    width: int
    smoothness: float
    radius: float

    @property
    def etas(self) -> Array:
        """z moves by eta_k times the noisy gradient: alpha_(k+1) R^2, with L (2R)^2 for L."""
        return (np.arange(self.steps) + 2) / (16 * self.smoothness)

    @property
    def y_step(self) -> float:
        """y moves by this times a gradient: L (2R)^2 times ||y - x||^2 / R^2."""
        return 1 / (8 * self.smoothness)

    def start(self, k: int) -> State:
        return np.zeros((k, self.width)), np.zeros((k, self.width))

    def query(self, data: Problem, state: State, t: int, drawn: Drawn) -> Array:
        return data.gradient(self.between(state, t))

    def between(self, state: State, t: int) -> Array:
        """x_(k+1)."""
        y, z = state
        return 2 / (t + 2) * z + t / (t + 2) * y

    def update(self, state: State, answer: Array, t: int) -> State:
        return self.y_moved(state, answer, t), self.z_moved(state, answer, t)

    def y_moved(self, state: State, gradient: Array, t: int) -> Array:
        return L2Ball(self.radius).project(self.between(state, t) - self.y_step * gradient)

    def z_moved(self, state: State, gradient: Array, t: int) -> Array:
        return L2Ball(self.radius).project(state[1] - self.etas[t] * gradient)

    def grain(self, scale: float) -> float:
        return self.y_step * scale


class PrintedSteps(AcceleratedMirrorSteps):
    """As printed: y moves by the exact gradient, and step sizes take L for the smoothness in the norm of the set."""

    @property
    def etas(self) -> Array:
        return (np.arange(self.steps) + 2) * self.radius**2 / (4 * self.smoothness)

    @property
    def y_step(self) -> float:
        """With half of L (2R)^2."""
        return 1 / (4 * self.smoothness)

    def peek(self, data: Problem, state: State, t: int, asked: Array) -> State:
        return self.y_moved(state, asked, t), state[1]

    def update(self, state: State, answer: Array, t: int) -> State:
        return state[0], self.z_moved(state, answer, t)
