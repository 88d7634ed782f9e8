"""Principal components from noisy outer products. Claims: bounds/library/local/ldp_pca_gauss.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.families.outer_products import OuterProducts, leading


@dataclass(frozen=True)
class LocalPCA(OuterProducts):
    """The k leading directions of users' records in the unit ball, one noisy outer product of each."""

    name: ClassVar[str] = "ldp_pca_gauss"

    def components(self, covariances: np.ndarray, users: int, deviation: float) -> np.ndarray:
        return leading(covariances, self.k)
