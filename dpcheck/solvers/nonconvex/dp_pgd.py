"""DP-PGD (wangxu19, Algorithm 1; dwang20, Algorithm 4.1.16). Claims: bounds/library/nonconvex/dp_pgd.py."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_pgd as theory
from dpcheck.bounds.library.nonconvex import dp_pgd_zcdp as zcdp
from dpcheck.bounds.privacy.exact import least_noise
from dpcheck.evidence.checks import AuditCheck
from dpcheck.kernels.descent import starting_points
from dpcheck.kernels.proximal_steps import Choice, ProximalSteps
from dpcheck.problems.constraints import Box, Constraint, L1Ball, L2Ball, WholeSpace
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.losses import must_be_positive
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, approximate, must_be_whole, must_meet, on_grid


@dataclass(frozen=True)
class DPPGD(Solver):
    """T noisy proximal gradient steps on the losses; x_R of a random R in 1..T is released, from x_1 = `start`.

    The regulariser is the problem's l2 and `l1` ||x||_1, which the proximal step takes care of. `steps` is T and
    `step_size` gamma, by default the best T for the proof's bound and 1/(2L). "stated" noise is by Theorem 1 with
    its hidden `c`, or by step 3 of the algorithm as printed (`recipe="zcdp"`). To be attacked, and refused when
    certified: `adaptive` step sizes by backtracking, and the `choice` of the iterate with the least exact map.
    """

    steps: int | None = None
    step_size: float | None = None
    l1: float = 0.0
    recipe: Literal["moments", "zcdp"] = "moments"
    choice: Choice = "random"
    adaptive: bool = False
    start: tuple[float, ...] | None = None
    c: float = field(default=8.0, kw_only=True)
    name: ClassVar[str] = "dp_pgd"

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(steps=self.steps)
        must_be_positive("c", self.c)
        if self.step_size is not None:
            must_be_positive("step_size", self.step_size)
        if not 0 <= self.l1 < math.inf:
            raise InvalidInput("l1", self.l1, "a finite number >= 0", "Pass l1=0.0 for none.")
        for what, value, allowed in (
            ("recipe", self.recipe, ("moments", "zcdp")),
            ("choice", self.choice, ("random", "noisy minimum", "exact minimum")),
        ):
            if value not in allowed:
                raise InvalidInput(what, value, f"one of {allowed}", "Leave it out for the default.")

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        must_meet(theory.theorem1, problem)
        must_split(problem.constraint, self.l1)
        if calibration == "certified" and (self.adaptive or self.choice == "exact minimum"):
            what, value = ("adaptive", True) if self.adaptive else ("choice", self.choice)
            raise InvalidInput(what, value, "left out", "What is read off the data without noise is not private.")
        steps = self.steps or self.default_steps(problem, guarantee)
        noise, claims = self.noise(problem, guarantee, steps, calibration)
        noise *= self.noise_factor
        begin = starting_points(problem, None if self.start is None else np.array(self.start), trials)
        law = ProximalSteps(begin, self.eta(problem), steps, noise, self.l1, self.adaptive)
        w, path = law.run(problem, seed, trials, self.choice, trace)
        return Solution(on_grid(w, law.eta * noise, problem), guarantee, noise, claims, steps, path)

    def eta(self, problem: Problem) -> float:
        """gamma of Theorem 2, 1/(2L)."""
        return self.step_size or 1 / (2 * loss_smoothness(problem))

    def default_steps(self, problem: Problem, guarantee: Guarantee) -> int:
        """(n/G) sqrt(L Delta rho / d) with a public Delta, the largest loss at 0; from 1 to 1000."""
        aim = approximate(guarantee)
        values = {"n": problem.n, "d": problem.d, "eps": aim.eps, "delta": aim.delta, "G": problem.data_lipschitz}
        values |= {"c": 8.0, "L_smooth": loss_smoothness(problem), "gap0": public_gap(problem)}
        return int(min(1000, max(1, round(float(theory.steps_corrected.evaluate(**values))))))

    def noise(
        self, problem: Problem, guarantee: Guarantee, steps: int, calibration: Calibration
    ) -> tuple[float, tuple[str, ...]]:
        """Deviation on each coordinate of the full gradient."""
        G, n = problem.data_lipschitz, problem.n
        if calibration == "certified":
            # privacy: wangxu19.algorithm1.noise.corrected, made exact; T full gradients, each 2G/n apart
            return least_noise(guarantee, steps=steps) * 2 * G / n, ("accounting.least_noise",)
        aim = approximate(guarantee)
        values: dict[str, Any] = {"n": n, "eps": aim.eps, "delta": aim.delta, "T": steps}
        claim = theory.theorem1 if self.recipe == "moments" else zcdp.box_noise
        values |= {"G": G, "c": self.c} if self.recipe == "moments" else {"L_smooth": loss_smoothness(problem)}
        must_meet(claim, problem, **values)
        return float(claim.evaluate(**values)), (claim.id,)

    def gradients(self, problem: Problem, guarantee: Guarantee) -> int:
        """Record gradients evaluated."""
        return problem.n * (self.steps or self.default_steps(problem, guarantee))

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


def loss_smoothness(problem: Problem) -> float:
    """L of the losses without the regulariser; a linear loss counts as 1-smooth, which sets its step size only."""
    return replace(problem, l2=0.0).smoothness or 1.0


def public_gap(problem: Problem) -> float:
    """The largest loss that a record can have at 0, for losses that are never negative."""
    label = 1.0 if problem.loss.labels == "sign" else problem.label_bound
    return max(1e-300, float(problem.loss.value(np.zeros(1), np.full(1, label))[0]))


@dataclass(frozen=True)
class Breaks:
    """A claim that something is NOT private, which an audit that finds a violation supports."""

    audit: AuditCheck
    kind: ClassVar[str] = "audit"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        found = self.audit.run(claim, effort)
        verdict = Verdict.SUPPORTED if found.verdict is Verdict.REFUTED else Verdict.UNCHECKED
        return replace(found, verdict=verdict, counterexample=None)
