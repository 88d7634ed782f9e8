"""What runs of DP-FW-L1 show. Claims: bounds/library/nonconvex/dp_fw_l1.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_fw_l1 as theory
from dpcheck.bounds.library.nonconvex import dp_fw_l1_dimension as theory_dimension
from dpcheck.bounds.library.nonconvex import dp_fw_l1_proof as proof
from dpcheck.bounds.privacy.release import Release
from dpcheck.evidence.checks import AuditCheck, Property, Trend
from dpcheck.evidence.nonconvex.dp_fw_l2 import frank_wolfe_gap
from dpcheck.kernels.running import Trace, run
from dpcheck.kernels.selection import Noise, selection_logs
from dpcheck.problems.constraints import L1Ball, Simplex
from dpcheck.problems.losses import Array, Huber, Loss, Sigmoid
from dpcheck.problems.polytopes import corners_of
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.nonconvex.dp_fw_l1 import DPFWL1, CornerSteps

HUBER = Huber(1.0)


def attacked(
    calibration: Calibration, transcript: bool, selection: Noise = "gumbel", steps: int = 8, eps: float = 1.0
) -> Any:
    """Five records, T = 8, step size 0.3: x_R seen, or all selections up to it."""
    solver, guarantee = DPFWL1(steps=steps, step_size=0.3, selection=selection), ApproxDP(eps, 1e-2)
    return solver.mechanism(guarantee, calibration, transcript=transcript), solver.worst_pair(), guarantee


def bounded_entries(seed: int, n: int, d: int, where: Any) -> Problem:
    """Sigmoid losses, not convex, on rows with entries in [-1, 1]."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    return Problem(X, rng.choice([-1.0, 1.0], n), Sigmoid(), constraint=where, row_bound=math.sqrt(d))


def all_steps(problem: Problem, pace: float, released: Release, seed: int, trials: int) -> Trace:
    """T steps with the noise of this release, whatever the round R."""
    method = CornerSteps(corners_of(problem.constraint, problem.d), pace, round(float(released.steps)))
    trace = run(method, released, problem, seed=seed, trials=trials, trace=True).trace
    assert trace is not None
    return trace


def explicit_gap(case: Mapping[str, Any]) -> tuple[float, float]:
    """The share of runs whose mean gap exceeds the explicit bound, less its standard deviations, against η."""
    n, d, T, seed = (int(case[k]) for k in ("n", "d", "T", "seed"))
    where = Simplex() if int(case["simplex"]) else L1Ball(case["radius"])
    problem, corners = bounded_entries(seed, n, d, where), corners_of(where, d)
    G, runs = DPFWL1(entry_bound=1.0).slope(problem, corners), 200
    released = theory.released.at(G=G, size_1=corners.largest, n=n, T=T, eps0=case["eps0"])
    gaps = frank_wolfe_gap(problem, all_steps(problem, case["pace"], released, seed, runs).points[:-1]).mean(axis=0)
    start = float(problem.value(corners.centre()))
    bound = proof.explicit.evaluate(
        gap0=start, pace=case["pace"], T=T, L_smooth=problem.smoothness, diameter=max(problem.diameter, 1e-9), G=G,
        size_1=corners.largest, points=corners.count, gamma=0.2, n=n, eps0=case["eps0"],
    )  # fmt: skip
    over = float((gaps > bound).mean())
    return over, 0.2 + 5 * math.sqrt(0.2 * 0.8 / runs)


def worst_loss(case: Mapping[str, Any], kind: Noise = "gumbel", ranged: bool = False) -> tuple[float, float]:
    """The largest log ratio (or its range) of the selections on two score vectors that differ by at most 1."""
    rng = np.random.default_rng(int(case["seed"]))
    scores = rng.normal(size=int(case["m"])) * case["spread"]
    moved = scores + rng.choice([-1.0, 1.0], len(scores)) * rng.choice([1.0, 0.5, 0.0], len(scores), p=[0.8, 0.1, 0.1])
    logs = selection_logs(np.stack([scores, moved]), case["eps"], 1.0, kind)
    loss = logs[0] - logs[1]
    found = float(loss.max() - loss.min()) if ranged else float(np.abs(loss).max())
    return found, case["eps"] * (1 + 1e-6)


def shortfall(case: Mapping[str, Any]) -> tuple[float, float]:
    """Lemma 3, by the exact law."""
    rng = np.random.default_rng(int(case["seed"]))
    scores = rng.normal(size=(1, int(case["m"]))) * case["spread"]
    law = np.exp(selection_logs(scores, case["eps"], 1.0, "gumbel"))[0]
    limit = scores.max() - 2 / case["eps"] * (math.log(int(case["m"])) + case["x"])
    bound = float(theory.lemma3.evaluate(x_tail=case["x"]))
    return float(law[scores[0] <= limit].sum()), bound


def one_selection(case: Mapping[str, Any]) -> tuple[float, float]:
    """The largest change of a score between two neighbours, over all corners, against the sensitivity."""
    n, d, seed = (int(case[k]) for k in ("n", "d", "seed"))
    where = Simplex() if int(case["simplex"]) else L1Ball(case["radius"])
    problem, corners, rng = bounded_entries(seed, n, d, where), corners_of(where, d), np.random.default_rng(seed + 1)
    other = problem.replace(0, rng.choice([-1.0, 1.0], d), float(rng.choice([-1.0, 1.0])))
    x = corners.at(rng.integers(corners.count, size=3)).mean(axis=0)[None]
    moved = corners.products(problem.gradient(x) - other.gradient(x))
    return float(np.abs(moved).max()), float(DPFWL1(entry_bound=1.0).release(problem, 2).sensitivity)


def squared_slope(case: Mapping[str, Any]) -> tuple[float, float]:
    """The example after Definition 2: the largest |2(<x,w> - y) x_j| for entries ±1 over the unit l1 ball."""
    rng = np.random.default_rng(int(case["seed"]))
    x, w = rng.choice([-1.0, 1.0], int(case["d"])), rng.dirichlet(np.ones(int(case["d"]))) * rng.choice([-1.0, 1.0])
    w = w * x if int(case["aligned"]) else w
    return float(np.abs(2 * (x @ w - case["y"]) * x).max()), 4 * float(theory_dimension.example_corrected.evaluate())


def convex_excess(case: Mapping[str, Any], loss: Loss = HUBER) -> tuple[float, float]:
    """How far a (convex) risk lies above its values at points of the set, against the gap; 0.1 added to both."""
    rng, d = np.random.default_rng(int(case["seed"])), int(case["d"])
    corners = corners_of(L1Ball(case["radius"]), d)
    X, y = rng.uniform(-1, 1, (int(case["n"]), d)), rng.choice([-1.0, 1.0], int(case["n"]))
    problem = Problem(X, y, loss, constraint=L1Ball(case["radius"]), row_bound=math.sqrt(d))
    x, *others = (corners.at(rng.integers(corners.count, size=3)).mean(axis=0) for _ in range(20))
    least = float(np.min(problem.value(np.stack([*others, np.zeros(d)]))))
    return float(problem.value(x)) - least + 0.1, float(frank_wolfe_gap(problem, x[None])[0]) + 0.1


def gap_by_dimension(d: float, trials: int, seed: int) -> Array:
    """The gap at x_R on the l1 ball with certified selections; the first of d coordinates gives the labels."""
    rng = np.random.default_rng(5)
    n, size = 300, int(d)
    X = rng.choice([-1.0, 1.0], (n, size))
    problem = Problem(X, X[:, 0], Huber(1.0), constraint=L1Ball(1.0), row_bound=math.sqrt(size))
    solver = DPFWL1(steps=30, step_size=0.2, entry_bound=1.0)
    found = solver.solve(problem, ApproxDP(2.0, 1e-2), seed, trials=trials)
    return frank_wolfe_gap(problem, found.w)


CASES = {"seed": (0, 10**6), "m": (2, 6), "spread": (0.1, 5.0), "eps": (0.1, 3.0)}


SIZES = {"n": (2, 10), "d": (1, 6), "seed": (0, 10**6), "simplex": (0, 1), "radius": (0.3, 3.0)}

CHECKS = {
    "wangxu19.definition6": [Property(worst_loss, CASES, "exact laws on random scores", examples=60)],
    "wangxu19.lemma3": [Property(shortfall, {**CASES, "x": (0.01, 3.0)}, "exact laws on random scores", examples=60)],
    "dwang20.algorithm4.1.19.range": [
        Property(lambda case: worst_loss(case, ranged=True), CASES, "range of the loss, exact laws", examples=60)
    ],
    **{
        f"{name}.noisy_max": [
            Property(lambda case: worst_loss(case, "laplace"), CASES, "exact laws, Laplace noise", examples=30),
            Property(lambda case: worst_loss(case, "exponential"), CASES, "exact laws, exponential noise", examples=30),
        ]
        for name in ("wangxu19.algorithm4", "dwang20.algorithm4.1.19")
    },
    "dwang20.theorem4.1.6.sensitivity.corrected": [
        Property(one_selection, SIZES, "sigmoid losses over l1 balls and the simplex", examples=60)
    ],
    "wangxu19.theorem6.privacy.corrected": [
        AuditCheck(lambda: attacked("certified", False), "certified for x_R, x_R seen", trials=20_000)
    ],
    "dwang20.theorem4.1.6.privacy.corrected": [
        AuditCheck(lambda: attacked("certified", True), "certified for x_R, selections up to it", trials=20_000)
    ],
    "dwang20.theorem4.1.6.explicit": [
        Property(
            explicit_gap, {**SIZES, "T": (1, 15), "pace": (0.05, 1.0), "eps0": (0.05, 5.0)},
            "200 runs with sigmoid losses, the share above the bound at η = 0.2", examples=20,
        )
    ],
    "wangxu19.definition2.example.corrected": [
        Property(
            squared_slope, {"d": (1, 30), "seed": (0, 10**6), "aligned": (0, 1), "y": (-1.0, 1.0)}, "entries ±1",
            examples=60,
        )
    ],
    **{
        name: [Property(convex_excess, {k: SIZES[k] for k in ("n", "d", "seed", "radius")}, "Huber losses, l1 balls")]
        for name in ("wangxu19.section.further.convex", "dwang20.section4.1.4.convex")
    },
    **{
        name: [Trend("d", (8, 32, 128), gap_by_dimension, "certified, l1 ball, entries ±1, T = 30", trials=100)]
        for name in ("wangxu19.corollary1", "dwang20.corollary4.1.1")
    },
}  # fmt: skip
