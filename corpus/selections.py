"""Selections and thresholds: what is chosen, under which noise, and how much of that is accounted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corpus.case import Case, Run
from dpcheck.audits import add_remove, replace_one
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ZCDP, ApproxDP, PureDP

EPS, N = 1.0, 10


def errors_of_two_models(data: Any) -> np.ndarray:
    """How much worse the model does on each column than public data: both errors move with a record, by 2 each."""
    ones = data.sum(axis=0)
    return 2 * np.asarray(ones) - 2 * (len(data) - ones)


def chances(scores: np.ndarray, sensitivity: float) -> np.ndarray:
    weights = np.exp(EPS * (scores - scores.max()) / (2 * sensitivity))
    return np.asarray(weights / weights.sum())


def chosen_column(sensitivity: float) -> Run:
    """By the exponential mechanism."""

    def choose(data: Any, rng: np.random.Generator) -> Any:
        return bool(rng.random() < chances(errors_of_two_models(data), sensitivity)[1])

    return choose


def columns(first: int, second: int) -> np.ndarray:
    return np.column_stack([np.arange(N) < first, np.arange(N) >= N - second]).astype(float)


def turned(data: np.ndarray) -> np.ndarray:
    """The first record, from the first column to the second."""
    other = data.copy()
    other[0] = 1 - other[0]
    return other


APART = columns(7, 3)  # the first column is ahead
NARROW = (APART, turned(APART))


def loss_of_choice(sensitivity: float) -> float:
    logs = [np.log(chances(errors_of_two_models(data), sensitivity)) for data in NARROW]
    return float(np.abs(logs[0] - logs[1]).max())


# Permute-and-flip between two counts is report noisy max with exponential noise.
SHARP = 2.0


def noisy_max(data: Any, rng: np.random.Generator) -> Any:
    """Of zeros and ones, counted; a record moves both counts by one."""
    gap = abs(2 * int(data.sum()) - len(data))
    other = math.exp(-SHARP * gap / 2) / 2
    return bool((2 * data.sum() > len(data)) ^ (rng.random() < other))


def rho_of_noisy_max() -> float:
    """Of a tie and a lead of two: the largest divergence over its order."""
    p, q = np.array([0.5, 0.5]), np.array([1 - math.exp(-SHARP) / 2, math.exp(-SHARP) / 2])
    orders = 1 + np.geomspace(1e-4, 50, 4000)
    return max(float(np.log(np.sum(a**o * b ** (1 - o))) / (o - 1) / o) for a, b in ((p, q), (q, p)) for o in orders)


TIE = (np.repeat([0.0, 1.0], 2), np.array([0.0, 1.0, 1.0, 1.0]))

# Counts of a partition are shown where noise lifts them over a threshold.
THRESHOLD, SCALE = 5, 1.0
GEOMETRIC = 1 - math.exp(-1 / SCALE)


def partition(strictly: bool) -> Run:
    """The noisy number of records, if it is large; nothing at all if there are none."""

    def shown(data: Any, rng: np.random.Generator) -> Any:
        if len(data) == 0:
            return None
        noisy = len(data) + int(rng.geometric(GEOMETRIC)) - int(rng.geometric(GEOMETRIC))
        return noisy if noisy > THRESHOLD or (noisy == THRESHOLD and not strictly) else None

    return shown


TAIL = math.exp(-THRESHOLD / SCALE) / (1 + math.exp(-1 / SCALE))  # of discrete Laplace noise at the threshold or above
CASES = (
    Case(
        "a score of two errors",
        "ryan112358/mbi#65",
        "Scores are differences of two errors that both move by 2, and are taken to move by 2.",
        chosen_column(2),
        chosen_column(4),
        PureDP(EPS),
        NARROW,
        replace_one(values=[np.array(v) for v in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0))], n=N),
        loss_of_choice(2),
        leaks="sensitivity",
    ),
    Case(
        "noisy max as if by Gumbel noise",
        "opendp/opendp#2911",
        "Permute-and-flip claims rho = eps^2/8, which is right for the exponential mechanism alone.",
        noisy_max,
        noisy_max,
        ZCDP(SHARP**2 / 8),
        TIE,
        replace_one(values=(0.0, 1.0), n=4),
        rho_of_noisy_max(),
        leaks="selection",
        twin_claim=ZCDP(SHARP**2 / 2),
    ),
    Case(
        "at the threshold itself",
        "opendp/opendp#2922",
        "Counts at the threshold are shown; delta counts the noise above it alone.",
        partition(strictly=False),
        partition(strictly=True),
        ApproxDP(1 / SCALE, TAIL, relation=ADD_REMOVE),
        (np.zeros(1), np.zeros(0)),
        add_remove(low=0, high=1, n=(1, 3)),
        math.inf,
        leaks="selection",
    ),
)
