"""The graphical lasso of n players, who make Wishart noise together.

Claims: bounds/library/matrix/sicov_distributed.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee, PureDP
from dpcheck.bounds.library.matrix import sicov_distributed as theory
from dpcheck.bounds.library.matrix.graphical_lasso import traces
from dpcheck.bounds.privacy.laws import Wishart
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport
from dpcheck.families.outer_products import upper_triangles
from dpcheck.families.precision_matrices import SHORT, WithWishart, printed_degrees
from dpcheck.kernels.method import Array, Method
from dpcheck.settings import not_negative, one_of
from dpcheck.solver import Calibration, approximate


@dataclass(frozen=True)
class SicovDistributed(WithWishart):
    """Algorithm 6.3.52. `seen` says by whom: the "sum" is what a trusted server lets out; the "messages" are what the
    server sees, and certified for nothing: a message tells its player's record up to a line in a plane.

    `colluding` players take their own noise off the sum: what is let out, and paid for, is what they are left with.
    """

    seen: str = one_of("sum", "messages")
    colluding: int = not_negative(0)
    name: ClassVar[str] = "sicov_distributed"

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        super().must_suit(data, guarantee, calibration)
        n = len(data)
        if int(self.colluding) != self.colluding or self.colluding >= n:
            raise InvalidInput("colluding", self.colluding, f"a whole number below n = {n}", "Leave one player out.")
        if calibration == "certified" and self.seen == "messages":
            limit = '"sum" for certified noise: a message has noise of rank one, and gives its record away'
            raise InvalidInput("seen", self.seen, limit, "Use sicov_ldp_gaussian where the server is not trusted.")
        if n > (most := self.plan(data, guarantee)):
            limit = f"at most m = {most}, so that the server has noise to add"
            raise InvalidInput("players", n, limit, "Use sicov_cov_wishart_approx.")

    def plan(self, data: Array, guarantee: Guarantee) -> int:
        """m: d + 1 for pure DP, as Theorem 6.3.4, else that of Theorem 6.3.6, and one more for each that colludes."""
        d, own = data.shape[1], int(self.colluding)
        return own + (d + 1 if isinstance(guarantee, PureDP) else printed_degrees(d, approximate(guarantee)))

    def release(self, data: Array, plan: int) -> Release:
        d = data.shape[1]
        if self.seen == "messages":
            return theory.of_message.at(n=len(data) / SHORT, d=d)
        law = Wishart(theory.of_sum.law.scale, plan - int(self.colluding), d)
        # privacy: dwang20.theorem6.3.4.sensitivity
        return replace(theory.of_sum, law=law).at(n=len(data) / SHORT)

    def method(self, data: Array, plan: int, released: Released) -> Method:
        if self.seen == "sum":
            return super().method(data, plan, released)
        n, d = data.shape
        each = d * (d + 1) // 2
        return OneReport(
            lambda rows: upper_triangles(rows) / n, lambda sent: self.solved(sent.sum(axis=1), d), n, each, each
        )

    def stated(self, data: Array, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        pure = isinstance(guarantee, PureDP)
        claim = theory.pure if pure else theory.server if self.seen == "messages" else theory.approx
        values = {"eps": guarantee.parameters["eps"]} if pure else {}
        return self.release(data, plan).with_noise(float(claim.evaluate(n=len(data), **values))), [claim]

    def certifying(self, data: Array, plan: int) -> Sequence[Claim]:
        return [traces, theory.approx]


def directions_of(message: Array) -> Array:
    """What a message tells whoever sees it: a basis of the plane in which its player's record lies, (d, 2)."""
    return np.asarray(np.linalg.eigh(message)[1][:, -2:])
