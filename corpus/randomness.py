"""Generators: seeded for everybody to see, or used again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corpus.case import Case, Run
from dpcheck.audits import replace_one
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP

EPS, N = 1.0, 10


def seeded_by_default(data: Any, rng: np.random.Generator, seed: int = 0) -> Any:
    return data.sum() + np.random.default_rng(seed).laplace(scale=1 / EPS)


def seeded_by_the_system(data: Any, rng: np.random.Generator) -> Any:
    return data.sum() + rng.laplace(scale=1 / EPS)


def layers(one_key: bool) -> Run:
    """The gradients of two layers, each with noise of its own or with that of the other."""

    def released(data: Any, rng: np.random.Generator) -> Any:
        key = int(rng.integers(2**31))
        keys = (key, key if one_key else int(rng.integers(2**31)))
        return [data[:, i].sum() + np.random.default_rng(keys[i]).normal(0, DEVIATION) for i in (0, 1)]

    return released


DEVIATION = math.sqrt(2) / 0.25
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
        leaks="generator",
    ),
    Case(
        "one key for two layers",
        "jax-ml/jax#3646",
        "Layers of one shape get their noise by one key: their difference has none.",
        layers(one_key=True),
        layers(one_key=False),
        ApproxDP(1.0, 1e-5),
        (np.zeros((N, 2)), np.vstack([[[1.0, 0.0]], np.zeros((N - 1, 2))])),
        replace_one(low=0, high=1, n=N, d=2),
        math.inf,
        leaks="generator",
    ),
)
