"""The covariance under Gaussian noise. Claims: bounds/library/matrix/naive_gaussian_cov.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.matrix import naive_gaussian_cov as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.covariances import CovarianceSolver, MadeOf
from dpcheck.families.outer_products import ROOM
from dpcheck.kernels.method import Array
from dpcheck.solver import approximate


@dataclass(frozen=True)
class NaiveGaussianCov(CovarianceSolver):
    """The mean outer product of records in the unit ball with symmetric Gaussian noise: its upper triangle.

    It is unbiased, and not positive semidefinite: `dpcheck.families.covariances.semidefinite` makes it so.
    """

    name: ClassVar[str] = "naive_gaussian_cov"
    printed: ClassVar[Claim] = theory.printed

    def release(self, data: Array, plan: None) -> Release:
        # privacy: dwang20.equation6.16.sensitivity, of the isometric triangle too, whose norm is the matrix's
        return theory.released.at(r_outer=1 + 2 * ROOM, n=len(data))

    def method(self, data: Array, plan: None, released: Released) -> MadeOf:
        return self.asking(data, float(released.parts[0].law.scale))

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        promised = approximate(guarantee)
        noise = self.printed.evaluate(eps=promised.eps, delta=promised.delta, n=len(data))
        return self.release(data, plan).with_noise(float(noise)), [self.printed]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [theory.sensitivity]
