"""Records of several owners, who minimise the mean of their objectives: a small party weighs as much as a large one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, cast

import numpy as np

from dpcheck.audits.trials.spreading import in_order
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import whole
from dpcheck.problems.losses import Array, SignLoss
from dpcheck.problems.problem import Problem


@dataclass(frozen=True, eq=False)
class Parties(Problem):
    """The problem of m parties: rows stand in the order of their owners, of whom `sizes` says how many each has.

    >>> from dpcheck.problems.losses import Logistic
    >>> both = Parties([[1.0], [1.0], [1.0]], [1, -1, 1], Logistic(), l2=0.1, sizes=(2, 1))
    >>> both.count, both.smallest, both.party(1).n
    (2, 1, 1)
    """

    sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        whole = all(isinstance(size, int | np.integer) and size >= 1 for size in self.sizes)
        if not self.sizes or not whole or sum(self.sizes) != self.n:
            limit = f"whole numbers >= 1 that add up to the {self.n} rows"
            raise InvalidInput("sizes", self.sizes, limit, "Say how many rows each party has.")

    @property
    def count(self) -> int:
        """How many parties there are."""
        return len(self.sizes)

    @property
    def smallest(self) -> int:
        """The records of the smallest party."""
        return min(self.sizes)

    @cached_property
    def parties(self) -> tuple[Problem, ...]:
        """Each party's own problem."""
        cuts = pairwise([0, *np.cumsum(self.sizes)])
        public = (self.loss, self.l2, self.constraint, self.row_bound, self.label_bound)
        return tuple(Problem(self.X[a:b], self.y[a:b], *public) for a, b in cuts)

    def party(self, j: int) -> Problem:
        """The problem of party j alone."""
        return self.parties[j]

    @cached_property
    def weights(self) -> Array:
        """Of each record in the mean of the parties' means."""
        return np.repeat([1 / (self.count * size) for size in self.sizes], self.sizes)

    @cached_property
    def _averaging(self) -> Array:
        return (self._signed if isinstance(self.loss, SignLoss) else self.X) * self.weights[:, None]

    def value(self, W: Array) -> Any:
        W = np.asarray(W, float)
        losses = self.loss.value(W @ self.X.T, self.y) @ self.weights
        return losses + self.l2 / 2 * np.einsum("...i,...i->...", W, W)

    def hessian(self, w: Array) -> Array:
        bend = self.loss.second_derivative(self.X @ w, self.y) * self.weights
        return (self.X.T * bend) @ self.X + self.l2 * np.eye(self.d)

    def replace(self, i: int, x: Any, y: float) -> Parties:
        return cast(Parties, super().replace(i, x, y))

    def minimisers(self, executor: Any = 1) -> Array:
        """Each party's own, one row each; trained here, in processes or by a Dask client's workers."""
        return np.stack(in_order(own_minimiser, self.parties, executor))


def must_be_parties(data: Problem) -> None:
    """Refuse records of which nobody said whose they are."""
    if not isinstance(data, Parties):
        remedy = "Say who holds which rows: split_evenly(problem, 10)."
        raise InvalidInput("data", type(data).__name__, "Parties", remedy)


def own_minimiser(problem: Problem) -> Array:
    """The minimiser of one party's objective."""
    return problem.minimiser()[0]


def split_evenly(problem: Problem, count: int) -> Parties:
    """The same records in the hands of `count` parties, the first of which have one more where they do not divide."""
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", problem, "a Problem", "Make one of the rows of all parties.")
    count = whole("count", count, "a whole number of parties", "Give each party a row.")
    if count > problem.n:
        raise InvalidInput("count", count, f"from 1 to the {problem.n} rows", "Give each party a row.")
    sizes = tuple(len(part) for part in np.array_split(np.arange(problem.n), count))
    public = (problem.l2, problem.constraint, problem.row_bound, problem.label_bound)
    return Parties(problem.X, problem.y, problem.loss, *public, sizes)
