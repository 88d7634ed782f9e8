"""Every numbered statement of a document has a claim: `tests/statements/*.txt` lists them, one id stem per line.

A line is a statement as the document numbers it (`zhang17.lemma2`); what stands after '#' says why a statement is not
listed, or where it stands. It is covered by a claim of that id, or of a part of it (`zhang17.theorem2.pure`), that
says what is printed: a correction alone does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from bounds.claim import DOCUMENTS
from bounds.registry import entries

LISTS = sorted((Path(__file__).parent / "statements").glob("*.txt"))


def statements(text: str) -> Iterator[str]:
    """The id stems of a list, without its comments."""
    for line in text.splitlines():
        stem = line.partition("#")[0].strip()
        if stem:
            yield stem


def without_claim(listed: Iterable[str], printed: Iterable[str]) -> list[str]:
    """The statements that no claim is about."""
    covered = {part for claim_id in printed for part in prefixes(claim_id)}
    return [stem for stem in listed if stem not in covered]


def prefixes(claim_id: str) -> Iterator[str]:
    """`zhang17.theorem2.pure` is about zhang17.theorem2.pure, zhang17.theorem2 and zhang17."""
    words = claim_id.split(".")
    return (".".join(words[:end]) for end in range(1, len(words) + 1))


def printed_claims() -> list[str]:
    """All claims but the corrections."""
    return [claim_id for claim_id, entry in entries().items() if entry.claim.corrects is None]


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_every_listed_statement_has_a_claim(path: Path) -> None:
    listed = list(statements(path.read_text(encoding="utf-8")))
    assert listed
    assert without_claim(listed, printed_claims()) == []


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_lists_name_numbered_statements_of_known_documents_once(path: Path) -> None:
    listed = list(statements(path.read_text(encoding="utf-8")))
    assert len(set(listed)) == len(listed)
    assert [stem for stem in listed if stem.partition(".")[0] not in DOCUMENTS or not stem.partition(".")[2]] == []


def test_a_missing_statement_is_flagged() -> None:
    listed = ["zhang17.lemma2", "zhang17.lemma20", "zhang17.lemm", "zhang17.theorem1.corrected"]
    assert without_claim(listed, printed_claims()) == ["zhang17.lemma20", "zhang17.lemm", "zhang17.theorem1.corrected"]


def test_a_statement_that_only_a_correction_is_about_is_flagged() -> None:
    printed = [claim_id for claim_id in printed_claims() if claim_id != "dwang20.lemma2.1.9"]
    assert "dwang20.lemma2.1.9.corrected" in entries()
    assert without_claim(["dwang20.lemma2.1.9"], printed) == ["dwang20.lemma2.1.9"]


def test_comments_are_not_statements() -> None:
    assert list(statements("# a list\nzhang17.lemma1  # both mechanisms\n\n  zhang17.lemma2\n")) == [
        "zhang17.lemma1",
        "zhang17.lemma2",
    ]
