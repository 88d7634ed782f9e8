"""Uniform convergence of gradients, and DP-PGD on a sample, measured. Claims: bounds/library/nonconvex.

The population is uniform on 500 records, so that its gradients are exact; the supremum is taken over 200 points.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from dpcheck.datasets.embedded import logistic_synthetic
from dpcheck.evidence.checks import Property, Trend
from dpcheck.evidence.nonconvex.dp_pgd import maps_of
from dpcheck.problems.conditioning import loss_smoothness
from dpcheck.problems.losses import Array, Sigmoid
from dpcheck.problems.problem import Problem

RADIUS = 10.0


@lru_cache(maxsize=8)
def population(d: int) -> Problem:
    """Sigmoid losses on all 500 records."""
    return logistic_synthetic(500, d, seed=2).problem(Sigmoid())


def sample(d: int, n: int, rng: np.random.Generator) -> Problem:
    """n records drawn from it."""
    whole = population(d)
    drawn = rng.integers(whole.n, size=n)
    return whole.with_data(whole.X[drawn], whole.y[drawn])


def largest_error(d: int, n: int, rng: np.random.Generator) -> float:
    """The largest distance of the two gradients at 200 points of the ball of radius 10 (a lower bound of the sup)."""
    W = rng.standard_normal((200, d))
    W *= RADIUS * rng.random((200, 1)) / np.linalg.norm(W, axis=1)[:, None]
    apart = sample(d, n, rng).gradient(W) - population(d).gradient(W)
    return float(np.linalg.norm(apart, axis=1).max())


def error_by_n(n: float, trials: int, seed: int) -> Array:
    """In three dimensions."""
    rng = np.random.default_rng(seed)
    return np.array([largest_error(3, int(n), rng) for _ in range(trials)])


def triangle(case: Mapping[str, Any]) -> tuple[float, float]:
    """E‖∇F_P(x_R)‖, less five standard errors, against the error at the iterates plus √((8LΔ/T + dσ²)/3)."""
    rng = np.random.default_rng(int(case["seed"]))
    d, T = int(case["d"]), int(case["T"])
    drawn, whole = sample(d, int(case["n"]), rng), population(d)
    L = loss_smoothness(drawn)
    path = maps_of(drawn, T, case["noise"], 0.0, int(case["seed"]), 100).trace.points
    found = np.linalg.norm(whole.gradient(path[:-1]), axis=2).mean(axis=0)
    apart = np.linalg.norm(whole.gradient(path) - drawn.gradient(path), axis=2).max()
    gap = float(drawn.value(np.zeros(d)))
    bound = float(apart) + math.sqrt((8 * L * gap / T + d * case["noise"] ** 2) / 3)
    return float(found.mean() - 5 * found.std() / math.sqrt(len(found))), bound


RUNS = Property(
    triangle, {"n": (10, 300), "d": (1, 5), "T": (1, 60), "noise": (0.0, 0.5), "seed": (0, 10**6)},
    "sigmoid losses, 100 runs each, five standard errors; the error at the iterates in place of the supremum",
    examples=6,
)  # fmt: skip

CHECKS = {
    "dwang20.lemma4.1.3": [
        Trend("n", (50, 200, 800, 3200), error_by_n, "sigmoid losses, d = 3, radius 10, 200 points", trials=64)
    ],
    "wangxu19.theorem3.corrected": [RUNS],
    "dwang20.theorem4.1.3.corrected": [RUNS],
}
