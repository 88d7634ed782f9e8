"""Wishart noise of d + 1 degrees, attacked. Claims: bounds/library/matrix/sicov_cov_wishart_pure.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solvers.matrix.sicov_cov_wishart_pure import SicovCovWishartPure

SOLVER = SicovCovWishartPure()


def stated() -> tuple[Any, Any, Guarantee]:
    return SOLVER.mechanism(PureDP(1.0), "stated", transcript=True), SOLVER.worst_pair(), PureDP(1.0)


def certified() -> tuple[Any, Any, Guarantee]:
    claimed = ApproxDP(1.0, 1e-2)
    return SOLVER.mechanism(claimed, transcript=True), SOLVER.worst_pair(), claimed


CHECKS = {
    "dwang20.theorem6.3.4.privacy": [AuditCheck(stated, "as published; a record at 0 or e₁", at={"n": 2})],
    "dwang20.theorem6.3.4.privacy.corrected": [AuditCheck(certified, "certified noise; at 0 or e₁", at={"n": 2})],
}
