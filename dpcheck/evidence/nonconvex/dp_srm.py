"""What runs show: DP-SRM (lwang21, Algorithm 4). Claims: bounds/library/nonconvex/dp_srm.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_srm_estimator as estimator
from dpcheck.bounds.library.nonconvex import dp_srm_sensitivity as sensitivity
from dpcheck.datasets.embedded import in_unit_ball
from dpcheck.evidence import random_problems
from dpcheck.evidence.checks import AuditCheck, Property
from dpcheck.kernels.recursive_momentum import Estimators, Plan, recursive_momentum
from dpcheck.kernels.running import Run
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.losses import Huber, Logistic, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.nonconvex.dp_srm import DPSRM


def random_problem(case: Mapping[str, Any]) -> Problem:
    """Rows in the unit ball and random labels; sigmoid, logistic and Huber losses."""
    return random_problems.random_problem(case, (Sigmoid(), Logistic(), Huber(0.5))[int(case["loss"])])


def single_records(calibration: Calibration) -> Any:
    """Batches of one record in 100, ten steps: sigma'^2 is 0.1, as it is for the parameters of Theorem 4.5.4."""
    guarantee = ApproxDP(1.0, 1e-3)
    solver = DPSRM(steps=10, batch=1, first_batch=1, momentum=0.5, aim=1e-3, slowing=1.0, last=True)
    return solver.mechanism(guarantee, calibration, transcript=True), opposite_pair(100), guarantee


def moved(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far a replaced record moves a later estimator, all else the same, against (4.9.4)."""
    first = random_problem(case)
    rng = np.random.default_rng(int(case["seed"]) + 1)
    second = first.replace(0, in_unit_ball(rng, 1, first.d)[0], float(rng.choice([-1.0, 1.0])))
    zeta, gamma = case["zeta"] * first.data_lipschitz, case["gamma"]
    before, v = case["size"] * rng.standard_normal((2, 1, first.d))
    plan = Plan(1, 1, 1, gamma, zeta / first.smoothness, 1 / (2 * first.smoothness))
    index = np.arange(min(2, first.n))[None]  # the record and another one
    w = before - plan.step(v)
    one, other = (Estimators(p, plan).of(w, before, v, index) for p in (first, second))
    bound = sensitivity.equation4.evaluate(
        momentum=gamma, target=zeta, slowing=1.0, G=first.data_lipschitz, later_batch=index.shape[1]
    )
    return float(np.linalg.norm(one - other)), float(bound)


def measured_run(case: Mapping[str, Any], last: bool) -> tuple[Problem, Plan, dict[str, float], Run]:
    """Runs with the noise of `case` to a uniform iterate or, by another seed, to the last; and the bounds' numbers."""
    problem = random_problem(case)
    G, L, n = problem.data_lipschitz, problem.smoothness, problem.n
    zeta, n0, T = case["zeta"] * G, case["slowing"], int(case["T"])
    first, batch = min(n, int(case["first"])), min(n, int(case["batch"]))
    plan = Plan(T, first, batch, case["gamma"], zeta / (n0 * L), 1 / (2 * n0 * L))
    noise = (case["noise"] * G, case["noise"] * G * case["gamma"])
    seed = int(case["seed"]) + last
    done = recursive_momentum(problem, plan, sigmas=noise, seed=seed, trials=200, trace=last, last=last)
    gap = float(problem.value(np.zeros(problem.d)))  # losses are at least 0
    numbers = {
        "G": G, "L_smooth": L, "gap0": gap, "T": T, "target": zeta, "slowing": n0, "momentum": case["gamma"],
        "first_batch": first, "later_batch": batch, "d": problem.d, "sigma_n": noise[1], "sigma_first": noise[0],
    }  # fmt: skip
    return problem, plan, numbers, done


def estimator_error(case: Mapping[str, Any]) -> tuple[float, float]:
    """Mean squared error of the estimators, less five standard errors, against (4.9.14)."""
    problem, plan, numbers, done = measured_run(case, last=True)
    assert done.trace is not None
    true = problem.gradient(done.trace.points[: plan.steps])
    errors = np.sum((done.trace.answers[: plan.steps] - true) ** 2, axis=2).mean(axis=0)
    return below_mean(errors), float(estimator.equation14.evaluate(**numbers_of(estimator.equation14, numbers)))


def released_gradient(case: Mapping[str, Any]) -> tuple[float, float]:
    """The mean gradient norm of the released iterate, less five standard errors, against (4.9.17) corrected."""
    problem, _, numbers, done = measured_run(case, last=False)
    norms = np.linalg.norm(problem.gradient(done.w), axis=1)
    claim = estimator.equation17_corrected
    return below_mean(norms), float(claim.evaluate(**numbers_of(claim, numbers)))


def below_mean(sample: np.ndarray) -> float:
    return float(sample.mean() - 5 * sample.std() / math.sqrt(len(sample)))


def numbers_of(claim: Any, numbers: Mapping[str, float]) -> dict[str, float]:
    """Those that the claim's formula takes."""
    return {str(s): numbers[str(s)] for s in claim.formula.free_symbols}


SIZES = {**random_problems.SIZES, "loss": (0, 2)}
PLANS = {
    **SIZES, "zeta": (0.05, 1.0), "slowing": (1.0, 5.0), "T": (1, 20), "gamma": (0.05, 0.9), "first": (1, 8),
    "batch": (1, 8), "noise": (0.0, 2.0),
}  # fmt: skip
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
