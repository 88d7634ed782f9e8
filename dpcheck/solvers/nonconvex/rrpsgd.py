"""Random-round private SGD (zhang17, Algorithm 2). Claims: bounds/library/nonconvex/rrpsgd.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import rrpsgd as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.gradient_steps import GradientSteps, starting_point
from dpcheck.kernels.method import Array, State
from dpcheck.problems.extreme_pairs import linear_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import allowing
from dpcheck.solver import Calibrated, Calibration, Example, Solver, approximate, must_meet


def public_or_data(gap: Any) -> bool:
    """A bound on F(0) - F*, or the word for reading it off."""
    return gap == "data" or (isinstance(gap, int | float) and 0 <= gap < math.inf)


@dataclass(frozen=True)
class RandomRoundSGD(Solver):
    """Noisy SGD on single records for a random number of rounds, at most n^2; from w_0 = 0.

    The step size is min(1/beta, D_F/(sigma n)). `start_gap` is a PUBLIC bound on F(0) - F*: by default the
    largest loss that a record can have at 0. `start_gap="data"` reads it off the data as Theorem 5 does, which
    is not private (zhang17.theorem5.privacy) and refused under certified calibration.
    """

    start_gap: float | Literal["data"] | None = allowing(
        None, 'a finite number >= 0, "data" or None', public_or_data, refuses=(-1.0, math.nan, math.inf, "public")
    )
    name: ClassVar[str] = "rrpsgd"

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        approximate(guarantee)
        if self.start_gap == "data" and calibration == "certified":
            raise InvalidInput("start_gap", "data", "a public number", "A step size read off the data is not private.")

    def plan(self, data: Problem, guarantee: Guarantee) -> int:
        """The least number of rounds: 0, for certified runs release w_(R-1) (zhang17.lemma11.gradient.corrected)."""
        return 0

    def calibrated(self, data: Problem, guarantee: Guarantee, calibration: Calibration = "certified") -> Calibrated:
        """As published it is 1."""
        done = super().calibrated(data, guarantee, calibration)
        return replace(done, plan=1) if calibration == "stated" else done

    def release(self, data: Problem, plan: int) -> Release:
        return theory.released.at(L=data.data_lipschitz, n=data.n)  # privacy: zhang17.theorem4

    def method(self, data: Problem, plan: int, released: Released) -> GradientSteps:
        T, noise, start = data.n**2, float(released.parts[0].law.scale), starting_point(data)

        def rounds(rng: np.random.Generator, k: int) -> Array:
            return rng.integers(plan, T + plan, size=k)

        kind = StepsReadOff if self.start_gap == "data" else GradientSteps
        etas = np.broadcast_to(self.step_size(data, noise), T)  # n² of them: one number in memory
        return kind(etas, start, data.constraint, rounds)

    def step_size(self, problem: Problem, noise: float) -> float:
        """min(1/beta, D_F/(sigma n)) with D_F from a public bound (or, to be attacked, from the data)."""
        beta = problem.smoothness
        D_F = self.start_distance(problem)
        sigma = math.sqrt(4 * problem.data_lipschitz**2 + problem.d * noise**2)
        return min(1 / beta, D_F / (sigma * problem.n)) if beta > 0 else D_F / (sigma * problem.n)

    def start_distance(self, problem: Problem) -> float:
        """D_F = sqrt(2 (F(0) - F*) / beta)."""
        if self.start_gap == "data":
            gap = float(problem.value(np.zeros((1, problem.d)))[0]) - max(0.0, problem.minimiser()[1])
        elif self.start_gap is None:
            label = 1.0 if problem.loss.labels == "sign" else problem.label_bound
            gap = float(problem.loss.value(np.zeros(1), np.full(1, label))[0])
            if gap <= 0:  # a linear loss: it has no least value
                raise InvalidInput("start_gap", None, "a number for a loss unbounded below", "Pass start_gap=1.0.")
        else:
            gap = float(self.start_gap)
        return math.sqrt(2 * max(gap, 0.0) / (problem.smoothness or 1.0))

    def stated(self, data: Problem, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        claim, values = theory.theorem4, {"n": data.n, "L": data.data_lipschitz, **guarantee.parameters}
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: Problem, plan: int) -> Sequence[Claim]:
        return [theory.theorem4]

    @classmethod
    def example(cls) -> Example:
        return Example(cls(start_gap=1.0))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses: the differing record pulls with the others, or against them."""
        return linear_pair(10)


class StepsReadOff(GradientSteps):
    """Theorem 5 as printed: its step size was read off the records, without noise, before the first step."""

    def peek(self, data: Problem, state: State, t: int, asked: Array) -> State:
        return state
