"""Documents, kinds, evidence, verdicts: what is said of a claim, without the mathematics it is written in.

Standard library only: a verdict that is known is shown without importing any formula.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

DOCUMENTS = {
    "lwang21": "L. Wang, dissertation, 2021",
    "dwang20": "D. Wang, dissertation, 2020",
    "lssgd20": "DP-LSSGD, review version, 2020",
    "zhang17": "Zhang, Zheng, Mou, Wang: Efficient Private ERM for Smooth Objectives, 2017",
    "wangxu19": "D. Wang, J. Xu, 2019",
}


CITATION = "citation"  # a check of the proof, not of the claim: no part of the verdict


class Kind(enum.StrEnum):
    """What a claim is about."""

    PRIVACY = "privacy"
    SENSITIVITY = "sensitivity"
    UTILITY = "utility"
    IDENTITY = "identity"
    LOWER_BOUND = "lower bound"
    COST = "cost"
    EXPERIMENT = "experiment"


class Provenance(enum.StrEnum):
    """Whose statement a claim is. What is not printed is not counted as the document's."""

    PRINTED = "printed"
    CONSEQUENCE = "consequence"  # nobody printed it; it follows from what is printed
    READING = "our reading"  # of a sentence that leaves something open
    CORRECTION = "correction"  # ours, of a printed one: set for every claim that corrects another


class Verdict(enum.StrEnum):
    """What a claim, or one piece of evidence, comes to."""

    PROVED = "PROVED"
    CERTIFIED = "CERTIFIED"
    SUPPORTED = "SUPPORTED"
    LOOSE = "LOOSE"
    REFUTED = "REFUTED"
    NOT_REPRODUCED = "NOT REPRODUCED"
    VACUOUS = "VACUOUS"
    UNCHECKED = "UNCHECKED"


@dataclass(frozen=True)
class Source:
    """Where a statement is printed: number or section, and the line of the document's text."""

    document: str
    place: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.document}, {self.place}" + (f" (line {self.line})" if self.line is not None else "")


@dataclass(frozen=True)
class Effort:
    """How much a run may spend, and the seed all its randomness comes from."""

    thorough: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Evidence:
    """What one check found. `counterexample` holds plain numbers and words, enough to replay.

    `premises` are what a proof uses and no machine has checked; `rests` are the claims that it cites. `part` says
    which part of the claim the piece covers, if not all of it (a case, some points): see `judge`.
    """

    check: str
    verdict: Verdict
    figure: str
    detail: str = ""
    margin: float | None = None
    confidence: float | None = None
    counterexample: Mapping[str, Any] | None = None
    seed: int | None = None
    seconds: float = 0.0
    premises: tuple[str, ...] = ()
    rests: tuple[str, ...] = ()
    part: str = ""

    @property
    def shown(self) -> str:
        """The figure, with the part of the claim it is about and what a proof takes as given."""
        part = f" ({self.part})" if self.part and self.part not in self.figure else ""
        return self.figure + part + (f"; given: {'; '.join(self.premises)}" if self.premises else "")

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {k: _plain(v) for k, v in asdict(self).items()}


def judge(evidence: Sequence[Evidence], kind: Kind | None = None) -> Verdict:
    """What the pieces add up to: a counterexample outweighs all; then the strongest support.

    Checks of one kind are parts of one argument: where one of them leaves a gap the others support nothing. Different
    kinds are different ways, and one suffices, unless it covers only a part of the claim: a proof of one case proves
    nothing, and a certificate at some points counts only where no other check leaves a gap. A proof and a
    counterexample of one claim cannot both be right: that is UNCHECKED, and a bug to find. What a citation shows is
    how the proof in the source stands, not whether the claim is true: it has no vote. An experiment is never refuted:
    it is not reproduced.
    """
    own = [e for e in evidence if e.check != CITATION]
    verdicts = {e.verdict for e in own}
    against = verdicts & {Verdict.REFUTED, Verdict.NOT_REPRODUCED}
    if against:
        if verdicts & {Verdict.PROVED, Verdict.CERTIFIED, Verdict.LOOSE}:
            return Verdict.UNCHECKED
        lost = kind is Kind.EXPERIMENT or Verdict.REFUTED not in against
        return Verdict.NOT_REPRODUCED if lost else Verdict.REFUTED
    gaps = {e.check for e in own if e.verdict is Verdict.UNCHECKED}
    whole = {e.verdict for e in own if e.check not in gaps and not e.part}
    partial = set() if gaps else {e.verdict for e in own if e.part} - {Verdict.PROVED}
    for verdict in (Verdict.VACUOUS, Verdict.LOOSE, Verdict.PROVED, Verdict.CERTIFIED, Verdict.SUPPORTED):
        if verdict in whole | partial:
            return verdict
    return Verdict.UNCHECKED


def as_reported(piece: Evidence, kind: Kind) -> Evidence:
    """A piece of evidence as its claim may show it: a failed experiment is not reproduced, whatever its check says."""
    if kind is Kind.EXPERIMENT and piece.verdict is Verdict.REFUTED:
        return replace(piece, verdict=Verdict.NOT_REPRODUCED)
    return piece


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        return value.tolist()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
