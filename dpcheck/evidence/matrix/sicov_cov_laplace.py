"""Laplace noise on moments, attacked. Claims: bounds/library/matrix/sicov_cov_laplace.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import Guarantee, PureDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solvers.matrix.sicov_cov_laplace import SicovCovLaplace


def stated() -> tuple[Any, Any, Guarantee]:
    solver, claimed = SicovCovLaplace(), PureDP(1.0)
    return solver.mechanism(claimed, "stated", transcript=True), solver.worst_pair(), claimed


CHECKS = {
    "dwang20.theorem6.3.5.privacy": [AuditCheck(stated, "as published, d = 2, the worst pair", at={"n": 2, "d": 2})]
}
