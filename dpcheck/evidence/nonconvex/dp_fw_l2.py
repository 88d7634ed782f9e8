"""What runs of DP-FW-L2 show. Claims: bounds/library/nonconvex/dp_fw_l2.py."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpcheck.bounds.library.nonconvex import dp_fw_l2 as theory
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.datasets.embedded import in_unit_ball
from dpcheck.evidence.rate_checks import Within
from dpcheck.kernels.frank_wolfe_steps import VertexSteps
from dpcheck.kernels.running import Trace, run
from dpcheck.problems.conditioning import loss_smoothness
from dpcheck.problems.constraints import Box, L1Ball, L2Ball
from dpcheck.problems.losses import Array, Linear, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_fw_l2 import gaussian_width


def ball_problem(case: Mapping[str, float]) -> Problem:
    """Random sigmoid losses over an l2 or l1 ball or a box of that radius; or F(x) = x on an interval."""
    d, radius = int(case["d"]), case["radius"]
    held = (L2Ball(radius), L1Ball(radius), Box(-radius, radius), L2Ball(radius))[int(case["set"])]
    if case["set"] == 3:
        return Problem(np.ones((4, 1)), -np.ones(4), Linear(), constraint=held)
    rng = np.random.default_rng(3)
    return Problem(
        in_unit_ball(rng, int(case["n"]), d), rng.choice([-1.0, 1.0], int(case["n"])), Sigmoid(), constraint=held
    )


def frank_wolfe_gap(problem: Problem, x: Array) -> Array:
    """max over the set of <grad F(x), x - v>, (..., d) to (...): one linear step."""
    gradient = problem.gradient(x)
    return np.asarray(np.einsum("...d,...d->...", gradient, x - problem.constraint.linear_minimiser(gradient)))


def all_steps(problem: Problem, gamma: float, T: int, noise: float, seed: int, trials: int) -> Trace:
    """T steps, whatever the round R."""
    method, released = VertexSteps(problem.d, problem.constraint, gamma, T), Release(1.0, Gaussian(noise), steps=T)
    trace = run(method, released, problem, seed=seed, trials=trials, trace=True).trace
    assert trace is not None
    return trace


def gaps_of(case: Mapping[str, float], trials: int, seed: int) -> Array:
    """The gap at x_R of each run, averaged over R."""
    problem = ball_problem(case)
    path = all_steps(problem, case["gamma"], int(case["T"]), case["noise"], seed, trials)
    return np.mean([frank_wolfe_gap(problem, x) for x in path.points[:-1]], axis=0)


def direct_bound(case: Mapping[str, float]) -> float:
    """The direct bound on a case; the gap at the start is at most F(0) less the least value that F can have."""
    problem = ball_problem(case)
    least = -case["radius"] if case["set"] == 3 else 0.0
    values = {
        "gap0": float(problem.value(np.zeros(problem.d))) - least, "L_smooth": loss_smoothness(problem),
        "T": case["T"], "pace": case["gamma"], "sigma_n": case["noise"], "diameter": problem.diameter,
        "G_C": gaussian_width(problem.constraint, problem.d),
    }
    return float(theory.theorem4_direct.evaluate(**values))


CASES = [
    {"n": 100.0, "d": 5.0, "radius": 1.0, "set": 0.0, "T": 50.0, "gamma": 0.2, "noise": 0.1},
    {"n": 500.0, "d": 50.0, "radius": 2.0, "set": 1.0, "T": 40.0, "gamma": 0.1, "noise": 0.05},
    {"n": 100.0, "d": 3.0, "radius": 0.5, "set": 2.0, "T": 20.0, "gamma": 0.5, "noise": 0.3},
    {"n": 4.0, "d": 1.0, "radius": 0.005, "set": 3.0, "T": 100.0, "gamma": 0.3, "noise": 1.0},
    {"n": 4.0, "d": 1.0, "radius": 1.0, "set": 3.0, "T": 400.0, "gamma": 0.05, "noise": 1.5},
]
SETS = "sigmoid losses over balls and a box, a linear one over intervals"
CHECKS = {"dwang20.theorem4.1.4.direct": [Within(gaps_of, CASES, SETS, bound=direct_bound, trials=64)]}
