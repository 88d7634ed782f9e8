"""Arithmetic: what rounding makes of sums, and what the last bits of a float tell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corpus.case import Case
from dpcheck.audits import replace_one
from dpcheck.bounds.language.guarantees import PureDP

EPS, N, GRID = 1.0, 10, 2.0**-10
PURE = PureDP(EPS)
BITS = (np.zeros(N), np.eye(N)[0])
NEAR = replace_one(low=0, high=1, n=N)


def by_inverse(data: Any, rng: np.random.Generator) -> Any:
    """Laplace noise from a uniform number and its logarithm: few floats can come out, others for other sums."""
    u = rng.random() - 0.5
    return data.sum() - math.copysign(math.log1p(-2 * abs(u)), u) / EPS


def added_as_floats(data: Any, rng: np.random.Generator) -> Any:
    """Noise in all its digits: of a sum with a number far larger or smaller, some are rounded away."""
    return data.sum() + rng.laplace(scale=1 / EPS)


def on_a_grid(data: Any, rng: np.random.Generator) -> Any:
    """Records rounded to a grid, and discrete noise on it."""
    p = -math.expm1(-EPS * GRID)
    return GRID * (int(np.rint(data / GRID).sum()) + int(rng.geometric(p)) - int(rng.geometric(p)))


LARGE, MANY = 2.0**20, 100


def sum_of_singles(data: Any, rng: np.random.Generator) -> Any:
    """One after the other in single precision: every addition rounds, in a direction that the first record turns."""
    return float(np.cumsum(data.astype(np.float32))[-1]) + rng.laplace(scale=1 / EPS)


def exact_sum(data: Any, rng: np.random.Generator) -> Any:
    """As exact as the records."""
    return math.fsum(data - LARGE) + MANY * LARGE + rng.laplace(scale=1 / EPS)


TURNING = np.append(LARGE, np.full(MANY - 1, LARGE + 0.15625))
TURNED = np.append(LARGE + 1, TURNING[1:])
MOVED = abs(float(np.cumsum(TURNED.astype(np.float32))[-1]) - float(np.cumsum(TURNING.astype(np.float32))[-1]))
CASES = (
    Case(
        "Laplace noise by its inverse",
        "opendp/smartnoise-core#242",
        "Laplace noise is the logarithm of a uniform float: which floats come out tells the sum.",
        by_inverse,
        on_a_grid,
        PURE,
        BITS,
        NEAR,
        math.inf,
        leaks="arithmetic",
        arithmetic=True,
    ),
    Case(
        "digits of a float",
        "opendp/opendp#414",
        "Noise is added as a float: how many digits are left tells what it was added to.",
        added_as_floats,
        on_a_grid,
        PURE,
        BITS,
        NEAR,
        math.inf,
        leaks="arithmetic",
        arithmetic=True,
    ),
    Case(
        "sums that round",
        "opendp/opendp#348",
        "A sum rounds at every addition, and one record turns many roundings: it moves by more than the record does.",
        sum_of_singles,
        exact_sum,
        PURE,
        (TURNING, TURNED),
        replace_one(low=LARGE, high=LARGE + 1, n=MANY),
        MOVED,
        leaks="arithmetic",
    ),
)
