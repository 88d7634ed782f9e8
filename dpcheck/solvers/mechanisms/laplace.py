"""The Laplace mechanism on the mean of the rows. Claims: bounds/library/mechanisms/laplace.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee, PureDP
from dpcheck.bounds.library.mechanisms import laplace as theory
from dpcheck.kernels import noise
from dpcheck.kernels.blocks import seed_of
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, on_grid
from dpcheck.solvers.mechanisms.gaussian import turned_row


@dataclass(frozen=True)
class LaplaceMechanism(Solver):
    """The mean of the rows, with Laplace noise on each coordinate."""

    name: ClassVar[str] = "laplace"
    minimises: ClassVar[bool] = False

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        if not isinstance(guarantee, PureDP):
            raise InvalidInput("guarantee", str(guarantee), "PureDP", "Use the Gaussian mechanism for the others.")
        claim = theory.definition2  # right as printed: both calibrations use it
        scale = float(claim.evaluate(Delta1=l1_sensitivity(problem), eps=guarantee.eps)) * self.noise_factor
        rng = np.random.default_rng(seed_of(seed))
        w = np.broadcast_to(problem.X.mean(axis=0), (trials, problem.d))
        if scale > 0:
            w = w + noise.laplace(rng, scale, (trials, problem.d))  # privacy: dwang20.definition2.1.2
        return Solution(on_grid(w, scale, problem), guarantee, math.sqrt(2) * scale, (claim.id,), steps=1)

    def worst_pair(self) -> tuple[Problem, Problem]:
        """A row with equal entries turns round: all of its l1 norm moves."""
        return turned_row(d=3)


def l1_sensitivity(problem: Problem) -> float:
    """Of the mean of rows of l2 norm at most `row_bound`, one of them replaced."""
    return 2 * problem.row_bound * math.sqrt(problem.d) / problem.n
