"""The graphical lasso on second moments with Wishart noise, m = d + 1.

Claims: bounds/library/matrix/sicov_cov_wishart_pure.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.matrix import sicov_cov_wishart_pure as theory
from dpcheck.bounds.library.matrix.graphical_lasso import traces
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.precision_matrices import SHORT, WithWishart
from dpcheck.kernels.method import Array
from dpcheck.solver import Example


@dataclass(frozen=True)
class SicovCovWishartPure(WithWishart):
    """Algorithm 6.3.51 as Theorem 6.3.4 has it. Published as pure DP, which no scale of this noise gives: certified, it
    takes ApproxDP, and noise for delta alone, about 1/(2nδ).
    """

    name: ClassVar[str] = "sicov_cov_wishart_pure"

    def release(self, data: Array, plan: None) -> Release:
        # privacy: dwang20.theorem6.3.4.sensitivity
        return theory.released.at(n=len(data) / SHORT, d=data.shape[1])

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        noise = theory.privacy.evaluate(n=len(data), eps=guarantee.parameters["eps"])
        return self.release(data, plan).with_noise(float(noise)), [theory.privacy]

    def worst_pair(self) -> tuple[Array, Array]:
        """A record is 0, or a unit vector: what is taken off at the same time would widen the cone again."""
        return np.zeros((2, 2)), np.array([[1.0, 0.0], [0.0, 0.0]])

    @classmethod
    def example(cls) -> Example:
        """δ alone grows as noise falls, from 1e-2 to 4e-2 with a quarter of it."""
        return replace(super().example(), bug=0.25)

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [traces]
