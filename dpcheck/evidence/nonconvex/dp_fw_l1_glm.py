"""What runs of DP-FW-L1 for the population risk show. Claims: bounds/library/nonconvex/dp_fw_l1_glm.py.

The constants of its losses are attacked beside those of dp_fw_l2_glm, which are the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.library.nonconvex import dp_fw_l1_glm as theory
from dpcheck.bounds.library.nonconvex.dp_fw_l1 import released
from dpcheck.evidence.nonconvex.dp_fw_l2 import frank_wolfe_gap
from dpcheck.evidence.property_checks import Property
from dpcheck.families.glm_losses import SquaredLogistic
from dpcheck.kernels.frank_wolfe_steps import CornerSteps
from dpcheck.kernels.running import run
from dpcheck.problems.constraints import L1Ball
from dpcheck.problems.polytopes import corners_of
from dpcheck.problems.problem import Problem

FAILING, RUNS = 0.2, 200  # η


def explicit_gap(case: Mapping[str, Any]) -> tuple[float, float]:
    """The share of runs whose mean gap exceeds the explicit bound, against η and five standard deviations."""
    n, d, T, seed = (int(case[k]) for k in ("n", "d", "T", "seed"))
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(-1, 1, (n, d)), rng.choice([-1.0, 1.0], n)
    problem = Problem(X, y, SquaredLogistic(), constraint=L1Ball(1.0), row_bound=math.sqrt(d))
    slope, corners = problem.loss.derivative_bound(1.0), corners_of(problem.constraint, d)
    noisy = released.at(G=slope, size_1=1.0, n=n, T=T, eps0=case["eps0"])
    trace = run(CornerSteps(corners, case["pace"], T), noisy, problem, seed=seed, trials=RUNS, trace=True).trace
    assert trace is not None
    gaps = frank_wolfe_gap(problem, trace.points[:-1]).mean(axis=0)
    bent = max(map(abs, problem.loss.curvature_range(1.0)))  # smooth in l1 by it, as entries are at most 1
    bound = theory.explicit.evaluate(
        gap0=float(problem.value(corners.centre())), pace=case["pace"], T=T, M_l1=bent, across=2.0, G=slope, size_1=1.0,
        points=2 * d, gamma=FAILING, n=n, eps0=case["eps0"],
    )
    return float((gaps > bound).mean()), FAILING + 5 * math.sqrt(FAILING * (1 - FAILING) / RUNS)


CASES = {"n": (2, 10), "d": (1, 6), "seed": (0, 10**6), "T": (1, 15), "pace": (0.05, 1.0), "eps0": (0.05, 5.0)}
CHECKS = {
    "dwang20.theorem4.2.14.explicit": [
        Property(explicit_gap, CASES, "200 runs with squared logistic losses, the share above at η = 0.2", examples=20)
    ]
}
