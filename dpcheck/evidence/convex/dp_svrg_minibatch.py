"""What runs of DP-SVRG on batches show. Claims: bounds/library/convex/dp_svrg_minibatch.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.datasets.embedded import logistic_synthetic
from dpcheck.evidence.checks import AuditCheck, Property, Trend
from dpcheck.evidence.convex.dp_svrg import one_epoch
from dpcheck.evidence.random_problems import RUNS, SIZES
from dpcheck.problems.losses import Logistic
from dpcheck.solver import Calibration
from dpcheck.solvers.convex.dp_svrg_minibatch import DPSVRGMinibatch


def attacked(calibration: Calibration) -> Any:
    """Twenty records, one epoch of five steps, the mean of the iterates seen."""
    solver, guarantee = DPSVRGMinibatch(epochs=1, inner=5, step_size=4.0), ApproxDP(1.0, 1e-2)
    return solver.mechanism(guarantee, calibration), solver.worst_pair(), guarantee


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
