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
    ("certified", "unsampled", "transcript", "output", "word"),
    [
        (1.0, None, 0.8, 0.1, "hidden iterates (8.0x)"),
        (0.2, None, 0.15, 0.1, "slack in the analysis (5.0x)"),
        (1.0, 9.0, 0.2, 0.1, "amplification (5.0x)"),
        (1.0, 1.5, 0.2, 0.1, "weak attack (5.0x)"),
        (1.0, None, 0.2, 0.1, "weak attack (5.0x)"),
        (None, None, 0.2, 0.1, "weak attack or slack (5.0x)"),
        (1.0, None, None, 0.1, "hidden iterates or weak attack (10.0x)"),
        (1.0, None, 0.5, 0.0, "hidden iterates (50.0x)"),
    ],
)
def test_reasons_follow_from_the_figures(
    certified: float | None, unsampled: float | None, transcript: float | None, output: float, word: str
) -> None:
    assert weak_audits.Figures(1.0, certified, unsampled, transcript, output).reason() == word


def test_without_sampling_the_same_noise_is_worth_more() -> None:
    assert weak_audits.unsampled(FULL) == FULL
    assert weak_audits.unsampled(SAMPLED).epsilon(1e-3).low > SAMPLED.epsilon(1e-3).high


def test_every_solver_is_asked() -> None:
    assert set(solvers()) <= set(weak_audits.subjects())


def test_the_page_lists_known_solvers_with_figures_below_a_third() -> None:
    rows = [line.split(" | ") for line in (DOCS / "weak-audits.md").read_text().splitlines() if "eps=1" in line]
    assert rows
    for name, _, output, *_ in rows:
        assert name.removeprefix("| ") in weak_audits.subjects()
        assert float(output) < weak_audits.LEAST
