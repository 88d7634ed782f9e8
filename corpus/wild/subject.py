"""Subject: something public of a released library, what it promises, and where to look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpcheck.audits import Neighbours
from dpcheck.bounds.language.guarantees import Guarantee


@dataclass(frozen=True, eq=False)
class Subject:
    """A mechanism of a library under its own claim, on a pair of datasets or wherever a search finds one.

    `finding` says what breaks the claim, if something does; `promise` which words of the library make the claim, and
    `thread` where it was reported before. `limit` is what the library's own words leave out of its claim, so that
    nobody is to be blamed. `attack` and `trials` are the audit's.
    """

    name: str
    make: Callable[[], Any]
    claim: Guarantee
    pair: tuple[Any, Any] | None = None
    neighbours: Neighbours | None = None
    finding: str = ""
    promise: str = ""
    thread: str = ""
    limit: str = ""
    attack: Any = "auto"
    trials: int = 3_000
