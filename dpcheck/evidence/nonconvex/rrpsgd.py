"""What runs show: Random-round private SGD (zhang17, Algorithm 2). Claims: bounds/library/nonconvex/rrpsgd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import rrpsgd as theory
from dpcheck.evidence.checks import AuditCheck, Property
from dpcheck.evidence.random_problems import random_problem
from dpcheck.problems.losses import Huber, Logistic, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.nonconvex.rrpsgd import RandomRoundSGD


def attacked(calibration: Calibration) -> Any:
    """Ten records, a hundred rounds at most, the released iterate seen."""
    solver, guarantee = RandomRoundSGD(start_gap=1.0), ApproxDP(1.0, 1e-3)
    return solver.mechanism(guarantee, calibration), solver.worst_pair(), guarantee


def leaking_step() -> Any:
    """All labels 0: w_0 is the minimiser, so the step is 0 and the output 0. One label moved: it is not."""
    solver, guarantee = RandomRoundSGD(start_gap="data"), ApproxDP(1.0, 1e-3)
    first = Problem(np.ones((4, 1)), np.zeros(4), Huber(1.0))
    return solver.mechanism(guarantee, "stated"), (first, first.replace(0, [1.0], 1.0)), guarantee


def squared_gradient(case: Mapping[str, Any]) -> tuple[float, float]:
    """Measured E||grad F(w_R)||^2, less five standard errors, against the bound of Theorem 5; public D_F."""
    problem = random_problem(case, (Sigmoid(), Logistic())[int(case["convex"])])
    solver, guarantee = RandomRoundSGD(), ApproxDP(case["eps"], 1e-2)
    found = solver.solve(problem, guarantee, int(case["seed"]), trials=400, calibration="stated")
    norms = np.einsum("ij,ij->i", *(problem.gradient(found.w),) * 2)
    measured = float(norms.mean() - 5 * norms.std() / math.sqrt(len(norms)))
    deviation = math.sqrt(4 * problem.data_lipschitz**2 + problem.d * found.noise_std**2)
    bound = theory.theorem5_general.evaluate(
        n=problem.n, beta=problem.smoothness, D_F=solver.start_distance(problem), sigma_g=deviation,
        eta=solver.step_size(problem, found.noise_std),
    )  # fmt: skip
    return measured, float(bound)


CHECKS = {
    "zhang17.theorem4": [
        AuditCheck(lambda: attacked("stated"), "Algorithm 2 as published, the released iterate seen", trials=200_000)
    ],
    "zhang17.theorem5.privacy": [
        AuditCheck(leaking_step, "step size min(1/β, D_F/(σn)) read off the data", trials=20_000)
    ],
    "zhang17.theorem5.general": [
        Property(
            squared_gradient,
            {"n": (2, 12), "d": (1, 4), "eps": (0.2, 1.0), "convex": (0, 1), "seed": (0, 10**6)},
            "random sigmoid and logistic problems, 400 runs each, five standard errors",
            examples=25,
        )
    ],
}
