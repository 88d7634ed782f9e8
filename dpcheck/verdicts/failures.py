"""The kinds of failure that a refutation may be, in their order."""

from __future__ import annotations

import enum


class Failure(enum.StrEnum):
    """Kinds of failure, the gravest first."""

    PRIVACY = "privacy failure"
    BEYOND = "only beyond"
    RATE = "rate"
    CONSTANT = "constant"
    CONDITION = "condition missing"
    MISPRINT = "misprint"
    PROOF = "proof only"


def rank_of(text: str) -> int:
    """The rank of a severity as recorded; what has none comes last."""
    names = [f.value for f in Failure]
    return next((i for i, name in enumerate(names) if text.startswith(name)), len(names))
