"""DP-PMD (wangxu19, Algorithm 3; dwang20, Algorithm 4.1.18). Claims: bounds/library/nonconvex/dp_pmd.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.nonconvex import dp_pmd as theory
from dpcheck.bounds.privacy.random_iterate import at_least_two
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.method import Array, Drawn, Method, State, before_random_iterate
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.mirror import Mirror, mirror_of
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, not_negative, positive
from dpcheck.solver import Calibration, Solver, approximate, must_meet

MOST_STEPS = 1000


@dataclass(frozen=True)
class DPPMD(Solver):
    """Noisy proximal mirror steps on the whole data; x_R is released, R uniform on 1..T.

    The risk is F + `l1` ||x||_1 over an l1, l_q or l2 ball, or the simplex (entropy; Theorem 5 is about symmetric
    sets). `steps` is T, by default the theorem's, `step_size` its 1/(2 L ||C||^2). `c` is the constant that the
    published noise hides.
    """

    steps: int | None = count()
    step_size: float | None = positive()
    l1: float = not_negative()
    c: float = positive(1.0, kw_only=True)
    name: ClassVar[str] = "dp_pmd"

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        must_meet(theory.privacy, data)

    def plan(self, data: Problem, guarantee: Guarantee) -> int:
        mirror = mirror_of(data.constraint, data.d)
        return at_least_two(self.steps or self.default_steps(data, mirror, approximate(guarantee)))

    def default_steps(self, problem: Problem, mirror: Mirror, guarantee: ApproxDP) -> int:
        """T of Theorem 5 with E||b||*^2 for G_C^2 + ||C||_2^2 and F(x_1) - F(x*) = 1, from 2 to 1000."""
        steep = problem.data_lipschitz * math.sqrt(mirror.dual_square() * math.log(1 / guarantee.delta))
        smooth = mirror.smoothness(must_be_smooth(problem))
        return int(min(MOST_STEPS, max(2, round(problem.n * guarantee.eps * math.sqrt(smooth) / steep))))

    def release(self, data: Problem, plan: int) -> Release:
        """x_R is made of R-1 noisy full gradients, and R ignores the data."""
        # privacy: wangxu19.theorem5.privacy.corrected
        return theory.released.at(G=data.data_lipschitz, n=data.n, T=plan)

    def method(self, data: Problem, plan: int, released: Released) -> MirrorSteps:
        mirror = mirror_of(data.constraint, data.d)
        gamma = self.step_size or 1 / (2 * mirror.smoothness(must_be_smooth(data)))
        return MirrorSteps(mirror, gamma, plan, self.l1, data.constraint.reach(data.d), before_random_iterate(plan))

    def stated(self, data: Problem, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.privacy
        values = {"n": data.n, "eps": aim.eps, "delta": aim.delta, "G": data.data_lipschitz, "T": plan, "c": self.c}
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: Problem, plan: int) -> Sequence[Claim]:
        return [theory.privacy_corrected]

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses over a ball, one of which turns round: full gradients differ by 2G/n everywhere."""
        return opposite_pair(5, L2Ball(100.0))


@dataclass(frozen=True, eq=False)
class MirrorSteps(Method):
    """x <- the mirror step of grad w(x) - gamma (grad F(x) + noise), from the minimiser of w; `reach` is the set's."""

    mirror: Mirror
    gamma: float
    steps: int
    l1: float = 0.0
    reach: float = 1.0
    rounds: Callable[[np.random.Generator, int], Any] | None = None

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.mirror.d

    def start(self, k: int) -> State:
        return (np.tile(self.mirror.start, (k, 1)),)

    def query(self, data: Problem, state: State, t: int, drawn: Drawn) -> Array:
        return data.gradient(state[0])

    def update(self, state: State, answer: Array, t: int) -> State:
        z = self.mirror.gradient(state[0]) - self.gamma * answer
        return (self.mirror.step(z, self.gamma * self.l1),)

    def grain(self, scale: float) -> float:
        """The noise in the dual, over the least curvature of w, in units of the radius."""
        return self.gamma * scale * self.reach**2


def must_be_smooth(problem: Problem) -> float:
    """The smoothness of the losses, above 0."""
    if not problem.smoothness > 0:
        raise InvalidInput("smoothness of the losses", problem.smoothness, "above 0", "Pass steps and step_size.")
    return problem.smoothness
