"""The definitions of lwang21, section 4.3, on losses and runs. Claims: bounds/library/nonconvex."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import special

from dpcheck.bounds.library.nonconvex import dp_srm_definitions as theory
from dpcheck.evidence.checks import Property
from dpcheck.evidence.nonconvex.dp_srm import SIZES, random_problem
from dpcheck.kernels.recursive_momentum import Plan, recursive_momentum
from dpcheck.problems.problem import Problem


def quiet_run(case: Mapping[str, Any]) -> tuple[float, float]:
    """The mean gradient norm of a run on all records without noise, against zeta."""
    problem = random_problem(case)
    L, zeta, n0 = problem.smoothness, case["zeta"] * problem.data_lipschitz, case["slowing"]
    gap = float(problem.value(np.zeros(problem.d)))  # losses are at least 0
    steps = math.floor(4 * n0 * L * gap / zeta**2) + 1
    plan = Plan(steps, problem.n, problem.n, 0.5, zeta / (n0 * L), 1 / (2 * n0 * L))
    done = recursive_momentum(problem, plan, sigmas=(0.0, 0.0), seed=0, trials=1, trace=True, last=True)
    assert done.trace is not None
    norms = np.linalg.norm(problem.gradient(done.trace.points[:steps, 0]), axis=1)
    return float(norms.mean()), zeta


def two_points(case: Mapping[str, Any]) -> tuple[Problem, np.ndarray, float]:
    """A record by itself, two points, and their distance."""
    problem = random_problem({**case, "n": 1})
    w = case["size"] * np.random.default_rng(int(case["seed"]) + 1).standard_normal((2, problem.d))
    return problem, w, float(np.linalg.norm(w[1] - w[0]))


def quotient(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far the loss of a record moves, against G times the distance."""
    problem, w, distance = two_points(case)
    return abs(float(np.diff(problem.value(w))[0])), problem.data_lipschitz * distance


def change(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far its gradient moves, against L times the distance."""
    problem, w, distance = two_points(case)
    return float(np.linalg.norm(np.diff(problem.gradient(w), axis=0))), problem.smoothness * distance


def any_event(case: Mapping[str, Any]) -> tuple[float, float]:
    """P(O) - e^eps P'(O) of intervals with random ends, against the least delta."""
    reach, sigma, eps = case["Delta"], case["sigma"], case["eps"]
    rng = np.random.default_rng(int(case["seed"]))
    ends = np.sort(rng.normal(reach / 2 + sigma**2 * eps / reach, 3 * sigma, 2 * int(case["pieces"])))
    ends[-1] = np.inf if case["seed"] % 2 else ends[-1]
    one, other = (np.diff(special.ndtr((ends - centre) / sigma))[::2].sum() for centre in (reach, 0.0))
    return float(one - math.exp(eps) * other), float(theory.private.evaluate(Delta=reach, sigma=sigma, eps=eps))


POINTS = {"d": (1, 3), "seed": (0, 10**6), "loss": (0, 2), "size": (0.01, 10.0)}
LOSSES = "sigmoid, logistic and Huber losses, a random record and two points"

CHECKS = {
    "lwang21.definition4.3.1": [
        Property(
            quiet_run, {**SIZES, "zeta": (0.2, 1.5), "slowing": (1.0, 3.0)},
            "runs on all records without noise, sigmoid, logistic and Huber losses", examples=40,
        )
    ],
    "lwang21.definition4.3.2": [Property(quotient, POINTS, LOSSES)],
    "lwang21.definition4.3.3": [Property(change, POINTS, LOSSES)],
    "lwang21.definition4.3.4": [
        Property(
            any_event,
            {"Delta": (0.1, 5.0), "sigma": (0.5, 5.0), "eps": (0.01, 4.0), "pieces": (1, 3), "seed": (0, 10**6)},
            "outputs made of up to three intervals",
        )
    ],
}  # fmt: skip
