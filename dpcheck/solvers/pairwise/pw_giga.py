"""Pairwise GIGA that goes on from noisy points. Claims: bounds/library/pairwise/pw_giga.py and pw_on_strc.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.pairwise import pw_giga, pw_on_strc
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.pairwise import PairProblem, PairSolver, Stream, Times
from dpcheck.settings import flag


@dataclass(frozen=True)
class PairwiseGIGA(PairSolver):
    """Algorithm 3.3.9 as it stands: w_t for t > T₁, each made of the noisy one before; or their mean.

    Certified noise does not grow with the stream: a later record sees an earlier one as one pair of many.
    """

    averaged: bool = flag()
    name: ClassVar[str] = "pw_giga"

    def release(self, data: PairProblem, plan: Times) -> Release:
        return pw_on_strc.literal.at(**self.exact(data, plan))  # privacy: dwang20.lemma3.3.1.in_loop

    def method(self, data: PairProblem, plan: Times, released: Released) -> Stream:
        return Stream(plan, data.middle, data.domain, feedback=True, averaged=self.averaged)

    def stated(self, data: PairProblem, guarantee: Guarantee, plan: Times) -> tuple[Released, Sequence[Claim]]:
        claim = pw_on_strc.theorem1_literal
        return self.release(data, plan).with_noise(self.printed(claim, data, guarantee, plan)), [claim]

    def certifying(self, data: PairProblem, plan: Times) -> Sequence[Claim]:
        return [pw_giga.in_loop]
