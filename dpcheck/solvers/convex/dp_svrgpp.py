"""DP-SVRG++ (dwang20, Algorithm 3.1.3). Claims: bounds/library/convex/dp_svrgpp.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_svrgpp as theory
from dpcheck.bounds.library.convex import dp_svrgpp_proof as proof
from dpcheck.evidence.checks import AuditCheck, Property
from dpcheck.kernels.variance_reduced_solver import VarianceReduced, condition, shrinking
from dpcheck.kernels.variance_reduction import Plan, composite_minimum, composite_value, reduced_descent
from dpcheck.problems.losses import Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.convex.dp_svrg import RUNS, SIZES, random_problem, turning_pair

MOST_EPOCHS = 20  # by default: the last epoch has 2^T m steps


@dataclass(frozen=True)
class DPSVRGpp(VarianceReduced):
    """Noisy variance-reduced steps in epochs that double: epoch s has 2^s m steps, and goes on where the last ended.

    By default eta = 1/(13 L), m = 1 (the source asks for m of the order of L, which is no number) and T balances
    noise and convergence (Theorem 3.1.5).
    """

    name: ClassVar[str] = "dp_svrgpp"
    stated: ClassVar[Claim] = theory.theorem4

    def plan(self, problem: Problem, guarantee: ApproxDP) -> Plan:
        eta = self.step_size or 1 / (13 * condition(problem)[0])
        inner = self.inner or 1
        epochs = self.epochs or min(MOST_EPOCHS, max(1, math.ceil(shrinking(problem, guarantee) / (2 * math.log(2)))))
        return Plan(tuple(2**s * inner for s in range(1, epochs + 1)), eta, restart=False)

    def values(self, problem: Problem, guarantee: ApproxDP, plan: Plan) -> dict[str, float]:
        return super().values(problem, guarantee, plan) | {"inner": plan.epochs[0] // 2}

    def worst_pair(self) -> tuple[Problem, Problem]:
        """As for DP-SVRG."""
        return turning_pair(20)


# Checks that run the solver -------------------------------------------------------------------------
def attacked(calibration: Calibration) -> Any:
    """Twenty records, one epoch of six steps, the mean of the iterates seen."""
    solver, guarantee = DPSVRGpp(epochs=1, inner=3, step_size=4.0), ApproxDP(1.0, 1e-2)
    return solver.mechanism(guarantee, calibration), solver.worst_pair(), guarantee


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
    bound = proof.summed.evaluate(
        gap0=float(composite_value(problem, start, l1)) - least, T=len(plan.epochs), inner=solver.inner,
        eta=plan.step_size,
        distance=float(np.linalg.norm(start - best)), d=problem.d, sigma_n=case["noise"], L_smooth=0.25,
    )  # fmt: skip
    return float(risks.mean() - 5 * risks.std() / math.sqrt(len(risks))), float(bound) + 1e-9


def minimiser(problem: Problem, l1: float) -> np.ndarray:
    """A point of nearly least value: many noiseless steps of the method itself."""
    plan = Plan((400,) * 10, 1 / (13 * 0.25), restart=False)
    return reduced_descent(problem, plan, noise_std=0.0, seed=0, trials=1, batch=problem.n, l1=l1).w[0]


CHECKS = {
    "dwang20.theorem3.1.4": [
        AuditCheck(lambda: attacked("stated"), "Algorithm 3.1.3 as published, c = 1, its output seen")
    ],
    "dwang20.theorem3.1.4.corrected": [
        AuditCheck(lambda: attacked("certified"), "certified calibration, on the same pair")
    ],
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
}  # fmt: skip
