"""Wishart noise on the solution, attacked. Claims: bounds/library/matrix/sicov_output_wishart.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solvers.matrix.sicov_output_wishart import SicovOutputWishart

SOLVER = SicovOutputWishart(rho=1.0)
PAIR = np.zeros((2, 1)), np.array([[1.0], [0.0]])


def stated() -> tuple[Any, Any, Guarantee]:
    return SOLVER.mechanism(PureDP(1.0), "stated"), PAIR, PureDP(1.0)


def certified() -> tuple[Any, Any, Guarantee]:
    return SOLVER.mechanism(ApproxDP(1.0, 1e-2)), PAIR, ApproxDP(1.0, 1e-2)


AT = {"n": 2, "d": 1, "rho_glasso": 1.0}
CHECKS = {
    "dwang20.theorem6.3.1": [AuditCheck(stated, "as published; two numbers, both 0 or one of them 1", at=AT)],
    "dwang20.theorem6.3.1.corrected": [AuditCheck(certified, "certified noise; two numbers", at=AT)],
}
