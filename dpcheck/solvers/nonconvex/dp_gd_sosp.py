"""DP-GD that lets out all iterates (dwang20, Algorithm 4.3.25). Claims: bounds/library/nonconvex/dp_gd_sosp.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_gd_sosp as theory
from dpcheck.bounds.library.nonconvex.dp_pgd import box_corrected_dwang
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.second_order import Data, constants, descent_steps, must_be_free, start_setting, step_size
from dpcheck.kernels.gradient_steps import starting_point
from dpcheck.kernels.method import Array, Drawn, Method, State
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, positive
from dpcheck.solver import Calibration, Example, Solver, approximate, must_meet


@dataclass(frozen=True, eq=False)
class Trajectory(Method):
    """Noisy gradient steps from `begin`; what is let out are all iterates, (T + 1) d numbers."""

    begin: Array
    steps: int
    eta: float

    @property
    def width(self) -> int:  # type: ignore[override]
        return int(self.begin.shape[-1])

    def start(self, k: int) -> State:
        w = np.tile(self.begin, (k, 1))
        return w, np.tile(w[:, None], (1, self.steps + 1, 1))

    def query(self, data: Data, state: State, t: int, drawn: Drawn) -> Array:
        return data.gradient(state[0])

    def update(self, state: State, answer: Array, t: int) -> State:
        w, seen = state
        w = w - self.eta * answer
        seen[:, t + 1] = w
        return w, seen

    def output(self, state: State) -> Array:
        return state[1].reshape(len(state[1]), -1)

    def grain(self, scale: float) -> float:
        return self.eta * scale


@dataclass(frozen=True)
class DPGDSOSP(Solver):
    """T noisy gradient steps of 1/M from `start`. A row of the solution holds all T + 1 iterates, one after the other.

    `aim` is α. `steps` is by default MB/α² of Theorem 4.3.1 with B the largest loss at 0, at most 1000. "stated" noise
    is that theorem's with its hidden `c`.
    """

    aim: float = positive(0.1)
    steps: int | None = count()
    start: tuple[float, ...] | None = start_setting()
    c: float = positive(8.0, kw_only=True)
    name: ClassVar[str] = "dp_gd_sosp"
    minimises: ClassVar[bool] = False

    def must_suit(self, data: Data, guarantee: Guarantee, calibration: Calibration) -> None:
        approximate(guarantee)
        must_meet(theory.privacy_corrected, data)
        must_be_free(data, self.name)

    def plan(self, data: Data, guarantee: Guarantee) -> int:
        return self.steps or descent_steps(data, self.aim)

    def release(self, data: Data, plan: int) -> Release:
        return theory.released.at(n=data.n, T=plan, G=data.data_lipschitz)

    def method(self, data: Data, plan: int, released: Released) -> Trajectory:
        return Trajectory(starting_point(data, self.start), plan, step_size(data))

    def stated(self, data: Data, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.privacy
        noise = claim.evaluate(n=data.n, T=plan, eps=aim.eps, delta=aim.delta, c=self.c, **constants(data))
        return self.release(data, plan).with_noise(float(noise)), [claim]

    def certifying(self, data: Data, plan: int) -> Sequence[Claim]:
        return [box_corrected_dwang]  # T noisy full gradients, for every eps and delta

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=3))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses, one of which turns round: full gradients differ by 2G/n everywhere."""
        return opposite_pair(5)


def iterates(w: Array, d: int) -> Array:
    """The rows of solutions as points, (trials, T + 1, d)."""
    return w.reshape(len(w), -1, d)
