"""Case: a bug, its correct twin, where it was reported, and what it loses."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dpcheck.audits import Canaries, Neighbours
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.theory.account import NoisyRelease

Run = Callable[[Any, np.random.Generator], Any]
Accountant = Callable[[NoisyRelease, float], float]  # what it says that a release spends at delta
Kind = Literal["bug", "control", "disputed"]


@dataclass(frozen=True, eq=False)
class Trained:
    """How canaries are put into a mechanism and scored: for detectors that need one training run.

    `canaries` stand in `data`; `score` is a name or a function of what came out and the canaries. `claim` is the case's
    as a curve, where bounds under a curve are asked for by `assume`.
    """

    data: Any
    canaries: Canaries
    score: Any = "dot product"
    claim: Guarantee | None = None
    assume: str | None = None
    runs: int = 1


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two mechanisms of a case, with what it claims.

    `says` is the accountant that the claim comes from, `told` what a training loop's accountant was told.
    """

    run: Run
    claim: Guarantee
    says: Accountant | None = None
    told: NoisyRelease | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """One run each of a mechanism as it was and as it should be.

    `thread` is the public report, owner/repository#number or a paper; `wrong` says in a sentence what was. `pair` shows
    it, `neighbours` is where a search would look. `truth` is the bug's loss on the pair in the claim's parameter (at
    the claim's delta), None where nobody knows it. Bug and twin have the same claim unless `twin_claim` differs, which
    it does where an accountant was wrong (`says` has both). A "control" protects more than it claims, and must not be
    flagged; a "disputed" one was reported, and `note` says what we compute. `leaks` is what broke, for the summary.
    """

    name: str
    thread: str
    wrong: str
    bug: Run
    twin: Run
    claim: Guarantee
    pair: tuple[Any, Any]
    neighbours: Neighbours | None = None
    truth: float | None = None
    kind: Kind = "bug"
    note: str = ""
    leaks: str = "scale"
    twin_claim: Guarantee | None = None
    says: tuple[Accountant, Accountant] | None = None
    told: NoisyRelease | None = None
    loop: tuple[Any, Any] | None = None  # the pair of a training loop's check, where the case's own does not suit
    trained: Trained | None = None
    subtle: bool = False  # the loss is so near the claim that an audit needs many runs
    arithmetic: bool = False  # the claim is about the bits of what comes out
    sides: tuple[Side, Side] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        says = self.says or (None, None)
        bug = Side(self.bug, self.claim, says[0], self.told)
        twin = Side(self.twin, self.twin_claim or self.claim, says[1], self.told)
        object.__setattr__(self, "sides", (bug, twin))

    @property
    def breaks(self) -> bool:
        """Whether the claim is broken, as far as we compute; a bug whose loss nobody knows is."""
        if self.truth is None:
            return self.kind == "bug"
        return math.isinf(self.truth) or self.truth > parameter(self.claim) * (1 + 1e-9)


def parameter(claim: Guarantee) -> float:
    """The number of a claim that a loss is compared with: epsilon, rho or mu."""
    return float(next(claim.parameters[name] for name in ("eps", "rho", "mu") if name in claim.parameters))
