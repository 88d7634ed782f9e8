"""A problem without its records: sizes, loss and bounds, which is all that theorems and plans depend on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dpcheck.problems.losses import Array, Loss, must_be_positive, must_be_regulariser
from dpcheck.problems.problem import Problem


@dataclass(frozen=True, eq=False)
class Outline(Problem):
    """`n` records of `d` numbers that nobody has yet; constants are those of any Problem of this loss and bounds.

    >>> from dpcheck.problems.losses import Logistic
    >>> outline(10**9, 50, Logistic(), l2=0.1).smoothness
    0.35
    """

    records: int = field(default=1, kw_only=True)
    features: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        must_be_positive("row_bound", self.row_bound)
        must_be_positive("label_bound", self.label_bound)
        must_be_regulariser(self.l2)
        self.constraint.reach(self.d)

    @property
    def n(self) -> int:
        return self.records

    @property
    def d(self) -> int:
        return self.features


def outline(n: int, d: int, loss: Loss, *, l2: float = 0.0, row_bound: float = 1.0) -> Outline:
    """The problem of these sizes and bounds over the whole space; labels are at most 1 in size."""
    none: Array = np.empty((0, d))
    return Outline(none, none[:, 0], loss, l2, row_bound=row_bound, records=n, features=d)
