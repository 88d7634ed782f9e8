"""Small public datasets and generators, scaled so that every row has norm at most 1.
The scaling is a fixed public map of each record alone, so that it costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput, MissingDependency
from dpcheck.kernels.noise import must_be_counts
from dpcheck.problems.losses import Array, Loss
from dpcheck.problems.problem import Problem
from dpcheck.problems.softmax import SoftmaxProblem

# Round limits around the published range of each feature (low, high), in the order of scikit-learn.
BREAST_CANCER_LIMITS = (
    *((5, 30), (5, 40), (40, 200), (100, 2600), (0.05, 0.17), (0, 0.35), (0, 0.45), (0, 0.21), (0.1, 0.31)),
    *((0.04, 0.1), (0, 3), (0, 5), (0, 25), (0, 550), (0, 0.04), (0, 0.14), (0, 0.4), (0, 0.06), (0, 0.08)),
    *((0, 0.03), (5, 40), (10, 50), (50, 260), (100, 4300), (0.05, 0.25), (0, 1.1), (0, 1.3), (0, 0.3)),
    *((0.1, 0.7), (0.05, 0.21)),
)
WINE_LIMITS = (
    *((11, 15), (0, 6), (1, 3.5), (10, 30), (70, 165), (0, 4), (0, 5.5), (0, 0.7), (0, 4), (0, 13), (0, 2)),
    *((1, 4), (200, 1700)),
)
DIABETES_LIMITS = (
    *((15, 80), (1, 2), (15, 45), (60, 135), (90, 305), (40, 245), (20, 100), (2, 10), (3, 6.5), (55, 125)),
)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows of norm at most 1 with labels in {-1, 1} or [-1, 1], or numbers of classes (mnist)."""

    name: str
    X: Array
    y: Array

    def problem(self, loss: Loss, **settings: Any) -> Problem:
        """The problem of fitting these data; settings are Problem's (l2, constraint, ...)."""
        return (SoftmaxProblem if loss.multiclass else Problem)(self.X, self.y, loss, **settings)


def breast_cancer() -> Dataset:
    """569 tumours, 30 features; 1 is benign.

    Each feature is mapped from BREAST_CANCER_LIMITS to [-1, 1] (clipped) and divided by sqrt(30).
    """
    raw = sklearn_data("load_breast_cancer")
    return Dataset("breast_cancer", within(raw.data, BREAST_CANCER_LIMITS), 2.0 * raw.target - 1)


def wine() -> Dataset:
    """178 wines, 13 features; 1 is the first cultivar, -1 the other two.

    Each feature is mapped from WINE_LIMITS to [-1, 1] (clipped) and divided by sqrt(13).
    """
    raw = sklearn_data("load_wine")
    return Dataset("wine", within(raw.data, WINE_LIMITS), np.where(raw.target == 0, 1.0, -1.0))


def digits() -> Dataset:
    """1797 images of 8 x 8 pixels; 1 is an even digit, -1 an odd one. Pixels, 0 to 16, are divided by 16 * 8."""
    raw = sklearn_data("load_digits")
    return Dataset("digits", raw.data / 128.0, 1.0 - 2.0 * (raw.target % 2))


def diabetes() -> Dataset:
    """442 patients, 10 features; the label is the progression of the disease, 0 to 350, mapped to [-1, 1].

    Each feature is mapped from DIABETES_LIMITS to [-1, 1] (clipped) and divided by sqrt(10).
    """
    raw = sklearn_data("load_diabetes", scaled=False)
    return Dataset("diabetes", within(raw.data, DIABETES_LIMITS), np.clip(raw.target / 175.0 - 1, -1, 1))


def logistic_synthetic(n: int, d: int, seed: int, strength: float = 3.0) -> Dataset:
    """Rows uniform in the unit ball; P(y = 1 | x) = 1 / (1 + exp(-strength * sqrt(d) <x, u>)), u a unit vector."""
    must_be_counts(n=n, d=d)
    rng = np.random.default_rng(seed)
    X, u = in_unit_ball(rng, n, d), in_unit_ball(rng, 1, d)[0]
    margin = strength * math.sqrt(d) * (X @ (u / np.linalg.norm(u)))
    return Dataset("logistic_synthetic", X, np.where(rng.logistic(size=n) < margin, 1.0, -1.0))


def linear_synthetic(n: int, d: int, seed: int, noise: float = 0.1) -> Dataset:
    """Rows uniform in the unit ball; y = <x, u> + N(0, noise^2), clipped to [-1, 1], u a unit vector."""
    must_be_counts(n=n, d=d)
    if not 0 <= noise < math.inf:
        raise InvalidInput("noise", noise, "a finite number >= 0", "Pass noise=0.1 for example.")
    rng = np.random.default_rng(seed)
    X, u = in_unit_ball(rng, n, d), in_unit_ball(rng, 1, d)[0]
    y = X @ (u / np.linalg.norm(u)) + noise * rng.standard_normal(n)
    return Dataset("linear_synthetic", X, np.clip(y, -1, 1))


def in_unit_ball(rng: np.random.Generator, n: int, d: int) -> Array:
    """n points uniform in the unit ball."""
    direction = rng.standard_normal((n, d))
    return direction * (rng.random(n) ** (1 / d) / np.linalg.norm(direction, axis=1))[:, None]


def within(data: Array, limits: Sequence[tuple[float, float]]) -> Array:
    """Each feature from its limits to [-1, 1] / sqrt(d), clipped: a map of one record alone."""
    low, high = np.array(limits, float).T
    return np.clip(2 * (data - low) / (high - low) - 1, -1, 1) / math.sqrt(len(limits))


def sklearn_data(loader: str, **options: Any) -> Any:
    """A dataset embedded in scikit-learn; nothing is downloaded."""
    try:
        from sklearn import datasets
    except ImportError as cause:
        raise MissingDependency("scikit-learn", "its embedded data", extra="verify") from cause
    return getattr(datasets, loader)(**options)
