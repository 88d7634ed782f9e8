"""The graphical lasso with Wishart noise on its solution. Claims: bounds/library/matrix/sicov_output_wishart.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.matrix import sicov_output_wishart as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.outer_products import another_row
from dpcheck.families.precision_matrices import NoisyMatrix, PrecisionMatrix, distance_bound, moments, precisions
from dpcheck.kernels.method import Array
from dpcheck.kernels.wishart import packed, unpacked
from dpcheck.solver import Example

SPARE = 0.01  # of the sensitivity, for how exactly Θ* is computed


@dataclass(frozen=True)
class SicovOutputWishart(PrecisionMatrix):
    """Algorithm 6.3.50: Θ* + N. Published as pure DP, which no scale of this noise gives: certified, it takes ApproxDP.

    The solution itself is released, so that `repair` has nothing to do; that scikit-learn found it is checked by its
    duality gap, and refused where it is too far from the minimiser for the noise.
    """

    name: ClassVar[str] = "sicov_output_wishart"

    def release(self, data: Array, plan: None) -> Release:
        n, d = data.shape
        # privacy: dwang20.equation6.99, dwang20.lemma6.3.5.upper
        return theory.released.at(n=n / (1 + SPARE), d=d, rho_glasso=self.rho)

    def method(self, data: Array, plan: None, released: Released) -> NoisyMatrix:
        d = data.shape[1]
        room = SPARE / 3 * float(self.release(data, plan).sensitivity) / d**0.5
        return NoisyMatrix(
            lambda rows: exact_solution(rows, self.rho, room), d * (d + 1) // 2,
            noise=float(released.parts[0].law.scale),
        )  # fmt: skip

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        n, d = data.shape
        noise = theory.privacy.evaluate(n=n, d=d, rho_glasso=self.rho, eps=guarantee.parameters["eps"])
        return self.release(data, plan).with_noise(float(noise)), [theory.privacy]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [theory.corrected]

    def worst_pair(self) -> tuple[Array, Array]:
        """One number, 0 or 1."""
        return np.array([[0.0]]), np.array([[1.0]])

    @classmethod
    def example(cls) -> Example:
        """The bound d/ρ on Θ* is far from what records reach; with a large penalty less so."""
        return Example(cls(rho=10.0), neighbour=another_row, reaches=0.5, bug=0.1)


def exact_solution(rows: Array, rho: float, room: float) -> Array:
    """The upper triangle of Θ*, within `room` of it."""
    matrix = unpacked(moments(rows)[None], rows.shape[1])
    for gap in (1e-6, 1e-9, 1e-12):
        theta = precisions(matrix, rho, gap)
        if distance_bound(matrix[0], theta[0], rho) <= room:
            return packed(theta)[0]
    limit = "one at which scikit-learn's solution is exact enough for the noise"
    raise InvalidInput("rho", rho, limit, "Raise it, or add noise to the moments (sicov_cov_*).")
