"""Principal components from noisy outer products. Claims: bounds/library/local/ldp_pca_gauss.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.library.local import ldp_pca_gauss as theory
from dpcheck.families.outer_products import OuterProducts, leading
from dpcheck.kernels.method import Array


@dataclass(frozen=True)
class LdpPcaGauss(OuterProducts):
    """The k leading directions of users' vectors in the unit ball, from one noisy outer product of each."""

    name: ClassVar[str] = "ldp_pca_gauss"
    printed: ClassVar = theory.theorem2_privacy

    def directions(self, covariances: Array, users: int, deviation: float) -> Array:
        return leading(covariances, self.k)
