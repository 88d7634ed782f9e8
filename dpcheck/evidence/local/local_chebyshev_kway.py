"""Noisy coefficients, attacked. Claims: bounds/library/local/local_chebyshev_kway.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.solvers.local.local_chebyshev_kway import LocalChebyshevKway


def attacked() -> tuple[Any, Any, Guarantee]:
    solver, claimed = LocalChebyshevKway(), PureDP(1.0, relation=LOCAL)
    return solver.mechanism(claimed, "stated", transcript=True), solver.worst_pair(), claimed


def movement(case: Mapping[str, Any]) -> tuple[float, float]:
    """The l1 distance of the coefficients of any two records, against that of none and all of the attributes."""
    rng, p = np.random.default_rng(int(case["seed"])), int(case["p"])
    solver = LocalChebyshevKway(attributes=int(case["disjunct_k"]))
    first, second = rng.integers(0, 2, (2, 1, p)).astype(float)
    gap = np.abs(solver.reported(first) - solver.reported(second)).sum()
    return float(gap), float(solver.release(first, None).sensitivity)


CHECKS = {
    "dwang20.theorem5.1.10.privacy": [AuditCheck(attacked, "all coefficients seen; no attribute, or all")],
    "dwang20.theorem5.1.10.exact": [
        Property(movement, {"seed": (0, 10_000), "p": (1, 5), "disjunct_k": (2, 6)}, "any two records")
    ],
}
