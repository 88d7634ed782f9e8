"""Invented claims, each true one beside a false one that differs by a small slip, over every kind of check.

Formulas, numbers and slips are drawn. Every false claim is refuted (or, for a citation, its gap is named) at a point
that replays from the printed command; no true one is. None of them enters the registry.
"""

from __future__ import annotations

import shlex

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from invented import citations, measured, privacy, symbolic  # noqa: F401 - each registers its families
from invented.cases import FAMILIES, Case

from dpcheck.bounds.language.claim import Effort, Evidence, Verdict
from dpcheck.cli.parser import number
from dpcheck.verdicts.replaying import must_be_inside, replay_with, shows
from dpcheck.verdicts.verify import Judgement

QUICK = Effort()


def replays(about: Case, found: Evidence) -> bool:
    """The printed command's point, read back, lies inside the hypotheses and shows the same again."""
    command = Judgement(about.claim.id, Verdict.REFUTED, (found,)).replay
    if command is None:
        return False
    words = shlex.split(command)[5:]
    point = {name: number(name, text) for name, _, text in (word.partition("=") for word in words)}
    must_be_inside(about.claim, point)
    return shows(replay_with([about.check], about.claim, point))  # type: ignore[list-item]


def gap_shows(about: Case, found: Evidence) -> bool:
    """A gap is named; where it is about numbers, at a point inside the hypotheses that shows it again."""
    if found.verdict is not Verdict.UNCHECKED or "uses zhang17.invented0" not in found.figure:
        return False
    if not found.counterexample:
        return True
    must_be_inside(about.claim, found.counterexample)
    return shows(replay_with([about.check], about.claim, found.counterexample))  # type: ignore[list-item]


@pytest.mark.parametrize("name", FAMILIES)
def test_true_ones_stand_and_false_ones_fall(name: str) -> None:
    """False alarms: audits 1e-6 each, rates 1e-3 each beyond their slack; all seeds are fixed."""
    kind, examples, make = FAMILIES[name]

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        true, false = make(data.draw)
        assert true.check.kind == false.check.kind == kind
        stands, falls = (c.check.run(c.claim, QUICK) for c in (true, false))
        assert stands.verdict is not Verdict.REFUTED, (true.claim.text(), stands)
        if kind == "citation":
            assert stands.verdict is Verdict.PROVED, stands
            assert gap_shows(false, falls), falls
        else:
            assert falls.verdict is Verdict.REFUTED, (false.claim.text(), falls)
            assert replays(false, falls), falls

    holds()


def test_there_are_enough_of_them() -> None:
    """Two claims a pair; every kind of check the engine has."""
    pairs = sum(examples for _, examples, _ in FAMILIES.values())
    assert 2 * len(FAMILIES) >= 60
    assert 2 * pairs >= 150
    kinds = {kind for kind, _, _ in FAMILIES.values()}
    assert kinds == {"symbolic", "accountant", "worst-case", "audit", "rate", "property", "citation"}


def test_none_of_them_enters_the_registry() -> None:
    from dpcheck.bounds.registry import entries

    assert not [claim_id for claim_id in entries() if "invented" in claim_id]
