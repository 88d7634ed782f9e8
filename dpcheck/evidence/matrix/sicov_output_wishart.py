"""Wishart noise on the solution, attacked. Claims: bounds/library/matrix/sicov_output_wishart.py."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solvers.matrix.sicov_output_wishart import SicovOutputWishart

SOLVER = SicovOutputWishart(rho=10.0)
PAIR = np.zeros((2, 2)), np.array([[1.0, 0.0], [0.0, 0.0]])


def stated() -> tuple[Any, Any, Guarantee]:
    return SOLVER.mechanism(PureDP(1.0), "stated", transcript=True), PAIR, PureDP(1.0)


def certified() -> tuple[Any, Any, Guarantee]:
    return SOLVER.mechanism(ApproxDP(1.0, 1e-2), transcript=True), PAIR, ApproxDP(1.0, 1e-2)


AT = {"n": 2, "d": 2, "rho_glasso": 10.0}
attack = partial(AuditCheck, trials=20_000)
CHECKS = {
    "dwang20.theorem6.3.1": [attack(stated, "as published; d = 2, both records 0 or one of them e₁", at=AT)],
    "dwang20.theorem6.3.1.corrected": [attack(certified, "certified noise; the same two", at=AT)],
}
