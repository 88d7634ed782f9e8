"""DP-FW-L1, DP-FW-L2 and DP-PGD on one problem as d grows. Claims: bounds/library/nonconvex/dp_fw_l1_experiments.py.

Sigmoid losses over the unit l1 ball, labels by the first coordinate; certified noise, T = 20, n = 200, ε = 1 and
δ = 0.001; the Frank-Wolfe gap at x_R of each. Rows have entries ±1, or the same divided by √d: norm 1.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.evidence.convex.variance_reduction_experiments import Ratios
from dpcheck.evidence.nonconvex.dp_fw_l2 import frank_wolfe_gap
from dpcheck.problems.constraints import L1Ball
from dpcheck.problems.losses import Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solver import Solver
from dpcheck.solvers.nonconvex.dp_fw_l1 import DPFWL1
from dpcheck.solvers.nonconvex.dp_fw_l2 import DPFWL2
from dpcheck.solvers.nonconvex.dp_pgd import DPPGD

Rows = Literal["entries", "norms"]
DIMENSIONS = (4, 16, 64, 256)
STEPS, RECORDS, GUARANTEE = 20, 200, ApproxDP(1.0, 1e-3)
# Entries of at most 1 are all that DP-FW-L1 asks for, and all that rows of norm 1 tell it.
METHODS: dict[str, Solver] = {
    "DP-FW-L1": DPFWL1(steps=STEPS, step_size=0.2, entry_bound=1.0),
    "DP-FW-L2": DPFWL2(steps=STEPS, step_size=0.2),
    "DP-PGD": DPPGD(steps=STEPS),
}


def first_coordinate(d: int, rows: Rows) -> Problem:
    """Random signs, the first of which is the label; `norms` divides the rows by their norm."""
    signs = np.random.default_rng(5).choice([-1.0, 1.0], (RECORDS, d))
    bound = 1.0 if rows == "norms" else math.sqrt(d)
    return Problem(
        signs * bound / math.sqrt(d), signs[:, 0], Sigmoid(), constraint=L1Ball(1.0), row_bound=bound
    )  # fmt: skip


@lru_cache(maxsize=8)
def gaps(rows: Rows, seed: int, trials: int) -> dict[str, list[float]]:
    """The mean gap of each method at each dimension."""
    found: dict[str, list[float]] = {name: [] for name in METHODS}
    for d in DIMENSIONS:
        problem = first_coordinate(d, rows)
        for name, solver in METHODS.items():
            released = solver.solve(problem, GUARANTEE, seed, trials=trials).w
            found[name].append(float(frank_wolfe_gap(problem, released).mean()))
    return found


def growth(seed: int, trials: int) -> dict[str, float]:
    """The gap over that at d = 4, of DP-FW-L1 over another method."""
    ours, *others = gaps("entries", seed, trials).items()
    return {
        f"{name}, d={d}": (ours[1][k] / ours[1][0]) / (theirs[k] / theirs[0])
        for name, theirs in others
        for k, d in enumerate(DIMENSIONS)
        if k > 0
    }


def against_the_others(rows: Rows, seed: int, trials: int, least: int = 1) -> dict[str, float]:
    """The gap of DP-FW-L1 over that of another method."""
    ours, *others = gaps(rows, seed, trials).items()
    return {
        f"{name}, d={d}": ours[1][k] / theirs[k]
        for name, theirs in others
        for k, d in enumerate(DIMENSIONS)
        if d >= least
    }


SETTING = f"n = {RECORDS}, T = {STEPS}, ε = 1, δ = 0.001, certified noise, d from {DIMENSIONS[0]} to {DIMENSIONS[-1]}"
PARTS = {
    "dimension": Ratios(growth, f"entries ±1, {SETTING}", trials=100),
    "dimension.smallest": Ratios(
        lambda seed, trials: against_the_others("entries", seed, trials, 16), f"entries ±1, {SETTING}", trials=100
    ),
    "smallest.measured": Ratios(
        lambda seed, trials: against_the_others("norms", seed, trials), f"rows of norm 1, {SETTING}", trials=100
    ),
}
CHECKS = {
    f"{name}.{part}": [check]
    for name in ("wangxu19.algorithm4", "dwang20.algorithm4.1.19")
    for part, check in PARTS.items()
}
