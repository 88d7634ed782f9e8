"""The experiments of lwang21, sections 4.7 and 4.8: the tables as printed, the settings, and trends that could fail."""

from __future__ import annotations

import math

import pytest

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.library.nonconvex import dp_srm_experiments as printed
from dpcheck.bounds.registry import library
from dpcheck.datasets import breast_cancer
from dpcheck.evidence.nonconvex import dp_srm_experiments as experiments
from dpcheck.evidence.nonconvex.dp_srm_experiments import CHECKS, matched
from dpcheck.problems.losses import Logistic


def test_privacy_levels_are_matched_to_a9a() -> None:
    problem = breast_cancer().problem(Logistic())
    for level in experiments.LEVELS:
        guarantee = matched(problem, level)
        assert guarantee.eps * problem.n / math.sqrt(problem.d) == pytest.approx(level * 32561 / math.sqrt(123))
        assert guarantee.delta == 1e-5


def test_what_a_table_shows_is_counted() -> None:
    """DP-AGD's gradient norm on a9a is the smaller one at both levels; a table that says otherwise is supported."""
    claim = library["lwang21.table4.2.gradient"]
    assert claim.checks[0].run(claim, Effort()).verdict is Verdict.REFUTED
    assert printed.smaller(printed.A9A, printed.GRADIENT) == {
        "DP-GD": [True] * 2,
        "DP-AGD": [False] * 2,
        "RRPSGD": [True] * 2,
    }
    kinder = {
        level: {**rows, "DP-AGD": (*rows["DP-AGD"][:3], 1.0, *rows["DP-AGD"][4:])}  # planted
        for level, rows in printed.A9A.items()
    }
    check = printed.Counted(printed.smaller(kinder, printed.GRADIENT), 1.0, "planted")
    assert check.run(claim, Effort()).verdict is Verdict.SUPPORTED


def test_a_margin_is_more_than_both_spreads() -> None:
    """On ijcnn1 DP-AGD's gradient norm at the first level is within the spreads; wider gaps are not."""
    ours, theirs = (printed.IJCNN1[0.2][m] for m in (printed.OURS, "DP-AGD"))
    assert printed.apart(ours, theirs) == [True, False]
    further = (*theirs[: printed.GRADIENT], 2 * theirs[printed.GRADIENT], *theirs[printed.ERROR_SPREAD :])
    assert printed.apart(ours, further) == [True, True]


def test_settings_that_the_lemma_covers_are_not_called_vacuous() -> None:
    """One record in a million at the same level: nothing excludes the lemma, and the steps say so."""
    fine = printed.uncovered("section4.7.condition", "planted", 10**6, 1, printed.half)
    assert fine.checks[0].run(fine, Effort()).verdict is Verdict.UNCHECKED


def test_a_trend_the_wrong_way_round_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = library["lwang21.section4.7.trend.eps"]
    rising = {"a, low": {"DP-SRM": (0.1, 1.0)}, "a, high": {"DP-SRM": (0.2, 1.0)}}
    falling = {"a, low": {"DP-SRM": (0.2, 1.0)}, "a, high": {"DP-SRM": (0.1, 1.0)}}
    monkeypatch.setattr(experiments, "problems", lambda: iter([("a", None)]))
    for outcomes, verdict in ((rising, Verdict.REFUTED), (falling, Verdict.SUPPORTED)):
        monkeypatch.setattr(experiments, "outcomes", lambda seed, trials, found=outcomes: found)
        assert CHECKS[claim.id][0].run(claim, Effort()).verdict is verdict


def test_less_noise_helps_in_the_measurement() -> None:
    """A hundred times the epsilon must lower the objective: the measurement sees the noise."""
    problem = breast_cancer().problem(Logistic())
    noisy, quiet = (experiments.single_gradients(problem, matched(problem, level), 0, 4) for level in (0.02, 2.0))
    assert quiet[experiments.OBJECTIVE] < noisy[experiments.OBJECTIVE]


def test_every_trend_has_its_check() -> None:
    trends = [k for k in library if k.startswith("lwang21.section4.7.trend.")]
    assert {k for k in trends if not library[k].checks} == set(CHECKS)
