"""Solvers and the checks they bring, found by walking dpcheck/solvers: adding a file registers it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import lru_cache

import dpcheck.solvers
from bounds.claim import Check
from bounds.errors import UnknownName
from bounds.registry import Entry, entries, modules_below
from dpcheck.solver import Solver


@lru_cache(maxsize=1)
def solvers() -> Mapping[str, type[Solver]]:
    """Every concrete solver by the stem of its file."""
    found = {}
    for _, stem, module in modules_below(dpcheck.solvers):
        for value in vars(module).values():
            if inspect.isclass(value) and issubclass(value, Solver) and value.__module__ == module.__name__:
                found[stem] = value
    return found


@lru_cache(maxsize=1)
def extra_checks() -> Mapping[str, Sequence[Check]]:
    """Checks that solver files attach to claims (their CHECKS), by claim id."""
    found: dict[str, list[Check]] = {}
    for _, stem, module in modules_below(dpcheck.solvers):
        for claim_id, checks in getattr(module, "CHECKS", {}).items():
            if claim_id not in entries():
                raise UnknownName(f"CHECKS of {stem}.py", claim_id, "the id of a known claim", "Check the spelling.")
            found.setdefault(claim_id, []).extend(checks)
    return found


def checks_of(entry: Entry) -> list[Check]:
    """All checks of a claim: those beside the claim, then those beside the solver."""
    return [*entry.claim.checks, *extra_checks().get(entry.claim.id, [])]
