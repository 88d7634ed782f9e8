"""Pairwise GIGA with a buffer, that goes on from its noisy points: what its two solvers share.

Which records the buffer holds is public here: it is drawn from `buffer_seed`, whatever the data. So noise need not be
for the worst buffer, but for the one that was drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.pairwise import pw_fbon_strc
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.pairwise import PairProblem, PairSolver, Stream, Times
from dpcheck.families.stream_buffers import Positions, heaviest, rs_x
from dpcheck.settings import count


@dataclass(frozen=True)
class Buffered(PairSolver):
    """A buffer of `capacity` records, by RS-x."""

    capacity: int = count(50)
    buffer_seed: int = count(1)
    printed_claim: ClassVar[Claim]

    def buffers(self, plan: Times) -> tuple[Positions, ...]:
        """Those of the steps after T₁."""
        return rs_x(plan.n, self.capacity, np.random.default_rng(self.buffer_seed))[plan.first :]

    def release(self, data: PairProblem, plan: Times) -> Release:
        drawn = heaviest(self.buffers(plan), plan.first, plan.n)
        return pw_fbon_strc.released.at(**self.exact(data, plan), heaviest_share=drawn)

    def method(self, data: PairProblem, plan: Times, released: Released) -> Stream:
        return Stream(plan, data.middle, data.domain, feedback=True, buffers=self.buffers(plan))

    def stated(self, data: PairProblem, guarantee: Guarantee, plan: Times) -> tuple[Released, Sequence[Claim]]:
        claim = self.printed_claim
        return self.release(data, plan).with_noise(self.printed(claim, data, guarantee, plan)), [claim]

    def certifying(self, data: PairProblem, plan: Times) -> Sequence[Claim]:
        return [pw_fbon_strc.in_loop]

    def gradients(self, problem: PairProblem, guarantee: Guarantee) -> int:
        """Those of each record after T₁ with the buffer."""
        return sum(len(held) for held in self.buffers(self.plan(problem, guarantee)))
