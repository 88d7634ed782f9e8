"""OnPairStrC: a stream, and noisy points of one noiseless run on it. Claims: bounds/library/pairwise/pw_on_strc.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.pairwise import pw_giga
from dpcheck.bounds.library.pairwise import pw_on_strc as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.pairwise import PairProblem, PairSolver, Stream, Times


@dataclass(frozen=True)
class OnPairStrC(PairSolver):
    """Algorithm 3.3.9 as its proofs read it: w_t for t > T₁, each with its own noise, side by side in a row of w."""

    name: ClassVar[str] = "pw_on_strc"

    def release(self, data: PairProblem, plan: Times) -> Release:
        return theory.released.at(**self.exact(data, plan))  # privacy: dwang20.lemma3.3.1.regularised

    def method(self, data: PairProblem, plan: Times, released: Released) -> Stream:
        return Stream(plan, data.middle, data.domain)

    def stated(self, data: PairProblem, guarantee: Guarantee, plan: Times) -> tuple[Released, Sequence[Claim]]:
        claim = theory.theorem1
        return self.release(data, plan).with_noise(self.printed(claim, data, guarantee, plan)), [claim]

    def certifying(self, data: PairProblem, plan: Times) -> Sequence[Claim]:
        return [pw_giga.regularised]
