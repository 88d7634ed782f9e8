"""DP-FW-L1 (wangxu19, Algorithm 4; dwang20, Algorithm 4.1.19). Claims: bounds/library/nonconvex/dp_fw_l1.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_fw_l1 as theory
from dpcheck.bounds.privacy.laws import Selected
from dpcheck.bounds.privacy.random_iterate import at_least_two
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.frank_wolfe_steps import CornerSteps
from dpcheck.kernels.method import ROUNDED, before_random_iterate
from dpcheck.problems.extreme_pairs import balanced_pair
from dpcheck.problems.polytopes import Corners, corners_of
from dpcheck.problems.problem import ROUNDING, Problem, largest_entry
from dpcheck.settings import count, one_of, positive, share
from dpcheck.solver import Example, Solver, approximate, is_pure

MOST_STEPS = 1000
FAILURE = 0.05  # η in the theorem's number of steps


class Plan(NamedTuple):
    """T, and whether selections are by whole numbers, as delta = 0 needs."""

    steps: int
    exact: bool


@dataclass(frozen=True)
class DPFWL1(Solver):
    """Frank-Wolfe steps to a corner that is selected privately; x_R is released, R uniform on 1..T.

    Over an l1 ball, the simplex or a box. `selection` is the noise on the scores: "gumbel" (the exponential
    mechanism), "exponential" or "laplace" (report-noisy-max). Every entry of the rows is at most `entry_bound` in
    size, by default the problem's row bound; `steps` is T, by default the theorem's, `step_size` the proof's, up to 1.
    """

    steps: int | None = count()
    step_size: float | None = share()  # above 1 iterates leave the set
    selection: Literal["gumbel", "exponential", "laplace"] = one_of("gumbel", "exponential", "laplace")
    entry_bound: float | None = positive()
    name: ClassVar[str] = "dp_fw_l1"
    multiclass: ClassVar[bool] = True

    def plan(self, data: Problem, guarantee: Guarantee) -> Plan:
        corners = corners_of(data.constraint, data.d)
        return Plan(at_least_two(self.steps or self.default_steps(data, corners, guarantee)), is_pure(guarantee))

    def default_steps(self, problem: Problem, corners: Corners, guarantee: Guarantee) -> int:
        """T of Theorem 6 with η = 0.05, from 2 to 1000."""
        aim = approximate(guarantee)
        logs = math.sqrt(math.log(1 / aim.delta)) * math.log(corners.count * problem.n / FAILURE)
        return int(min(MOST_STEPS, max(2, round(problem.n * aim.eps / logs))))

    def release(self, data: Problem, plan: Plan) -> Release:
        corners = corners_of(data.constraint, data.d)
        G = self.slope(data, corners)
        # Scores that are rounded to the lattice move as if G were this much larger.
        G += ROUNDED * self.lattice(data, plan) * data.n / (2 * corners.largest)
        values = {"G": G, "size_1": corners.largest, "n": data.n, "T": plan.steps}
        released = theory.released.at(**values)  # privacy: dwang20.theorem4.1.6.sensitivity.corrected
        return replace(released, law=Selected(released.law.scale, self.selection))

    def lattice(self, problem: Problem, plan: Plan) -> float:
        """For exact selections a power of two, 2^-30 of a score's sensitivity; coarser where that has fewer digits.

        A score is a mean of n slopes times d entries, all of size G ||s||_1 at most, and computed to as many roundings.
        """
        if not plan.exact:
            return 0.0
        corners = corners_of(problem.constraint, problem.d)
        largest = self.slope(problem, corners) * corners.largest
        finest = largest * max(2.0**-29 / problem.n, 2.0**-49 * (problem.n + 2 * problem.d + 32))
        return math.ldexp(1.0, math.frexp(finest)[1])

    def slope(self, problem: Problem, corners: Corners) -> float:
        """G, the l-infinity bound of a record's gradient."""
        bound = problem.row_bound if self.entry_bound is None else self.entry_bound
        worst = largest_entry(problem.X)
        if worst > bound * (1 + ROUNDING):
            limit = f"at most entry_bound={bound}"
            raise InvalidInput("largest entry of a row", "larger", limit, "Scale or clip them.")
        label = 1.0 if problem.loss.labels == "sign" else problem.label_bound
        # |<x, w>| is at most entry bound times max ||s||_1: C is the hull of its corners.
        G = bound * problem.loss.derivative_bound(bound * corners.largest, label)
        if not math.isfinite(G):
            who = f"the problem ({type(problem.loss).__name__} loss)"
            raise HypothesisViolated(theory.privacy.id, who, "each loss is G-Lipschitz in l1", "Choose another loss.")
        return float(G)

    def method(self, data: Problem, plan: Plan, released: Released) -> CornerSteps:
        corners, T = corners_of(data.constraint, data.d), plan.steps
        return CornerSteps(corners, self.pace(data, T), T, before_random_iterate(T), self.lattice(data, plan))

    def pace(self, problem: Problem, steps: int) -> float:
        """sqrt(2 / (T L ||C||_2^2)), as the proof of Theorem 4.1.6 has it, and at most 1."""
        if self.step_size is not None:
            return self.step_size
        smooth = problem.smoothness * problem.diameter**2
        return min(1.0, math.sqrt(2 / (steps * smooth))) if smooth > 0 else 1.0

    def stated(self, data: Problem, guarantee: Guarantee, plan: Plan) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.privacy
        eps0 = float(claim.evaluate(eps=aim.eps, delta=aim.delta, T=plan.steps))
        return self.release(data, plan).at(eps0=eps0), [claim]

    def certifying(self, data: Problem, plan: Plan) -> Sequence[Claim]:
        """The sensitivity, and what a selection is: of bounded range, else purely private."""
        return [theory.sensitivity_corrected, theory.bounded_range if self.selection == "gumbel" else theory.noisy_max]

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=8, step_size=0.3))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses on an interval whose mean gradient turns from 1/n to -1/n: each selection's loss is ±eps0/2."""
        return balanced_pair(5)
