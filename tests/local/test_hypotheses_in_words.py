"""Hypotheses in words: every proof about the local model says which step uses each, and shows nothing without it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpcheck.bounds.language.claim import LOGS_FREE, Claim, Effort, Setting, Verdict
from dpcheck.bounds.proving.chains import Chain
from dpcheck.bounds.registry import library
from dpcheck.verdicts.catalogue import catalogue

FIRST, LAST = 4600, 7800  # lines of the document: chapters 5 and 6.1
PROOFS = [
    (claim, chain)
    for row in catalogue().values()
    if row.document == "dwang20" and row.line is not None and FIRST < row.line < LAST
    for claim in [library[row.id]]
    for chain in claim.checks
    if isinstance(chain, Chain)
]


def in_words(claim: Claim) -> set[Setting]:
    return {h for h in claim.assumes if isinstance(h, Setting) and h != LOGS_FREE}


def test_each_is_used_by_a_step_or_by_what_is_cited() -> None:
    assert len(PROOFS) > 50
    for claim, chain in PROOFS:
        used = {h for step in chain.steps for h in step.uses}
        used |= {h for cites in chain.cites for h in library[cites.id].assumes}
        assert in_words(claim) <= used, claim.id


@pytest.mark.parametrize("claim_id", ["dwang20.lemma5.1.2", "dwang20.theorem5.1.5", "dwang20.lemma6.1.15"])
def test_without_one_nothing_is_proved(claim_id: str) -> None:
    claim = library[claim_id]
    (chain,) = (check for check in claim.checks if isinstance(check, Chain))
    assert chain.run(claim, Effort()).verdict is Verdict.PROVED
    for dropped in in_words(claim):
        rest = [[h for h in listed if h != dropped] for listed in (claim.assumes, claim.added)]
        found = chain.run(replace(claim, assumes=rest[0], added=rest[1]), Effort())
        assert found.verdict is Verdict.UNCHECKED
        assert dropped.words in found.figure
