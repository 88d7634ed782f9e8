"""The checks that measure errors: exponents, explicit constants, comparisons; sound ones pass, slips are caught."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Le, Rational, log, sqrt
from test_checks import ANY, QUICK, claim, refuted_again

from dpcheck.bounds.language.claim import Effort, Kind, Rate, Verdict
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.symbols import Delta_T, L, d, delta, eps, excess_risk, gamma, likely_excess_risk, n
from dpcheck.bounds.privacy.numeric_checks import Counted
from dpcheck.evidence.comparison_checks import MethodsCompared, surely_less
from dpcheck.evidence.rate_checks import Exponents, Trend, Within, bernstein, claimed_exponents


# Rates ---------------------------------------------------------------------------------------------
def power_law(power: float) -> Any:
    def measure(x: float, trials: int, seed: int) -> np.ndarray:
        return x**power * np.random.default_rng(seed).exponential(size=trials)

    return measure


GRID = (1.0, 2.0, 4.0, 8.0)


@pytest.mark.parametrize("seed", range(3))
def test_an_exponent_of_minus_two_is_told_from_minus_one(seed: int) -> None:
    """1000 runs a point give a half-width of 0.067 at 99.9%: the slack of 0.1 lies 5 deviations beyond it, so a
    true exponent is called wrong with probability below 1e-6 and one that is off by 1 is missed with less. The
    first look, at 250 runs, tells them apart already."""
    falls_fast = claim(Rate(excess_risk, eps**-2), kind=Kind.EXPERIMENT)
    effort = Effort(seed=seed)

    def trend(power: float, **options: Any) -> Trend:
        return Trend("eps", GRID, power_law(power), "planted", trials=1000, **options)

    assert trend(-2).run(falls_fast, effort).verdict is Verdict.SUPPORTED
    assert trend(-3).run(falls_fast, effort).verdict is Verdict.SUPPORTED  # an upper bound may be beaten
    slow = trend(-1)
    assert refuted_again(slow, falls_fast, slow.run(falls_fast, effort))
    both = trend(-3, two_sided=True)
    assert refuted_again(both, falls_fast, both.run(falls_fast, effort))


def test_a_finite_grid_never_refutes_a_theorem() -> None:
    theorem = claim(Rate(excess_risk, eps**-2), kind=Kind.UTILITY)
    found = Trend("eps", GRID, power_law(-1), "planted", trials=1000).run(theorem, QUICK)
    assert found.verdict is Verdict.UNCHECKED
    assert found.counterexample is None


def test_growth_in_a_logarithm() -> None:
    about = claim(Rate(excess_risk, log(eps)), kind=Kind.EXPERIMENT)
    grid = (1.0, 10.0, 100.0, 1000.0)

    def line(x: float, trials: int, seed: int) -> np.ndarray:
        return np.array([3 + 2 * np.log(x)])

    def linear(x: float, trials: int, seed: int) -> np.ndarray:
        return np.array([x])

    assert Trend("eps", grid, line, "", in_log=True, slack=0.02).run(about, QUICK).verdict is Verdict.SUPPORTED
    assert Trend("eps", grid, linear, "", in_log=True, slack=0.02).run(about, QUICK).verdict is Verdict.REFUTED


@settings(deadline=None, max_examples=30)
@given(st.fractions(min_value=-3, max_value=3, max_denominator=6).filter(lambda k: k != 1))
def test_the_claimed_exponent_is_read_off_the_formula(k: Any) -> None:
    formula = 7 * eps ** Rational(k.numerator, k.denominator) * L / (n * eps)
    points = [{"eps": x} for x in GRID]
    found = claimed_exponents(claim(Rate(excess_risk, formula)), points, ["eps"])
    assert found["eps"] == pytest.approx(float(k) - 1)


def test_exponents_in_several_symbols_at_once() -> None:
    """n^-2 d^(1/2) eps^-1: each told apart from a claim that is off in it alone, in both designs."""

    def measure(point: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
        size = point["d"] ** 0.5 / (point["n"] ** 2 * point["eps"])
        return size * np.random.default_rng(seed).gamma(2.0, size=trials)

    grid = {"n": (100, 400, 1600), "d": (1, 4, 16), "eps": (0.1, 0.5, 2.0)}
    true = sqrt(d) / (n**2 * eps)
    for every in (False, True):
        check = Exponents(grid, measure, "planted", factorial=every, two_sided=True)
        about = claim(Rate(excess_risk, true), kind=Kind.EXPERIMENT)
        assert check.run(about, QUICK).verdict is Verdict.SUPPORTED
        for slip in (true * n, true / sqrt(n), true * sqrt(d), true / eps):
            wrong = claim(Rate(excess_risk, slip), kind=Kind.EXPERIMENT)
            assert refuted_again(check, wrong, check.run(wrong, QUICK))


def test_a_logarithm_is_no_power() -> None:
    """Measured like log(1/delta): right against that, and not against its square or 1/delta."""

    def measure(point: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
        return np.log(1 / point["delta"]) * np.random.default_rng(seed).gamma(4.0, size=trials)

    check = Exponents({"delta": (1e-8, 1e-6, 1e-4, 1e-2)}, measure, "planted", slack=0.02, two_sided=True)
    for formula, verdict in (
        (log(1 / delta), Verdict.SUPPORTED),
        (log(1 / delta) ** 2, Verdict.REFUTED),
        (1 / delta, Verdict.REFUTED),
    ):
        assert check.run(claim(Rate(excess_risk, formula), kind=Kind.EXPERIMENT), QUICK).verdict is verdict


def test_looks_stop_when_decided_and_go_on_when_not() -> None:
    drawn: list[int] = []

    def measure(x: float, trials: int, seed: int) -> np.ndarray:
        drawn.append(trials)
        return x**-2 * np.random.default_rng(seed).exponential(size=trials)

    about = claim(Rate(excess_risk, eps**-2), kind=Kind.EXPERIMENT)
    easy = Trend("eps", (1e-4, 1e-2, 1.0), measure, "wide", trials=400).run(about, QUICK)
    assert easy.verdict is Verdict.SUPPORTED
    assert drawn == [100] * 3  # the first look
    drawn.clear()
    narrow = Trend("eps", (1.0, 1.2, 1.4), measure, "narrow", slack=0.05, trials=400).run(about, QUICK)
    assert sum(drawn) == 3 * 8 * 400  # all that may be spent
    assert "budget" in narrow.detail


def test_the_intervals_hold_over_all_looks() -> None:
    """60 experiments of six looks each at 99.9% together: a miss has probability below 6%, and the seeds are fixed."""
    check = Trend("eps", (1.0, 4.0, 16.0), power_law(-2), "", slack=0.0, two_sided=True, trials=100)
    about = claim(Rate(excess_risk, eps**-2), kind=Kind.EXPERIMENT)
    found = [check.run(about, Effort(seed=seed)).verdict for seed in range(60)]
    assert Verdict.REFUTED not in found


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ({"epsilon": (1, 2, 4)}, "symbols of the table"),
        ({"eps": (1.0,)}, "at least two values"),
        ({"eps": (1.0, 1.0)}, "two val"),
    ],
)
def test_a_design_that_measures_nothing_is_refused(grid: Any, words: str) -> None:
    def measure(point: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
        return np.ones(trials)

    with pytest.raises(InvalidInput, match=words):
        Exponents(grid, measure, "").run(claim(Rate(excess_risk, eps**-2)), QUICK)


def test_an_error_below_zero_is_refused() -> None:
    def measure(x: float, trials: int, seed: int) -> np.ndarray:
        return -np.ones(trials)

    with pytest.raises(InvalidInput, match=r"mean error at .*above 0 in the mean"):
        Trend("eps", GRID, measure, "").run(claim(Rate(excess_risk, eps**-2)), QUICK)


# Explicit constants --------------------------------------------------------------------------------
CASES = [{"eps": 0.5}, {"eps": 2.0}]


def noisy_error(factor: float) -> Any:
    def measure(case: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
        return factor / case["eps"] * np.random.default_rng(seed).uniform(0, 2, size=trials)

    return measure


@pytest.mark.parametrize("largest", [None, lambda case: 4 / case["eps"]], ids=["t", "bernstein"])
@pytest.mark.parametrize(("factor", "verdict"), [(0.8, Verdict.SUPPORTED), (1.25, Verdict.REFUTED)])
def test_a_mean_against_its_bound(factor: float, verdict: Verdict, largest: Any) -> None:
    """False alarm at 0.8: 1e-6. The mean is `factor` of the bound."""
    check = Within(noisy_error(factor), CASES, "planted", largest=largest, trials=2000)
    about = claim(Le(excess_risk, 1 / eps), kind=Kind.UTILITY)
    found = check.run(about, QUICK)
    assert found.verdict is verdict
    if verdict is Verdict.REFUTED:
        assert refuted_again(check, about, found)
        assert found.counterexample["eps"] in (0.5, 2.0)
    else:
        assert found.margin > 0


def test_data_that_stand_in_decide_nothing_against_a_bound_and_may_support_it() -> None:
    about = claim(Le(excess_risk, 1 / eps), kind=Kind.UTILITY)
    above, below = (Within(noisy_error(f), CASES, "planted", trials=2000, stand_in=True) for f in (1.25, 0.8))
    found = above.run(about, QUICK)
    assert found.verdict is Verdict.UNCHECKED
    assert f"above in {len(CASES)} of {len(CASES)} cases" in found.figure
    assert found.counterexample is None
    assert below.run(about, QUICK).verdict is Verdict.SUPPORTED


def test_a_mean_at_its_bound_stays_open() -> None:
    found = Within(noisy_error(1.0), CASES, "exactly", trials=50).run(claim(Le(excess_risk, 1 / eps)), QUICK)
    assert found.verdict is Verdict.UNCHECKED
    assert "open" in found.figure


@pytest.mark.parametrize(("scale", "verdict"), [(1.0, Verdict.SUPPORTED), (1.5, Verdict.REFUTED)])
def test_a_likely_bound_is_about_the_share_above_it(scale: float, verdict: Verdict) -> None:
    """Exponential errors exceed log(2/gamma) with probability gamma/2; half as large again, far more often."""

    def measure(case: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
        return scale * np.random.default_rng(seed).exponential(size=trials)

    about = claim(Le(likely_excess_risk, log(2 / gamma)))
    check = Within(measure, [{"gamma": 0.05}], "planted", trials=2000)
    found = check.run(about, QUICK)
    assert found.verdict is verdict
    assert verdict is Verdict.SUPPORTED or refuted_again(check, about, found)


@pytest.mark.parametrize(("top", "verdict"), [(1.0, Verdict.SUPPORTED), (1.01, Verdict.REFUTED)])
def test_a_bound_without_chance_holds_for_every_run(top: float, verdict: Verdict) -> None:
    def measure(case: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
        return np.append(np.zeros(trials - 1), top)

    check, about = Within(measure, [{"eps": 1.0}], "planted"), claim(Le(Delta_T, 1 / eps))
    found = check.run(about, QUICK)
    assert found.verdict is verdict
    assert verdict is Verdict.SUPPORTED or refuted_again(check, about, found)


def test_bernstein_holds_for_bounded_numbers() -> None:
    """200 means of 50 coin flips at 1%: all within, at a fixed seed (the inequality is far from tight)."""
    rng = np.random.default_rng(0)
    flips = (rng.random((200, 50)) < 0.3).astype(float)
    assert all(abs(row.mean() - 0.3) <= bernstein(row, 1.0, 0.01) for row in flips)
    assert bernstein(flips[0], 1.0, 0.01) < bernstein(flips[0][:10], 1.0, 0.01)


# Comparisons ---------------------------------------------------------------------------------------
def compared(settings_: int, lost: int, work: float = 1.0, gap: float = 9.0) -> MethodsCompared:
    """Errors that are N(10, 1) and N(10 - gap, 1), the second method's less in `lost` of the settings."""

    def measure(seed: int, trials: int) -> dict[str, tuple[np.ndarray, np.ndarray, float]]:
        pair = 10 + np.random.default_rng(seed).standard_normal((2, trials)) - np.array([[gap], [0.0]])
        return {f"setting {i}": (*(pair[::-1] if i < lost else pair), work) for i in range(settings_)}

    return MethodsCompared(measure, "planted data", "planted")


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(0, 60))
def test_almost_all_means_nine_in_ten(settings_: int, lost: int) -> None:
    check = compared(settings_, lost := min(lost, settings_))
    found = check.run(ANY, QUICK)
    assert (found.verdict is Verdict.SUPPORTED) == (10 * (settings_ - lost) >= 9 * settings_)
    assert found.verdict is Verdict.SUPPORTED or refuted_again(check, ANY, found)


def test_data_that_stand_in_decide_nothing_against_a_document() -> None:
    lost = replace(compared(4, 4), stand_in=True).run(ANY, QUICK)
    assert lost.verdict is Verdict.UNCHECKED
    assert "more of either in 4" in lost.figure
    assert replace(compared(4, 0), stand_in=True).run(ANY, QUICK).verdict is Verdict.SUPPORTED


def test_more_work_counts_as_a_loss_and_a_tie_as_neither() -> None:
    assert compared(4, 0, work=1.5).run(ANY, QUICK).verdict is Verdict.REFUTED
    assert compared(4, 0, gap=0.0).run(ANY, QUICK).verdict is Verdict.UNCHECKED
    flat = np.ones(5)
    assert surely_less(flat, 2 * flat, 0.01)
    assert not surely_less(flat, flat, 0.01)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.booleans(), min_size=1, max_size=40), st.lists(st.booleans(), min_size=1, max_size=40))
def test_rows_are_counted_each_list_by_itself(first: list[bool], second: list[bool]) -> None:
    check = Counted({"error": first, "time": second}, least=0.9, because="printed")
    found = check.run(ANY, QUICK)
    enough = all(10 * sum(rows) >= 9 * len(rows) for rows in (first, second))
    assert (found.verdict is Verdict.SUPPORTED) == enough
    assert f"error in {sum(first)} of {len(first)} rows" in found.figure
    assert enough or refuted_again(check, ANY, found)
