"""The graphical lasso on second moments with Gaussian noise. Claims: bounds/library/matrix/sicov_cov_gaussian.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.matrix import sicov_cov_gaussian as theory
from dpcheck.bounds.library.matrix.graphical_lasso import least_moments
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.outer_products import stands_for
from dpcheck.families.precision_matrices import SHORT, NoisyMatrix, PrecisionMatrix, moments
from dpcheck.kernels.method import Array
from dpcheck.settings import flag
from dpcheck.solver import approximate


@dataclass(frozen=True)
class SicovCovGaussian(PrecisionMatrix):
    """Algorithm 6.3.51 with Gaussian noise: each entry of the upper triangle of Σxxᵀ/n gets its own.

    Where `isometric`, entries off the diagonal get noise of half the variance: with them √2 times as large a record
    moves the triangle by √2/n all the same.
    """

    isometric: bool = flag()
    name: ClassVar[str] = "sicov_cov_gaussian"

    def release(self, data: Array, plan: None) -> Release:
        return theory.released.at(n=len(data) / SHORT)  # privacy: dwang20.equation6.98.moments.least

    def method(self, data: Array, plan: None, released: Released) -> NoisyMatrix:
        weights = stands_for(data.shape[1], self.isometric)
        return NoisyMatrix(
            lambda rows: moments(rows) * weights, len(weights), noise=float(released.parts[0].law.scale),
            made=lambda triangles: self.solved(triangles / weights, data.shape[1]),
        )  # fmt: skip

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        promised = approximate(guarantee)
        noise = theory.privacy.evaluate(n=len(data), eps=promised.eps, delta=promised.delta)
        return self.release(data, plan).with_noise(float(noise)), [theory.privacy]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [least_moments]
