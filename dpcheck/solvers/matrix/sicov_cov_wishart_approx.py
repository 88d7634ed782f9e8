"""The graphical lasso on second moments with Wishart noise of many degrees of freedom.

Claims: bounds/library/matrix/sicov_cov_wishart_approx.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.matrix import sicov_cov_wishart_approx as theory
from dpcheck.bounds.library.matrix.graphical_lasso import traces
from dpcheck.bounds.privacy.laws import Wishart
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.precision_matrices import SHORT, WithWishart, printed_degrees
from dpcheck.kernels.method import Array
from dpcheck.solver import approximate, must_meet


@dataclass(frozen=True)
class SicovCovWishartApprox(WithWishart):
    """Algorithm 6.3.51 as Theorem 6.3.6 has it: the printed m, rounded up; certified, with the least scale for it."""

    name: ClassVar[str] = "sicov_cov_wishart_approx"

    def plan(self, data: Array, guarantee: Guarantee) -> int:
        return printed_degrees(data.shape[1], approximate(guarantee))

    def release(self, data: Array, plan: int) -> Release:
        law = Wishart(theory.scale, plan, data.shape[1])
        # privacy: dwang20.theorem6.3.4.sensitivity
        return replace(theory.released, law=law).at(n=len(data) / SHORT)

    def stated(self, data: Array, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        promised = approximate(guarantee)
        must_meet(theory.privacy, data, eps=promised.eps, delta=promised.delta)
        noise = theory.privacy.evaluate(n=len(data))
        return self.release(data, plan).with_noise(float(noise)), [theory.privacy]

    def certifying(self, data: Array, plan: int) -> Sequence[Claim]:
        return [traces]
