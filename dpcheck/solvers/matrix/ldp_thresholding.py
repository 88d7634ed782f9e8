"""LDP-Thresholding for sparse covariances. Claims: bounds/library/matrix/ldp_thresholding.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.library.matrix import ldp_thresholding as theory
from dpcheck.families.covariances import CLEAR, threshold, thresholded, triangles_of
from dpcheck.families.outer_products import SentOuterProducts, another_row
from dpcheck.kernels.method import Array
from dpcheck.settings import positive
from dpcheck.solver import Example


@dataclass(frozen=True)
class LdpThresholding(SentOuterProducts):
    """A sparse covariance from one noisy outer product of each user: its upper triangle; `gamma` as centrally."""

    gamma: float = positive(2.0)
    name: ClassVar[str] = "ldp_thresholding"
    printed: ClassVar[Claim] = theory.algorithm49

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), data=np.repeat(CLEAR, 30, axis=0), neighbour=another_row)

    def made(self, covariances: Array, users: int, deviation: float) -> Array:
        at = threshold(self.gamma, users, covariances.shape[1], deviation / math.sqrt(users))
        return triangles_of(thresholded(covariances, at))

    def outputs(self, d: int) -> int:
        return d * (d + 1) // 2
