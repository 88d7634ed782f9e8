"""The checks of a claim: those beside it, and those that files of evidence attach to it by its id, in their CHECKS."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from dpcheck.bounds.language.errors import UnknownName

if TYPE_CHECKING:  # whoever attaches nothing needs no mathematics
    from dpcheck.bounds.language.claim import Check, Claim


def checks_from(claim: Claim, attached: Iterable[str]) -> list[Check]:
    """The checks beside a claim, then those of the modules that attach some to it."""
    brought = (importlib.import_module(module).CHECKS[claim.id] for module in attached)
    return [*claim.checks, *(check for checks in brought for check in checks)]


def checks_in(module: str, known: Collection[str]) -> Mapping[str, Sequence[Check]]:
    """The checks that a file attaches, by claim id. Refuses an id that no claim has."""
    found: Mapping[str, Sequence[Check]] = getattr(importlib.import_module(module), "CHECKS", {})
    for claim_id in found:
        if claim_id not in known:
            file = f"{module.rpartition('.')[2]}.py"
            raise UnknownName(f"CHECKS of {file}", claim_id, "the id of a known claim", "Check the spelling.")
    return found
