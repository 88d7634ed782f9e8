"""OnPairC with a buffer, as it stands. Claims: bounds/library/pairwise/pw_fbon_c.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcheck.bounds.library.pairwise import pw_fbon_c as library
from dpcheck.families.buffered_pairs import Buffered
from dpcheck.families.pairwise import ConvexPairSolver


@dataclass(frozen=True)
class FBOnPairC(Buffered, ConvexPairSolver):
    """Algorithm 3.3.13: as FBOnPairStrC, with α = `strong`·n^(-1/4) in place of the problem's own l2."""

    name: ClassVar[str] = "pw_fbon_c"
    printed_claim: ClassVar[Any] = library.theorem4_privacy
