"""One user's noisy number, attacked. Claims: bounds/library/local/ldp_avg_1d.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solvers.local.ldp_avg_1d import LdpAvg1D


def attacked() -> tuple[Any, Any, Guarantee]:
    claimed = PureDP(1.0, relation=LOCAL)
    return LdpAvg1D().mechanism(claimed, "stated", transcript=True), LdpAvg1D().worst_pair(), claimed


CHECKS = {"dwang20.lemma5.1.1.privacy": [AuditCheck(attacked, "all reports seen; a user at b or at 0")]}
