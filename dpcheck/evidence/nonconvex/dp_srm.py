"""What runs show: DP-SRM (lwang21, Algorithm 4). Claims: bounds/library/nonconvex/dp_srm.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_srm_estimator as estimator
from dpcheck.evidence.checks import AuditCheck, Property
from dpcheck.kernels.recursive_momentum import Plan, recursive_momentum
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.nonconvex.dp_srm import DPSRM, moved


def random_problem(case: Mapping[str, Any]) -> Problem:
    """Rows in the unit ball and random labels; sigmoid, logistic and Huber losses."""
    rng = np.random.default_rng(int(case["seed"]))
    n, d = int(case["n"]), int(case["d"])
    loss = (Sigmoid(), Logistic(), Huber(0.5))[int(case["loss"])]
    return Problem(in_unit_ball(rng, n, d), rng.choice([-1.0, 1.0], n), loss)


def single_records(calibration: Calibration) -> Any:
    """Batches of one record in 100, ten steps: sigma'^2 is 0.1, as it is for the parameters of Theorem 4.5.4."""
    solver, guarantee = (
        DPSRM(steps=10, batch=1, first_batch=1, momentum=0.5, aim=1e-3, slowing=1.0),
        ApproxDP(1.0, 1e-3),
    )
    return solver.mechanism(guarantee, calibration, transcript=True), opposite_pair(100), guarantee


def measured_run(case: Mapping[str, Any]) -> tuple[Problem, Plan, dict[str, float], Any]:
    """A run with the noise of `case`, and the numbers of the bounds."""
    problem = random_problem(case)
    G, L, n = problem.data_lipschitz, problem.smoothness, problem.n
    zeta, n0, T = case["zeta"] * G, case["slowing"], int(case["T"])
    first, batch = min(n, int(case["first"])), min(n, int(case["batch"]))
    plan = Plan(T, first, batch, case["gamma"], zeta / (n0 * L), 1 / (2 * n0 * L))
    noise = (case["noise"] * G, case["noise"] * G * case["gamma"])
    done = recursive_momentum(problem, plan, sigmas=noise, seed=int(case["seed"]), trials=200, trace=True)
    gap = float(problem.value(np.zeros(problem.d)))  # losses are at least 0
    numbers = {
        "G": G, "L_smooth": L, "gap0": gap, "T": T, "target": zeta, "slowing": n0, "momentum": case["gamma"],
        "first_batch": first, "later_batch": batch, "d": problem.d, "sigma_n": noise[1], "sigma_first": noise[0],
    }  # fmt: skip
    return problem, plan, numbers, done


def estimator_error(case: Mapping[str, Any]) -> tuple[float, float]:
    """Mean squared error of the estimators, less five standard errors, against (4.9.14)."""
    problem, plan, numbers, done = measured_run(case)
    true = problem.gradient(done.trace.iterates[: plan.steps])
    errors = np.sum((done.trace.unprojected[: plan.steps] - true) ** 2, axis=2).mean(axis=0)
    return below_mean(errors), float(estimator.equation14.evaluate(**numbers_of(estimator.equation14, numbers)))


def released_gradient(case: Mapping[str, Any]) -> tuple[float, float]:
    """The mean gradient norm of the released iterate, less five standard errors, against (4.9.17) corrected."""
    problem, _, numbers, done = measured_run(case)
    norms = np.linalg.norm(problem.gradient(done.w), axis=1)
    claim = estimator.equation17_corrected
    return below_mean(norms), float(claim.evaluate(**numbers_of(claim, numbers)))


def below_mean(sample: np.ndarray) -> float:
    return float(sample.mean() - 5 * sample.std() / math.sqrt(len(sample)))


def numbers_of(claim: Any, numbers: Mapping[str, float]) -> dict[str, float]:
    """Those that the claim's formula takes."""
    return {str(s): numbers[str(s)] for s in claim.formula.free_symbols}


PLANS = {
    **SIZES, "zeta": (0.05, 1.0), "slowing": (1.0, 5.0), "T": (1, 20), "gamma": (0.05, 0.9), "first": (1, 8),
    "batch": (1, 8), "noise": (0.0, 2.0),
}  # fmt: skip


SIZES = {"n": (2, 8), "d": (1, 3), "seed": (0, 10**6), "loss": (0, 2)}


RUNS = "200 runs on random sigmoid, logistic and Huber problems, five standard errors"

CHECKS = {
    "lwang21.equation4.9.4": [
        Property(
            moved, {**SIZES, "zeta": (0.01, 2.0), "gamma": (0.01, 0.99), "size": (0.1, 5.0)},
            "a replaced record, random problems",
        )
    ],
    "lwang21.equation4.9.14": [Property(estimator_error, PLANS, RUNS, examples=30)],
    "lwang21.equation4.9.17.corrected": [Property(released_gradient, PLANS, RUNS, examples=30)],
    "lwang21.theorem4.5.4.privacy": [
        AuditCheck(lambda: single_records("stated"), "batches of one record, all estimators seen", trials=20_000)
    ],
}  # fmt: skip
