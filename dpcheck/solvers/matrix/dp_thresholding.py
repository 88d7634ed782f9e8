"""DP-Thresholding for sparse covariances. Claims: bounds/library/matrix/dp_thresholding.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.library.matrix import dp_thresholding as theory
from dpcheck.families.covariances import CLEAR, GaussianCovariance, threshold, thresholded
from dpcheck.families.outer_products import another_row
from dpcheck.kernels.method import Array
from dpcheck.settings import positive
from dpcheck.solver import Example


@dataclass(frozen=True)
class DpThresholding(GaussianCovariance):
    """A sparse covariance: small entries of the noisy one become 0, then negative eigenvalues do.

    `gamma` is γ of Lemma 6.2.2, public; 2 is right for all records in the unit ball, and large for most: see the page
    on covariances.
    """

    gamma: float = positive(2.0)
    name: ClassVar[str] = "dp_thresholding"
    printed: ClassVar[Claim] = theory.theorem1

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), data=CLEAR, neighbour=another_row)

    def made(self, covariances: Array, records: int, deviation: float) -> Array:
        return thresholded(covariances, threshold(self.gamma, records, covariances.shape[1], deviation))
