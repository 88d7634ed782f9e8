"""Losses at every grid point, attacked. Claims: bounds/library/local/local_bernstein.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solvers.local.local_bernstein import LocalBernstein


def attacked() -> tuple[Any, Any, Guarantee]:
    solver, claimed = LocalBernstein(cells=2), PureDP(1.0, relation=LOCAL)
    return solver.mechanism(claimed, "stated", transcript=True), solver.worst_pair(), claimed


CHECKS = {
    "dwang20.theorem5.1.2.privacy": [
        AuditCheck(attacked, "all reports seen, k = 2; a loss of 0 or of 1 everywhere", at={"grid_k": 2.0, "d": 1.0})
    ]
}
