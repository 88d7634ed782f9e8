"""DP-GLD (dwang20, Algorithm 4.2.20). Claims: bounds/library/nonconvex/dp_gld.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_gld as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.gradient_steps import GradientSteps, starting_point
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, one_of, positive
from dpcheck.solver import Calibration, Example, Solver, approximate, must_meet

MOST_STEPS = 100_000


@dataclass(frozen=True)
class DPGLD(Solver):
    """Gradient Langevin dynamics at the inverse temperature `heat`, from 0, over all of space.

    The noise of a step is its temperature's, so that privacy sets the step size: eta = 2/(heat sigma^2), where sigma is
    the deviation that noisy gradients need. What is let out is w_T, or w_j of a random j in 1..T (`choice`). By default
    `heat` is the least that Theorem 4.2.2 allows, max(4/l2, d), and `steps` makes eta as small as it asks. "stated"
    step sizes are by the algorithm's box with its hidden `c2`.
    """

    steps: int | None = count()
    heat: float | None = positive()
    choice: Literal["last", "random"] = one_of("last", "random")
    c2: float = positive(2.0, kw_only=True)
    name: ClassVar[str] = "dp_gld"
    for_estimators: ClassVar[bool] = False  # it draws from a Gibbs law on all of space

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        must_meet(theory.privacy, data)
        if not isinstance(data.constraint, WholeSpace):
            raise InvalidInput("constraint", data.constraint, "none", "The Gibbs law lives on all of space.")
        if self.heat is None and data.l2 == 0:
            raise InvalidInput("l2", 0.0, "> 0 to choose heat and steps", "Add a regulariser, or pass heat and steps.")

    def inverse_temperature(self, problem: Problem) -> float:
        """beta of Theorem 4.2.2, as small as it may be."""
        return self.heat if self.heat is not None else max(4 / problem.l2, float(problem.d))

    def plan(self, data: Problem, guarantee: Guarantee) -> int:
        return self.steps or self.default_steps(data, guarantee)

    def default_steps(self, problem: Problem, guarantee: Guarantee) -> int:
        """T with eta <= m/(4 (M + l2)^2), m = l2/2, as Proposition 3.1 of Raginsky et al. asks; they grow as n^2."""
        if problem.l2 == 0:
            raise InvalidInput("l2", 0.0, "> 0 to choose steps", "Add a regulariser, or pass steps.")
        law = self.release(problem, 1).calibrated(guarantee).law
        whole = self.eta(problem, float(law.scale))  # eta T, which does not depend on T
        steps = math.ceil(whole * 8 * problem.smoothness**2 / problem.l2)
        if steps > MOST_STEPS:
            stable = math.ceil(2 * problem.smoothness * whole)
            remedy = f"Pass steps: from {stable} on eta is at most 1/(2 smoothness). Or raise heat: time falls with it."
            raise InvalidInput("steps that the theorem asks for", steps, f"at most {MOST_STEPS}", remedy)
        return max(1, steps)

    def release(self, data: Problem, plan: int) -> Release:
        """All T noisy gradients, more than one iterate shows."""
        # privacy: dwang20.theorem4.2.1.corrected
        return theory.gradients.at(L=data.data_lipschitz, n=data.n, T=plan)

    def method(self, data: Problem, plan: int, released: Released) -> GradientSteps:
        etas = np.full(plan, self.eta(data, float(released.parts[0].law.scale)))
        rounds = None if self.choice == "last" else lambda rng, k: rng.integers(1, plan + 1, k)
        return GradientSteps(etas, starting_point(data), data.constraint, rounds)

    def eta(self, problem: Problem, noise: float) -> float:
        """The step size at which sqrt(2 eta / beta) is eta times this deviation."""
        return 2 / (self.inverse_temperature(problem) * noise**2)

    def stated(self, data: Problem, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        aim = approximate(guarantee)
        values = {"n": data.n, "eps": aim.eps, "delta": aim.delta, "L": data.data_lipschitz, "T": plan, "c2": self.c2}
        must_meet(theory.privacy, data, **values)
        noise = float(theory.as_noise.evaluate(**values))
        return self.release(data, plan).with_noise(noise), [theory.privacy, theory.as_noise]

    def certifying(self, data: Problem, plan: int) -> Sequence[Claim]:
        return [theory.privacy_corrected]

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=8, heat=1.0))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses, one of which turns round: the last iterate is the sum of all noisy gradients."""
        return opposite_pair(5)
