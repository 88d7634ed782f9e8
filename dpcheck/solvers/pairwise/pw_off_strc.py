"""OffPairStrC: the mean point of Pairwise GIGA, with noise once. Claims: bounds/library/pairwise/pw_off_strc.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.pairwise import pw_giga
from dpcheck.bounds.library.pairwise import pw_off_strc as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.pairwise import MeanPoint, PairProblem, PairSolver, Times


@dataclass(frozen=True)
class OffPairStrC(PairSolver):
    """Algorithm 3.3.14: the mean of all n points, those up to T₁ at w₀, with noise, projected."""

    name: ClassVar[str] = "pw_off_strc"

    def release(self, data: PairProblem, plan: Times) -> Release:
        return theory.released.at(**self.exact(data, plan))  # privacy: dwang20.lemma3.3.1.regularised

    def method(self, data: PairProblem, plan: Times, released: Released) -> MeanPoint:
        return MeanPoint(plan, data.width, data.domain)

    def stated(self, data: PairProblem, guarantee: Guarantee, plan: Times) -> tuple[Released, Sequence[Claim]]:
        claim = theory.theorem6_privacy
        return self.release(data, plan).with_noise(self.printed(claim, data, guarantee, plan)), [claim]

    def certifying(self, data: PairProblem, plan: Times) -> Sequence[Claim]:
        return [pw_giga.regularised]
