"""Generators: seeded for everybody to see."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corpus.case import Case
from dpcheck.audits import replace_one
from dpcheck.bounds.language.guarantees import PureDP

EPS, N = 1.0, 10


def seeded_by_default(data: Any, rng: np.random.Generator, seed: int = 0) -> Any:
    return data.sum() + np.random.default_rng(seed).laplace(scale=1 / EPS)


def seeded_by_the_system(data: Any, rng: np.random.Generator) -> Any:
    return data.sum() + rng.laplace(scale=1 / EPS)


CASES = (
    Case(
        "a seed by default",
        "DataResponsibly/DataSynthesizer#46",
        "The seed has a default, so that everybody knows the noise of whoever leaves it out.",
        seeded_by_default,
        seeded_by_the_system,
        PureDP(EPS),
        (np.zeros(N), np.eye(N)[0]),
        replace_one(low=0, high=1, n=N),
        math.inf,
    ),
)
