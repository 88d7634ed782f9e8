"""What runs of the Laplace mechanism show. Claims: bounds/library/mechanisms/laplace.py."""

from __future__ import annotations

from typing import Any

from dpcheck.bounds.language.guarantees import Guarantee, PureDP
from dpcheck.evidence.checks import AuditCheck
from dpcheck.problems.problem import Problem
from dpcheck.solvers.mechanisms.laplace import LaplaceMechanism


def attacked(eps: float = 1.0) -> tuple[Any, tuple[Problem, Problem], Guarantee]:
    solver, promised = LaplaceMechanism(), PureDP(eps)
    return solver.mechanism(promised), solver.worst_pair(), promised


CHECKS = {"dwang20.definition2.1.2": [AuditCheck(attacked, "the mean of rows in three dimensions")]}
