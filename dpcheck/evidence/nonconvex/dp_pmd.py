"""What runs of DP-PMD show. Claims: bounds/library/nonconvex/dp_pmd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_pmd as theory
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.random_problems import random_problem
from dpcheck.kernels.running import run
from dpcheck.problems.constraints import Constraint, L1Ball, L2Ball, LqBall, Simplex
from dpcheck.problems.losses import Sigmoid
from dpcheck.problems.mirror import mirror_of
from dpcheck.solvers.nonconvex.dp_pmd import DPPMD, MirrorSteps


def attacked() -> Any:
    """Five records, T = 12, the noise of (3) with c = 8: all steps up to x_R seen."""
    solver, guarantee = DPPMD(steps=12, c=8.0), ApproxDP(1.0, 1e-2)
    return solver.mechanism(guarantee, "stated", transcript=True), solver.worst_pair(), guarantee


def geometry(kind: int, radius: float, q: float) -> Constraint:
    """An l1, l_q or l2 ball, or the simplex."""
    return (L2Ball(radius), L1Ball(radius), LqBall(radius, q), Simplex())[kind]


def explicit_bound(case: Mapping[str, Any]) -> tuple[float, float]:
    """The mean squared step in the set's norm, less five standard errors, and the bound: sigmoid losses, an l1 term."""
    where = geometry(int(case["kind"]), case["radius"], case["q"])
    problem, l1 = random_problem(case, Sigmoid(), constraint=where), case["l1"]
    mirror, T, sigma = mirror_of(where, problem.d), int(case["T"]), case["noise"]
    smooth = mirror.smoothness(problem.smoothness)  # L ||C||^2: the bound has it where the diameter is 1
    gamma, released = 1 / (2 * smooth), Release(1.0, Gaussian(sigma), steps=T)
    runs = run(MirrorSteps(mirror, gamma, T, l1), released, problem, seed=int(case["seed"]), trials=60, trace=True)
    assert runs.trace is not None
    x = runs.trace.points
    means = ((mirror.norm(x[:-1] - x[1:]) / gamma) ** 2).mean(axis=0)
    margin = problem.row_bound * where.reach(problem.d)
    lowest = float(problem.loss.value(np.asarray(margin), np.asarray(1.0)))  # of a loss over the set
    gap = float(problem.value(mirror.start)) + l1 * float(np.abs(mirror.start).sum()) - lowest
    sizes = {"L_smooth": smooth, "diameter": 1.0, "gap0": max(gap, 1e-9), "dual2": mirror.dual_square()}
    bound = theory.explicit.evaluate(**sizes, T=T, sigma_n=sigma, weight=gamma)
    return float(means.mean() - 5 * means.std() / math.sqrt(len(means))), float(bound) + 1e-9


SETS = {"n": (2, 8), "d": (1, 6), "seed": (0, 10**6), "kind": (0, 3), "radius": (0.3, 4.0), "q": (1.1, 2.0)}
RUNS = {**SETS, "T": (2, 12), "noise": (0.0, 1.0), "l1": (0.0, 0.5)}
OVER = "60 runs with sigmoid losses over l1, l_q and l2 balls and the simplex, five standard errors"

CHECKS = {
    "wangxu19.theorem5.privacy.corrected": [
        AuditCheck(attacked, "as published, c = 8, the steps up to x_R", 20_000, at={"n": 5.0, "T": 12.0, "G": 1.0})
    ],
    "dwang20.theorem4.1.5.explicit": [Property(explicit_bound, RUNS, OVER, examples=15)],
}
