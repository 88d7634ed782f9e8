"""The covariance under Gaussian noise. Claims: bounds/library/matrix/naive_gaussian_cov.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.library.matrix import naive_gaussian_cov as theory
from dpcheck.families.covariances import GaussianCovariance


@dataclass(frozen=True)
class NaiveGaussianCov(GaussianCovariance):
    """The mean outer product of records in the unit ball with symmetric Gaussian noise: its upper triangle.

    It is unbiased, and not positive semidefinite: `dpcheck.families.covariances.semidefinite` makes it so.
    """

    name: ClassVar[str] = "naive_gaussian_cov"
    printed: ClassVar[Claim] = theory.printed
