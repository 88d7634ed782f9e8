"""Real bugs: replay finds each with the loss that it has, and flags no twin and no control."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from corpus import CASES, Case
from corpus.detectors import DETECTORS, by_replay

PAGE = Path(__file__).parents[2] / "docs" / "real-bugs.md"
FEW = 20  # runs in which replay is to find most of them


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_replay_finds_the_bug_and_not_the_twin(case: Case) -> None:
    bug, twin = by_replay(case.bug, case), by_replay(case.twin, case)
    assert bug.flagged != case.control, bug
    assert not twin.flagged, twin
    assert twin.words == "kept on this pair"
    if case.truth is not None and math.isfinite(case.truth):
        assert bug.epsilon == pytest.approx(case.truth, rel=1e-4)


def test_most_are_found_in_few_runs() -> None:
    bugs = [case for case in CASES if not case.control]
    assert sum(by_replay(case.bug, case).runs <= FEW for case in bugs) >= 0.7 * len(bugs)


def test_threads_are_named() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    for case in CASES:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+|arXiv \d{4}\.\d{4,5}", case.thread)


def test_the_page_has_every_case() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for case in CASES:
        assert f"| {case.name}{' (control)' if case.control else ''} | {case.thread} | {case.wrong} |" in text
    assert "FLAGGED" not in text


@pytest.mark.slow
@pytest.mark.parametrize("name", DETECTORS)
def test_no_detector_flags_a_twin(name: str) -> None:
    flagged = [case.name for case in CASES if DETECTORS[name](case.twin, case).flagged]
    assert not flagged
