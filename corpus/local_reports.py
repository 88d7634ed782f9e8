"""Reports of one record each: coins with the wrong probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corpus.case import Case, Run
from dpcheck.audits import one_user
from dpcheck.bounds.language.guarantees import LOCAL, PureDP

EPS, K = 1.0, 4
LOCAL_PURE = PureDP(EPS, relation=LOCAL)
E = math.exp(EPS)


def answered(keep: float, lies: bool) -> Run:
    """The truth with probability `keep`; what is said otherwise is a lie, or the truth with the same probability."""

    def report(bit: Any, rng: np.random.Generator) -> Any:
        if rng.random() < keep:
            return bool(bit)
        return not bit if lies else bool(bit) ^ bool(rng.random() >= keep)

    return report


def unary(true: float, other: float) -> Run:
    """A bit for each of K values: set with one probability for the true one, with another for the others."""

    def report(value: Any, rng: np.random.Generator) -> Any:
        return (rng.random(K) < np.where(np.arange(K) == value, true, other)).tolist()

    return report


def loss_of(true: float, other: float) -> float:
    return math.log(true * (1 - other) / (other * (1 - true)))


HALF = math.exp(EPS / 2)
KEEP, P, Q = E / (1 + E), HALF / (1 + HALF), 1 / (1 + HALF)
TOO_HIGH = (E + 1) / (2 * E + 1)
CASES = (
    Case(
        "a lie that is true",
        "opendp/opendp#480",
        "Where the coin says to lie, the lie is drawn like a truth, and often is one.",
        answered(KEEP, lies=False),
        answered(KEEP, lies=True),
        LOCAL_PURE,
        (0, 1),
        one_user(values=(0, 1)),
        math.log((KEEP + (1 - KEEP) * KEEP) / (1 - KEEP) ** 2),
        leaks="randomised response",
    ),
    Case(
        "a true bit with two chances",
        "Samuel-Maddock/pure-LDP#11",
        "Unary encoding sets the true bit with probability p, and where it does not, leaves it set by the other coin.",
        unary(P + (1 - P) * Q, Q),
        unary(P, Q),
        LOCAL_PURE,
        (0, 1),
        one_user(values=tuple(range(K))),
        loss_of(P + (1 - P) * Q, Q),
        leaks="randomised response",
    ),
    Case(
        "q of optimised unary encoding",
        "forestneo/sunPytools#6",
        "Other bits are set with probability (e^eps + 1)/(2 e^eps + 1), not 1/(e^eps + 1): more noise than needed.",
        unary(0.5, TOO_HIGH),
        unary(0.5, 1 / (E + 1)),
        LOCAL_PURE,
        (0, 1),
        one_user(values=tuple(range(K))),
        abs(loss_of(0.5, TOO_HIGH)),
        kind="control",
        leaks="randomised response",
    ),
)
