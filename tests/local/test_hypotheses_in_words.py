"""Hypotheses: every proof about the local model says which step uses each of those in words, and shows nothing without.

So it is with those on numbers that a premise rests on and no machine reads, and with what a claim promises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from sympy import Basic, Rational, log

from dpcheck.bounds.language.claim import LOGS_FREE, Check, Claim, Effort, Hypothesis, Setting, Verdict, judge
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.symbols import d, eps, gamma, n, x_tail
from dpcheck.bounds.library.local.ldp_sparse_pca_fps import enough_n
from dpcheck.bounds.library.local.local_bernstein import k
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.proving.chains import Cases, Chain
from dpcheck.bounds.proving.proofs import AtMost, Equals
from dpcheck.bounds.registry import library
from dpcheck.verdicts.catalogue import catalogue
from dpcheck.verdicts.falsifying import STRONG
from dpcheck.verdicts.record import recorded

FIRST, LAST = 4600, 7800  # lines of the document: chapters 5 and 6.1
CLAIMS = [
    library[row.id]
    for row in catalogue().values()
    if row.document == "dwang20" and row.line is not None and FIRST < row.line < LAST
]


def in_words(claim: Claim) -> set[Setting]:
    return {h for h in claim.assumes if isinstance(h, Setting) and h != LOGS_FREE}


def rested_on(checks: Sequence[Check]) -> Iterator[object]:
    """What the checks say that they use, and what the claims assume that they cite."""
    for check in checks:
        if isinstance(check, Chain):
            yield from (h for step in check.steps for h in step.uses)
            yield from (h for cites in check.cites for h in library[cites.id].assumes)
        elif isinstance(check, Cases):
            yield from rested_on(list(check.cases.values()))
        elif isinstance(check, Equals | AtMost | Accountant):
            yield from check.uses


def test_each_is_used_by_a_step_or_by_what_is_cited() -> None:
    known = recorded()
    strong = [c for c in CLAIMS if known.get(c.id, {}).get("verdict") in STRONG and c.checks]
    assert len(strong) > 100
    for claim in strong:
        assert in_words(claim) <= {*rested_on(claim.checks)}, claim.id


def without(claim: Claim, dropped: Hypothesis) -> Claim:
    rest = [[h for h in listed if h != dropped] for listed in (claim.assumes, claim.added)]
    assert len(rest[0]) < len(claim.assumes)
    return replace(claim, assumes=rest[0], added=rest[1])


@pytest.mark.parametrize("claim_id", ["dwang20.lemma5.1.2", "dwang20.theorem5.1.5", "dwang20.lemma6.1.15"])
def test_without_one_nothing_is_proved(claim_id: str) -> None:
    claim = library[claim_id]
    (chain,) = (check for check in claim.checks if isinstance(check, Chain))
    assert chain.run(claim, Effort()).verdict is Verdict.PROVED
    for dropped in in_words(claim):
        found = chain.run(without(claim, dropped), Effort())
        assert found.verdict is Verdict.UNCHECKED
        assert dropped.words in found.figure


SMALL, TWO, TAIL = eps <= Rational(1, 2), k >= 2, x_tail >= log(2)
NEEDED = {  # what a premise rests on: without it the statement is false, and no algebra of the proof would tell
    "dwang20.lemma5.1.13": [n >= d * log(2 / gamma) * log(k + 1), TWO, gamma <= Rational(1, 2)],
    "dwang20.theorem5.1.2.corrected": [TWO, TAIL],
    "dwang20.corollary5.1.2.explicit": [TWO, TAIL],
    "dwang20.theorem5.1.3": [TAIL],
    "dwang20.theorem5.1.4": [eps <= log(2), TWO, TAIL],
    "dwang20.theorem5.1.12": [eps <= Rational(1, 4), TWO, TAIL],
    "dwang20.theorem5.3.1": [SMALL],
    "dwang20.theorem5.3.2": [SMALL],
    "dwang20.theorem5.3.3": [SMALL],
    "dwang20.theorem5.3.7": [SMALL],
    "dwang20.theorem5.3.10": [SMALL],
    "dwang20.theorem6.1.1": [SMALL],
    "dwang20.theorem6.1.3": [SMALL],
    "dwang20.theorem6.1.5.corrected": [n >= enough_n],
    "dwang20.theorem5.2.5.corrected": [eps <= 1],
}


@pytest.mark.parametrize("claim_id", NEEDED)
def test_without_what_a_premise_rests_on_nothing_is_proved(claim_id: str) -> None:
    claim = library[claim_id]
    for dropped in NEEDED[claim_id]:
        assert isinstance(dropped, Basic)
        mutant = without(claim, dropped)
        assert judge([check.run(mutant, Effort()) for check in claim.checks]) is Verdict.UNCHECKED, dropped


@pytest.mark.parametrize("claim_id", ["dwang20.theorem5.3.1", "dwang20.theorem5.3.7", "dwang20.theorem6.1.1"])
def test_a_lower_bound_is_one_on_private_protocols(claim_id: str) -> None:
    claim = library[claim_id]
    weaker = PureDP(2 * eps, relation=claim.guarantee.relation)
    for promise in (None, weaker):
        mutant = replace(claim, guarantee=promise)
        assert judge([check.run(mutant, Effort()) for check in claim.checks]) is Verdict.UNCHECKED
