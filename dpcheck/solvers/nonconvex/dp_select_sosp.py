"""Selecting a second-order stationary point (dwang20, Algorithm 4.3.26).

Claims: bounds/library/nonconvex/dp_select_sosp.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_select_sosp as theory
from dpcheck.bounds.library.nonconvex import saddle_points
from dpcheck.bounds.privacy.release import Composed, Released
from dpcheck.families.second_order import (
    Data,
    NoisyDerivatives,
    bend,
    constants,
    descent_steps,
    must_be_free,
    start_setting,
    step_size,
)
from dpcheck.kernels.gradient_steps import starting_point
from dpcheck.kernels.method import Array, Drawn, State
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, positive
from dpcheck.solver import Calibrated, Calibration, Example, Solver, approximate, must_meet


@dataclass(frozen=True, eq=False)
class Selection(NoisyDerivatives):
    """T noisy gradient steps, then a noisy gradient at each of the T + 1 iterates, then a noisy Hessian at each.

    A state is where a trial stands, its iterates, and which of them have passed so far.
    """

    eta: float
    aim: float
    deepest: float  # -sqrt(rho alpha)

    @property
    def steps(self) -> int:  # type: ignore[override]
        return 3 * self.rounds_taken + 2

    def start(self, k: int) -> State:
        w = np.tile(self.begin, (k, 1))
        return w, np.tile(w[:, None], (1, self.rounds_taken + 1, 1)), np.ones((k, self.rounds_taken + 1))

    def place(self, t: int) -> tuple[int, bool]:
        """Which iterate step t asks about, and whether for its Hessian."""
        asked = t - self.rounds_taken
        return asked % (self.rounds_taken + 1), asked > self.rounds_taken

    def query(self, data: Data, state: State, t: int, drawn: Drawn) -> Array:
        if t < self.rounds_taken:
            return self.gradients(data, state[0], None)
        i, second = self.place(t)
        points = np.ascontiguousarray(state[1][:, i])
        return self.triangles(data, points, None) if second else self.gradients(data, points, None)

    def update(self, state: State, answer: Array, t: int) -> State:
        w, seen, passes = state
        if t < self.rounds_taken:
            w = w - self.eta * answer[:, : self.d]
            seen[:, t + 1] = w
            return w, seen, passes
        i, second = self.place(t)
        if second:
            passes[:, i] *= np.linalg.eigvalsh(self.symmetric(answer))[:, 0] >= self.deepest
        else:
            passes[:, i] *= np.linalg.norm(answer[:, : self.d], axis=1) <= self.aim
        return w, seen, passes

    def output(self, state: State) -> Array:
        """The first that passes; the last iterate, where none does."""
        w, seen, passes = state
        chosen = seen[np.arange(len(w)), passes.argmax(axis=1)]
        return np.where(passes.max(axis=1, keepdims=True) > 0, chosen, w)

    def grain(self, scale: float) -> float:
        return self.eta * scale


@dataclass(frozen=True)
class DPSelectSOSP(Solver):
    """The first iterate of DP-GD whose noisy gradient is at most α long and whose noisy Hessian is at least -√(ρα).

    `aim` is α, `steps` by default that of Theorem 4.3.1 for α/2, at most 1000; `bending` is √(ρα), by default from the
    loss. Half of the budget goes to the descent, a quarter each to the gradients and the Hessians that select. Where
    no iterate passes, the last one is let out.
    """

    aim: float = positive(0.1)
    steps: int | None = count()
    bending: float | None = positive()
    start: tuple[float, ...] | None = start_setting()
    name: ClassVar[str] = "dp_select_sosp"
    for_estimators: ClassVar[bool] = False  # it seeks second-order stationary points

    def must_suit(self, data: Data, guarantee: Guarantee, calibration: Calibration) -> None:
        approximate(guarantee)
        must_meet(saddle_points.low_rank, data)
        must_be_free(data, self.name)

    def plan(self, data: Data, guarantee: Guarantee) -> int:
        return self.steps or descent_steps(data, self.aim / 2)

    def release(self, data: Data, plan: int) -> Composed:
        # privacy: dwang20.theorem4.3.4.low_rank
        numbers, longer = constants(data), math.sqrt(plan + 1)
        shares = {
            "sigma_gd": math.sqrt(2 * plan) * numbers["G"],
            "sigma_n": 2 * longer * numbers["G"],
            "sigma_H": 2 * longer * numbers["M_second"] * math.sqrt(numbers["hessian_rank"]),
        }
        return theory.released.at(n=data.n, T=plan, **numbers, **shares)

    def method(self, data: Data, plan: int, released: Released) -> Selection:
        deepest = -(self.bending or math.sqrt(bend(data) * self.aim))
        return Selection(starting_point(data, self.start), plan, step_size(data), self.aim, deepest)

    def stated(self, data: Data, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        """With the constants of the corrected theorem: the printed one names none."""
        aim, claims = approximate(guarantee), [theory.descent_noise, theory.privacy_corrected, theory.hessian_noise]
        numbers = {"n": data.n, "d": data.d, "T": plan, "eps": aim.eps, "delta": aim.delta, **constants(data)}
        noises = [float(claim.evaluate(**numbers)) for claim in claims]
        parts = zip(self.release(data, plan).parts, noises, strict=True)
        return Composed(tuple(part.with_noise(noise) for part, noise in parts)), claims

    def certifying(self, data: Data, plan: int) -> Sequence[Claim]:
        return [saddle_points.low_rank]

    def taken(self, done: Calibrated) -> int:
        """T: what selects is asked for besides."""
        return int(done.plan)

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=2, bending=1.0), bug=0.3)

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses, one of which turns round: gradients differ by 2G/n everywhere, Hessians not at all."""
        return opposite_pair(5)
