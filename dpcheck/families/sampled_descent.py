"""What mini-batch noisy SGD of two sources shares: batches, steps, step sizes; the published noise is their own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.privacy.release import Released
from dpcheck.kernels.gradient_steps import GradientSteps, starting_point
from dpcheck.kernels.single_precision import hidden_by_noise, in_single
from dpcheck.problems.extreme_pairs import linear_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, positive
from dpcheck.solver import Solver, approximate


class Batches(NamedTuple):
    """How many records a step, and how many steps."""

    batch: int
    steps: int


@dataclass(frozen=True)
class SampledDescent(Solver):
    """Noisy steps on `batch` random records each; the last iterate is released.

    By default (n / batch)^2 steps. Step sizes are 1/(mu t) with a regulariser, and radius / sqrt(t E||g||^2)
    without (`radius` is a public bound on the minimiser's norm). batch = n is noisy gradient descent.
    """

    batch: int = count(50)
    steps: int | None = count()
    radius: float = positive(1.0)

    def plan(self, data: Problem, guarantee: Guarantee) -> Batches:
        approximate(guarantee)
        batch = min(self.batch, data.n)
        return Batches(batch, self.steps or max(1, math.ceil((data.n / batch) ** 2)))

    def method(self, data: Problem, plan: Batches, released: Released) -> GradientSteps:
        noise = float(released.parts[0].law.scale)
        single = plan.batch == data.n and in_single(data) and hidden_by_noise(data, noise, plan.steps)
        etas = self.step_sizes(data, noise, plan.steps)
        return GradientSteps(etas, starting_point(data), data.constraint, single=single)

    def step_sizes(self, problem: Problem, noise: float, steps: int) -> np.ndarray:
        """1/(mu t), capped at 1/beta; or radius / sqrt(t (L^2 + d noise^2))."""
        t = np.arange(1, steps + 1)
        if problem.l2 > 0:
            return np.minimum(1 / problem.smoothness, 1 / (problem.l2 * t))
        return self.radius / np.sqrt(t * (problem.data_lipschitz**2 + problem.d * noise**2))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses: all records pull one way, the differing one with or against them."""
        return linear_pair(2 * self.batch)
