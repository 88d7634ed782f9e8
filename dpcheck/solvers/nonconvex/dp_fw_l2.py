"""DP-FW-L2 (wangxu19, Algorithm 2; dwang20, Algorithm 4.1.17). Claims: bounds/library/nonconvex/dp_fw_l2.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_fw_l2 as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.bounds.proving.derivations import expected_largest
from dpcheck.kernels.frank_wolfe_steps import VertexSteps
from dpcheck.kernels.method import before_random_iterate
from dpcheck.problems.conditioning import loss_smoothness, public_gap
from dpcheck.problems.constraints import Box, Constraint, L1Ball, L2Ball
from dpcheck.problems.extreme_pairs import lone_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, positive, share
from dpcheck.solver import Calibration, Example, Solver, approximate, must_meet


@dataclass(frozen=True)
class DPFWL2(Solver):
    """Frank-Wolfe steps towards the vertex that a noisy gradient points at; x_R of a random R in 1..T, from x_1 = 0.

    Over an l1 or l2 ball, or a box around 0 as high as it is low, without a regulariser. `steps` is T and `step_size`
    gamma in (0, 1], by default those of the corrected theorem with the largest loss at 0 for its gap. "stated" noise
    is by Theorem 4 with its hidden `c`.
    """

    steps: int | None = count()
    step_size: float | None = share()  # a longer step leaves the set
    c: float = positive(8.0, kw_only=True)
    name: ClassVar[str] = "dp_fw_l2"

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_symmetric(data)
        must_meet(theory.privacy, data)

    def plan(self, data: Problem, guarantee: Guarantee) -> int:
        return self.steps or self.default_steps(data, guarantee)

    def default_steps(self, problem: Problem, guarantee: Guarantee) -> int:
        """The T of dwang20.theorem4.1.4.steps, from 1 to 1000."""
        aim = approximate(guarantee)
        values = {"n": problem.n, "eps": aim.eps, "delta": aim.delta, "G": problem.data_lipschitz}
        values |= {"c": 8.0, "L_smooth": loss_smoothness(problem), "gap0": public_gap(problem)}
        sizes = {"diameter": problem.diameter, "G_C": gaussian_width(problem.constraint, problem.d)}
        return int(min(1000, max(1, round(float(theory.steps.evaluate(**values, **sizes))))))

    def release(self, data: Problem, plan: int) -> Release:
        """All T noisy gradients, more than x_R shows."""
        # privacy: wangxu19.theorem4.privacy.corrected
        return theory.released.at(G=data.data_lipschitz, n=data.n, T=plan)

    def method(self, data: Problem, plan: int, released: Released) -> VertexSteps:
        return VertexSteps(data.d, data.constraint, self.gamma(data, plan), plan, before_random_iterate(plan))

    def gamma(self, problem: Problem, steps: int) -> float:
        """sqrt(2 Delta / (L T)) / ||C||, at most 1."""
        best = math.sqrt(2 * public_gap(problem) / (loss_smoothness(problem) * steps)) / problem.diameter
        return self.step_size or min(1.0, best)

    def stated(self, data: Problem, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.privacy
        values = {"n": data.n, "eps": aim.eps, "delta": aim.delta, "G": data.data_lipschitz, "T": plan, "c": self.c}
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: Problem, plan: int) -> Sequence[Claim]:
        return [theory.privacy_corrected]

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=8, step_size=0.3))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """All gradients are 0 but one record's, 1 or -1: its sign is all that a vertex shows."""
        return lone_pair(5)


def must_be_symmetric(problem: Problem) -> None:
    """Refuse what the theorem does not cover, naming it."""
    held = problem.constraint
    even = isinstance(held, Box) and np.array_equal(np.negative(held.low), held.high)
    if not (isinstance(held, L1Ball | L2Ball) or even):
        limit = "a bounded set that is symmetric about 0"
        raise InvalidInput("constraint", held, limit, "Pass constraint=L2Ball(1.0).")
    if problem.l2 > 0:
        raise InvalidInput("l2", problem.l2, "0", "Frank-Wolfe steps take no regulariser: leave it out.")


def gaussian_width(held: Constraint, d: int) -> float:
    """E max over the set of <b, v>, b standard normal."""
    if isinstance(held, L1Ball):
        return held.radius * expected_largest(d, absolute=True)
    if isinstance(held, L2Ball):
        return held.radius * math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    assert isinstance(held, Box)
    return math.sqrt(2 / math.pi) * float(np.sum(np.broadcast_to(held.high, (d,))))
