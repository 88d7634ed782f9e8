"""The majority of private answers. Claims: bounds/library/latent/private_majority_vote.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.library.latent import private_majority_vote as theory
from dpcheck.bounds.privacy.release import Released
from dpcheck.families.one_report import OneReport
from dpcheck.families.private_answers import PrivateAnswers
from dpcheck.families.truth_inference import majority, sides
from dpcheck.kernels.method import Array


@dataclass(frozen=True)
class PrivateMajorityVote(PrivateAnswers):
    """Hard labels of the tasks: what most reports say, 1 where as many say 0."""

    name: ClassVar[str] = "private_majority_vote"
    published: ClassVar[Claim] = theory.privacy

    def method(self, data: Array, plan: None, released: Released) -> OneReport:
        n, m = data.shape
        return OneReport(sides, lambda reports: 1.0 * (majority(reports) >= 0.5), n, m, m)

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [theory.privacy]
