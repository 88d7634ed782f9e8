"""What one party is to do: which whole numbers it gives in, and what everybody makes of the opened sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels.exact_draws import Whole
from dpcheck.parties.noise import InsideNoise, Noise, SharedNoise
from dpcheck.problems.losses import Array
from dpcheck.problems.problem import Problem

SLACK = 1 << 40  # of the field: what is opened of a broken share lies in the allowed range with chance 1/SLACK


@dataclass(frozen=True, eq=False)
class Common:
    """What all parties know: numbers are whole multiples of `cell`, at most `limit` of one party, plus noise.

    Without `steps` the parties give in their minimisers, once; else gradients of that many steps of size `eta`.
    """

    count: int
    d: int
    l2: float
    cell: float
    limit: int
    noise: Noise
    steps: int | None = None
    eta: float = 0.0

    @property
    def rounds(self) -> int:
        """How many sums are opened."""
        return self.steps or 1

    @property
    def largest(self) -> int:
        """No honest sum is larger."""
        draws = 1 if isinstance(self.noise, InsideNoise) else self.count
        return self.count * self.limit + draws * self.noise.largest

    @property
    def field(self) -> int:
        """Sums stay far below half of this many numbers: nothing wraps round."""
        return 2 * self.largest * SLACK

    def start(self) -> Array:
        """Where a descent begins."""
        return np.zeros(self.d)

    def after(self, theta: Array, opened: Array) -> Array:
        """What everybody makes of an opened sum: a step, or the average itself. The regulariser is public."""
        found = np.asarray(opened, float) * self.cell
        return found if self.steps is None else theta - self.eta * (found + self.l2 * theta)


@dataclass(frozen=True, eq=False)
class Task:
    """One party's own records, and what is common."""

    common: Common
    problem: Problem

    @cached_property
    def losses(self) -> Problem:
        """Without the regulariser: gradients that the losses bound."""
        return replace(self.problem, l2=0.0)

    def numbers(self, theta: Array) -> Array:
        """What the party would give in at theta, one point or one a row: its part of the average."""
        if self.common.steps is not None:
            return self.losses.gradient(theta) / self.common.count
        w = self.problem.minimiser()[0]
        left = float(np.linalg.norm(self.problem.gradient(w))) / self.common.l2  # how far w may be off
        if left > self.common.count * self.common.cell / 4:
            limit = "exact on the grid of the release"
            raise InvalidInput("minimiser", f"off by up to {left:.3g}", limit, "Raise l2 or rescale the data.")
        return np.broadcast_to(w / self.common.count, np.shape(theta))

    def whole(self, theta: Array) -> Whole:
        """The same in cells; refused if it is no number, or beyond what the field has room for."""
        cells = np.rint(self.numbers(theta) / self.common.cell)
        if not np.all(np.abs(cells) <= self.common.limit):  # nor nan
            remedy = "The records are not within their public bounds: nothing was sent."
            raise InvalidInput("a party's number", "none, or too large", f"at most {self.common.limit} cells", remedy)
        return cells.astype(np.int64)

    def given(self, theta: Array, rng: np.random.Generator) -> Whole:
        """What is shared among the parties: the numbers, and the party's own noise where noise is made of shares."""
        cells = self.whole(theta)
        noise = self.common.noise
        return cells + noise.draw(rng, cells.shape) if isinstance(noise, SharedNoise) else cells
