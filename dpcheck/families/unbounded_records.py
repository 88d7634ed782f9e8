"""Records without a bound, and losses on them: what descent on heavy-tailed data works on (dwang20, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.families.robust_means import must_be_rows
from dpcheck.kernels.method import Array
from dpcheck.problems.constraints import Constraint, L2Ball
from dpcheck.problems.losses import Loss, Squared

HELD = 1 << 22  # coordinates of records' gradients that a block of trials holds


@dataclass(frozen=True, eq=False)
class UnboundedRecords:
    """Rows X (n, d) and labels y (n,) of any finite size, a loss of <x, w> and y, l2/2 ‖w‖², and the set W.

    The regulariser is public: its gradient is added after what is released. Raises InvalidInput on what is not finite.
    """

    X: Array
    y: Array
    loss: Loss = field(default_factory=Squared)
    l2: float = 0.0
    constraint: Constraint = field(default_factory=L2Ball)

    def __post_init__(self) -> None:
        X, y = must_be_rows(self.X), must_be_rows(self.y)[:, 0]
        if len(X) != len(y):
            raise InvalidInput("labels", len(y), f"one a row, {len(X)}", "Give each record its label.")
        if self.loss.labels == "sign" and not np.all(np.abs(y) == 1):
            raise InvalidInput("labels", "some", "-1 or 1, as the loss asks", "Code the classes so.")
        if not 0 <= self.l2 < np.inf:
            raise InvalidInput("l2", self.l2, "a finite number >= 0", "Pass l2=0.0 for none.")
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)

    @property
    def n(self) -> int:
        return len(self.X)

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    def record_gradients(self, W: Array) -> Array:
        """Of each record's loss at each point of W (k, d), the regulariser left out, (n, k, d)."""
        slopes = self.loss.derivative(self.X @ W.T, self.y[:, None])
        return np.asarray(slopes[:, :, None] * self.X[:, None, :])

    def replace(self, i: int, x: Sequence[float] | Array, y: float) -> UnboundedRecords:
        """The neighbour whose record i is (x, y)."""
        X, labels = self.X.copy(), self.y.copy()
        X[i], labels[i] = x, y
        return replace(self, X=X, y=labels)


def must_be_records(data: Any) -> None:
    """Refuse other data."""
    if not isinstance(data, UnboundedRecords):
        raise InvalidInput("data", type(data).__name__, "UnboundedRecords", "Give rows, labels and a loss.")


def another_record(data: UnboundedRecords, rng: np.random.Generator) -> UnboundedRecords:
    """One record is another, of any size."""
    size = 10 ** rng.uniform(-3, 6, size=data.d + 1)
    *x, y = rng.choice([-1, 1], size=data.d + 1) * size
    return data.replace(int(rng.integers(data.n)), x, float(np.sign(y) if data.loss.labels == "sign" else y))


def turned_record(n: int, d: int, size: float) -> tuple[UnboundedRecords, UnboundedRecords]:
    """Gradients that are `size` in each coordinate at every w of the ball, but for a record that turns round."""
    records = UnboundedRecords(np.full((n, d), 1e-3), np.full(n, -1e3 * size))
    return records, records.replace(0, np.full(d, 1e-3), 1e3 * size)
