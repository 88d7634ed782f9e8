"""The public names, gathered from the three rooms; `import dpcheck` brings each on first use.

Kept apart from `__init__` so that a test run which only loads the pytest plugin pays for none of it.
"""

from __future__ import annotations

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
from dpcheck.testing import PrivacyViolation, Unhealthy, assert_private, private

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
    "PrivacyViolation",
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
    "Unhealthy",
    "UnknownName",
    "Verdict",
    "WholeSpace",
    "add_remove",
    "assert_private",
    "audit",
    "bounds",
    "compose",
    "group",
    "label_only",
    "local",
    "per_run",
    "private",
    "replace_one",
]
