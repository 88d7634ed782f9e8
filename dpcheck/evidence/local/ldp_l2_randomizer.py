"""Reports on half spheres, attacked and averaged. Claims: bounds/library/local/ldp_l2_randomizer.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck import local
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.solvers.local.ldp_l2_randomizer import LdpL2Randomizer


def attacked() -> tuple[Any, Any, Guarantee]:
    claimed = PureDP(1.0, relation=LOCAL)
    return LdpL2Randomizer().mechanism(claimed, "stated", transcript=True), LdpL2Randomizer().worst_pair(), claimed


def largest_loss(case: Mapping[str, Any]) -> tuple[float, float]:
    """The exact loss of any two records of the ball: directions, lengths and dimension are searched."""
    rng = np.random.default_rng(case["seed"])
    one = local.L2Ball(case["eps"], case["d"])
    rows = rng.standard_normal((2, case["d"]))
    rows[1] = np.where(case["turned"] == 1, -rows[0], rows[1])
    rows *= (np.array([case["first"], case["second"]]) / np.linalg.norm(rows, axis=1))[:, None]
    return one.loss(*rows), one.eps


CASES = {"seed": (0, 1000), "d": (1, 30), "eps": (0.01, 8.0), "first": (0.001, 1.0), "second": (0.001, 1.0)}
CHECKS = {
    "dwang20.equation5.75.privacy": [
        AuditCheck(attacked, "all reports seen; a user at x or at -x"),
        Property(largest_loss, {**CASES, "turned": (0, 1)}, "the exact loss between any two records of the ball"),
    ],
}
