"""What runs show: DP-SRM (lwang21, Algorithm 4). Claims: bounds/library/nonconvex/dp_srm_privacy.py, _proof.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.library.nonconvex import dp_srm_privacy as sensitivity
from dpcheck.bounds.library.nonconvex import dp_srm_proof as proof
from dpcheck.datasets.embedded import in_unit_ball
from dpcheck.evidence import random_problems
from dpcheck.evidence.property_checks import Property
from dpcheck.kernels.recursive_momentum import Estimators, MomentumPlan, recursive_momentum
from dpcheck.problems.losses import Huber, Logistic, Sigmoid
from dpcheck.problems.problem import Problem


def random_problem(case: Mapping[str, Any]) -> Problem:
    """Rows in the unit ball and random labels; sigmoid, logistic and Huber losses."""
    return random_problems.random_problem(case, (Sigmoid(), Logistic(), Huber(0.5))[int(case["loss"])])


def moved(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far a replaced record moves a later estimator, all else the same, against (4.9.4)."""
    first = random_problem(case)
    rng = np.random.default_rng(int(case["seed"]) + 1)
    second = first.replace(0, in_unit_ball(rng, 1, first.d)[0], float(rng.choice([-1.0, 1.0])))
    zeta, gamma = case["zeta"] * first.data_lipschitz, case["gamma"]
    before, v = case["size"] * rng.standard_normal((2, 1, first.d))
    plan = MomentumPlan(1, 1, 1, gamma, zeta / first.smoothness, 1 / (2 * first.smoothness))
    index = np.arange(min(2, first.n))[None]  # the record and another one
    w = before - plan.step(v)
    one, other = (Estimators(p, plan).of(w, before, v, index) for p in (first, second))
    bound = sensitivity.equation4.evaluate(
        momentum=gamma, target=zeta, slowing=1.0, G=first.data_lipschitz, later_batch=index.shape[1]
    )
    return float(np.linalg.norm(one - other)), float(bound)


def released_gradient(case: Mapping[str, Any]) -> tuple[float, float]:
    """The mean gradient norm of 200 released iterates, less five standard errors, against (4.9.17) corrected."""
    problem = random_problem(case)
    G, L, n = problem.data_lipschitz, problem.smoothness, problem.n
    zeta, n0, T, gamma = case["zeta"] * G, case["slowing"], int(case["T"]), case["gamma"]
    first, batch = min(n, int(case["first"])), min(n, int(case["batch"]))
    noise = (case["noise"] * G, case["noise"] * G * gamma)
    plan = MomentumPlan(T, first, batch, gamma, zeta / (n0 * L), 1 / (2 * n0 * L))
    done = recursive_momentum(problem, plan, sigmas=noise, seed=int(case["seed"]), trials=200)
    norms = np.linalg.norm(problem.gradient(done.w), axis=1)
    bound = proof.equation17_corrected.evaluate(
        G=G,
        L_smooth=L,
        gap0=float(problem.value(np.zeros(problem.d))),  # losses are at least 0
        T=T,
        target=zeta,
        slowing=n0,
        momentum=gamma,
        first_batch=first,
        later_batch=batch,
        d=problem.d,
        sigma_n=noise[1],
        sigma_first=noise[0],
    )
    return float(norms.mean() - 5 * norms.std() / math.sqrt(len(norms))), float(bound)


SIZES = {**random_problems.SIZES, "loss": (0, 2)}
PLANS = {
    **SIZES, "zeta": (0.05, 1.0), "slowing": (1.0, 5.0), "T": (1, 20), "gamma": (0.05, 0.9), "first": (1, 8),
    "batch": (1, 8), "noise": (0.0, 2.0),
}

CHECKS = {
    "lwang21.equation4.9.4": [
        Property(
            moved, {**SIZES, "zeta": (0.01, 2.0), "gamma": (0.01, 0.99), "size": (0.1, 5.0)},
            "a replaced record, random problems",
        )
    ],
    "lwang21.equation4.9.17.corrected": [
        Property(
            released_gradient, PLANS, "200 runs on random sigmoid, logistic and Huber problems, five standard errors",
            examples=30,
        )
    ],
}
