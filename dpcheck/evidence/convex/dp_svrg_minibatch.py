"""What runs of DP-SVRG on batches show. Claims: bounds/library/convex/dp_svrg_minibatch.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_svrg_proof as proof
from dpcheck.datasets.embedded import logistic_synthetic
from dpcheck.evidence.checks import AuditCheck, Property, Trend
from dpcheck.evidence.random_problems import RUNS, SIZES, random_problem
from dpcheck.kernels.variance_reduction import Epochs, reduced_descent
from dpcheck.problems.losses import Logistic
from dpcheck.solver import Calibration
from dpcheck.solvers.convex.dp_svrg_minibatch import DPSVRGMinibatch


def attacked(calibration: Calibration) -> Any:
    """Twenty records, one epoch of five steps, the mean of the iterates seen."""
    solver, guarantee = DPSVRGMinibatch(epochs=1, inner=5, step_size=4.0), ApproxDP(1.0, 1e-2)
    return solver.mechanism(guarantee, calibration), solver.worst_pair(), guarantee


def one_epoch(case: Mapping[str, Any]) -> tuple[float, float]:
    """Measured excess risk after an epoch on batches, less five standard errors, against (3.28)."""
    problem = random_problem(case, l2=0.25 / case["kappa"])
    eta, inner = case["step"] / (8 * 0.25), int(case["inner"])
    w, least = problem.minimiser()
    start = w + case["size"] * np.ones(problem.d)
    epochs = Epochs((inner,), eta, batch=min(problem.n, int(case["batch"])))
    done = reduced_descent(problem, epochs, noise_std=case["noise"], seed=int(case["seed"]), trials=200, start=start)
    risks = problem.value(done.w) - least
    bound = proof.equation28.evaluate(
        eta=eta, L_smooth=0.25, mu=problem.l2, inner=inner, gap_snap=float(problem.value(start)) - least, d=problem.d,
        sigma_n=case["noise"],
    )  # fmt: skip
    return float(risks.mean() - 5 * risks.std() / math.sqrt(len(risks))), float(bound)


def certified_error(eps: float, trials: int, seed: int) -> np.ndarray:
    """Excess risk of the certified solver on regularised logistic regression, n = 400."""
    problem = logistic_synthetic(400, 3, seed=7).problem(Logistic(), l2=0.25)
    solver = DPSVRGMinibatch(epochs=3, inner=40, step_size=0.5)
    found = solver.solve(problem, ApproxDP(eps, 1e-3), seed, trials=trials)
    return problem.value(found.w) - problem.minimiser()[1]


CHECKS = {
    "dwang20.theorem3.1.1.minibatch": [
        AuditCheck(lambda: attacked("stated"), "the noise of (3.3) with c = 72 and the least batch, its output seen"),
        AuditCheck(lambda: attacked("certified"), "certified calibration, on the same pair"),
    ],
    "dwang20.theorem3.1.2.minibatch": [
        Property(
            one_epoch,
            {
                **SIZES, "kappa": (1.0, 5.0), "step": (0.05, 0.9), "inner": (1, 40), "noise": (0.0, 1.0),
                "size": (0.0, 3.0), "batch": (1, 8),
            },
            f"one epoch against (3.28), 200 {RUNS}", examples=30,
        ),
        Trend("eps", (0.25, 0.5, 1.0), certified_error, "certified noise, n = 400, L/μ = 1", trials=50, slack=0.2),
    ],
}  # fmt: skip
