"""The graphical lasso of users' noisy outer products. Claims: bounds/library/matrix/sicov_ldp_gaussian.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, Relation
from dpcheck.bounds.library.local.ldp_pca_gauss import sensitivity
from dpcheck.bounds.library.matrix import sicov_ldp_gaussian as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport
from dpcheck.families.outer_products import stands_for, upper_triangles
from dpcheck.families.precision_matrices import SHORT, PrecisionMatrix
from dpcheck.kernels.method import Array, Method
from dpcheck.settings import flag
from dpcheck.solver import approximate


@dataclass(frozen=True)
class SicovLdpGaussian(PrecisionMatrix):
    """Algorithm 6.3.53: each user sends the upper triangle of xxᵀ/n with noise, and the server adds them up.

    Where `isometric`, entries off the diagonal are sent √2 times as large, and get noise of half the variance.
    """

    isometric: bool = flag()
    name: ClassVar[str] = "sicov_ldp_gaussian"
    relations: ClassVar[tuple[Relation, ...]] = (LOCAL,)

    def release(self, data: Array, plan: None) -> Release:
        return theory.released.at(n=len(data) / SHORT)  # privacy: dwang20.algorithm6.1.46.sensitivity

    def method(self, data: Array, plan: None, released: Released) -> Method:
        users, d = data.shape
        weights = stands_for(d, self.isometric)
        return OneReport(
            lambda rows: upper_triangles(rows) * weights / users,
            lambda reports: self.solved(reports.sum(axis=1) / weights, d),
            users, len(weights), len(weights),
        )  # fmt: skip

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        promised = approximate(guarantee)
        noise = theory.privacy.evaluate(n=len(data), eps=promised.eps, delta=promised.delta)
        return self.release(data, plan).with_noise(float(noise)), [theory.privacy]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [sensitivity]
