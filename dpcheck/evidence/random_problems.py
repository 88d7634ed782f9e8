"""Random small problems, from a case of a property check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.datasets.embedded import in_unit_ball
from dpcheck.problems.losses import Logistic, Loss
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Solver

SIZES = {"n": (2, 8), "d": (1, 3), "seed": (0, 10**6)}
RUNS = "runs on random logistic problems, five standard errors"


def random_problem(case: Mapping[str, Any], loss: Loss | None = None, **settings: Any) -> Problem:
    """Rows in the unit ball and random labels, from a case's n, d and seed."""
    rng = np.random.default_rng(int(case["seed"]))
    n, d = int(case["n"]), int(case["d"])
    return Problem(in_unit_ball(rng, n, d), rng.choice([-1.0, 1.0], n), loss or Logistic(), **settings)


def excess(
    problem: Problem,
    solver: Solver,
    guarantee: Guarantee,
    trials: int,
    seed: int,
    calibration: Calibration = "certified",
) -> np.ndarray:
    """F(w_priv) - F(w_hat) of each trial."""
    _, least = problem.minimiser()
    return problem.value(solver.solve(problem, guarantee, seed, trials=trials, calibration=calibration).w) - least
