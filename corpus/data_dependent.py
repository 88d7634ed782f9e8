"""Bounds, classes and ranges read from the data as they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corpus.case import Case
from dpcheck.audits import label_only, replace_one
from dpcheck.bounds.language.guarantees import PureDP

EPS, N = 1.0, 10
PURE = PureDP(EPS)
ONE_LABEL = (np.zeros(4), np.zeros(4, dtype=int))
ANOTHER = (np.zeros(4), np.array([1, 0, 0, 0]))


def counts_by_class(data: Any, rng: np.random.Generator, classes: Any = (0, 1)) -> Any:
    _, labels = data
    return {int(label): np.sum(labels == label) + rng.laplace(scale=2 / EPS) for label in classes}


def counts_of_found_classes(data: Any, rng: np.random.Generator) -> Any:
    return counts_by_class(data, rng, np.unique(data[1]))


def quantiles_in(low: Any, high: Any, data: Any, rng: np.random.Generator) -> Any:
    """The share of records in each half of a range."""
    middle = (low + high) / 2
    return {"range": (low, high), "below": np.sum(data < middle) + rng.laplace(scale=1 / EPS)}


def quantiles_of_a_found_range(data: Any, rng: np.random.Generator) -> Any:
    return quantiles_in(data.min(), data.max(), data, rng)


def quantiles_of_a_given_range(data: Any, rng: np.random.Generator) -> Any:
    return quantiles_in(0.0, 1.0, data, rng)


def scaled_sum(low: float, high: float, data: Any, rng: np.random.Generator) -> Any:
    return ((np.clip(data, low, high) - low) / ((high - low) or 1.0)).sum() + rng.laplace(scale=1 / EPS)


def scaled_by_found_bounds(data: Any, rng: np.random.Generator) -> Any:
    return scaled_sum(data.min(), data.max(), data, rng)


def scaled_by_given_bounds(data: Any, rng: np.random.Generator) -> Any:
    return scaled_sum(0.0, 1.0, data, rng)


def histogram_of(data: Any, cells: int, rng: np.random.Generator) -> Any:
    counts = np.bincount(data.astype(int), minlength=cells)[:cells]
    return [float(count + noise) for count, noise in zip(counts, rng.laplace(scale=2 / EPS, size=cells), strict=True)]


def histogram_up_to_the_largest(data: Any, rng: np.random.Generator) -> Any:
    return histogram_of(data, int(data.max()) + 1, rng)


def histogram_of_a_domain(data: Any, rng: np.random.Generator) -> Any:
    return histogram_of(data, 4, rng)


SMALL = np.array([0.0, *[0.1] * 8, 0.2])
CASES = (
    Case(
        "classes that are found",
        "IBM/differential-privacy-library#106",
        "The classes of a model are those that occur among the labels: a class of one record tells it.",
        counts_of_found_classes,
        counts_by_class,
        PURE,
        (ONE_LABEL, ANOTHER),
        label_only(low=0, high=1, n=4, labels=(0, 1)),
        math.inf,
        leaks="bounds of the data",
    ),
    Case(
        "exact range before quantiles",
        "google/dpsynth#34",
        "The least and the largest record are released as they are, and noisy quantiles between them.",
        quantiles_of_a_found_range,
        quantiles_of_a_given_range,
        PURE,
        (np.full(N, 0.5), np.append(np.full(N - 1, 0.5), 1.0)),
        replace_one(low=0, high=1, n=N),
        math.inf,
        leaks="bounds of the data",
    ),
    Case(
        "bounds of the data",
        "vanderschaarlab/synthcity#278",
        "Records are scaled to [0, 1] by their own least and largest value: one large record moves all others.",
        scaled_by_found_bounds,
        scaled_by_given_bounds,
        PURE,
        (SMALL, np.append(SMALL[:-1], 1.0)),
        replace_one(low=0, high=1, n=N),
        3.2,  # 8 records of a half become records of a tenth
        leaks="bounds of the data",
    ),
    Case(
        "as many cells as the largest value",
        "sassoftware/dpmm#18",
        "The domain of a column ends at its largest value: the length of a histogram tells it.",
        histogram_up_to_the_largest,
        histogram_of_a_domain,
        PURE,
        (np.zeros(N), np.append(np.zeros(N - 1), 3.0)),
        replace_one(values=(0.0, 1.0, 2.0, 3.0), n=N),
        math.inf,
        kind="disputed",
        note="never reached by the pipeline, as the maintainers say; where a model was used alone, nothing hid it",
        leaks="bounds of the data",
    ),
)
