"""What runs of DP-GD show. Claims: bounds/library/convex/dp_gd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_gd as theory
from dpcheck.evidence.checks import AuditCheck, Property
from dpcheck.evidence.random_problems import RUNS, SIZES, random_problem
from dpcheck.solvers.convex.dp_gd import DPGD


def attacked() -> Any:
    """Five records, ten steps, the noise as stated, the last iterate seen."""
    solver, guarantee = DPGD(steps=10, step_size=0.5), ApproxDP(1.0, 1e-2)
    return solver.mechanism(guarantee, "stated"), solver.worst_pair(), guarantee


def last_iterate(case: Mapping[str, Any]) -> tuple[float, float]:
    """Measured excess risk, less five standard errors, against the explicit bound."""
    problem = random_problem(case, l2=case["l2"])
    found = DPGD(steps=int(case["T"])).solve(problem, ApproxDP(case["eps"], 1e-2), int(case["seed"]), trials=200)
    _, least = problem.minimiser()
    risks = problem.value(found.w) - least
    gap0 = float(problem.value(np.zeros(problem.d))) - least
    bound = theory.utility.evaluate(
        T=int(case["T"]), mu=problem.l2, L_smooth=0.25, gap0=gap0, d=problem.d, sigma_n=found.noise_std
    )
    return float(risks.mean() - 5 * risks.std() / math.sqrt(len(risks))), float(bound)


CHECKS = {
    "dwang20.section3.1.5.dp_gd": [
        AuditCheck(attacked, "the noise as stated, c₂² = 8, its output seen", at={"n": 5, "T": 10})
    ],
    "dwang20.section3.1.5.dp_gd.utility": [
        Property(
            last_iterate, {**SIZES, "l2": (0.02, 1.0), "T": (1, 30), "eps": (0.2, 3.0)}, f"200 {RUNS}", examples=40
        )
    ],
}
