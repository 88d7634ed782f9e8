"""A counterexample shown again, at the numbers it was found with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy

from dpcheck.bounds.language.claim import CITATION, Claim, Evidence, Replayable, as_reported, pretty
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput, UnknownName
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.verdicts.verify import AGAINST, all_checks, entry_of


def replay(claim_id: str, kind: str, point: Mapping[str, Any]) -> Evidence:
    """Show a counterexample again: the first check of that kind that finds it. A point outside is refused."""
    entry = entry_of(claim_id)
    able = [c for c in all_checks(entry) if c.kind == kind and isinstance(c, Replayable)]
    if not able:
        kinds = sorted({c.kind for c in all_checks(entry) if isinstance(c, Replayable)})
        raise UnknownName("check", kind, f"one of {kinds}", f"{claim_id} has no other check to replay.")
    must_be_inside(entry.claim, point)
    return as_reported(replay_with(able, entry.claim, point), entry.claim.kind)


def replay_with(checks: Sequence[Replayable], claim: Claim, point: Mapping[str, Any]) -> Evidence:
    """What the first check that shows the counterexample says; checks that the point is not meant for are passed."""
    found, refused = [], []
    for check in checks:
        try:
            found.append(check.replay(claim, point))
        except KeyError as missing:
            if isinstance(missing, InvalidInput):
                raise
            limit = f"complete, with {missing.args[0]}"
            refused.append(InvalidInput("point", sorted(point), limit, "Give NAME=VALUE for each."))
        except InvalidInput as incomplete:
            refused.append(incomplete)
    if not found:
        raise refused[0]
    return next((e for e in found if shows(e)), found[0])


def shows(found: Evidence) -> bool:
    """Whether a replay shows its counterexample: against a claim, or against the use of a lemma in a proof."""
    gap = found.check == CITATION and found.counterexample is not None
    return found.verdict in AGAINST or gap


def must_be_inside(claim: Claim, point: Mapping[str, Any]) -> None:
    """Refuse a point outside a symbol's domain or the claim's hypotheses: it would refute nothing.

    A number of steps that an equation among the hypotheses gives is taken as it comes, without rounding.
    """
    given_by = {side for h in claim.conditions if isinstance(h, sympy.Eq) for side in h.args}
    for symbol in claim.symbols:
        if str(symbol) in point:
            row = replace(TABLE[symbol], integer=False) if symbol in given_by else TABLE[symbol]
            row.must_contain(point[str(symbol)])
    broken = claim.violated_by(point)
    if broken is not None:
        given = {str(s): point[str(s)] for s in broken.free_symbols}
        raise HypothesisViolated(claim.id, given, pretty(broken), "Choose a point inside: outside nothing is claimed.")
