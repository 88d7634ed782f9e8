"""A pure covariance under Wishart noise less a copy. Claims: bounds/library/matrix/wishart_difference.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.matrix import wishart_difference as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.covariances import CovarianceSolver, MadeOf, nuclear_lattice
from dpcheck.families.outer_products import ROOM
from dpcheck.families.user_numbers import must_be_pure
from dpcheck.kernels.method import ROUNDED, Array
from dpcheck.solver import Calibration


@dataclass(frozen=True)
class WishartDifferenceCov(CovarianceSolver):
    """The mean outer product of records in the unit ball, ε-private with delta = 0: its upper triangle.

    Mean and noise are on a public grid, far finer than the noise, where ideal noise is rounded exactly.
    """

    name: ClassVar[str] = "wishart_difference"

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_pure(guarantee)
        super().must_suit(data, guarantee, calibration)
        if self.isometric:
            limit = "False, as this noise already has its entries' shares"
            raise InvalidInput("isometric", True, limit, "Leave it out.")

    def release(self, data: Array, plan: None) -> Release:
        n, d = data.shape
        rounding = ROUNDED * d**1.5 * nuclear_lattice(n, d)
        # privacy: dwang20.lemma6.3.2.difference.sensitivity; ‖E‖_* ≤ √d‖E‖_F ≤ d^1.5 max|E_ij|
        exact = theory.released.at(r_outer=1 + 2 * ROOM, n=n)
        return Release(exact.sensitivity + rounding, exact.law)

    def method(self, data: Array, plan: None, released: Released) -> MadeOf:
        n, d = data.shape
        return self.asking(data, float(released.parts[0].law.scale), nuclear_lattice(n, d))

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        release, claim = self.release(data, plan), theory.private
        noise = claim.evaluate(Delta=release.sensitivity, eps=guarantee.parameters["eps"])
        return release.with_noise(float(noise)), [claim]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [theory.sensitivity, theory.private]
