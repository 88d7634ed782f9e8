"""What an attacker sees: statistics on neighbouring datasets.

`audit` attacks a mechanism and bounds its epsilon from below, `audit_training` does so from one run of a training with
canaries; everything else here serves them.
"""

from dpcheck.audits.audit import audit
from dpcheck.audits.outputs.returned import PerRun, per_run
from dpcheck.audits.pairs.domains import Domain
from dpcheck.audits.pairs.neighbours import (
    Neighbours,
    add_remove,
    drawn_by,
    group,
    label_only,
    one_attribute,
    one_user,
    replace_one,
)
from dpcheck.audits.pairs.query_answers import queries
from dpcheck.audits.past import Past
from dpcheck.audits.result import AuditResult, Curve, Event
from dpcheck.audits.same_noise.over_pairs import replay
from dpcheck.audits.same_noise.result import Replayed
from dpcheck.audits.scores.densities import likelihood_ratio
from dpcheck.audits.scores.transcript import gaussian_log_density, mixture_log_density, transcript
from dpcheck.audits.statistics.epsilon import epsilon_both_ways, epsilon_from_mu, epsilon_lower, mu_lower
from dpcheck.audits.statistics.intervals import anytime, clopper_pearson, dkw_width, jeffreys, lower_limit, upper_limit
from dpcheck.audits.statistics.power import detectable_epsilon
from dpcheck.audits.statistics.ratio import ratio_bound
from dpcheck.audits.training.canaries import Canaries
from dpcheck.audits.training.canary_bounds import CanaryBound
from dpcheck.audits.training.training_audit import audit_training
from dpcheck.audits.training.training_result import TrainingAudit
from dpcheck.audits.trials.executor import MechanismFailed
from dpcheck.audits.trials.workers import NotSendable, WorkerLost

__all__ = [
    "AuditResult",
    "Canaries",
    "CanaryBound",
    "Curve",
    "Domain",
    "Event",
    "MechanismFailed",
    "Neighbours",
    "NotSendable",
    "Past",
    "PerRun",
    "Replayed",
    "TrainingAudit",
    "WorkerLost",
    "add_remove",
    "anytime",
    "audit",
    "audit_training",
    "clopper_pearson",
    "detectable_epsilon",
    "dkw_width",
    "drawn_by",
    "epsilon_both_ways",
    "epsilon_from_mu",
    "epsilon_lower",
    "gaussian_log_density",
    "group",
    "jeffreys",
    "label_only",
    "likelihood_ratio",
    "lower_limit",
    "mixture_log_density",
    "mu_lower",
    "one_attribute",
    "one_user",
    "per_run",
    "queries",
    "ratio_bound",
    "replace_one",
    "replay",
    "transcript",
    "upper_limit",
]
