"""The local Bernstein mechanism with a place of each user. Claims: bounds/library/local/local_bernstein_genprot.py.

Of T public numbers a user sends the place of the first, in a random order, that she keeps: rejection sampling of her
loss with Laplace noise, which costs 2 of what the noise is calibrated to where the published 10 are claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.local import local_bernstein_genprot as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.bernstein import Grid, GridLosses
from dpcheck.families.grid_reports import LATTICE, InGroups, group_means
from dpcheck.kernels.method import ROUNDED, Array, Asked, Drawn, Method, State
from dpcheck.kernels.one_answer import HELD
from dpcheck.settings import count
from dpcheck.solver import Example


@dataclass(frozen=True, eq=False)
class Places(Method):
    """User t answers in step t, by the place of one of her public numbers; the server averages the numbers there."""

    grid: Grid
    steps: int  # users
    width: int  # public numbers of each
    scale: float
    lattice = LATTICE

    def coins(self, rng: np.random.Generator, k: int) -> Array:
        """The grid point of each user, in random order, and her numbers."""
        points = np.tile(np.arange(self.steps) % len(self.grid.points), (k, 1))
        numbers = rng.laplace(scale=self.scale, size=(k, self.steps * self.width))
        return np.hstack([rng.permuted(points, axis=1), numbers])

    def start(self, k: int) -> State:
        return self.start_with(k, np.zeros((k, self.steps * (1 + self.width))))

    def start_with(self, k: int, coins: Array | None) -> State:
        assert coins is not None
        points, numbers = coins[:, : self.steps].astype(int), coins[:, self.steps :]
        return np.zeros((k, self.grid.p)), points, numbers.reshape(k, self.steps, -1), np.zeros((k, self.steps))

    def asked_of(self, data: GridLosses, k: int) -> Asked:
        losses = data.at(self.grid.points)

        def asked(state: State, t: int, drawn: Drawn) -> Array:
            numbers = state[2][:, t]
            return np.asarray(np.abs(numbers) - np.abs(numbers - losses[t, state[1][:, t]][:, None]))

        return asked

    def query(self, data: GridLosses, state: State, t: int, drawn: Drawn) -> Array:
        return self.asked_of(data, len(state[0]))(state, t, drawn)

    def update(self, state: State, answer: Array, t: int) -> State:
        w, points, numbers, kept = state
        kept[:, t] = numbers[np.arange(len(answer)), t, answer[:, 0].astype(int)]
        if t == self.steps - 1:
            w = self.grid.minimisers(group_means(kept, points, len(self.grid.points)))
        return w, points, numbers, kept

    def grain(self, scale: float) -> float:
        return 0.0  # a point of a public grid

    def block(self, data: GridLosses) -> int:
        return max(1, HELD // (self.steps * self.width))


@dataclass(frozen=True)
class LocalBernsteinGenProt(InGroups):
    """Minimises a smooth risk from the place of one public number of each user: log₂ T bits."""

    name: ClassVar[str] = "local_bernstein_genprot"
    numbers: int = count(32)

    def release(self, data: GridLosses, plan: Grid) -> Release:
        exactly = theory.released.at(n=data.n)  # privacy: dwang20.theorem5.1.12.flips
        return replace(exactly, sensitivity=1 + ROUNDED * LATTICE)

    def method(self, data: GridLosses, plan: Grid, released: Released) -> Places:
        return Places(plan, data.n, self.numbers, float(released.parts[0].law.scale))

    def stated(self, data: GridLosses, guarantee: Guarantee, plan: Grid) -> tuple[Released, Sequence[Claim]]:
        raise self.not_published()

    def certifying(self, data: GridLosses, plan: Grid) -> Sequence[Claim]:
        return [theory.flips]

    @classmethod
    def example(cls) -> Example:
        return replace(super().example(), solver=cls(cells=2, order=1, numbers=4), bug=0.1)  # the account has slack
