"""Sensing: a matrix U from numbers y = ||U'x||^2, whose risk has saddle points; phase retrieval where U has one column.

The loss is 1 - exp(-(||U'x||^2 - y)^2 / 2): a squared error for small errors, and bounded with all its derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.problems.constraints import Constraint, WholeSpace
from dpcheck.problems.losses import Array
from dpcheck.problems.problem import check_rows, numbers, table

SLACK = 1.001  # the largest value on a grid of step h is off by h^2 times a curvature


@dataclass(frozen=True, eq=False)
class Sensing:
    """Minimise F(U) = mean_i loss(||U'x_i||^2, y_i) over U with `rank` columns, flattened to d numbers.

    Rows have norm at most 1, and y lies in [0, 1]. Constants hold for all such records and all U.

    >>> p = Sensing([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0])
    >>> p.gradient(np.zeros((1, 2))).tolist()
    [[0.0, 0.0]]
    >>> np.linalg.eigvalsh(p.hessians(np.zeros((1, 2)))).round(3).tolist()
    [[-0.607, 0.0]]
    """

    X: Array
    y: Array
    rank: int = 1
    constraint: ClassVar[Constraint] = WholeSpace()
    l2: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        X, y = table(self.X), numbers("labels", self.y)
        check_rows(X, y, 1.0)
        outside = (y < 0) | (y > 1)
        if np.any(outside):
            raise InvalidInput(f"label {int(outside.argmax())}", "outside", "in [0, 1]", "Scale the labels.")
        for name, value in (("X", X), ("y", y)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        return len(self.X)

    @property
    def d(self) -> int:
        return int(self.X.shape[1]) * self.rank

    @property
    def facts(self) -> Mapping[str, bool]:
        """What hypotheses of claims it decides."""
        return {"convex": False, "strongly convex": False, "smooth": True, "Lipschitz": True}

    # Constants, for all records and all U ----------------------------------------------------------
    @property
    def data_lipschitz(self) -> float:
        return sensing_constants()[0]

    @property
    def smoothness(self) -> float:
        return sensing_constants()[1]

    @property
    def hessian_lipschitz(self) -> float:
        return sensing_constants()[2]

    # Values and derivatives ------------------------------------------------------------------------
    def value(self, W: Array) -> Any:
        """F at each point of W, (..., d)."""
        _, error = self._errors(np.asarray(W, float).reshape(-1, self.d), None)
        return (-np.expm1(-(error**2) / 2)).mean(axis=1).reshape(np.shape(W)[:-1])

    def gradient(self, W: Array) -> Array:
        """Of F at each point of W, (k, d)."""
        return self.gradient_at(W, None)

    def gradient_at(self, W: Array, index: Any) -> Array:
        """Per trial, the mean gradient of the records in `index`, (k,) or (k, m), or of all."""
        seen, error = self._errors(np.asarray(W, float), index)
        slope = 2 * error * np.exp(-(error**2) / 2)
        rows = self._rows(len(seen), index)
        found = (rows * slope[..., None]).transpose(0, 2, 1) @ seen / error.shape[1]
        return np.asarray(found.reshape(len(seen), self.d))

    def hessians(self, W: Array, index: Any = None) -> Array:
        """Second derivatives at each point of W, (k, d, d), of all records or of those in `index`."""
        seen, error = self._errors(np.asarray(W, float), index)
        decay, rows = np.exp(-(error**2) / 2), self._rows(len(seen), index)
        across = (rows * (2 * error * decay)[..., None]).transpose(0, 2, 1) @ rows
        along = (rows[..., None] * seen[:, :, None, :]).reshape(len(seen), error.shape[1], self.d)
        bent = (along * (4 * (1 - error**2) * decay)[..., None]).transpose(0, 2, 1) @ along
        return np.asarray(np.kron(across, np.eye(self.rank)) + bent) / error.shape[1]

    def _rows(self, k: int, index: Any) -> Array:
        return self.X[None] if index is None else self.X[np.reshape(index, (k, -1))]

    def _errors(self, W: Array, index: Any) -> tuple[Array, Array]:
        """U'x, (k, m, rank), and ||U'x||^2 - y, (k, m)."""
        seen = self._rows(len(W), index) @ W.reshape(len(W), -1, self.rank)
        labels = self.y if index is None else self.y[np.reshape(index, (len(W), -1))]
        return seen, np.einsum("kmr,kmr->km", seen, seen) - labels

    def replace(self, i: int, x: Sequence[float] | Array, y: float) -> Sensing:
        """The neighbouring problem whose record i is (x, y)."""
        X, labels = self.X.copy(), self.y.copy()
        X[i], labels[i] = x, y
        return replace(self, X=X, y=labels)


@lru_cache(maxsize=1)
def sensing_constants() -> tuple[float, float, float]:
    """Suprema of the first three derivatives over all records, U and unit directions.

    With q = ||U'x||^2, e = q - y and E = exp(-e^2/2) the loss has slope eE in q, then (1-e^2)E and (e^3-3e)E; along a
    direction that turns v = U'x by s these are 2 eE <v,s>, 2 eE |s|^2 + 4 (1-e^2)E <v,s>^2 and
    12 (1-e^2)E <v,s>|s|^2 + 8 (e^3-3e)E <v,s>^3, with |s| <= 1 and <v,s> = c sqrt(q), c in [0, 1].
    """
    y, q = np.linspace(0, 1, 41)[:, None, None], np.linspace(0, 8, 1601)[None, :, None]
    c, e = np.linspace(0, 1, 21), q - y
    decay, reach = np.exp(-(e**2) / 2), c * np.sqrt(q)
    first = 2 * np.abs(e) * decay * np.sqrt(q)
    second = np.abs(2 * e * decay + 4 * (1 - e**2) * decay * reach**2)
    third = np.abs(12 * (1 - e**2) * decay * reach + 8 * (e**3 - 3 * e) * decay * reach**3)
    G, M, rho = (float(size.max()) * SLACK for size in (first, second, third))
    assert math.isfinite(G + M + rho)
    return G, M, rho
