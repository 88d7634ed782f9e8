"""What was found in released packages: the page says it as it is kept, and calls a finding what a detector flags."""

from __future__ import annotations

from typing import Any

import pytest

from corpus.wild import LIBRARIES
from corpus.wild.page import PAGE, flagged_by, found_of, section, written

KEPT = {library: found for library in LIBRARIES if (found := found_of(library)) is not None}
ROWS = [(library, row) for library, found in KEPT.items() for row in found["subjects"]]


def test_the_page_is_made_of_what_was_found() -> None:
    assert PAGE.read_text(encoding="utf-8") == written()


@pytest.mark.parametrize(("library", "row"), ROWS, ids=lambda value: value if isinstance(value, str) else value["name"])
def test_what_is_flagged_is_a_finding_and_what_is_a_finding_is_flagged(library: str, row: dict[str, Any]) -> None:
    """A finding names the promise that it breaks; what a library says itself is no finding."""
    assert bool(flagged_by(row)) == bool(row["finding"] or (row["limit"] and row["thread"]))
    assert bool(row["promise"]) >= bool(row["finding"])
    assert not (row["finding"] and row["limit"])


def test_open_threads_are_found_again() -> None:
    threads = {row["thread"] for _, row in ROWS if flagged_by(row)}
    assert {f"IBM/differential-privacy-library#{number}" for number in (105, 106)} <= threads


def test_a_finding_that_nothing_flags_is_not_shown_as_one() -> None:
    row = next(row for _, row in ROWS if row["finding"])
    quiet = {**row, **{name: {**row[name], "violated": False} for name in ("audit", "replay")}}
    found = {"library": "diffprivlib", "version": "0", "subjects": [quiet]}
    assert "0 findings" in section("diffprivlib", found)
    assert row["finding"] not in section("diffprivlib", found)
    assert "1 findings" in section("diffprivlib", {**found, "subjects": [row]})
