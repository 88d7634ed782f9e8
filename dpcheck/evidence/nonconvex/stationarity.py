"""What the search for stationary points rests on, tried on the library's losses and sets.

Claims: bounds/library/nonconvex/stationarity.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.library.nonconvex import stationarity as theory
from dpcheck.evidence.checks import Property
from dpcheck.problems.constraints import Box, Constraint, L1Ball, L2Ball
from dpcheck.problems.losses import Array, Huber, Logistic, Sigmoid
from dpcheck.problems.problem import Problem

LOSSES = (Sigmoid(), Logistic(), Huber(0.5), Huber(100.0))  # the last is a parabola


def above_tangent(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far a risk lies above its tangent at another point, against Definition 3; 0.1 added to both."""
    rng = np.random.default_rng(int(case["seed"]))
    n, d = int(case["n"]), int(case["d"])
    rows = rng.standard_normal((n, d))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    problem = Problem(rows, rng.choice([-1.0, 1.0], n), LOSSES[int(case["loss"])])
    first, second = case["size"] * rng.standard_normal((2, d))
    rise = float(problem.value(first) - problem.value(second))
    found = rise - float(problem.gradient(second[None])[0] @ (first - second))
    far = float(np.linalg.norm(first - second))
    return found + 0.1, float(theory.definition3.evaluate(L_smooth=problem.smoothness, two_points=far)) + 0.1


def gauge(held: Constraint, u: Array) -> float:
    """The norm whose unit ball is the set: a ball, or a box as high as it is low."""
    if isinstance(held, L1Ball):
        return float(np.abs(u).sum()) / held.radius
    if isinstance(held, L2Ball):
        return float(np.linalg.norm(u)) / held.radius
    assert isinstance(held, Box)
    return float(np.max(np.abs(u) / held.high))


def dual_pair(case: Mapping[str, Any]) -> tuple[float, float]:
    """<u, v> against ||u||_C max over C of <w, v>; for `aligned` u, a multiple of the maximiser, they are equal."""
    rng, d, radius = np.random.default_rng(int(case["seed"])), int(case["d"]), case["radius"]
    held = (L2Ball(radius), L1Ball(radius), Box(-radius, radius))[int(case["set"])]
    u, v = rng.standard_normal((2, d))
    top = held.linear_minimiser(-v[None])[0]
    u = case["size"] * (top if int(case["aligned"]) else u)
    bound = theory.definition7.evaluate(minkowski=gauge(held, u), dual_C=float(top @ v))
    return float(u @ v), float(bound) * (1 + 1e-9)


SIZES = {"d": (1, 10), "seed": (0, 10**6), "size": (0.1, 5.0)}
SETS = {**SIZES, "set": (0, 2), "radius": (0.1, 5.0), "aligned": (0, 1)}
ROUND = "sigmoid, logistic and Huber losses, parabolas"
TANGENT = Property(above_tangent, {**SIZES, "n": (1, 5), "loss": (0, 3)}, ROUND)
DUAL = Property(dual_pair, SETS, "l2 and l1 balls and boxes, also at the maximiser")

CHECKS = {
    "wangxu19.definition3": [TANGENT],
    "dwang20.definition4.0.2": [TANGENT],
    "wangxu19.definition7": [DUAL],
    "dwang20.definition4.1.2": [DUAL],
}
