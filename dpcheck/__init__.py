"""dpcheck: what a theorem on private learning says, what the code does, what an attacker sees.

This is the public face; it re-exports what users need from `bounds` and `audits`.
"""

from __future__ import annotations

from typing import Any

from audits import AuditResult, Neighbours, add_remove, audit, group, label_only, local, per_run, replace_one
from bounds.claim import Claim, Evidence, Verdict
from bounds.errors import (
    DpcheckError,
    HypothesisViolated,
    InvalidInput,
    MissingDependency,
    MixedRelations,
    UnknownName,
)
from bounds.guarantees import (
    ADD_REMOVE,
    LABEL_ONLY,
    LOCAL,
    REPLACE_ONE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    Relation,
    RenyiDP,
    compose,
)
from bounds.registry import library as bounds
from dpcheck.constraints import Box, L1Ball, L2Ball, Simplex, WholeSpace
from dpcheck.losses import Huber, Linear, Logistic, Sigmoid, SmoothedHinge, Squared
from dpcheck.problems import Problem
from dpcheck.solver import Mechanism, Solution, Solver

__version__ = "0.1.0"

__all__ = [
    "ADD_REMOVE",
    "LABEL_ONLY",
    "LOCAL",
    "REPLACE_ONE",
    "ZCDP",
    "ApproxDP",
    "AuditResult",
    "Box",
    "Claim",
    "DpcheckError",
    "Evidence",
    "GaussianDP",
    "Guarantee",
    "Huber",
    "HypothesisViolated",
    "InvalidInput",
    "L1Ball",
    "L2Ball",
    "Linear",
    "Logistic",
    "Mechanism",
    "MissingDependency",
    "MixedRelations",
    "Neighbours",
    "Problem",
    "PureDP",
    "Relation",
    "RenyiDP",
    "Sigmoid",
    "Simplex",
    "SmoothedHinge",
    "Solution",
    "Solver",
    "Squared",
    "UnknownName",
    "Verdict",
    "WholeSpace",
    "add_remove",
    "audit",
    "bounds",
    "compose",
    "group",
    "label_only",
    "local",
    "per_run",
    "replace_one",
    "solvers",
]


def __getattr__(name: str) -> Any:
    """`dpcheck.solvers.OutputPerturbationGD`: found on first use, so that `import dpcheck` stays quick."""
    if name == "solvers":
        import importlib

        return importlib.import_module("dpcheck.solvers")
    raise AttributeError(f"module 'dpcheck' has no attribute {name!r}")
