"""What runs of DP-Katyusha show. Claims: bounds/library/convex/dp_katyusha.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_katyusha_epochs as proof
from dpcheck.datasets.embedded import logistic_synthetic
from dpcheck.evidence.checks import AuditCheck, Property, Trend
from dpcheck.evidence.random_problems import RUNS, SIZES, random_problem
from dpcheck.kernels.variance_reduction import reduced_descent
from dpcheck.problems.losses import Logistic
from dpcheck.solver import Calibration
from dpcheck.solvers.convex.dp_katyusha import DPKatyusha


def attacked(calibration: Calibration, noised: bool = True) -> Any:
    """Twenty records, one epoch of five steps (one, as printed), the released snapshot seen."""
    solver = DPKatyusha(epochs=1, inner=5 if noised else 1, step_size=10.0, noised=noised)
    guarantee = ApproxDP(1.0, 1e-2)
    return solver.mechanism(guarantee, calibration), solver.worst_pair(), guarantee


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
    )  # fmt: skip
    return float(left.mean() - 5 * left.std() / math.sqrt(len(left))), float(bound) + 1e-9


def error_by(symbol: str) -> Any:
    """Excess risk over a grid of n or eps with the published noise, c = 1, on regularised logistic regression."""

    def measure(value: float, trials: int, seed: int) -> np.ndarray:
        here = {"n": 400.0, "eps": 1.0} | {symbol: value}
        problem = logistic_synthetic(int(here["n"]), 3, seed=7).problem(Logistic(), l2=0.01)
        found = DPKatyusha(epochs=8).solve(
            problem, ApproxDP(here["eps"], 1e-3), seed, trials=trials, calibration="stated"
        )
        return problem.value(found.w) - problem.minimiser()[1]

    return measure


CHECKS = {
    "dwang20.theorem3.1.3.privacy": [
        AuditCheck(lambda: attacked("stated", noised=False), "Algorithm 3.1.2 as printed, T = m = 1", trials=2000)
    ],
    "dwang20.theorem3.1.3.privacy.noised": [
        AuditCheck(lambda: attacked("stated"), "with noise as published, c = 1, its output seen")
    ],
    "dwang20.theorem3.1.3.privacy.noised.corrected": [
        AuditCheck(lambda: attacked("certified"), "certified calibration, on the same pair")
    ],
    "dwang20.theorem3.1.3.utility": [
        Trend("n", (200, 400, 800, 1600), error_by("n"), "published noise, L/μ = 25", trials=40, slack=0.15),
        Trend("eps", (0.5, 1.0, 2.0, 4.0), error_by("eps"), "published noise, L/μ = 25", trials=40, slack=0.15),
    ],
    "dwang20.equation3.39": [
        Property(
            one_epoch, {**SIZES, "n": (2, 30), "kappa": (1.0, 60.0), "noise": (0.0, 1.0), "size": (0.0, 3.0)},
            f"200 {RUNS}", examples=40,
        )
    ],
}  # fmt: skip
