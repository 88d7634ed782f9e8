"""Every numbered statement of a document has a claim: `tests/statements/*.txt` lists them, one id stem per line.

A line is a statement as the document numbers it (`zhang17.lemma2`); what stands after '#' says why a statement is not
listed, or where it stands. It is covered by a claim of that id, or of a part of it (`zhang17.theorem2.pure`), that
says what is printed: a correction alone does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dpcheck.bounds.language.claim import DOCUMENTS, Claim
from dpcheck.bounds.registry import entries

LISTS = sorted((Path(__file__).parent / "statements").glob("*.txt"))


def statements(text: str) -> Iterator[str]:
    """The id stems of a list, without its comments."""
    for line in text.splitlines():
        stem = line.partition("#")[0].strip()
        if stem:
            yield stem


def without_claim(listed: Iterable[str], claims: Iterable[Claim]) -> list[str]:
    """The statements that no claim is about."""
    covered = {stem for claim in claims for stem in about(claim)}
    return [stem for stem in listed if stem not in covered]


def about(claim: Claim) -> set[str]:
    """`zhang17.theorem2.pure` is about itself and zhang17.theorem2, but for what it only corrects."""
    return prefixes(claim.id) - (prefixes(claim.corrects) if claim.corrects else set())


def prefixes(claim_id: str) -> set[str]:
    """`zhang17.theorem2.pure`, `zhang17.theorem2` and `zhang17`."""
    words = claim_id.split(".")
    return {".".join(words[:end]) for end in range(1, len(words) + 1)}


def known() -> list[Claim]:
    """All claims."""
    return [entry.claim for entry in entries().values()]


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_every_listed_statement_has_a_claim(path: Path) -> None:
    listed = list(statements(path.read_text(encoding="utf-8")))
    assert listed
    assert without_claim(listed, known()) == []


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_lists_name_numbered_statements_of_known_documents_once(path: Path) -> None:
    listed = list(statements(path.read_text(encoding="utf-8")))
    assert len(set(listed)) == len(listed)
    assert [stem for stem in listed if stem.partition(".")[0] not in DOCUMENTS or not stem.partition(".")[2]] == []


def test_a_missing_statement_is_flagged() -> None:
    listed = ["zhang17.lemma2", "zhang17.lemma20", "zhang17.lemm"]
    assert without_claim(listed, known()) == ["zhang17.lemma20", "zhang17.lemm"]


def test_a_statement_that_only_a_correction_is_about_is_flagged() -> None:
    corrections = [claim for claim in known() if claim.id != "dwang20.lemma2.1.9"]
    assert "dwang20.lemma2.1.9.corrected" in {claim.id for claim in corrections}
    assert without_claim(["dwang20.lemma2.1.9"], corrections) == ["dwang20.lemma2.1.9"]


def test_a_statement_that_corrects_the_one_before_is_a_statement() -> None:
    printed = next(claim for claim in known() if claim.id == "dwang20.equation3.37")
    claim = replace(printed, corrects="dwang20.equation3.36")
    assert without_claim(["dwang20.equation3.37", "dwang20.equation3.36"], [claim]) == ["dwang20.equation3.36"]


def test_comments_are_not_statements() -> None:
    assert list(statements("# a list\nzhang17.lemma1  # both mechanisms\n\n  zhang17.lemma2\n")) == [
        "zhang17.lemma1",
        "zhang17.lemma2",
    ]
