"""Wishart noise of d + 1 degrees, attacked. Claims: bounds/library/matrix/sicov_cov_wishart_pure.py."""

from __future__ import annotations

from functools import partial
from typing import Any

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solvers.matrix.sicov_cov_wishart_pure import SicovCovWishartPure

SOLVER = SicovCovWishartPure(rho=1e3)
TOLD = "Θ̂⁻¹ has S̃_ii + ρ on its diagonal, so that solving does not hide what the noise shows"


def stated() -> tuple[Any, Any, Guarantee]:
    return SOLVER.mechanism(PureDP(1.0), "stated", transcript=True), SOLVER.worst_pair(), PureDP(1.0)


def solution() -> tuple[Any, Any, Guarantee]:
    return SOLVER.mechanism(PureDP(1.0), "stated"), SOLVER.worst_pair(), PureDP(1.0)


def certified() -> tuple[Any, Any, Guarantee]:
    claimed = ApproxDP(1.0, 1e-2)
    return SOLVER.mechanism(claimed, transcript=True), SOLVER.worst_pair(), claimed


attack = partial(AuditCheck, trials=20_000)
CHECKS = {
    "dwang20.theorem6.3.4.privacy": [
        attack(stated, "as published; a record at 0 or e₁", at={"n": 2}),
        attack(solution, f"of Θ̂ alone; {TOLD}", at={"n": 2}),
    ],
    "dwang20.theorem6.3.4.privacy.corrected": [attack(certified, "certified noise; at 0 or e₁", at={"n": 2})],
}
