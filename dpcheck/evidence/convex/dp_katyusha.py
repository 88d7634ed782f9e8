"""What runs of DP-Katyusha show. Claims: bounds/library/convex/dp_katyusha.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_katyusha_proof as proof
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.random_problems import RUNS, SIZES, random_problem
from dpcheck.kernels.variance_reduction import reduced_descent
from dpcheck.solvers.convex.dp_katyusha import DPKatyusha

SHORT = {"T": 1, "inner": 400, "n": 20}  # ε = 1 is at most c₁Tm/n² with c₁ = 1


def as_printed() -> Any:
    """Twenty linear losses, one epoch without noise, its snapshot seen."""
    solver = DPKatyusha(epochs=SHORT["T"], inner=SHORT["inner"], step_size=0.1, noised=False)
    guarantee = ApproxDP(1.0, 1e-2)
    return solver.mechanism(guarantee, "stated"), solver.worst_pair(), guarantee


def one_epoch(case: Mapping[str, Any]) -> tuple[float, float]:
    """Both terms of (3.39) after an epoch, less five standard errors, against its right side; either case."""
    problem = random_problem(case, l2=0.25 / case["kappa"])
    plan = DPKatyusha(epochs=1).plan(problem, ApproxDP(1.0, 1e-2))
    w, least = problem.minimiser()
    start = w + case["size"] * np.ones(problem.d)
    done = reduced_descent(
        problem, plan, noise_std=case["noise"], seed=int(case["seed"]), trials=200, start=start, trace=True
    )
    assert done.trace is not None
    eta, theta, inner = plan.step_size, plan.theta, plan.lengths[0]
    weights = sum(plan.growth**j for j in range(inner))
    last = done.trace.points[-1] - w
    left = weights / theta * (problem.value(done.w) - least) + plan.growth**inner / (2 * eta) * np.sum(last**2, axis=1)
    bound = proof.equation39.evaluate(
        theta=theta, weights=weights, gap_snap=float(problem.value(start)) - least, eta=eta, L_smooth=0.25, d=problem.d,
        start=float(np.linalg.norm(start - w)), sigma_n=case["noise"],
    )
    return float(left.mean() - 5 * left.std() / math.sqrt(len(left))), float(bound) + 1e-9


CHECKS = {
    "dwang20.theorem3.1.3.privacy": [
        AuditCheck(
            as_printed, "Algorithm 3.1.2 as printed, T = 1, m = 400, n = 20", trials=2000, at=SHORT,
            any_constants="no line adds noise: the output is the same whatever c and c₁ are",
        )
    ],
    "dwang20.equation3.39": [
        Property(
            one_epoch, {**SIZES, "n": (2, 30), "kappa": (1.0, 60.0), "noise": (0.0, 1.0), "size": (0.0, 3.0)},
            f"200 {RUNS}", examples=40,
        )
    ],
}
