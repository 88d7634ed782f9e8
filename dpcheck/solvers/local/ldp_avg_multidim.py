"""The average of vectors, one coordinate of each user. Claims: bounds/library/local/ldp_avg_multidim.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP
from dpcheck.bounds.library.local import ldp_avg_multidim as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.user_numbers import NumbersOfUsers
from dpcheck.kernels.method import Array, Drawn, Method, State
from dpcheck.kernels.one_answer import HELD
from dpcheck.solver import Calibration, Example


@dataclass(frozen=True, eq=False)
class InGroups(Method):
    """Public coins give each user a coordinate, each coordinate as many users; the server averages each."""

    width: int  # users
    d: int
    lattice: float
    steps = 1

    def coins(self, rng: np.random.Generator, k: int) -> Array:
        """The coordinate of each user, in random order."""
        return np.asarray(rng.permuted(np.tile(np.arange(self.width) % self.d, (k, 1)), axis=1), float)

    def start(self, k: int) -> State:
        return np.zeros((k, self.d)), np.zeros((k, self.width))

    def start_with(self, k: int, coins: Array | None) -> State:
        assert coins is not None
        return np.zeros((k, self.d)), coins

    def query(self, data: Any, state: State, t: int, drawn: Drawn) -> Array:
        return np.asarray(data[np.arange(self.width), state[1].astype(int)], float)

    def update(self, state: State, answer: Array, t: int) -> State:
        k = len(answer)
        place = (state[1].astype(int) + self.d * np.arange(k)[:, None]).ravel()
        sums, counts = (np.bincount(place, w, k * self.d).reshape(k, self.d) for w in (answer.ravel(), None))
        return sums / counts, state[1]

    def grain(self, scale: float) -> float:
        return 0.0  # the server sees the reports themselves

    def block(self, data: Any) -> int:
        return max(1, HELD // self.width)


@dataclass(frozen=True)
class LdpAvgMultidim(NumbersOfUsers):
    """The mean of vectors in [0, upper]^d: a user sends one of her numbers, with Laplace noise, not d of them."""

    name: ClassVar[str] = "ldp_avg_multidim"
    published: ClassVar[Claim] = theory.privacy
    released: ClassVar[Release] = theory.released
    columns: ClassVar[int | None] = 2

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        super().must_suit(data, guarantee, calibration)
        if len(data) < data.shape[1]:
            limit = f"at least {data.shape[1]}, one for each coordinate"
            raise InvalidInput("number of users", len(data), limit, "Ask more users, or for fewer numbers.")

    def method(self, data: Array, plan: None, released: Released) -> InGroups:
        return InGroups(len(data), data.shape[1], self.lattice)

    def worst_pair(self) -> tuple[Array, Array]:
        """All numbers of a user move from one end to the other, whichever is asked for."""
        return np.array([[self.upper] * 2, [0.0] * 2]), np.zeros((2, 2))

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), PureDP(1.0, relation=LOCAL), neighbour=another_row)


def another_row(data: Array, rng: np.random.Generator) -> Array:
    """One user holds another vector of the unit cube."""
    found = data.copy()
    found[rng.integers(len(data))] = np.where(rng.random(data.shape[1]) < 0.5, rng.integers(0, 2), rng.random())
    return found
