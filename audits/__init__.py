"""What an attacker sees: statistics on neighbouring datasets.

`audit` attacks a mechanism and bounds its epsilon from below; everything else here serves it.
"""

from audits.answers import queries
from audits.audit import audit
from audits.densities import likelihood_ratio
from audits.domains import Domain
from audits.epsilon import epsilon_both_ways, epsilon_from_mu, epsilon_lower, mu_lower
from audits.executor import MechanismFailed
from audits.intervals import anytime, clopper_pearson, dkw_width, jeffreys, lower_limit, upper_limit
from audits.neighbours import (
    Neighbours,
    add_remove,
    drawn_by,
    group,
    label_only,
    local,
    replace_one,
)
from audits.outputs import PerRun, per_run
from audits.power import detectable_epsilon
from audits.ratio import ratio_bound
from audits.result import AuditResult, Curve, Event
from audits.transcript import gaussian_log_density, mixture_log_density, transcript
from audits.workers import NotSendable, WorkerLost

__all__ = [
    "AuditResult",
    "Curve",
    "Domain",
    "Event",
    "MechanismFailed",
    "Neighbours",
    "NotSendable",
    "PerRun",
    "WorkerLost",
    "add_remove",
    "anytime",
    "audit",
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
    "local",
    "lower_limit",
    "mixture_log_density",
    "mu_lower",
    "per_run",
    "queries",
    "ratio_bound",
    "replace_one",
    "transcript",
    "upper_limit",
]
