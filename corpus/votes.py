"""Teachers that vote under noise (PATE-GAN): who sees which records, how much noise there is, and what is accounted."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from corpus.case import Case, Run
from dpcheck.audits import replace_one
from dpcheck.bounds.language.guarantees import PureDP, RenyiDP

EPS, N, TEACHERS = 1.0, 10, 5
PURE = PureDP(EPS)
NEAR = replace_one(low=0, high=1, n=N)
BITS = (np.zeros(N), np.eye(N)[0])
Parts = Callable[[Any], list[Any]]


def disjoint(data: Any) -> list[Any]:
    return np.array_split(data, TEACHERS)


def everything(data: Any) -> list[Any]:
    return [data] * TEACHERS


def the_first(data: Any) -> list[Any]:
    return [disjoint(data)[0]] * TEACHERS


def votes(parts: Parts, scale: float) -> Run:
    """Labels voted by teachers, each from its part of the records."""

    def counted(data: Any, rng: np.random.Generator) -> Any:
        labels = [int(part.sum() > 0) for part in parts(data)]
        return np.bincount(labels, minlength=2) + rng.laplace(scale=scale, size=2)

    return counted


# One noisy vote between two labels, with Laplace noise of scale 1/RATE on each count, and its moments.
RATE, ORDER, AHEAD, GAP = 1.0, 4, 10, 8.0


def chance_of_the_other(gap: float) -> float:
    """Of the label that `gap` teachers fewer voted for."""
    return (2 + RATE * gap) / (4 * math.exp(RATE * gap))


def vote(data: Any, rng: np.random.Generator) -> Any:
    """The majority among teachers that each voted as their record says, or the other label."""
    ones = int(data.sum())
    return bool((2 * ones > len(data)) ^ (rng.random() < chance_of_the_other(abs(2 * ones - len(data)))))


def moment(last: float, logarithm: bool = True) -> float:
    """Over the order, of a vote that was GAP ahead: by the bound that looks at the data, or the one that does not.

    `last` is the exponent of the term of the unlikely label.
    """
    q, worst = chance_of_the_other(GAP), 2 * RATE**2 * ORDER * (ORDER + 1)
    sharp = (1 - q) * ((1 - q) / (1 - math.exp(2 * RATE) * q)) ** ORDER + q * math.exp(last)
    return min(worst, math.log(sharp) if logarithm else sharp) / ORDER


def divergence(gap: float, other: float) -> float:
    """Renyi, of two votes with these gaps."""
    p, q = chance_of_the_other(gap), chance_of_the_other(other)
    logs = [ORDER * math.log(a / b) + math.log(a) for a, b in ((p, q), (1 - p, 1 - q))]
    return float(special.logsumexp(logs)) / ORDER


def moments_claim(moment_of: float) -> RenyiDP:
    return RenyiDP(ORDER + 1, moment_of)


AGREED = (np.ones(AHEAD), np.append(np.ones(AHEAD - 1), 0.0))
RIGHT = moments_claim(moment(2 * RATE * ORDER))
LOST = max(divergence(AHEAD, GAP), divergence(GAP, AHEAD))
CASES = (
    Case(
        "teachers that see everything",
        "vanderschaarlab/synthcity#275",
        "Every teacher learns from all records, so that one record may change every vote.",
        votes(everything, 2 / EPS),
        votes(disjoint, 2 / EPS),
        PURE,
        BITS,
        NEAR,
        5.0,
        leaks="partition",
    ),
    Case(
        "the first part for every teacher",
        "vanderschaarlab/mlforhealthlabpub#29",
        "An index that is never moved gives every teacher the first part: its records change every vote.",
        votes(the_first, 2 / EPS),
        votes(disjoint, 2 / EPS),
        PURE,
        BITS,
        NEAR,
        5.0,
        leaks="partition",
    ),
    Case(
        "a scale upside down",
        "vanderschaarlab/mlforhealthlabpub#36",
        "Votes get Laplace noise of scale lambda, where the accountant means 1/lambda.",
        votes(disjoint, EPS / 2),
        votes(disjoint, 2 / EPS),
        PURE,
        BITS,
        NEAR,
        4.0,
        leaks="calibration",
    ),
    Case(
        "a bracket in the moments",
        "vanderschaarlab/synthcity#276",
        "Moments of votes have exp(2 lambda l + 1) where exp(2 lambda (l + 1)) is meant.",
        vote,
        vote,
        moments_claim(moment(2 * RATE * (ORDER - 1) + 1)),
        AGREED,
        None,
        LOST,
        note="too little for lambda above 1/2 (here 1), too much below; the default was 0.001",
        leaks="accountant",
        twin_claim=RIGHT,
    ),
    Case(
        "moments without a logarithm",
        "BorealisAI/private-data-generation#11",
        "Moments of votes are added up as they are, not their logarithms: more than was spent.",
        vote,
        vote,
        moments_claim(moment(2 * RATE * ORDER, logarithm=False)),
        AGREED,
        None,
        LOST,
        kind="control",
        note="the same in opendp/smartnoise-sdk#596",
        leaks="accountant",
        twin_claim=RIGHT,
    ),
)
