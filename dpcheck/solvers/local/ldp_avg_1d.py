"""The average of numbers with Laplace noise of each user. Claims: bounds/library/local/ldp_avg_1d.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP, Relation
from dpcheck.bounds.library.local import ldp_avg_1d as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport, mean_of_users
from dpcheck.families.user_numbers import lattice_under, must_be_pure, must_be_users
from dpcheck.kernels.method import ROUNDED, Array
from dpcheck.settings import positive
from dpcheck.solver import Calibration, Example, Solver


@dataclass(frozen=True)
class LdpAvg1D(Solver):
    """The mean of numbers in [0, upper], each of which its user sends with Laplace noise of her own."""

    upper: float = positive(1.0)
    name: ClassVar[str] = "ldp_avg_1d"
    relations: ClassVar[tuple[Relation, ...]] = (LOCAL,)
    minimises: ClassVar[bool] = False

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_pure(guarantee)
        must_be_users(data, None, lambda v: (v >= 0) & (v <= self.upper), f"numbers in [0, {self.upper:g}]")

    def release(self, data: Array, plan: None) -> Release:
        rounded = ROUNDED * lattice_under(self.upper)
        return theory.released.at(b_user=self.upper + rounded)  # privacy: dwang20.lemma5.1.1.privacy

    def method(self, data: Array, plan: None, released: Released) -> OneReport:
        return OneReport(np.asarray, mean_of_users, len(data), 1, 1, lattice_under(self.upper))

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        noise = theory.privacy.evaluate(b_user=self.upper, eps=guarantee.parameters["eps"])
        return self.release(data, plan).with_noise(float(noise)), [theory.privacy]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [theory.privacy]

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
