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
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.local import local_bernstein_1bit as theory
from dpcheck.bounds.privacy.laws import Coins
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.bernstein import Grid, GridLosses
from dpcheck.families.grid_reports import InGroups, group_means
from dpcheck.kernels.method import Array, Asked, Drawn, Method, State


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
        return self.start_with(k, np.tile(np.arange(self.users) % len(self.grid.points), (k, 1)))

    def start_with(self, k: int, coins: Array | None) -> State:
        assert coins is not None
        return np.zeros((k, self.grid.p)), coins.astype(int)

    def asked_of(self, data: GridLosses, k: int) -> Asked:
        losses = data.at(self.grid.points)
        return lambda state, t, drawn: 2 * losses[np.arange(self.users), state[1]] - 1

    def query(self, data: GridLosses, state: State, t: int, drawn: Drawn) -> Array:
        return self.asked_of(data, len(state[0]))(state, t, drawn)

    def update(self, state: State, answer: Array, t: int) -> State:
        means = group_means((1 + self.scale * answer) / 2, state[1], len(self.grid.points))
        return self.grid.minimisers(means), state[1]

    def grain(self, scale: float) -> float:
        return 0.0  # a point of a public grid


@dataclass(frozen=True)
class LocalBernsteinOneBit(InGroups):
    """Minimises a smooth risk from one private bit of each user."""

    name: ClassVar[str] = "local_bernstein_1bit"

    def release(self, data: GridLosses, plan: Grid) -> Release:
        return replace(theory.released, coins=Coins.PUBLIC)  # privacy: dwang20.theorem5.1.4.plain

    def method(self, data: GridLosses, plan: Grid, released: Released) -> GroupedBits:
        return GroupedBits(plan, data.n, float(released.parts[0].law.scale))

    def stated(self, data: GridLosses, guarantee: Guarantee, plan: Grid) -> tuple[Released, Sequence[Claim]]:
        raise self.not_published()

    def certifying(self, data: GridLosses, plan: Grid) -> Sequence[Claim]:
        return [theory.plain_bits]
