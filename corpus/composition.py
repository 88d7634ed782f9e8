"""A budget that is spent more than once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corpus.case import Case, Run
from dpcheck.audits import replace_one
from dpcheck.bounds.language.guarantees import PureDP

EPS, N = 1.0, 10
PURE = PureDP(EPS)
CORNERS = [np.array(point) for point in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0))]
NEAR = replace_one(values=CORNERS, n=N)
LEFT = np.zeros((N, 2))
RIGHT = np.vstack([np.ones((1, 2)), np.zeros((N - 1, 2))])


def regression(share: float) -> Run:
    """The means of x and y, each by `share` of the budget, and the sum of their products by half."""

    def moments(data: Any, rng: np.random.Generator) -> Any:
        means = data.mean(axis=0) + rng.laplace(scale=1 / (N * EPS * share), size=2)
        return np.append(means, (data[:, 0] * data[:, 1]).sum() + rng.laplace(scale=2 / EPS))

    return moments


def marginals(measuring: float) -> Run:
    """Which column is larger, by half of the budget, and how large, by the share for measuring."""

    def measured(data: Any, rng: np.random.Generator) -> Any:
        sums = data.sum(axis=0)
        ahead = rng.random() < 1 / (1 + np.exp(EPS * (sums[0] - sums[1]) / 4))
        return bool(ahead), float(sums[int(ahead)] + rng.laplace(scale=1 / (EPS * measuring)))

    return measured


CASES = (
    Case(
        "two centres from one slice",
        "IBM/differential-privacy-library#104",
        "Centres of X and of y are each released by the slice of the budget that is meant for both.",
        regression(1 / 2),
        regression(1 / 4),
        PURE,
        (LEFT, RIGHT),
        NEAR,
        1.5,
        kind="disputed",
        note="open without an answer; with one feature, one half too much",
        leaks="composition",
    ),
    Case(
        "all that is left of a half",
        "ryan112358/mbi#11",
        "Half of the budget selects a marginal, and the whole of it measures that.",
        marginals(1.0),
        marginals(0.5),
        PURE,
        (LEFT, np.vstack([[[1.0, 0.0]], np.zeros((N - 1, 2))])),
        NEAR,
        EPS + math.log(2 / (1 + math.exp(-EPS / 4))),
        kind="disputed",
        note="asked, and closed without a word; the measurement spends the budget, the selection more",
        leaks="composition",
    ),
)
