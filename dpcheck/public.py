"""The public names, gathered from the three rooms; `import dpcheck` brings each on first use.

Kept apart from `__init__` so that a test run which only loads the pytest plugin pays for none of it.
"""

from __future__ import annotations

from audits import (
    AuditResult,
    MechanismFailed,
    Neighbours,
    NotSendable,
    WorkerLost,
    add_remove,
    audit,
    group,
    label_only,
    likelihood_ratio,
    local,
    per_run,
    queries,
    replace_one,
    transcript,
)
from bounds import worst_case
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
from bounds.solving import Best, Solved, best
from dpcheck.comparison import Comparison, compare
from dpcheck.constraints import Box, L1Ball, L2Ball, LqBall, Simplex, WholeSpace
from dpcheck.lookup import bounds
from dpcheck.losses import Huber, Linear, Logistic, Sigmoid, SmoothedHinge, Squared
from dpcheck.measurement import Measurement, measure
from dpcheck.problems import Problem
from dpcheck.softmax import Softmax, softmax_problem
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
    "Best",
    "Box",
    "Claim",
    "Comparison",
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
    "LqBall",
    "Measurement",
    "Mechanism",
    "MechanismFailed",
    "MissingDependency",
    "MixedRelations",
    "Neighbours",
    "NotSendable",
    "PrivacyViolation",
    "Problem",
    "PureDP",
    "Relation",
    "RenyiDP",
    "Sigmoid",
    "Simplex",
    "SmoothedHinge",
    "Softmax",
    "Solution",
    "Solved",
    "Solver",
    "Squared",
    "Unhealthy",
    "UnknownName",
    "Verdict",
    "WholeSpace",
    "WorkerLost",
    "add_remove",
    "assert_private",
    "audit",
    "best",
    "bounds",
    "compare",
    "compose",
    "group",
    "label_only",
    "likelihood_ratio",
    "local",
    "measure",
    "per_run",
    "private",
    "queries",
    "replace_one",
    "softmax_problem",
    "transcript",
    "worst_case",
]
