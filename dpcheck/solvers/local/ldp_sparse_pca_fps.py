"""Row-sparse principal components by Fantope projection and selection.

Claims: bounds/library/local/ldp_sparse_pca_fps.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.library.local import ldp_sparse_pca_fps as theory
from dpcheck.families.outer_products import OuterProducts, another_row, leading
from dpcheck.kernels.method import Array
from dpcheck.settings import count, positive
from dpcheck.solver import Example


@dataclass(frozen=True)
class LdpSparsePcaFps(OuterProducts):
    """The k leading directions with few features, by ADMM on the mean of noisy outer products.

    The penalty is by default the noise's part of dwang20.theorem6.1.4.corrected, √(6 log d) deviations of an entry;
    `coupling` is ADMM's ρ, by default twice the penalty.
    """

    penalty: float | None = positive(None)
    coupling: float | None = positive(None)
    steps: int = count(60)
    name: ClassVar[str] = "ldp_sparse_pca_fps"
    printed: ClassVar = theory.theorem4_privacy

    def directions(self, covariances: Array, users: int, deviation: float) -> Array:
        d = covariances.shape[1]
        penalty = self.penalty or deviation * math.sqrt(6 * math.log(max(d, 2)) / users)
        return leading(selected(covariances, self.k, penalty, self.coupling or 2 * penalty, self.steps), self.k)

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=1), neighbour=another_row)


def selected(S: Array, k: int, penalty: float, coupling: float, steps: int) -> Array:
    """The Y of ADMM for max ⟨S, X⟩ - penalty‖X‖₁₁ over the Fantope, for matrices (trials, d, d)."""
    Y, U = np.zeros_like(S), np.zeros_like(S)
    for _ in range(steps):
        X = onto_fantope(Y - U + S / coupling, k)
        Y = np.sign(X + U) * np.maximum(np.abs(X + U) - penalty / coupling, 0)
        U += X - Y
    return Y


def onto_fantope(matrices: Array, k: int) -> Array:
    """The nearest with eigenvalues in [0, 1] that sum to k: a common shift of the eigenvalues, clipped."""
    values, vectors = np.linalg.eigh(matrices)
    low, high = values.min(axis=1) - 1, values.max(axis=1)
    for _ in range(60):  # halving: the sum falls with the shift
        shift = (low + high) / 2
        over = np.clip(values - shift[:, None], 0, 1).sum(axis=1) > k
        low, high = np.where(over, shift, low), np.where(over, high, shift)
    kept = np.clip(values - ((low + high) / 2)[:, None], 0, 1)
    return np.asarray((vectors * kept[:, None, :]) @ vectors.transpose(0, 2, 1))
