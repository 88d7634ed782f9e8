"""Two prints of one statement, the table they share, smoothness and dual norms."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.library.nonconvex.stationarity_comparison import table1, table41
from dpcheck.bounds.privacy.exact import optimal_composition
from dpcheck.bounds.proving.tables import compared, regenerate
from dpcheck.bounds.registry import library
from dpcheck.evidence.checks import number
from dpcheck.evidence.nonconvex import stationarity as checks
from dpcheck.problems.problem import Problem

TWICE = {"theorem1": "theorem4.1.1", "theorem3": "theorem4.1.3", "theorem4": "theorem4.1.4", "remark2": "remark4.1.2"}


@pytest.mark.parametrize(("paper", "chapter"), TWICE.items())
def test_both_documents_state_the_same(paper: str, chapter: str) -> None:
    for part in ("", ".corrected"):
        ours, theirs = library[f"wangxu19.{paper}{part}"], library[f"dwang20.{chapter}{part}"]
        assert (ours.states, ours.assumes, ours.says, ours.kind) == (
            theirs.states, theirs.assumes, theirs.says, theirs.kind,
        )  # fmt: skip
        assert ours.source.document == "wangxu19"
        assert theirs.source.document == "dwang20"
    assert library[f"dwang20.{chapter}.corrected"].corrects == f"dwang20.{chapter}"


def test_the_chapter_prints_the_papers_table_but_for_one_logarithm() -> None:
    pairs = list(zip(table1.rows, table41.rows, strict=True))
    differ = [
        (ours.method, column)
        for ours, theirs in pairs
        for column in ours.cells
        if ours.cells[column].printed != theirs.cells[column].printed
    ]
    assert differ == [("Zhang et al. 2017", "utility")]
    assert [row.method for row in table41.rows][2:] == [f"Algorithm 4.1.{i}" for i in (16, 17, 18, 19)]
    ids = [cell.claim for row in table41.rows for cell in row.cells.values() if cell.claim]
    assert ids == ["zhang17.theorem5.rate"] + [f"dwang20.theorem4.1.{i}" for i in (2, 4, 5, 6)]


@pytest.mark.parametrize("table", [table1, table41], ids=lambda t: t.id)
def test_cells_of_these_algorithms_are_what_their_claims_give(table: object) -> None:
    found = {c.row: c for c in regenerate(table).cells if c.column == "utility"}  # type: ignore[arg-type]
    assert found[3].status == found[4].status == "same"
    assert found[1].status == ("same" if table is table1 else "larger")
    assert regenerate(table).privacy[3] == "yes"  # type: ignore[arg-type]


def test_a_cell_without_the_fourth_root_would_be_noticed() -> None:
    row = table1.rows[3]
    wrong = table1.with_cells({("Algorithm 2", "utility"): row.cells["utility"].printed ** 2}).rows[3]
    assert compared(table1, 4, wrong, "utility", wrong.cells["utility"]).status == "smaller"


def test_the_counterexample_to_lemma_1_is_one_by_optimal_composition() -> None:
    claim = library["wangxu19.lemma1"]
    point = claim.checks[0].run(claim, Effort()).counterexample
    assert point is not None
    stated = float(claim.evaluate(eps=point["eps"], T=1, delta1=point["delta1"]))
    assert optimal_composition(point["eps"], 0.0, 1).epsilon(point["delta1"]) > stated
    # With δ' at most 1/2, as corrected, optimal composition never exceeds it.
    corrected = library["wangxu19.lemma1.corrected"]
    for T, delta in ((1, 0.5), (10, 0.1), (200, 1e-5)):
        eps = 0.99 / math.sqrt(8 * T * math.log(1 / delta))
        assert optimal_composition(eps, 0.0, T).epsilon(delta) <= float(corrected.evaluate(eps=eps, T=T, delta1=delta))


@given(st.fixed_dictionaries({k: number(st, *ends) for k, ends in checks.TANGENT.cases.items()}))
@settings(max_examples=40, deadline=None)
def test_risks_lie_below_their_parabolas(case: dict[str, float]) -> None:
    measured, bound = checks.above_tangent(case)
    assert measured <= bound * (1 + 1e-9)


def test_a_smoothness_of_nine_tenths_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The property search reaches the bound: with 0.9 L for L it finds a case."""
    claim = library["wangxu19.definition3"]
    assert checks.TANGENT.run(claim, Effort(seed=0)).verdict is Verdict.SUPPORTED
    true = Problem.smoothness.fget
    monkeypatch.setattr(Problem, "smoothness", property(lambda problem: 0.9 * true(problem)))
    assert checks.TANGENT.run(claim, Effort(seed=0)).verdict is Verdict.REFUTED


@given(st.fixed_dictionaries({k: number(st, *ends) for k, ends in checks.DUAL.cases.items()}))
@settings(max_examples=60, deadline=None)
def test_the_dual_norm_is_attained_at_the_maximiser_and_nowhere_exceeded(case: dict[str, float]) -> None:
    measured, bound = checks.dual_pair(case)
    assert measured <= bound + 1e-12
    if case["aligned"]:
        assert measured == pytest.approx(bound)
