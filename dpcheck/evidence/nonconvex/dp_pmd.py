"""What runs of DP-PMD show. Claims: bounds/library/nonconvex/dp_pmd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_pmd_proof as proof
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.datasets.embedded import in_unit_ball
from dpcheck.evidence.checks import AuditCheck, Property
from dpcheck.kernels.running import run
from dpcheck.problems.constraints import Constraint, L1Ball, L2Ball, LqBall, Simplex
from dpcheck.problems.extreme_pairs import FAR
from dpcheck.problems.losses import Huber, Sigmoid
from dpcheck.problems.mirror import mirror_of
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.nonconvex.dp_pmd import DPPMD, MirrorSteps


def telling_pair(n: int) -> tuple[Problem, Problem]:
    """The same in the plane, where the other records move x_R by a fixed amount each step: for large n it tells R."""
    rows = np.vstack([[1.0, 0.0], np.tile([0.0, 1.0], (n - 1, 1))])
    first = Problem(rows, np.full(n, -FAR), Huber(1.0), label_bound=FAR, constraint=L2Ball(100.0))
    return first, first.replace(0, [1.0, 0.0], FAR)


def attacked(calibration: Calibration, transcript: bool, eps: float = 1.0) -> Any:
    """Five records, T = 12: x_R seen, or all steps up to it."""
    solver, guarantee = DPPMD(steps=12), ApproxDP(eps, 1e-2)
    return solver.mechanism(guarantee, calibration, transcript=transcript), solver.worst_pair(), guarantee


def geometry(kind: int, radius: float, q: float) -> Constraint:
    """An l1, l_q or l2 ball, or the simplex."""
    return (L2Ball(radius), L1Ball(radius), LqBall(radius, q), Simplex())[kind]


def random_risk(case: Mapping[str, Any]) -> Problem:
    """Sigmoid losses, not convex, on random rows, over one of the sets."""
    rng = np.random.default_rng(int(case["seed"]))
    n, d = int(case["n"]), int(case["d"])
    where = geometry(int(case["kind"]), case["radius"], case["q"])
    return Problem(in_unit_ball(rng, n, d), rng.choice([-1.0, 1.0], n), Sigmoid(), constraint=where)


def lowest(problem: Problem) -> float:
    """A lower bound of F and F^r: the least value of a loss over the set."""
    margin = problem.row_bound * problem.constraint.reach(problem.d)
    return float(problem.loss.value(np.asarray(margin), np.asarray(1.0)))


def explicit_bound(case: Mapping[str, Any], exact: bool = False, by_radius: bool = False) -> tuple[float, float]:
    """The mean squared step (or projected gradient) in the set's norm, less five standard errors, and the bound.

    `by_radius` takes the smoothness L R^2 of a ball, a quarter of that with its diameter, for step size and bound.
    """
    problem, l1 = random_risk(case), case["l1"]
    mirror, T, sigma = mirror_of(problem.constraint, problem.d), int(case["T"]), case["noise"]
    smooth = mirror.smoothness(problem.smoothness) / (4 if by_radius else 1)
    gamma = 1 / (2 * smooth)
    released, seed = Release(1.0, Gaussian(sigma), steps=T), int(case["seed"])
    trace = run(MirrorSteps(mirror, gamma, T, l1), released, problem, seed=seed, trials=60, trace=True).trace
    assert trace is not None
    x, after = trace.points[:-1], trace.points[1:]
    if exact:
        z = mirror.gradient(x) - gamma * problem.gradient(x)
        after = mirror.step(z.reshape(-1, problem.d), gamma * l1).reshape(x.shape)
    squares = (mirror.norm(x - after) / gamma) ** 2
    means = squares.mean(axis=0)
    start = mirror.start
    gap = float(problem.value(start)) + l1 * float(np.abs(start).sum()) - lowest(problem)
    claim = proof.exact_map if exact else proof.explicit_tight if by_radius else proof.explicit
    bound = claim.evaluate(
        L_smooth=smooth * (4 if by_radius else 1),
        diameter=1.0,
        gap0=max(gap, 1e-9),
        T=T,
        sigma_n=sigma,
        dual2=mirror.dual_square(),
    )
    return float(means.mean() - 5 * means.std() / math.sqrt(len(means))), float(bound) + 1e-9


def step_gain(case: Mapping[str, Any]) -> tuple[float, float]:
    """Lemma 4.1.5 for the steps used here: what must be gained, and <grad F(x), x - x+>, both shifted above 0."""
    problem, rng = random_risk(case), np.random.default_rng(int(case["seed"]) + 1)
    mirror, gamma = mirror_of(problem.constraint, problem.d), case["gamma"]
    x = mirror.step(case["size"] * rng.standard_normal((1, problem.d)), 0.0)
    error = case["size"] * rng.standard_normal((1, problem.d))
    p = problem.gradient(x)
    after = mirror.step(mirror.gradient(x) - gamma * (p + error), gamma * case["l1"])
    r = case["l1"] * (np.abs(after).sum() - np.abs(x).sum())
    needed = float(mirror.norm(x - after)[0] ** 2 / gamma + r + (error * (after - x)).sum())
    gained = float((p * (x - after)).sum())
    shift = 1 + abs(needed) + abs(gained)
    return needed + shift, gained + shift + 1e-7 * shift


def optimal_step(case: Mapping[str, Any]) -> tuple[float, float]:
    """(4.11) for the steps used here and another point u of the set: r(x+) against r(u) + <..., u - x+>, shifted."""
    problem, rng = random_risk(case), np.random.default_rng(int(case["seed"]) + 1)
    mirror, gamma = mirror_of(problem.constraint, problem.d), case["gamma"]
    x, u = (mirror.step(case["size"] * rng.standard_normal((1, problem.d)), 0.0) for _ in range(2))
    pulled = problem.gradient(x) + case["size"] * rng.standard_normal((1, problem.d))
    after = mirror.step(mirror.gradient(x) - gamma * pulled, gamma * case["l1"])
    pull = float(((pulled + (mirror.gradient(after) - mirror.gradient(x)) / gamma) * (u - after)).sum())
    r_after, r_u = (case["l1"] * float(np.abs(w).sum()) for w in (after, u))
    shift = 1 + abs(pull) + r_after
    return r_after + shift, r_u + pull + shift + 1e-6 * shift


def map_gap(case: Mapping[str, Any]) -> tuple[float, float]:
    """Two gradients at one point: how far their projected gradients differ, against how far they do."""
    problem, rng = random_risk(case), np.random.default_rng(int(case["seed"]) + 1)
    mirror, gamma = mirror_of(problem.constraint, problem.d), case["gamma"]
    x = mirror.step(case["size"] * rng.standard_normal((1, problem.d)), 0.0)
    g = case["size"] * rng.standard_normal((2, problem.d))
    after = mirror.step(mirror.gradient(x) - gamma * g, gamma * case["l1"])
    moved = float(mirror.norm(after[:1] - after[1:])[0]) / gamma
    return moved, float(mirror.dual_norm(g[:1] - g[1:])[0]) * (1 + 1e-7) + 1e-9


SETS = {"n": (2, 8), "d": (1, 6), "seed": (0, 10**6), "kind": (0, 3), "radius": (0.3, 4.0), "q": (1.1, 2.0)}


STEPS = {**SETS, "gamma": (0.05, 5.0), "size": (0.1, 5.0), "l1": (0.0, 1.0)}


OVER = "l1, l_q and l2 balls and the simplex"


RUNS = {**SETS, "T": (2, 12), "noise": (0.0, 1.0), "l1": (0.0, 0.5)}

CHECKS = {
    "wangxu19.theorem5.privacy": [
        AuditCheck(lambda: attacked("stated", False, 3.0), "as published with c = 1, x_R seen", trials=20_000)
    ],
    "dwang20.theorem4.1.5.privacy": [
        AuditCheck(
            lambda: attacked("stated", True, 3.0), "as published with c = 1, the steps up to x_R", trials=10_000
        )
    ],
    "wangxu19.theorem5.privacy.corrected": [
        AuditCheck(lambda: attacked("certified", False), "certified for x_R, x_R seen", trials=20_000)
    ],
    "dwang20.theorem4.1.5.privacy.corrected": [
        AuditCheck(lambda: attacked("certified", True), "certified for x_R, the steps up to it", trials=10_000)
    ],
    "dwang20.lemma4.1.5": [Property(step_gain, STEPS, f"{OVER}, with an l1 regulariser", examples=60)],
    "dwang20.equation4.11": [Property(optimal_step, STEPS, f"{OVER}, with an l1 regulariser", examples=60)],
    "dwang20.definition4.1.4.nonexpansive": [Property(map_gap, STEPS, f"{OVER}, with an l1 regulariser", examples=60)],
    "dwang20.theorem4.1.5.explicit": [
        Property(explicit_bound, RUNS, f"60 runs with sigmoid losses over {OVER}, five standard errors", examples=15)
    ],
    "dwang20.theorem4.1.5.explicit.radius": [
        Property(
            lambda case: explicit_bound(case, by_radius=True), {**RUNS, "kind": (0, 2)},
            "60 runs with sigmoid losses over l1, l_q and l2 balls, five standard errors", examples=10,
        )
    ],
    "dwang20.theorem4.1.5.projected_gradient": [
        Property(
            lambda case: explicit_bound(case, exact=True), RUNS,
            f"60 runs with sigmoid losses over {OVER}, five standard errors", examples=10,
        )
    ],
}  # fmt: skip
