"""The mean of OnPairStrC's or OnPairC's outputs. Claims: bounds/library/pairwise/pw_on2off.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.pairwise import pw_giga, pw_on_strc
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.pairwise import PairProblem, PairSolver, Stream, Times


@dataclass(frozen=True)
class OnlineToOffline(PairSolver):
    """Theorem 3.3.5: the mean of the noisy points after T₁; without l2, as OnPairC regularises, α = n^(-1/4)."""

    name: ClassVar[str] = "pw_on2off"

    def strength(self, data: PairProblem) -> float:
        return data.l2 or data.n**-0.25

    def release(self, data: PairProblem, plan: Times) -> Release:
        return pw_on_strc.released.at(**self.exact(data, plan))  # privacy: dwang20.lemma3.3.1.regularised

    def method(self, data: PairProblem, plan: Times, released: Released) -> Stream:
        return Stream(plan, data.middle, data.domain, averaged=True)

    def stated(self, data: PairProblem, guarantee: Guarantee, plan: Times) -> tuple[Released, Sequence[Claim]]:
        claim = pw_on_strc.theorem1
        return self.release(data, plan).with_noise(self.printed(claim, data, guarantee, plan)), [claim]

    def certifying(self, data: PairProblem, plan: Times) -> Sequence[Claim]:
        return [pw_giga.regularised]
