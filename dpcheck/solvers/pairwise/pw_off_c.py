"""OffPairC: OffPairStrC on convex losses, regularised. Claims: bounds/library/pairwise/pw_off_c.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.pairwise import pw_giga, pw_off_strc
from dpcheck.bounds.library.pairwise import pw_off_c as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.pairwise import ConvexPairSolver, MeanPoint, PairProblem, Times


@dataclass(frozen=True)
class OffPairC(ConvexPairSolver):
    """Algorithm 3.3.15: as OffPairStrC, with α = `strong`/√n in place of the problem's own l2."""

    name: ClassVar[str] = "pw_off_c"
    power: ClassVar[float] = -0.5

    def release(self, data: PairProblem, plan: Times) -> Release:
        return pw_off_strc.released.at(**self.exact(data, plan))  # privacy: dwang20.lemma3.3.1.regularised

    def method(self, data: PairProblem, plan: Times, released: Released) -> MeanPoint:
        return MeanPoint(plan, data.width, data.domain)

    def stated(self, data: PairProblem, guarantee: Guarantee, plan: Times) -> tuple[Released, Sequence[Claim]]:
        claim = theory.theorem6_privacy
        return self.release(data, plan).with_noise(self.printed(claim, data, guarantee, plan)), [claim]

    def certifying(self, data: PairProblem, plan: Times) -> Sequence[Claim]:
        return [pw_giga.regularised]
