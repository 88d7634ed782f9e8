"""The corner points of a polytope, for selections among them: scores of all at once, and the points themselves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.problems.constraints import Box, Constraint, L1Ball, Simplex
from dpcheck.problems.losses import Array

MOST_CORNERS = 1 << 14


@dataclass(frozen=True, eq=False)
class Corners:
    """`axes` scale the unit vectors, as those of an l1 ball or the simplex are; else `points` lists all, (m, d)."""

    d: int
    axes: tuple[float, ...] = ()
    points: Array | None = None

    @property
    def count(self) -> int:
        return len(self.axes) * self.d if self.points is None else len(self.points)

    @property
    def largest(self) -> float:
        """max ||s||_1."""
        return max(abs(r) for r in self.axes) if self.points is None else float(np.abs(self.points).sum(axis=1).max())

    def products(self, g: Array) -> Array:
        """<s, g> for each corner s, (k, d) to (k, m)."""
        if self.points is not None:
            return np.asarray(g @ self.points.T)
        return np.concatenate([r * g for r in self.axes], axis=1)

    def at(self, index: NDArray[np.int64]) -> Array:
        """The chosen corners, (k, d)."""
        if self.points is not None:
            return self.points[index]
        found = np.zeros((len(index), self.d))
        found[np.arange(len(index)), index % self.d] = np.asarray(self.axes)[index // self.d]
        return found

    def centre(self) -> Array:
        """The mean of all corners: a start that depends on no data."""
        if self.points is not None:
            return np.asarray(self.points.mean(axis=0))
        return np.full(self.d, sum(self.axes) / (len(self.axes) * self.d))


def corners_of(constraint: Constraint, d: int) -> Corners:
    """Of an l1 ball, the simplex or a box."""
    if isinstance(constraint, L1Ball):
        return Corners(d, axes=(constraint.radius, -constraint.radius))
    if isinstance(constraint, Simplex):
        return Corners(d, axes=(1.0,))
    if isinstance(constraint, Box) and 2**d <= MOST_CORNERS:
        low, high = (np.broadcast_to(side, (d,)) for side in (constraint.low, constraint.high))
        points = np.array(list(product(*zip(low, high, strict=True))), float)
        return Corners(d, points=points)
    limit = f"an L1Ball, a Simplex, or a Box with at most {MOST_CORNERS} corners"
    raise InvalidInput("constraint", constraint, limit, "Private Frank-Wolfe steps select a corner.")
