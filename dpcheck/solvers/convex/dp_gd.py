"""DP-GD: full-batch noisy gradient descent. Claims: bounds/library/convex/dp_gd.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.convex import dp_gd as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.gradient_steps import GradientSteps, starting_point
from dpcheck.kernels.method import Method
from dpcheck.kernels.momentum import MomentumSteps
from dpcheck.kernels.single_precision import hidden_by_noise, in_single, rounded_bound
from dpcheck.problems.conditioning import condition, shrinking
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import allowing, count, positive
from dpcheck.solver import Example, Solver, approximate, must_meet


@dataclass(frozen=True)
class DPGD(Solver):
    """`steps` noisy full gradients from 0; the last iterate is released.

    By default step_size = 1/(L + mu), and steps as many as shrink the start's risk down to the noise (at most 1000).
    "stated" is the noise of Lemma 2.1.7 at q = 1 with its constant `c`; "certified" is exact, for any guarantee that
    Gaussian noise can give. With `momentum` as many steps of the same noise go further.
    """

    steps: int | None = count()
    step_size: float | None = positive()
    momentum: float = allowing(
        0.0, "at least 0 and below 1", lambda v: 0 <= v < 1, refuses=(-0.1, 1.0, math.nan, "1"), kw_only=True
    )
    c: float = positive(8.0, kw_only=True)
    name: ClassVar[str] = "dp_gd"
    multiclass: ClassVar[bool] = True

    def plan(self, data: Problem, guarantee: Guarantee) -> int:
        return self.steps or self.default_steps(data, approximate(guarantee))

    def default_steps(self, problem: Problem, guarantee: ApproxDP) -> int:
        """(L + mu)/mu log(n^2 eps^2 / (2 d log(1/delta))), at most 1000."""
        _, kappa = condition(problem)
        return int(min(1000, max(1, math.ceil(min(1 + kappa, 1e6) * shrinking(problem, guarantee)))))

    def release(self, data: Problem, plan: int) -> Release:
        G = data.data_lipschitz
        if plan == 1:  # the one gradient is taken at the start, which is public
            start = float(np.linalg.norm(starting_point(data)))
            G = replace(data, l2=0.0).lipschitz_within(start)
        return theory.released.at(G=rounded_bound(data, G), n=data.n, T=plan)  # privacy: dwang20.section3.1.5.dp_gd

    def method(self, data: Problem, plan: int, released: Released) -> Method:
        eta = self.step_size or 1 / data.smoothness
        if self.momentum > 0:
            return MomentumSteps(plan, eta, self.momentum, starting_point(data), data.constraint)
        single = in_single(data) and hidden_by_noise(data, float(released.parts[0].law.scale), plan)
        return GradientSteps(np.full(plan, eta), starting_point(data), data.constraint, single=single)

    def stated(self, data: Problem, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.privacy
        values = {"n": data.n, "eps": aim.eps, "delta": aim.delta, "G": data.data_lipschitz, "T": plan}
        must_meet(claim, data, **values)
        noise = float(claim.evaluate(**values)) * math.sqrt(self.c / 8)  # its own constant is 8
        return self.release(data, plan).with_noise(noise), [claim]

    def certifying(self, data: Problem, plan: int) -> Sequence[Claim]:
        return [theory.privacy]

    def gradients(self, problem: Problem, guarantee: Guarantee) -> int:
        """Record gradients evaluated."""
        return problem.n * self.plan(problem, guarantee)

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=10, step_size=0.5))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses, one of which turns round: full gradients differ by 2G/n everywhere."""
        return opposite_pair(5)
