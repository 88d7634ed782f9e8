"""A claim's checks, run: every verdict comes from here, so a change of this file has all claims judged anew."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable
from dataclasses import replace

from dpcheck.bounds.language.claim import Check, Claim, Effort, Evidence, as_reported
from dpcheck.bounds.language.errors import MissingDependency


def evidence_of(claim: Claim, checks: Iterable[Check], effort: Effort) -> list[Evidence]:
    """What the checks find. The seed depends on the claim alone, not on who runs it or when.

    Raises MissingDependency, with the claim's name, where a package is not installed.
    """
    own = replace(effort, seed=(effort.seed + zlib.crc32(claim.id.encode())) % 2**32)
    found = []
    for check in checks:
        begun = time.perf_counter()
        try:
            made = check.run(claim, own)
        except MissingDependency as missing:
            purpose = f"{missing.purpose} (of claim {claim.id})"
            raise MissingDependency(missing.package, purpose, missing.extra) from missing
        shown = as_reported(made, claim.kind)
        found.append(replace(shown, seconds=round(time.perf_counter() - begun, 3)))
    return found
