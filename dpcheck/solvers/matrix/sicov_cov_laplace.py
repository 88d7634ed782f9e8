"""The graphical lasso on second moments with Laplace noise. Claims: bounds/library/matrix/sicov_cov_laplace.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.matrix import sicov_cov_laplace as theory
from dpcheck.bounds.library.matrix.graphical_lasso import triangle_sensitivity
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.precision_matrices import SHORT, NoisyMatrix, PrecisionMatrix, exact_moments
from dpcheck.families.user_numbers import must_be_pure
from dpcheck.kernels.method import ROUNDED, Array
from dpcheck.solver import Calibration


@dataclass(frozen=True)
class SicovCovLaplace(PrecisionMatrix):
    """Algorithm 6.3.51 with Laplace noise, right as printed, and with 1.4 to 2.8 times more of it than it takes.

    On a public grid, far finer than the noise, moments and noise are whole numbers, and the law of the sum is exact.
    """

    name: ClassVar[str] = "sicov_cov_laplace"

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        super().must_suit(data, guarantee, calibration)
        must_be_pure(guarantee)

    def release(self, data: Array, plan: None) -> Release:
        d = data.shape[1]
        exactly = theory.released.at(n=len(data), d=d)  # privacy: dwang20.theorem6.3.5.sensitivity
        rounding = ROUNDED * d * (d + 1) / 2 * lattice_of(data)
        return replace(exactly, sensitivity=float(exactly.sensitivity) * SHORT + rounding)

    def method(self, data: Array, plan: None, released: Released) -> NoisyMatrix:
        d = data.shape[1]
        return NoisyMatrix(
            exact_moments, d * (d + 1) // 2, lattice=lattice_of(data), made=lambda found: self.solved(found, d)
        )

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        n, d = data.shape
        noise = theory.privacy.evaluate(n=n, d=d, eps=guarantee.parameters["eps"])
        return self.release(data, plan).with_noise(float(noise)), [theory.privacy]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [triangle_sensitivity]

    def worst_pair(self) -> tuple[Array, Array]:
        """Two vectors at a right angle, at which the diagonal moves twice as much as what is off it."""
        angle = math.atan(0.5) / 2
        x, y = math.cos(angle), math.sin(angle)
        return as_rows(x, y), as_rows(-y, x)


def as_rows(x: float, y: float) -> Array:
    """Two records, the second of them 0."""

    return np.array([[x, y], [0.0, 0.0]])


def lattice_of(data: Array) -> float:
    """A power of two, 2^-30 of an entry's sensitivity or less; coarser where moments have fewer digits."""
    n, d = data.shape
    finest = max(float(triangle_sensitivity.evaluate(n=n, d=d)) / (d * (d + 1) / 2) * 2.0**-30, 2.0**-50)
    return math.ldexp(1.0, math.frexp(finest)[1])
