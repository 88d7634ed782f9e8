"""Documents, kinds, evidence, verdicts: what is said of a claim, without the mathematics it is written in.

Standard library only: a verdict that is known is shown without importing any formula.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
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


class Verdict(enum.StrEnum):
    """What a claim, or one piece of evidence, comes to."""

    PROVED = "PROVED"
    CERTIFIED = "CERTIFIED"
    SUPPORTED = "SUPPORTED"
    LOOSE = "LOOSE"
    REFUTED = "REFUTED"
    VACUOUS = "VACUOUS"
    UNCHECKED = "UNCHECKED"


@dataclass(frozen=True)
class Source:
    """Where a statement is printed."""

    document: str
    place: str

    def __str__(self) -> str:
        return f"{self.document}, {self.place}"


@dataclass(frozen=True)
class Effort:
    """How much a run may spend, and the seed all its randomness comes from."""

    thorough: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Evidence:
    """What one check found. `counterexample` holds plain numbers and words, enough to replay."""

    check: str
    verdict: Verdict
    figure: str
    detail: str = ""
    margin: float | None = None
    confidence: float | None = None
    counterexample: Mapping[str, Any] | None = None
    seed: int | None = None
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {k: _plain(v) for k, v in asdict(self).items()}


def judge(evidence: Sequence[Evidence]) -> Verdict:
    """What the pieces add up to: a counterexample outweighs all; then the strongest support.

    A proof and a counterexample of one claim cannot both be right: that is UNCHECKED, and a bug to find. What a
    citation shows is how the proof in the source stands, not whether the claim is true: it has no vote.
    """
    found = {e.verdict for e in evidence if e.check != CITATION}
    if Verdict.REFUTED in found:
        clash = found & {Verdict.PROVED, Verdict.CERTIFIED, Verdict.LOOSE}
        return Verdict.UNCHECKED if clash else Verdict.REFUTED
    for verdict in (Verdict.VACUOUS, Verdict.LOOSE, Verdict.PROVED, Verdict.CERTIFIED, Verdict.SUPPORTED):
        if verdict in found:
            return verdict
    return Verdict.UNCHECKED


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        return value.tolist()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
