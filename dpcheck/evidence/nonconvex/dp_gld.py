"""What runs of DP-GLD show. Claims: bounds/library/nonconvex/dp_gld.py; of the diffusion, langevin.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_gld as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.nonconvex.langevin import RISKS, paths, random_risk
from dpcheck.evidence.property_checks import Property
from dpcheck.solvers.nonconvex.dp_gld import DPGLD


def moments(case: Mapping[str, Any]) -> tuple[float, float]:
    """The largest E w² along chains, five deviations down, against Theorem 4.2.7 for m = 1."""
    problem, heat, eta = random_risk(case), case["heat"], case["share"] / (4 * case["ridge"])
    squares = paths(problem, heat, eta, 60, int(case["seed"]), case["start"], 500) ** 2
    least = squares.mean(axis=1) - 5 * squares.std(axis=1) / math.sqrt(500)
    values = {"L": problem.data_lipschitz, "ridge": problem.l2, "d": 1, "heat": heat, "start_w": case["start"] ** 2}
    return float(least.max()), float(theory.theorem7.evaluate(**values))


def attacked() -> tuple[Any, Any, ApproxDP]:
    solver, claimed = DPGLD(steps=8, heat=1.0), ApproxDP(1.0, 1e-2)
    return solver.mechanism(claimed, "stated"), solver.worst_pair(), claimed


CHECKS = {
    "dwang20.theorem4.2.7": [Property(
        moments, {**RISKS, "share": (0.05, 1.0), "start": (0.01, 20.0)}, "500 chains of 60 steps", examples=20)],
    "dwang20.theorem4.2.1.corrected": [AuditCheck(attacked, "linear losses, the last iterate", at={"T": 8, "n": 5})],
}  # fmt: skip
