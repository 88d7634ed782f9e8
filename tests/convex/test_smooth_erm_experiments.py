"""The printed rows of zhang17's Table 3, and the regularities that they show."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import pytest

from dpcheck.bounds.language.claim import Effort, Verdict
from dpcheck.bounds.library.convex.smooth_erm_experiments import TABLE3, Row, outperforms
from dpcheck.evidence.convex.outpert_gd import CHECKS

PRINTED = (0.1, 0.5, 1.0, 2.0)


def column(data: str, regularised: bool, name: str) -> list[float]:
    """A column in the order of epsilon."""
    rows = sorted((r for r in TABLE3 if r.data == data and (r.mu > 0) == regularised), key=lambda r: r.eps)
    return [getattr(r, name) for r in rows]


def ratios(values: list[float]) -> list[float]:
    return [b / a for a, b in pairwise(values)]


def test_forty_rows_of_five_data_sets() -> None:
    assert len(TABLE3) == 40
    assert Counter(r.data for r in TABLE3) == dict.fromkeys(("BANK", "ADULT", "CreditCard", "WINE", "BIKE"), 8)
    settings = {(r.data, r.mu > 0, r.eps) for r in TABLE3}
    assert len(settings) == 40
    assert {r.eps for r in TABLE3} == set(PRINTED)
    assert {(r.data, r.mu) for r in TABLE3 if r.mu > 0} == {
        ("BANK", 0.1),
        ("ADULT", 0.1),
        ("CreditCard", 0.1),
        ("WINE", 0.5),
        ("BIKE", 0.5),
    }
    assert all(min(r[3:]) > 0 for r in TABLE3)


@pytest.mark.parametrize("data", ["BANK", "ADULT", "CreditCard"])
def test_run_time_follows_the_number_of_steps_without_a_regulariser(data: str) -> None:
    """T grows like eps^(2/3): ratios 2.924, 1.587, 1.587 to a percent. sqrt(eps) would be told apart."""
    predicted = ratios([e ** (2 / 3) for e in PRINTED])
    assert predicted == pytest.approx([2.924, 1.587, 1.587], abs=1e-3)
    assert ratios(column(data, False, "time")) == pytest.approx(predicted, rel=0.01)
    assert ratios(column(data, False, "time")) != pytest.approx(ratios([math.sqrt(e) for e in PRINTED]), rel=0.05)


@pytest.mark.parametrize(("data", "slope"), [("BANK", 6.3), ("ADULT", 25.3), ("CreditCard", 2.6)])
def test_run_time_is_linear_in_log_eps_with_a_regulariser(data: str, slope: float) -> None:
    times, logs = column(data, True, "time"), [math.log(e**2) for e in PRINTED]
    slopes = [(times[i + 1] - times[i]) / (logs[i + 1] - logs[i]) for i in range(3)]
    assert slopes == pytest.approx([slope] * 3, rel=0.04)


@pytest.mark.parametrize("data", ["BANK", "ADULT", "CreditCard", "WINE"])
def test_error_falls_like_the_square_of_eps_with_a_regulariser(data: str) -> None:
    """25, 4, 4 to the digits printed: the last errors have one."""
    falls = [1 / r for r in ratios(column(data, True, "error"))]
    assert falls == pytest.approx([25, 4, 4], rel=0.26)


def test_bike_plateaus() -> None:
    """The one data set that does not: its error stays at about 0.023, so it is not the noise that dominates."""
    errors = column("BIKE", True, "error")
    falls = [1 / r for r in ratios(errors)]
    assert falls == pytest.approx([1.84, 1.24, 1.04], abs=0.01)
    assert max(falls) < 2 < 4
    assert errors[-1] == pytest.approx(0.023, abs=5e-4)
    assert falls != pytest.approx([25, 4, 4], rel=0.26)


def test_rows_worse_than_not_looking_at_the_data() -> None:
    """w = 0 has logistic loss log 2, so an excess of at most log 2 = 0.693 (and more with the printed loss)."""
    logistic = [r for r in TABLE3 if r.data in ("BANK", "ADULT", "CreditCard")]
    ours = [r for r in logistic if r.error > math.log(2)]
    assert [(r.data, r.mu, r.eps) for r in ours] == [("ADULT", 0.1, 0.1)]
    theirs = Counter((r.data, r.mu) for r in logistic if r.baseline_error > math.log(2))
    assert theirs == {("BANK", 0): 4, ("ADULT", 0.1): 4, ("CreditCard", 0.1): 4}


def test_who_wins() -> None:
    assert all(r.error < r.baseline_error for r in TABLE3)
    slower = [r for r in TABLE3 if r.time >= r.baseline_time]
    assert slower == [Row("ADULT", 0.1, 2, 0.008, 5.1009, 264.23, 257.23)]
    assert outperforms.checks[0].run(outperforms, Effort()).verdict in (Verdict.CERTIFIED, Verdict.SUPPORTED)


def test_the_printed_trends_are_checked_where_the_solver_is() -> None:
    attached = {claim for claim in CHECKS if claim.startswith("zhang17.table3.")}
    assert attached == {
        "zhang17.table3.error.strongly_convex",
        "zhang17.table3.error.convex",
        "zhang17.table3.time.convex",
        "zhang17.table3.time.strongly_convex",
    }
