"""The page of weak audits: reasons follow from the figures, and the page is the program's own."""

from __future__ import annotations

import pytest

from benchmarks import weak_audits
from benchmarks.pages import DOCS
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.solvers.finding import solvers

FULL, SAMPLED = Release(1.0, Gaussian(1.0)), Release(1.0, Gaussian(1.0), WithoutReplacement(1, 9), 3)


@pytest.mark.parametrize(
    ("seen", "exact", "released", "word"),
    [
        (0.5, 1.0, FULL, "hidden iterates"),
        (0.1, 0.2, SAMPLED, "slack in the analysis"),
        (0.1, 1.0, SAMPLED, "amplification"),
        (0.1, 0.5, SAMPLED, "and slack"),
        (None, None, FULL, "no exact figure"),
        (0.1, 1.0, FULL, "weak attack"),
    ],
)
def test_reasons_follow_from_the_figures(seen: float | None, exact: float | None, released: Release, word: str) -> None:
    assert word in weak_audits.reason(1.0, seen, exact, released)


def test_every_solver_is_asked() -> None:
    assert set(solvers()) <= set(weak_audits.subjects())


def test_the_page_lists_known_solvers_with_figures_below_a_third() -> None:
    rows = [line.split(" | ") for line in (DOCS / "weak-audits.md").read_text().splitlines() if "eps=1" in line]
    assert rows
    for name, _, output, *_ in rows:
        assert name.removeprefix("| ") in weak_audits.subjects()
        assert float(output) < weak_audits.LEAST
