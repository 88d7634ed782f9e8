"""Constants of losses and lengths of noise, attacked. Claims: bounds/library/nonconvex/saddle_points.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.library.nonconvex import saddle_points as theory
from dpcheck.datasets.embedded import in_unit_ball
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.rate_checks import Within
from dpcheck.families.second_order import Data, constants
from dpcheck.problems.losses import Array, Logistic, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.problems.sensing import Sensing


def random_data(case: Mapping[str, Any], rng: np.random.Generator) -> Data:
    """Two records of a sigmoid, logistic, phase retrieval or matrix sensing problem, one of them at a corner."""
    X, kind = in_unit_ball(rng, 2, int(case["d"])), int(case["loss"])
    X[0] /= np.linalg.norm(X[0])
    if kind < 2:
        return Problem(X, rng.choice([-1.0, 1.0], 2), (Sigmoid(), Logistic())[kind], l2=0.1)
    return Sensing(X, rng.choice([0.0, 1.0, rng.random()], 2), rank=kind - 1)


def another(data: Data, rng: np.random.Generator) -> Data:
    """The first record turned, shortened, or replaced at random."""
    x = rng.choice([-1.0, 1.0]) * data.X[0] if rng.random() < 0.5 else in_unit_ball(rng, 1, data.X.shape[1])[0]
    sign = isinstance(data, Problem)
    return data.replace(0, x, float(rng.choice([-1.0, 1.0]) if sign else rng.choice([0.0, 1.0, rng.random()])))


def moved_hessian(case: Mapping[str, Any], rank: bool) -> tuple[float, float]:
    """The farthest that a record moves the Hessian over 200 parameters near the margins where it bends most."""
    rng = np.random.default_rng(int(case["seed"]))
    first = random_data(case, rng)
    second = another(first, rng)
    W = rng.standard_normal((200, first.d)) * rng.choice([0.3, 1.0, 2.0], (200, 1))
    W[:50] = first.X[0].repeat(first.d // first.X.shape[1]) * rng.uniform(-3, 3, (50, 1))
    found = np.linalg.norm(first.hessians(W) - second.hessians(W), axis=(1, 2)).max()
    numbers = {"n": 2.0, **constants(first)}
    claim = theory.low_rank if rank else theory.sensitivity
    return float(found), float(claim.evaluate(**numbers, d=float(first.d)))


def noise_lengths(case: Mapping[str, float], trials: int, seed: int) -> Array:
    drawn = np.random.default_rng(seed).standard_normal((trials, int(case["d"])))
    return case["sigma_n"] * np.linalg.norm(drawn, axis=1)


CASES = {"d": (1, 4), "loss": (0, 3), "seed": (0, 10**6)}
LENGTHS = [{"d": d, "sigma_n": 1.0, "gamma": gamma} for d in (1.0, 3.0, 30.0, 1000.0) for gamma in (0.1, 0.01)]
SEARCH = "records at corners and inside, turned or replaced, 200 parameters each; four losses"

CHECKS = {
    "dwang20.theorem4.3.4.sensitivity": [Property(lambda case: moved_hessian(case, False), CASES, SEARCH)],
    "dwang20.theorem4.3.4.low_rank": [Property(lambda case: moved_hessian(case, True), CASES, SEARCH)],
    "dwang20.lemma4.3.11.vector": [Within(noise_lengths, LENGTHS, "draws of Gaussian vectors", trials=4000)],
}
