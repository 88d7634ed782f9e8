"""What runs of DP-AccMD show. Claims: bounds/library/convex/dp_accmd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_accmd_proof as proof
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.datasets.embedded import in_unit_ball
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.random_problems import RUNS, SIZES
from dpcheck.kernels.running import run
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.losses import Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.dp_accmd import AcceleratedMirrorSteps, DPAccMD


def attacked(repaired: bool, steps: int) -> Any:
    """Five records, the stated noise with c = 8, the output seen."""
    solver, guarantee = DPAccMD(steps=steps, repaired=repaired, c=8.0), ApproxDP(1.0, 1e-2)
    return solver.mechanism(guarantee, "stated"), solver.worst_pair(), guarantee


def explicit(case: Mapping[str, Any]) -> tuple[float, float]:
    """Measured excess risk of the repaired algorithm over a ball, less five standard errors, against (3.58).

    The smoothness in the norm of the set is taken as L (2R)^2, and E||b||*^2 is R^2 d.
    """
    rng = np.random.default_rng(int(case["seed"]))
    n, d, R = int(case["n"]), int(case["d"]), case["radius"]
    problem = Problem(in_unit_ball(rng, n, d), rng.choice([-1.0, 1.0], n), Logistic(), constraint=L2Ball(R))
    best, least = problem.minimiser()
    T, seed = int(case["T"]), int(case["seed"])
    method = AcceleratedMirrorSteps(T, d, problem.smoothness, R)
    done = run(method, Release(1.0, Gaussian(case["noise"]), steps=T), problem, seed=seed, trials=200)
    risks = problem.value(done.w) - least
    bound = proof.equation58.evaluate(
        L_smooth=problem.smoothness * (2 * R) ** 2, divergence=float(best @ best) / (2 * R**2), T=T,
        sigma_n=case["noise"], dual2=R**2 * d,
    )
    return float(risks.mean() - 5 * risks.std() / math.sqrt(len(risks))), float(bound) + 1e-9


CHECKS = {
    "dwang20.theorem3.1.6": [
        AuditCheck(
            lambda: attacked(False, 1), "Algorithm 3.1.4 as printed, T = 1", trials=2000, at={"n": 5, "T": 1},
            any_constants="y₁ is a step by the exact gradient at x₀: no noise enters it, whatever c is",
        )
    ],
    "dwang20.theorem3.1.6.corrected": [
        AuditCheck(lambda: attacked(True, 2), "repaired, c = 8, T = 2", at={"n": 5, "T": 2})
    ],
    "dwang20.equation3.58": [
        Property(
            explicit, {**SIZES, "T": (1, 40), "noise": (0.0, 1.0), "radius": (0.3, 5.0)}, f"repaired, 200 {RUNS}",
            examples=40,
        )
    ],
}
