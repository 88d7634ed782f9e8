"""One user's noisy coordinate, attacked. Claims: bounds/library/local/ldp_avg_multidim.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solvers.local.ldp_avg_multidim import LdpAvgMultidim


def attacked() -> tuple[Any, Any, Guarantee]:
    claimed = PureDP(1.0, relation=LOCAL)
    return LdpAvgMultidim().mechanism(claimed, "stated", transcript=True), LdpAvgMultidim().worst_pair(), claimed


CHECKS = {"dwang20.lemma5.1.6.privacy": [AuditCheck(attacked, "groups and reports seen; a user at b or at 0")]}
