"""The public names and where they live: for type checkers, and read by `__init__` to bring each on first use."""

from . import adapters, audits, bounds, datasets, estimators, local, solvers, strategies, testing
from .audits import (
    AuditResult,
    Canaries,
    MechanismFailed,
    Neighbours,
    NotSendable,
    TrainingAudit,
    WorkerLost,
    add_remove,
    audit,
    audit_training,
    group,
    label_only,
    likelihood_ratio,
    one_user,
    per_run,
    queries,
    replace_one,
    transcript,
)
from .bounds.language.claim import Claim, Evidence, Verdict
from .bounds.language.errors import (
    DpcheckError,
    HypothesisViolated,
    InvalidInput,
    MissingDependency,
    MixedRelations,
    UnknownName,
)
from .bounds.language.guarantees import (
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
from .bounds.performance import worst_case
from .bounds.relations.solving import Best, Solved, best
from .families.robust_means import robust_mean
from .problems.constraints import Box, L1Ball, L2Ball, LqBall, Simplex, WholeSpace
from .problems.losses import Huber, Linear, Logistic, Sigmoid, SmoothedHinge, Squared
from .problems.problem import Problem
from .problems.softmax import Softmax, softmax_problem
from .report.audit_page import audit_page
from .solver import Example, Mechanism, Solution, Solver
from .testing.assertions import PrivacyViolation, Unhealthy, assert_private, private
from .testing.conformance import Conformance, NotConforming, check_solver
from .theory.account import NoisyRelease, Spending, account
from .theory.comparison import Comparison, compare
from .theory.measurement import Measurement, measure
from .theory.need import Needs, need
from .theory.ranking import Ranking, rank

__version__: str

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
    "Canaries",
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
    "TrainingAudit",
    "Unhealthy",
    "UnknownName",
    "Verdict",
    "WholeSpace",
    "WorkerLost",
    "account",
    "adapters",
    "add_remove",
    "assert_private",
    "audit",
    "audit_page",
    "audit_training",
    "audits",
    "best",
    "bounds",
    "check_solver",
    "compare",
    "compose",
    "datasets",
    "estimators",
    "group",
    "label_only",
    "likelihood_ratio",
    "local",
    "measure",
    "need",
    "one_user",
    "per_run",
    "private",
    "queries",
    "rank",
    "replace_one",
    "robust_mean",
    "softmax_problem",
    "solvers",
    "strategies",
    "testing",
    "transcript",
    "worst_case",
]
