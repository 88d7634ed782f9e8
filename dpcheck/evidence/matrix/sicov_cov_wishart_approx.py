"""Wishart noise of many degrees, attacked. Claims: bounds/library/matrix/sicov_cov_wishart_approx.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solvers.matrix.sicov_cov_wishart_approx import SicovCovWishartApprox


def stated() -> tuple[Any, Any, Guarantee]:
    solver, claimed = SicovCovWishartApprox(), ApproxDP(0.9, 1e-2)
    return solver.mechanism(claimed, "stated", transcript=True), solver.worst_pair(), claimed


CHECKS = {"dwang20.theorem6.3.6.privacy": [AuditCheck(stated, "as published, d = 2; from e₁ to e₂", at={"n": 2})]}
