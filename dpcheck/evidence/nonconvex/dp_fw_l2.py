"""What runs of DP-FW-L2 show. Claims: bounds/library/nonconvex/dp_fw_l2.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_fw_l2 as theory
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.datasets.embedded import in_unit_ball
from dpcheck.evidence.checks import AuditCheck, Exponents, Property, Within
from dpcheck.kernels.running import Trace, run
from dpcheck.problems.conditioning import loss_smoothness
from dpcheck.problems.constraints import Box, L1Ball, L2Ball
from dpcheck.problems.losses import Array, Huber, Linear, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.nonconvex.dp_fw_l2 import DPFWL2, VertexSteps, gaussian_width

CLAIMED = ApproxDP(1.0, 1e-2)


def attacked(solver: DPFWL2, calibration: Calibration) -> Any:
    """The worst pair, all noisy gradients seen."""
    return solver.mechanism(CLAIMED, calibration, transcript=True), solver.worst_pair(), CLAIMED


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
    return mean_gap(problem, path)


def mean_gap(problem: Problem, path: Trace) -> Array:
    """Over x_1..x_T, of each run."""
    return np.mean([frank_wolfe_gap(problem, x) for x in path.points[:-1]], axis=0)


def bounded_by(claim: Claim) -> Any:
    """The claim's bound on a case; the gap at the start is at most F(0) less the least value that F can have."""

    def bound(case: Mapping[str, float]) -> float:
        problem = ball_problem(case)
        least = -case["radius"] if case["set"] == 3 else 0.0
        values = {
            "gap0": float(problem.value(np.zeros(problem.d))) - least, "L_smooth": loss_smoothness(problem),
            "T": case["T"], "step_fw": case["gamma"], "sigma_n": case["noise"], "diameter": problem.diameter,
            "G_C": gaussian_width(problem.constraint, problem.d),
        }  # fmt: skip
        return float(claim.evaluate(**values))

    return bound


def width_by_draws(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far `gaussian_width` is from the mean of 4000 draws, against five standard errors."""
    d, radius = int(case["d"]), case["radius"]
    held = (L2Ball(radius), L1Ball(radius), Box(-radius, radius))[int(case["set"])]
    b = np.random.default_rng(int(case["seed"])).standard_normal((4000, d))
    tops = -np.einsum("kd,kd->k", b, held.linear_minimiser(b))
    return abs(float(tops.mean()) - gaussian_width(held, d)), 5 * float(tops.std()) / math.sqrt(len(tops)) + 1e-9


def second_moment(case: Mapping[str, Any]) -> tuple[float, float]:
    """E (max over the set of <v, b>)^2, less five standard errors, against Lemma 4.1.1 with constant 1."""
    d, radius = int(case["d"]), case["radius"]
    held = (L2Ball(radius), L1Ball(radius), Box(-radius, radius))[int(case["set"])]
    b = np.random.default_rng(int(case["seed"])).standard_normal((4000, d))
    squares = np.einsum("kd,kd->k", b, held.linear_minimiser(b)) ** 2
    bound = gaussian_width(held, d) ** 2 + held.diameter(d) ** 2 / 4
    return float(squares.mean() - 5 * squares.std() / math.sqrt(len(squares))), bound


def gap_and_slope(case: Mapping[str, Any], converse: bool = False) -> tuple[float, float]:
    """r ||grad F(x)|| against the gap, a ball of radius r around x in the set; or the gap against ||C|| ||grad||."""
    problem, rng = ball_problem(case), np.random.default_rng(int(case["seed"]))
    share, radius = case["share"], case["radius"]
    edge = -problem.constraint.linear_minimiser(rng.standard_normal((1, problem.d)))
    x, room = share * edge, (1 - share) * radius / (math.sqrt(problem.d) if case["set"] == 1 else 1.0)
    slope = float(np.linalg.norm(problem.gradient(x)))
    gap = float(frank_wolfe_gap(problem, x)[0])
    if converse:
        return gap, float(theory.stationary_back.evaluate(diameter=problem.diameter, slope_at=slope)) * (1 + 1e-9)
    return room * slope, gap * (1 + 1e-9) + 1e-12


def rate_of(point: Mapping[str, float], trials: int, seed: int) -> Array:
    """The gap at x_R with the published noise, c = 8, T and gamma by default, on a parabola with its minimum inside."""
    n = int(point["n"])
    problem = Problem(np.ones((n, 1)), np.full(n, 0.3), Huber(2.0), label_bound=0.3, constraint=L2Ball(1.0))
    done = DPFWL2().calibrated(problem, ApproxDP(point["eps"], 1e-3), "stated")
    path = all_steps(problem, DPFWL2().gamma(problem, done.plan), done.plan, done.noise_std, seed, trials)
    return mean_gap(problem, path)


CASES = [
    {"n": 100.0, "d": 5.0, "radius": 1.0, "set": 0.0, "T": 50.0, "gamma": 0.2, "noise": 0.1},
    {"n": 500.0, "d": 50.0, "radius": 2.0, "set": 1.0, "T": 40.0, "gamma": 0.1, "noise": 0.05},
    {"n": 100.0, "d": 3.0, "radius": 0.5, "set": 2.0, "T": 20.0, "gamma": 0.5, "noise": 0.3},
    {"n": 4.0, "d": 1.0, "radius": 0.005, "set": 3.0, "T": 100.0, "gamma": 0.3, "noise": 1.0},
    {"n": 4.0, "d": 1.0, "radius": 1.0, "set": 3.0, "T": 400.0, "gamma": 0.05, "noise": 1.5},
]


SETS = "sigmoid losses over balls and a box, a linear one over intervals"


SHORT = DPFWL2(steps=5, step_size=0.5)


INSIDE = {"n": (1, 6), "d": (1, 8), "set": (0, 3), "radius": (0.1, 5.0), "seed": (0, 10**6), "share": (0.0, 0.99)}


ON_SETS = {"d": (1, 40), "set": (0, 2), "radius": (0.1, 5.0), "seed": (0, 10**6)}


CHECKS = {
    "wangxu19.theorem4.privacy": [
        AuditCheck(lambda: attacked(DPFWL2(steps=5, step_size=0.5, c=1.0), "stated"), "as published, c = 1", 10_000)
    ],
    "wangxu19.theorem4.privacy.corrected": [
        AuditCheck(lambda: attacked(SHORT, "stated"), "as published, c = 8, all noisy gradients seen", 10_000),
        AuditCheck(lambda: attacked(SHORT, "certified"), "certified calibration, all noisy gradients seen", 10_000),
    ],
    **{
        f"{name}.stationary{part}": [
            Property(partial(gap_and_slope, converse=bool(part)), INSIDE, SETS, examples=60)
        ]
        for name in ("wangxu19.section.frank_wolfe", "dwang20.section4.1.2")
        for part in ("", ".converse")
    },
    "dwang20.lemma4.1.1": [Property(second_moment, ON_SETS, "l2 and l1 balls and boxes, 4000 draws each", examples=50)],
    "wangxu19.theorem4.direct": [Within(gaps_of, CASES, SETS, bound=bounded_by(theory.theorem4_direct), trials=64)],
    "dwang20.theorem4.1.4.proof": [Within(gaps_of, CASES, SETS, bound=bounded_by(theory.proof), trials=64)],
    "wangxu19.theorem4.corrected": [
        Exponents(
            {"n": (400, 800, 1600), "eps": (0.5, 1.0, 2.0)}, rate_of,
            "published noise, c = 8, (x-0.3)²/2 on [-1, 1]", trials=64,
        )
    ],
}  # fmt: skip
