"""The average of numbers with Laplace noise of each user. Claims: bounds/library/local/ldp_avg_1d.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.library.local import ldp_avg_1d as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport, mean_of_users
from dpcheck.families.user_numbers import NumbersOfUsers
from dpcheck.kernels.method import Array
from dpcheck.solver import Example


@dataclass(frozen=True)
class LdpAvg1D(NumbersOfUsers):
    """The mean of numbers in [0, upper], each of which its user sends with Laplace noise of her own."""

    name: ClassVar[str] = "ldp_avg_1d"
    published: ClassVar[Claim] = theory.privacy
    released: ClassVar[Release] = theory.released
    columns: ClassVar[int | None] = None

    def method(self, data: Array, plan: None, released: Released) -> OneReport:
        return OneReport(np.asarray, mean_of_users, len(data), 1, 1, self.lattice)

    def worst_pair(self) -> tuple[Array, Array]:
        """A user moves from one end to the other."""
        return np.array([self.upper, 0.0]), np.array([0.0, 0.0])

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), PureDP(1.0, relation=LOCAL), neighbour=another_number)


def another_number(data: Array, rng: np.random.Generator) -> Array:
    """One user holds another number of [0, 1]."""
    found = data.copy()
    found[rng.integers(len(data))] = rng.choice([0.0, 1.0, rng.random()])
    return found
