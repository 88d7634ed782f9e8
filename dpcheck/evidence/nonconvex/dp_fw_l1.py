"""What runs of DP-FW-L1 and exact laws of its selections show. Claims: bounds/library/nonconvex/dp_fw_l1.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from dpcheck.bounds.library.nonconvex import dp_fw_l1 as theory
from dpcheck.bounds.privacy.release import Release
from dpcheck.evidence.nonconvex.dp_fw_l2 import frank_wolfe_gap
from dpcheck.evidence.property_checks import Property
from dpcheck.kernels.frank_wolfe_steps import CornerSteps
from dpcheck.kernels.running import Trace, run
from dpcheck.kernels.selection import Noise, selection_logs
from dpcheck.problems.constraints import L1Ball, Simplex
from dpcheck.problems.losses import Sigmoid
from dpcheck.problems.polytopes import corners_of
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_fw_l1 import DPFWL1

FAILING = 0.2  # η


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
    """The share of runs whose mean gap exceeds the explicit bound, against η and five standard deviations."""
    n, d, T, seed = (int(case[k]) for k in ("n", "d", "T", "seed"))
    where = Simplex() if int(case["simplex"]) else L1Ball(case["radius"])
    problem, corners = bounded_entries(seed, n, d, where), corners_of(where, d)
    G, runs = DPFWL1(entry_bound=1.0).slope(problem, corners), 200
    released = theory.released.at(G=G, size_1=corners.largest, n=n, T=T, eps0=case["eps0"])
    gaps = frank_wolfe_gap(problem, all_steps(problem, case["pace"], released, seed, runs).points[:-1]).mean(axis=0)
    bound = theory.explicit.evaluate(
        gap0=float(problem.value(corners.centre())), pace=case["pace"], T=T, L_smooth=problem.smoothness,
        diameter=max(problem.diameter, 1e-9), G=G, size_1=corners.largest, points=corners.count, gamma=FAILING, n=n,
        eps0=case["eps0"],
    )
    return float((gaps > bound).mean()), FAILING + 5 * math.sqrt(FAILING * (1 - FAILING) / runs)


def worst_loss(case: Mapping[str, Any], kind: Noise = "gumbel", ranged: bool = False) -> tuple[float, float]:
    """The largest log ratio (or its range) of the selections on two score vectors that differ by at most 1."""
    rng = np.random.default_rng(int(case["seed"]))
    scores = rng.normal(size=int(case["m"])) * case["spread"]
    moved = scores + rng.choice([-1.0, 1.0], len(scores)) * rng.choice([1.0, 0.5, 0.0], len(scores), p=[0.8, 0.1, 0.1])
    scale = float(theory.noisy_max.evaluate(score_gap=1.0, eps0=case["eps"]))
    logs = selection_logs(np.stack([scores, moved]), 2 / scale, 1.0, kind)
    loss = logs[0] - logs[1]
    found = float(loss.max() - loss.min()) if ranged else float(np.abs(loss).max())
    return found, case["eps"] * (1 + 1e-6)


SCORES = {"seed": (0, 10**6), "m": (2, 6), "spread": (0.1, 5.0), "eps": (0.1, 3.0)}
SIZES = {"n": (2, 10), "d": (1, 6), "seed": (0, 10**6), "simplex": (0, 1), "radius": (0.3, 3.0)}
RUNS = {**SIZES, "T": (1, 15), "pace": (0.05, 1.0), "eps0": (0.05, 5.0)}
kinds: tuple[Noise, ...] = ("laplace", "exponential")
CHECKS = {
    "wangxu19.definition6": [Property(worst_loss, SCORES, "exact laws on random scores", examples=60)],
    "dwang20.algorithm4.1.19.range": [
        Property(partial(worst_loss, ranged=True), SCORES, "range of the loss, exact laws", examples=60)
    ],
    **{
        f"{name}.noisy_max": [
            Property(partial(worst_loss, kind=kind), SCORES, f"exact laws, {kind} noise", examples=30) for kind in kinds
        ]
        for name in ("wangxu19.algorithm4", "dwang20.algorithm4.1.19")
    },
    "dwang20.theorem4.1.6.explicit": [
        Property(explicit_gap, RUNS, "200 runs with sigmoid losses, the share above the bound at η = 0.2", examples=20)
    ],
}
