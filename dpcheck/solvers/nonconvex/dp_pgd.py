"""DP-PGD (wangxu19, Algorithm 1; dwang20, Algorithm 4.1.16). Claims: bounds/library/nonconvex/dp_pgd.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_pgd as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.gradient_steps import starting_point
from dpcheck.kernels.method import before_random_iterate
from dpcheck.kernels.proximal_steps import ExactMinimum, LineSearch, NoisyMinimum, Proximal, ProximalSteps
from dpcheck.problems.conditioning import loss_smoothness, public_gap
from dpcheck.problems.constraints import Box, Constraint, L1Ball, L2Ball, WholeSpace
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import allowing, count, flag, not_negative, one_of, positive
from dpcheck.solver import Calibration, Example, Solver, approximate, must_meet


def is_point(start: Any) -> bool:
    """One row of numbers; that it has the problem's dimension and lies in its set is seen with the problem."""
    point = np.asarray(start, float)
    return point.ndim == 1 and point.size > 0 and bool(np.isfinite(point).all())


@dataclass(frozen=True)
class DPPGD(Solver):
    """T noisy proximal gradient steps on the losses; x_R of a random R in 1..T is released, from x_1 = `start`.

    The regulariser is the problem's l2 and `l1` ||x||_1, which the proximal step takes care of. `steps` is T and
    `step_size` gamma, by default the best T for the proof's bound and 1/(2L). "stated" noise is by Theorem 1 with
    its hidden `c`, or by step 3 of the algorithm as printed (`recipe="zcdp"`). To be attacked, and refused when
    certified: `adaptive` step sizes by backtracking, and the `choice` of the iterate with the least exact map.
    """

    steps: int | None = count()
    step_size: float | None = positive()
    l1: float = not_negative()
    recipe: Literal["moments", "zcdp"] = one_of("moments", "zcdp")
    choice: Literal["random", "noisy minimum", "exact minimum"] = one_of("random", "noisy minimum", "exact minimum")
    adaptive: bool = flag()
    start: tuple[float, ...] | None = allowing(
        None, "a point with finite coordinates", is_point, refuses=((), (math.nan,), (0.0, math.inf), ("a",), 1.0)
    )
    c: float = positive(8.0, kw_only=True)
    name: ClassVar[str] = "dp_pgd"

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        must_meet(theory.theorem1, data)
        must_split(data.constraint, self.l1)
        if calibration == "certified" and (self.adaptive or self.choice == "exact minimum"):
            what, value = ("adaptive", True) if self.adaptive else ("choice", self.choice)
            raise InvalidInput(what, value, "left out", "What is read off the data without noise is not private.")
        if self.adaptive and self.choice != "random":
            raise InvalidInput("choice", self.choice, "random where step sizes are adaptive", "Leave one of them out.")

    def plan(self, data: Problem, guarantee: Guarantee) -> int:
        return self.steps or self.default_steps(data, guarantee)

    def default_steps(self, problem: Problem, guarantee: Guarantee) -> int:
        """(n/G) sqrt(L Delta rho / d) with a public Delta, the largest loss at 0; from 1 to 1000."""
        aim = approximate(guarantee)
        values = {"n": problem.n, "d": problem.d, "eps": aim.eps, "delta": aim.delta, "G": problem.data_lipschitz}
        values |= {"c": 8.0, "L_smooth": loss_smoothness(problem), "gap0": public_gap(problem)}
        return int(min(1000, max(1, round(float(theory.best_steps.evaluate(**values))))))

    def release(self, data: Problem, plan: int) -> Release:
        """All T noisy gradients, more than x_R shows: so any choice made of them is covered."""
        # privacy: wangxu19.algorithm1.noise.corrected
        return theory.released.at(G=data.data_lipschitz, n=data.n, T=plan)

    def method(self, data: Problem, plan: int, released: Released) -> ProximalSteps:
        own = (starting_point(data, self.start), self.eta(data), plan, Proximal.of(data, self.l1))
        if self.choice != "random":
            return (NoisyMinimum if self.choice == "noisy minimum" else ExactMinimum)(*own)
        rounds = before_random_iterate(plan)
        return LineSearch(*own, rounds, records=data) if self.adaptive else ProximalSteps(*own, rounds)

    def eta(self, problem: Problem) -> float:
        """gamma of Theorem 2, 1/(2L)."""
        return self.step_size or 1 / (2 * loss_smoothness(problem))

    def stated(self, data: Problem, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        aim = approximate(guarantee)
        claim = theory.theorem1 if self.recipe == "moments" else theory.box_noise
        values: dict[str, Any] = {"n": data.n, "eps": aim.eps, "delta": aim.delta, "T": plan}
        by_moments = {"G": data.data_lipschitz, "c": self.c}
        values |= by_moments if self.recipe == "moments" else {"L_smooth": loss_smoothness(data)}
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: Problem, plan: int) -> Sequence[Claim]:
        return [theory.box_corrected]

    def gradients(self, problem: Problem, guarantee: Guarantee) -> int:
        """Record gradients evaluated at most."""
        return problem.n * self.plan(problem, guarantee)

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=8, step_size=0.5))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses, one of which turns round: full gradients differ by 2G/n everywhere."""
        return opposite_pair(5)


def must_split(constraint: Constraint, l1: float) -> None:
    """Refuse sets over which shrinking and then projecting is not the proximal step of the l1 term."""
    holds_zero = isinstance(constraint, Box) and np.all(
        np.less_equal(constraint.low, 0) & (np.array(constraint.high) >= 0)
    )
    if l1 > 0 and not (isinstance(constraint, WholeSpace | L2Ball | L1Ball) or holds_zero):
        limit = "none, an l1 or l2 ball, or a box around 0, with an l1 term"
        raise InvalidInput("constraint", constraint, limit, "Drop the l1 term.")
