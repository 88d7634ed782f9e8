"""A claim's checks, run: every verdict comes from here, so a change of this file has all claims judged anew."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable
from dataclasses import replace

from dpcheck.bounds.language.claim import Check, Claim, Effort, Evidence, as_reported
from dpcheck.bounds.language.errors import MissingDependency

BY_CHANCE = ("audit", "rate")  # kinds that draw samples, at a level they state; the others search where to look


def evidence_of(claim: Claim, checks: Iterable[Check], effort: Effort) -> list[Evidence]:
    """What the checks find. The seed is the claim's, and where chance decides also the effort's, whoever runs it.

    Raises MissingDependency, with the claim's name, where a package is not installed.
    """
    base = zlib.crc32(claim.id.encode())
    found = []
    for check in checks:
        begun = time.perf_counter()
        drawn = effort.seed if check.kind in BY_CHANCE else 0
        try:
            made = check.run(claim, replace(effort, seed=(drawn + base) % 2**32))
        except MissingDependency as missing:
            purpose = f"{missing.purpose} (of claim {claim.id})"
            raise MissingDependency(missing.package, purpose, missing.extra) from missing
        shown = as_reported(made, claim.kind)
        found.append(replace(shown, seconds=round(time.perf_counter() - begun, 3)))
    return found
