"""The mean of vectors by points of half spheres. Claims: bounds/library/local/ldp_l2_randomizer.py.

For a client there is dpcheck.local.L2Ball, whose reports are drawn by the same function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP, Relation
from dpcheck.bounds.library.local import ldp_l2_randomizer as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport, mean_of_users
from dpcheck.families.user_numbers import must_be_pure, must_be_users
from dpcheck.kernels.method import Array
from dpcheck.kernels.reports import unbiased_radius
from dpcheck.settings import positive
from dpcheck.solver import Calibration, Example, Solver

ROOM = 1e-12  # of the radius, for how norms are rounded


@dataclass(frozen=True)
class LdpL2Randomizer(Solver):
    """The mean of vectors of norm at most `radius`, from one point of a sphere for each user."""

    radius: float = positive(1.0)
    name: ClassVar[str] = "ldp_l2_randomizer"
    relations: ClassVar[tuple[Relation, ...]] = (LOCAL,)
    minimises: ClassVar[bool] = False

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_pure(guarantee)
        limit = f"vectors of norm at most {self.radius:g}"
        must_be_users(data, 2, lambda v: np.linalg.norm(v, axis=1) <= self.radius * (1 + ROOM), limit)

    def release(self, data: Array, plan: None) -> Release:
        room = self.radius * (1 + 2 * ROOM)
        return theory.released.at(r_ball=room, d=data.shape[1])  # privacy: dwang20.equation5.75.privacy

    def method(self, data: Array, plan: None, released: Released) -> OneReport:
        n, d = data.shape
        # unbiased: dwang20.lemma5.3.1.unbiased.corrected
        length = float(released.parts[0].law.scale) * unbiased_radius(d)
        return OneReport(np.asarray, lambda reports: length * mean_of_users(reports), n, d, d)

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        noise = theory.privacy.evaluate(r_ball=self.radius, eps=guarantee.parameters["eps"])
        return self.release(data, plan).with_noise(float(noise)), [theory.privacy]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [theory.privacy, theory.unbiased_corrected]

    def worst_pair(self) -> tuple[Array, Array]:
        """A user turns round."""
        row = np.array([self.radius, 0.0, 0.0])
        return np.array([row, 0 * row]), np.array([-row, 0 * row])

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), PureDP(1.0, relation=LOCAL), neighbour=another_vector)


def another_vector(data: Array, rng: np.random.Generator) -> Array:
    """One user holds another vector of the unit ball."""
    found, row = data.copy(), rng.standard_normal(data.shape[1])
    found[rng.integers(len(data))] = row / np.linalg.norm(row) * rng.choice([1.0, rng.random()])
    return found
