"""What runs of DP-SVRG++ show. Claims: bounds/library/convex/dp_svrgpp.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_svrgpp as theory
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.random_problems import RUNS, SIZES, random_problem
from dpcheck.kernels.variance_reduction import Epochs, composite_minimum, composite_value, reduced_descent
from dpcheck.problems.losses import Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.dp_svrgpp import DPSVRGpp


def all_epochs(case: Mapping[str, Any]) -> tuple[float, float]:
    """Measured excess risk with an l1 regulariser, less five standard errors, against the bound of the proof."""
    problem, l1 = random_problem(case, Logistic(), l2=case["l2"]), case["l1"]
    solver = DPSVRGpp(epochs=int(case["T"]), inner=int(case["inner"]))
    plan = solver.plan(problem, ApproxDP(1.0, 1e-2))
    start = case["size"] * np.ones(problem.d)
    done = reduced_descent(
        problem, plan, noise_std=case["noise"], seed=int(case["seed"]), trials=200, l1=l1, start=start
    )
    least, best = composite_minimum(problem, l1), minimiser(problem, l1)
    risks = composite_value(problem, done.w, l1) - least
    bound = theory.summed.evaluate(
        gap0=max(0.0, float(composite_value(problem, start, l1)) - least), T=len(plan.lengths), inner=solver.inner,
        eta=plan.step_size,
        distance=float(np.linalg.norm(start - best)), d=problem.d, sigma_n=case["noise"], L_smooth=0.25,
    )
    return float(risks.mean() - 5 * risks.std() / math.sqrt(len(risks))), float(bound) + 1e-9


def minimiser(problem: Problem, l1: float) -> np.ndarray:
    """A point of nearly least value: many noiseless steps of the method itself."""
    plan = Epochs((400,) * 10, 1 / (13 * 0.25), restart=False, batch=problem.n)
    return reduced_descent(problem, plan, noise_std=0.0, seed=0, trials=1, l1=l1).w[0]


CHECKS = {
    "dwang20.theorem3.1.5.proof": [
        Property(
            all_epochs,
            {
                **SIZES, "T": (1, 5), "inner": (1, 4), "noise": (0.0, 1.0), "size": (0.0, 3.0), "l1": (0.01, 0.3),
                "l2": (0.0, 0.3),
            },
            f"l1 and l2 regularisers, 200 {RUNS}", examples=20,
        )
    ],
}
