"""The local Bernstein mechanism with one bit of each user. Claims: bounds/library/local/local_bernstein_1bit.py.

The published bits leak more than they claim (`dpcheck claims dwang20.theorem5.1.4.privacy`); here a user answers with
randomised response of her own loss, which keeps ε and has less noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.local import local_bernstein_1bit as theory
from dpcheck.bounds.privacy.laws import Coins
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.bernstein import Grid, GridLosses, level
from dpcheck.families.grid_reports import GridSolver
from dpcheck.kernels.method import Array, Asked, Drawn, Method, State
from dpcheck.solver import Example


@dataclass(frozen=True, eq=False)
class GroupedBits(Method):
    """A public partition gives each user a grid point; she reports one bit of her loss there."""

    grid: Grid
    users: int
    scale: float
    steps = 1

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.users

    @property
    def coins(self) -> Callable[[np.random.Generator, int], Array]:  # type: ignore[override]
        """The point of each user: as many users at each as there can be."""
        points = np.arange(self.users) % len(self.grid.points)
        return lambda rng, k: rng.permuted(np.tile(points, (k, 1)), axis=1)

    def start(self, k: int) -> State:
        return self.begin(k, np.tile(np.arange(self.users) % len(self.grid.points), (k, 1)))

    def begin(self, k: int, coins: Array | None) -> State:
        assert coins is not None
        return np.zeros((k, self.grid.p)), coins.astype(int)

    def asked_of(self, data: GridLosses, k: int) -> Asked:
        losses = data.at(self.grid.points)
        return lambda state, t, drawn: 2 * losses[np.arange(self.users), state[1]] - 1

    def query(self, data: GridLosses, state: State, t: int, drawn: Drawn) -> Array:
        return self.asked_of(data, len(state[0]))(state, t, drawn)

    def update(self, state: State, answer: Array, t: int) -> State:
        k, points = len(answer), len(self.grid.points)
        where = (state[1] + points * np.arange(k)[:, None]).ravel()
        total = np.bincount(where, (1 + self.scale * answer.ravel()) / 2, k * points)
        means = (total / np.bincount(where, minlength=k * points)).reshape(k, points)
        return self.grid.minimisers(means), state[1]

    def grain(self, scale: float) -> float:
        return 0.0  # a point of a public grid


@dataclass(frozen=True)
class LocalBernsteinOneBit(GridSolver):
    """Minimises a smooth risk from one private bit of each user."""

    name: ClassVar[str] = "local_bernstein_1bit"

    def plan(self, data: GridLosses, guarantee: Guarantee) -> Grid:
        grid = super().plan(data, guarantee)
        if self.cells is None and data.n < len(grid.points):
            grid = replace(grid, k=max(1, int(data.n ** (1 / data.p)) - 1))
        if data.n < len(grid.points):
            raise InvalidInput("users", data.n, f"at least {len(grid.points)}, one a grid point", "Take fewer cells.")
        return grid

    def release(self, data: GridLosses, plan: Grid) -> Release:
        return replace(theory.released, coins=Coins.PUBLIC)  # privacy: dwang20.theorem5.1.4.plain

    def method(self, data: GridLosses, plan: Grid, released: Released) -> GroupedBits:
        return GroupedBits(plan, data.n, float(released.parts[0].law.scale))

    def stated(self, data: GridLosses, guarantee: Guarantee, plan: Grid) -> tuple[Released, Sequence[Claim]]:
        limit = 'calibration="certified"'
        raise InvalidInput("calibration", "stated", limit, "The published bits are attacked in the evidence.")

    def certifying(self, data: GridLosses, plan: Grid) -> Sequence[Claim]:
        return [theory.plain_bits]

    def worst_pair(self) -> tuple[GridLosses, GridLosses]:
        """One of four users, whose loss is 0 or 1 everywhere."""
        users = GridLosses(np.full((4, 1), 0.5), level)
        return users.with_record(0, np.zeros(1)), users.with_record(0, np.ones(1))

    @classmethod
    def example(cls) -> Example:
        return replace(super().example(), solver=cls(cells=2, order=1))
