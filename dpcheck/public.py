"""The public names, gathered from the three rooms; `import dpcheck` brings each on first use.

Kept apart from `__init__` so that a test run which only loads the pytest plugin pays for none of it.
"""

from __future__ import annotations

from dpcheck.audits import (
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
    one_user,
    per_run,
    queries,
    replace_one,
    transcript,
)
from dpcheck.bounds.language.claim import Claim, Evidence, Verdict
from dpcheck.bounds.language.errors import (
    DpcheckError,
    HypothesisViolated,
    InvalidInput,
    MissingDependency,
    MixedRelations,
    UnknownName,
)
from dpcheck.bounds.language.guarantees import (
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
from dpcheck.bounds.performance import worst_case
from dpcheck.bounds.relations.solving import Best, Solved, best
from dpcheck.problems.constraints import Box, L1Ball, L2Ball, LqBall, Simplex, WholeSpace
from dpcheck.problems.losses import Huber, Linear, Logistic, Sigmoid, SmoothedHinge, Squared
from dpcheck.problems.problem import Problem
from dpcheck.problems.softmax import Softmax, softmax_problem
from dpcheck.report.audit_page import audit_page
from dpcheck.solver import Example, Mechanism, Solution, Solver
from dpcheck.testing.assertions import PrivacyViolation, Unhealthy, assert_private, private
from dpcheck.testing.conformance import Conformance, NotConforming, check_solver
from dpcheck.theory.account import NoisyRelease, Spending, account
from dpcheck.theory.comparison import Comparison, compare
from dpcheck.theory.measurement import Measurement, measure
from dpcheck.theory.need import Needs, need
from dpcheck.theory.ranking import Ranking, rank

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
    "Conformance",
    "DpcheckError",
    "Evidence",
    "Example",
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
    "Needs",
    "Neighbours",
    "NoisyRelease",
    "NotConforming",
    "NotSendable",
    "PrivacyViolation",
    "Problem",
    "PureDP",
    "Ranking",
    "Relation",
    "RenyiDP",
    "Sigmoid",
    "Simplex",
    "SmoothedHinge",
    "Softmax",
    "Solution",
    "Solved",
    "Solver",
    "Spending",
    "Squared",
    "Unhealthy",
    "UnknownName",
    "Verdict",
    "WholeSpace",
    "WorkerLost",
    "account",
    "add_remove",
    "assert_private",
    "audit",
    "audit_page",
    "best",
    "check_solver",
    "compare",
    "compose",
    "group",
    "label_only",
    "likelihood_ratio",
    "measure",
    "need",
    "one_user",
    "per_run",
    "private",
    "queries",
    "rank",
    "replace_one",
    "softmax_problem",
    "transcript",
    "worst_case",
]
