"""What DP-SRM releases: a uniform iterate, not the last. Claims: bounds/library/nonconvex/dp_srm_algorithm.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.library.nonconvex import dp_srm_algorithm as theory
from dpcheck.evidence.checks import Property, Within
from dpcheck.evidence.nonconvex.dp_srm import PLANS, measured_run, numbers_of
from dpcheck.kernels.recursive_momentum import Plan, recursive_momentum
from dpcheck.problems.losses import Labels, Loss
from dpcheck.problems.problem import Problem

RECORDS = 1000


def drawn(case: Mapping[str, Any]) -> tuple[float, float]:
    """The mean gradient norm of released iterates less that over the first T of other runs: six standard errors."""
    (problem, plan, _, released), (_, _, _, whole) = (measured_run(case, last=last) for last in (False, True))
    assert whole.trace is not None
    one = np.linalg.norm(problem.gradient(released.w), axis=1)
    other = np.linalg.norm(problem.gradient(whole.trace.points[: plan.steps]), axis=2).mean(axis=0)
    return abs(float(one.mean() - other.mean())), 6 * math.hypot(one.std(), other.std()) / math.sqrt(len(one))


@dataclass(frozen=True)
class Cliff(Loss):
    """A plain that falls with slope `slope` from 0 to `edge`, then a cliff whose slope grows to 1 and falls to 0.

    Its curvature is -1 or 1 on the cliff, 0 elsewhere; the least value, at the foot, is 0.
    """

    slope: float
    edge: float
    convex: ClassVar[bool] = False
    labels: ClassVar[Labels] = "real"

    @property
    def steepest(self) -> float:
        """Where the slope is 1."""
        return self.edge + 1 - self.slope

    def value(self, margin: Any, y: Any) -> Any:
        past = np.clip(margin, self.edge, self.steepest) - self.edge
        beyond = np.clip(margin - self.steepest, 0.0, 1.0)
        plain = self.slope * (self.edge - np.minimum(margin, self.edge))
        upper = (1 - self.slope**2) / 2 - (self.slope * past + past**2 / 2)
        return plain + upper + (1 - beyond) ** 2 / 2

    def derivative(self, margin: Any, y: Any) -> Any:
        past, beyond = np.clip(margin - self.edge, 0.0, 1 - self.slope), np.clip(margin - self.steepest, 0.0, 1.0)
        return -(self.slope + past - beyond)

    def second_derivative(self, margin: Any, y: Any) -> Any:
        falling = (margin >= self.edge) & (margin < self.steepest)
        landing = (margin >= self.steepest) & (margin < self.steepest + 1)
        return np.where(landing, 1.0, np.where(falling, -1.0, 0.0))

    def derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        return 1.0

    def curvature_range(self, margin_bound: float, label_bound: float = 1.0) -> tuple[float, float]:
        return -1.0, 1.0


def cliff_run(case: Mapping[str, Any]) -> tuple[Problem, Plan, dict[str, float], np.ndarray]:
    """A run that spends its first steps on the plain and ends on the cliff: problem, plan, numbers, iterates.

    All records are alike and nothing is noisy. On the plain, whose slope is zeta/10, a step is zeta/20 long. The edge
    lies where the last of T = 4 gap/zeta^2 steps is at the steepest place; the gap grows with it, so that is solved
    by going back and forth.
    """
    zeta, slope = case["zeta"], case["zeta"] / 10
    on_cliff = steps_down(slope, zeta)
    edge = 0.0
    for _ in range(50):
        gap = slope * edge + (1 - slope**2) / 2 + 0.5
        steps = math.floor(4 * gap / zeta**2) + 1
        edge = max(0.0, (steps - on_cliff) * slope / 2)
    problem = Problem(np.ones((RECORDS, 1)), np.zeros(RECORDS), Cliff(slope, edge), label_bound=1.0)
    plan = Plan(steps, RECORDS, RECORDS, zeta, zeta, 0.5)
    done = recursive_momentum(problem, plan, sigmas=(0.0, 0.0), seed=0, trials=1, trace=True, last=True)
    assert done.trace is not None
    numbers = {
        "G": 1.0, "L_smooth": 1.0, "gap0": float(problem.value(np.zeros(1))), "T": steps, "target": zeta,
        "slowing": 1.0, "momentum": zeta, "first_batch": RECORDS, "later_batch": RECORDS, "d": 1, "sigma_n": 0.0,
        "sigma_first": 0.0,
    }  # fmt: skip
    return problem, plan, numbers, done.trace.points[: steps + 1, 0]


def steps_down(slope: float, zeta: float) -> int:
    """Steps from the edge to where the slope is 1: it grows by a step's length, half of it or zeta."""
    count = 0
    while slope < 1:
        slope, count = slope + min(slope / 2, zeta), count + 1
    return count


def last_gradient(case: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
    """The gradient norm at the last of the T iterates that the output is drawn from: nothing is random."""
    problem, plan, _, iterates = cliff_run(case)
    return np.full(trials, float(np.linalg.norm(problem.gradient(iterates[plan.steps - 1]))))


def bound_of_output(case: Mapping[str, float]) -> float:
    """(4.9.17) corrected for the same run."""
    return float(theory.newest.evaluate(**numbers_of(theory.newest, cliff_run(case)[2])))


CHECKS = {
    "lwang21.algorithm4.output": [
        Property(drawn, PLANS, "200 runs on random problems, six standard errors", examples=30)
    ],
    "lwang21.algorithm4.output.last": [
        Within(last_gradient, [{"zeta": 0.05}], "a plain that ends in a cliff, no noise", bound=bound_of_output)
    ],
}
