"""Covariances: noise of the wrong kind, and clipping that is thrown away."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corpus.case import Case, Run
from dpcheck.audits import replace_one
from dpcheck.bounds.language.guarantees import PureDP

EPS, N, D = 1.0, 10, 2
UPPER = np.triu_indices(D)
PURE = PureDP(EPS)


def second_moments(data: Any) -> np.ndarray:
    """Of rows of norm at most 1."""
    rows = data / np.maximum(1, np.linalg.norm(data, axis=1, keepdims=True))
    return np.asarray(rows.T @ rows)


def with_wishart_noise(data: Any, rng: np.random.Generator) -> Any:
    """A positive definite matrix is added: what comes out lies above the moments, always."""
    roots = rng.normal(0, math.sqrt(3 / (2 * EPS)), (D, D + 1))
    return (second_moments(data) + roots @ roots.T)[UPPER]


def with_laplace_noise(data: Any, rng: np.random.Generator) -> Any:
    """The moments of a row have l1 norm at most 3/2."""
    return second_moments(data)[UPPER] + rng.laplace(scale=3 / EPS, size=len(UPPER[0]))


def covariance(clipped: bool) -> Run:
    """Second moments of rows in [-1, 1]; cleaned rows are put aside, and the others used."""

    def released(data: Any, rng: np.random.Generator) -> Any:
        clean = np.clip(data, -1, 1)
        rows = clean if clipped else data
        return (rows.T @ rows)[UPPER] + rng.laplace(scale=2 * D * (D + 1) / 2 / EPS, size=len(UPPER[0]))

    return released


LEFT = np.zeros((N, D))
CASES = (
    Case(
        "Wishart noise",
        "IBM/differential-privacy-library#23",
        "Noise on a covariance is positive definite: no output lies below what it was added to.",
        with_wishart_noise,
        with_laplace_noise,
        PURE,
        (LEFT, np.vstack([[[1.0, 0.0]], LEFT[1:]])),
        replace_one(low=-1, high=1, n=N, d=D),
        math.inf,
        leaks="calibration",
    ),
    Case(
        "clipped and forgotten",
        "opendp/smartnoise-sdk#622",
        "Rows are clipped into a new table, and the covariance is that of the old one.",
        covariance(clipped=False),
        covariance(clipped=True),
        PURE,
        (LEFT, np.vstack([[[5.0, 5.0]], LEFT[1:]])),
        replace_one(low=-5, high=5, n=N, d=D),
        75 / 6,
        leaks="clipping",
    ),
)
