"""Case: a bug, its correct twin, where it was reported, and what it loses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.audits import Neighbours
from dpcheck.bounds.language.guarantees import Guarantee

Run = Callable[[Any, np.random.Generator], Any]


@dataclass(frozen=True, eq=False)
class Case:
    """One run each of a mechanism as it was and as it should be, under the same claim.

    `thread` is the public report, owner/repository#number or a paper; `wrong` says in a sentence what was. `pair` shows
    it, `neighbours` is where a search would look. `truth` is the bug's epsilon on the pair (at the claim's delta), None
    where nobody knows it. A `control` protects more than it claims, and must not be flagged.
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
    control: bool = False
