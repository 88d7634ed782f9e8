"""Noise of the wrong size: sensitivities, calibrations and quantities mixed up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import optimize, special

from corpus.case import Case, Run
from dpcheck.audits import add_remove, replace_one
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ApproxDP, GaussianDP, PureDP

EPS, DELTA, N = 1.0, 1e-5, 10
PURE = PureDP(EPS)
BITS = (np.zeros(N), np.eye(N)[0])


def sum_of_squares(low: float, high: float, sensitivity: float) -> Run:
    def noisy(data: Any, rng: np.random.Generator) -> Any:
        return (np.clip(data, low, high) ** 2).sum() + rng.laplace(scale=sensitivity / EPS)

    return noisy


def analytic_gaussian(sign: int) -> float:
    """The deviation of the analytic calibration for a sensitivity of 1 and a small delta, with the sign of its root."""

    def excess(s: float) -> float:
        tails = special.ndtr(-math.sqrt(EPS * s)) - math.exp(EPS) * special.ndtr(-math.sqrt(EPS * (s + 2)))
        return float(tails) - DELTA

    root = optimize.brentq(excess, 0.0, 100.0)
    return (math.sqrt(1 + root / 2) + sign * math.sqrt(root / 2)) / math.sqrt(2 * EPS)


def gaussian_sum(deviation: float) -> Run:
    return lambda data, rng: data.sum() + rng.normal(0, deviation)


def middle_of(low: int, high: int, sensitivity: float) -> Run:
    """Half of what a record of whole numbers adds."""

    def noisy(data: Any, rng: np.random.Generator) -> Any:
        return np.clip(data, low, high).sum() / 2 + rng.laplace(scale=sensitivity / EPS)

    return noisy


def shares_of_a_table(scale: float) -> Run:
    def counts(data: Any, rng: np.random.Generator) -> Any:
        counted = np.histogram(data, 4, (0, 1))[0]
        return np.maximum(counted + rng.laplace(scale=scale / EPS, size=4), 0)

    return counts


def noise_for_a_budget(scale: float) -> Run:
    return lambda data, rng: data.sum() + rng.laplace(scale=scale)


def noisy_average(scale: float) -> Run:
    return lambda data, rng: data.mean() + rng.laplace(scale=scale / EPS)


def mean_by_its_own_size(data: Any, rng: np.random.Generator) -> Any:
    """A record more changes the noise as well as the mean."""
    return data.mean() + rng.laplace(scale=1 / (len(data) * EPS))


def sum_and_size(data: Any, rng: np.random.Generator) -> Any:
    return np.array([data.sum(), len(data)]) + rng.laplace(scale=2 / EPS, size=2)


SHRUNK = analytic_gaussian(-1)
CASES = (
    Case(
        "lower bound twice",
        "IBM/differential-privacy-library#105",
        "The sensitivity of a sum of squares takes the lower bound in place of the upper one: (0, 100) gives no noise.",
        sum_of_squares(0, 100, max(abs(0), abs(0)) ** 2),
        sum_of_squares(0, 100, max(abs(0), abs(100)) ** 2),
        PURE,
        (np.zeros(N), 100 * np.eye(N)[0]),
        replace_one(low=0, high=100, n=N),
        math.inf,
        leaks="sensitivity",
    ),
    Case(
        "sign of a root",
        "opendp/smartnoise-core#316",
        "The analytic calibration of Gaussian noise subtracts a root that it has to add.",
        gaussian_sum(SHRUNK),
        gaussian_sum(analytic_gaussian(1)),
        ApproxDP(EPS, DELTA),
        BITS,
        replace_one(low=0, high=1, n=N),
        GaussianDP(1 / SHRUNK).epsilon(DELTA),
        leaks="calibration",
    ),
    Case(
        "half of an odd number",
        "opendp/opendp#314",
        "A sensitivity is halved in whole numbers: half of 3 is 1.",
        middle_of(0, 3, 3 // 2),
        middle_of(0, 3, 3 / 2),
        PURE,
        (np.zeros(N), 3 * np.eye(N)[0]),
        replace_one(low=0, high=3, n=N),
        1.5,
        leaks="arithmetic",
    ),
    Case(
        "noise of shares on counts",
        "DataResponsibly/DataSynthesizer#34",
        "Noise that is right for shares (2/n) is added to counts, which move by 2.",
        shares_of_a_table(2 / N),
        shares_of_a_table(2),
        PURE,
        BITS,
        replace_one(low=0, high=1, n=N),
        10.0,
        leaks="wrong quantity",
    ),
    Case(
        "less noise, less budget",
        "OpenMined/PySyft#6914",
        "The budget is taken as the scale over the sensitivity: the less noise, the less is spent.",
        noise_for_a_budget(0.5 / 1),
        noise_for_a_budget(1 / 0.5),
        PureDP(0.5),
        BITS,
        replace_one(low=0, high=1, n=N),
        2.0,
        leaks="calibration",
    ),
    Case(
        "noise of the sum on the mean",
        "google-deepmind/jax_privacy#383",
        "Noise that is right for the sum is added to the mean: more than enough.",
        noisy_average(1.0),
        noisy_average(1 / N),
        PURE,
        BITS,
        replace_one(low=0, high=1, n=N),
        0.1,
        kind="control",
        leaks="wrong quantity",
    ),
    Case(
        "a mean by its own size",
        "opendp/smartnoise-core#356",
        "The sensitivity of a mean is 1/n where records are added or removed, with the n of the data at hand.",
        mean_by_its_own_size,
        sum_and_size,
        PureDP(EPS, relation=ADD_REMOVE),
        (np.zeros(2), np.zeros(1)),
        add_remove(low=0, high=1, n=(2, 4)),
        math.inf,
        kind="disputed",
        note="answered by restricting the proof to a known n; where n may change, the noise tells it",
        leaks="relation",
    ),
)
