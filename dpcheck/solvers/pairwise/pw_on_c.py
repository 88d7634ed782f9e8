"""OnPairC: OnPairStrC on convex losses, regularised. Claims: bounds/library/pairwise/pw_on_c.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.pairwise import pw_giga, pw_on_strc
from dpcheck.bounds.library.pairwise import pw_on_c as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.pairwise import ConvexPairSolver, PairProblem, Stream, Times


@dataclass(frozen=True)
class OnPairC(ConvexPairSolver):
    """Algorithm 3.3.10: as OnPairStrC, with α = `strong`·n^(-1/4) in place of the problem's own l2."""

    name: ClassVar[str] = "pw_on_c"

    def release(self, data: PairProblem, plan: Times) -> Release:
        return pw_on_strc.released.at(**self.exact(data, plan))  # privacy: dwang20.lemma3.3.1.regularised

    def method(self, data: PairProblem, plan: Times, released: Released) -> Stream:
        return Stream(plan, data.middle, data.domain)

    def stated(self, data: PairProblem, guarantee: Guarantee, plan: Times) -> tuple[Released, Sequence[Claim]]:
        claim = theory.theorem3_privacy
        return self.release(data, plan).with_noise(self.printed(claim, data, guarantee, plan)), [claim]

    def certifying(self, data: PairProblem, plan: Times) -> Sequence[Claim]:
        return [pw_giga.regularised]
