"""Trigonometric reports, attacked. Claims: bounds/library/local/local_trig_smooth.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.library.local import local_trig_smooth as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.solver import Calibration
from dpcheck.solvers.local.local_trig_smooth import LocalTrigSmooth


def attacked(eps: float, calibration: Calibration) -> tuple[Any, Any, PureDP]:
    """Six frequencies, p = 1, by the density of the whole report."""
    solver, claimed = LocalTrigSmooth(degree=6), PureDP(eps, relation=LOCAL)
    return solver.mechanism(claimed, calibration, transcript=True), solver.worst_pair(), claimed


def movement(case: Mapping[str, Any]) -> tuple[float, float]:
    """The l1 distance of two users' features against the sensitivity that certified noise is for."""
    rng, p = np.random.default_rng(int(case["seed"])), int(case["p"])
    solver = LocalTrigSmooth(degree=int(case["t"]))
    pair = [rng.choice([-1.0, 1.0, rng.uniform(-1, 1)], (1, p)) for _ in range(2)]
    gap = np.abs(solver.features(pair[0]) - solver.features(pair[1])).sum()
    return float(gap), float(theory.released.at(trig_t=solver.degree, d=p).sensitivity)


AT = {"trig_t": 6.0, "d": 1.0}
CHECKS = {
    "dwang20.theorem5.1.11.privacy": [
        AuditCheck(lambda: attacked(4.0, "stated"), "as printed, t = 6: all features seen", trials=1_000_000, at=AT)
    ],
    "dwang20.theorem5.1.11.privacy.corrected": [
        AuditCheck(lambda: attacked(1.0, "certified"), "certified, t = 6: all features seen", at=AT),
        Property(movement, {"seed": (0, 10_000), "t": (2, 9), "p": (1, 3)}, "corners and random records"),
    ],
}
