"""Claims in the order of their source: sections from ids, whole numbers compared as numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcheck.report.reading_order import WORDS, grouped, own_section, parsed, sections
from dpcheck.verdicts.catalogue import CatalogueRow, catalogue


def row(claim_id: str, algorithm: str = "some", theme: str = "convex") -> CatalogueRow:
    document = claim_id.partition(".")[0]
    return CatalogueRow(claim_id, theme, algorithm, document, "", "utility", "", "")


def listed(*rows: CatalogueRow) -> list[tuple[str, list[str]]]:
    known = {r.id: r for r in rows}
    return [(g.heading, [r.id.partition(".")[2] for r in g.rows]) for g in grouped(rows, known)]


@pytest.mark.parametrize(
    ("claim_id", "word", "number", "section"),
    [
        ("dwang20.theorem3.1.2.minibatch.cost", "theorem", (3, 1, 2), (3, 1)),
        ("dwang20.equation3.17.corrected", "equation", (3, 17), ()),
        ("dwang20.section3.1.5.dp_sgd", "section", (3, 1, 5), (3, 1)),
        ("dwang20.section2.1.saving", "section", (2, 1), (2, 1)),
        ("zhang17.lemma10", "lemma", (10,), ()),
        ("zhang17.remark.d_below_n", "remark", (), ()),
        ("lwang21.corollary2.5.8", "corollary", (2, 5, 8), (2, 5)),
    ],
)
def test_ids_are_read(claim_id: str, word: str, number: tuple[int, ...], section: tuple[int, ...]) -> None:
    assert parsed(claim_id) == (word, number)
    assert own_section(claim_id) == section


@given(st.sampled_from([*WORDS]), st.lists(st.integers(0, 99), min_size=1, max_size=4), st.sampled_from(["", ".a.b"]))
def test_any_id_gives_back_its_word_and_number(word: str, number: list[int], rest: str) -> None:
    assert parsed(f"dwang20.{word}{'.'.join(map(str, number))}{rest}") == (word, tuple(number))


def test_numbers_are_numbers_and_parts_follow_their_whole() -> None:
    ids = ["lemma2.1.10", "lemma2.1.9.corrected", "lemma2.1.9", "theorem2.1.1", "theorem10.1.1", "theorem2.1.1.cost"]
    rows = [row(f"dwang20.{claim_id}") for claim_id in ids]
    assert listed(*rows) == [
        ("Section 2.1", ["theorem2.1.1", "theorem2.1.1.cost", "lemma2.1.9", "lemma2.1.9.corrected", "lemma2.1.10"]),
        ("Section 10.1", ["theorem10.1.1"]),
    ]


def test_an_equation_is_where_its_file_is() -> None:
    """Of the algorithm, and of its proof; a table in a file of its own is in the chapter, before its sections."""
    rows = [
        row("dwang20.theorem3.1.1", "dp_svrg"),
        row("dwang20.theorem3.2.1", "other"),
        row("dwang20.equation3.30", "other"),
        row("dwang20.equation3.5", "dp_svrg"),
        row("dwang20.equation3.20", "dp_svrg_proof"),
        row("dwang20.table3.1", "comparison"),
    ]
    assert listed(*rows) == [
        ("Chapter 3", ["table3.1"]),
        ("Section 3.1", ["theorem3.1.1", "equation3.5", "equation3.20"]),
        ("Section 3.2", ["theorem3.2.1", "equation3.30"]),
    ]


def test_a_paper_without_sections_goes_by_words() -> None:
    rows = [row(f"zhang17.{x}") for x in ("lemma2", "theorem2", "theorem1", "lemma10", "abstract.best")]
    assert [heading for heading, _ in listed(*rows)] == ["Abstract", "Theorems", "Lemmas"]


def test_every_claim_has_its_place_once() -> None:
    rows = catalogue()
    groups = grouped(rows.values())
    assert sorted(r.id for g in groups for r in g.rows) == sorted(rows)
    assert len({(g.document, g.heading) for g in groups}) == len(groups)
    assert all(sections(rows.values())[k] == (3, 1) for k in rows if k.startswith("dwang20.theorem3.1."))
