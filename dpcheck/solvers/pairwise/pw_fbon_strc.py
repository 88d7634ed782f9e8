"""OnPairStrC with a buffer, as it stands. Claims: bounds/library/pairwise/pw_fbon_strc.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcheck.bounds.library.pairwise import pw_fbon_strc as library
from dpcheck.families.buffered_pairs import Buffered
from dpcheck.families.pairwise import PairSolver


@dataclass(frozen=True)
class FBOnPairStrC(Buffered, PairSolver):
    """Algorithm 3.3.12: w_t for t > T₁, each made of the noisy one before and of the records of the buffer."""

    name: ClassVar[str] = "pw_fbon_strc"
    printed_claim: ClassVar[Any] = library.theorem4_privacy
