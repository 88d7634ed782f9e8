"""The numeric checks and the checks that run code: sound statements pass, planted slips are caught and replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Eq, Integer, Le, Rational, exp, log, sqrt

from bounds.accounting import gaussian_mu, gaussian_sigma
from bounds.checks import CompositionAccountant, Counted, Exactness, GaussianAccountant, SampledGaussianAccountant
from bounds.claim import Claim, Effort, Evidence, Kind, Rate, Replayable, Source, Verdict
from bounds.convex.gradient_descent import sensitivity_at
from bounds.errors import InvalidInput
from bounds.guarantees import ApproxDP, PureDP
from bounds.symbols import (
    Delta,
    Delta_T,
    L,
    T,
    d,
    delta,
    delta1,
    eps,
    eps_out,
    eta,
    excess_risk,
    gamma,
    likely_excess_risk,
    n,
    ratio,
    sigma,
)
from dpcheck.checks import (
    FALSE_ALARM,
    AuditCheck,
    Comparison,
    Exponents,
    Property,
    Trend,
    Within,
    bernstein,
    claimed_exponents,
)

QUICK = Effort()
SMALL = {eps: (0.1, 1.0), delta: (1e-8, 0.1)}


def claim(states: Any, *assumes: Any, kind: Kind = Kind.PRIVACY) -> Claim:
    return Claim("zhang17.invented1", Source("zhang17", "nowhere"), kind, ".", states, assumes)


def refuted_again(check: Replayable, about: Claim, found: Evidence) -> bool:
    """The verdict is REFUTED, and replaying its point says so again."""
    if found.verdict is not Verdict.REFUTED:
        return False
    return check.replay(about, found.counterexample or {}).verdict is Verdict.REFUTED


# Gaussian accountant -------------------------------------------------------------------------------
classical = sqrt(2 * log(Rational(5, 4) / delta)) / eps  # noise over sensitivity; sound for eps <= 1
about_sigma = claim(Eq(sigma, classical * Delta), eps <= 1)


@settings(deadline=None, max_examples=3)
@given(st.fractions(min_value=1, max_value=3, max_denominator=20))
def test_a_sound_noise_formula_is_certified(room: Any) -> None:
    check = GaussianAccountant(1 / (classical * Rational(room.numerator, room.denominator)), "sound", SMALL)
    found = check.run(about_sigma, QUICK)
    assert found.verdict in (Verdict.CERTIFIED, Verdict.LOOSE)
    assert found.margin >= float(room) * 1.05 - 1


@pytest.mark.parametrize(
    ("slip", "mu"),
    [
        ("noise halved, or the sensitivity without its factor 2", 2 / classical),
        ("log of 1/δ without the 1.25, natural for half", 1 / (sqrt(log(1 / delta)) / eps)),
        ("no square root of 2", 1 / (sqrt(log(Rational(5, 4) / delta)) / eps)),
        ("ε squared", 1 / (classical * eps)),
    ],
)
def test_a_slip_in_the_noise_is_refuted(slip: str, mu: sympy.Expr) -> None:
    check = GaussianAccountant(mu, slip, SMALL | ({eps: (0.1, 5.0)} if "squared" in slip else {}))
    about = claim(Eq(sigma, Delta / mu)) if "squared" in slip else about_sigma
    found = check.run(about, QUICK)
    assert refuted_again(check, about, found)
    assert about.violated_by(found.counterexample or {}) is None


@settings(deadline=None, max_examples=8)
@given(st.floats(0.4, 0.999))
def test_the_counterexample_keeps_to_the_hypotheses(limit: float) -> None:
    """A formula that fails only near the largest eps allowed: rounding must not push the point outside."""
    last = Rational(repr(limit))
    just = float(gaussian_mu(limit, 0.01)) * 1.02
    mu = sympy.Float(just) * (eps / last) ** 12
    about = claim(Eq(sigma, Delta / mu), eps <= last)
    check = GaussianAccountant(mu, "fails at the end only", {eps: (0.1, 1.0), delta: (0.0099, 0.0101)})
    found = check.run(about, QUICK)
    assert refuted_again(check, about, found)
    assert found.counterexample["eps"] <= limit


def test_the_range_of_eps_decides() -> None:
    """The classical formula holds for eps <= 1 and not for any eps."""
    check = GaussianAccountant(1 / classical, "", {delta: (1e-6, 0.1)})
    free = claim(Eq(sigma, classical * Delta))
    assert check.run(about_sigma, QUICK).verdict in (Verdict.CERTIFIED, Verdict.LOOSE)
    assert refuted_again(check, free, check.run(free, QUICK))


def test_an_accountant_needs_a_function_of_eps_and_delta() -> None:
    with pytest.raises(InvalidInput, match="a function of eps and delta"):
        GaussianAccountant(1 / sigma, "").run(about_sigma, QUICK)


# Sampled Gaussian and composition ------------------------------------------------------------------
stated = 2 * sqrt(log(3 * n / delta) * log(2 / delta)) / eps


def test_sampled_noise_that_is_sound_is_certified() -> None:
    check = SampledGaussianAccountant(stated, n**2, "one record a step", sizes=(2, 10))
    assert check.run(about_sigma, QUICK).verdict in (Verdict.CERTIFIED, Verdict.LOOSE)


@pytest.mark.parametrize(("slip", "steps"), [(Rational(1, 10), n**2), (Integer(1) / 3, 400 * n**2)])
def test_sampled_noise_too_small_is_refuted(slip: sympy.Expr, steps: sympy.Expr) -> None:
    """Noise divided by 10; and a third of it with 400 times the steps."""
    check = SampledGaussianAccountant(stated * slip, steps, "planted", sizes=(2, 10))
    assert refuted_again(check, about_sigma, check.run(about_sigma, QUICK))


strong = sqrt(2 * T * log(1 / delta1)) * eps + T * eps * (exp(eps) - 1)


def test_strong_composition_is_certified() -> None:
    found = CompositionAccountant("").run(claim(Eq(eps_out, strong)), QUICK)
    assert found.verdict in (Verdict.CERTIFIED, Verdict.LOOSE)


@pytest.mark.parametrize(
    "slip",
    [
        sqrt(2 * T * log(1 / delta1)) * eps,
        sqrt(2 * log(1 / delta1)) * eps + eps * (exp(eps) - 1),
        T * eps * (exp(eps) - 1),
        strong / 4,
        sqrt(T) * eps,
    ],
    ids=["no second term", "T ignored", "no first term", "a quarter", "root of T alone"],
)
def test_a_composition_bound_with_a_slip_is_refuted(slip: sympy.Expr) -> None:
    check, about = CompositionAccountant(""), claim(Eq(eps_out, slip))
    assert refuted_again(check, about, check.run(about, QUICK))


def test_basic_composition_is_exact_without_slack() -> None:
    found = CompositionAccountant("").run(claim(Eq(eps_out, T * eps)), QUICK)
    assert found.verdict is Verdict.CERTIFIED


# Worst case ----------------------------------------------------------------------------------------
POINTS = [{"n": 10, "T": steps, "eta": 0.7, "L": 2.0, "beta": 1.0} for steps in (1, 3)]


@pytest.mark.parametrize(
    ("constant", "verdict"),
    [("2", Verdict.CERTIFIED), ("3", Verdict.LOOSE), ("1.9", Verdict.REFUTED), ("1.999", Verdict.REFUTED)],
)
def test_a_constant_against_the_exact_worst_case(constant: str, verdict: Verdict) -> None:
    check = Exactness(sensitivity_at, POINTS, "smooth convex losses")
    about = claim(Le(Delta_T, Rational(constant) * L * T * eta / n), kind=Kind.SENSITIVITY)
    found = check.run(about, QUICK)
    assert found.verdict is verdict
    if verdict is Verdict.REFUTED:
        assert refuted_again(check, about, found)
    else:
        assert found.margin == pytest.approx(float(constant) / 2 - 1, abs=1e-5)


# Audit ---------------------------------------------------------------------------------------------
def laplace_sum(scale: float) -> Any:
    def mechanism(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        return np.sum(data) + rng.laplace(scale=scale, size=trials)

    return mechanism


PAIR = (np.zeros(3), np.array([1.0, 0.0, 0.0]))


def audited(scale: float, trials: int = 20_000) -> AuditCheck:
    return AuditCheck(lambda: (laplace_sum(scale), PAIR, PureDP(1.0)), "a sum in [0, 1]", trials=trials)


@pytest.mark.parametrize("scale", [0.5, 0.25], ids=["noise halved", "noise quartered"])
def test_an_audit_catches_a_planted_bug(scale: float) -> None:
    check, about = audited(scale), claim(Eq(sigma, Delta / eps))
    found = check.run(about, QUICK)
    assert refuted_again(check, about, found)
    assert found.confidence == 1 - FALSE_ALARM
    assert 0 < found.margin <= 1 / scale - 1


@pytest.mark.parametrize("seed", range(3))
def test_an_audit_passes_what_is_sound(seed: int) -> None:
    """Calibrated exactly. False alarms: 3 audits at 1e-6 each."""
    found = audited(1.0).run(claim(Eq(sigma, Delta / eps)), Effort(seed=seed))
    assert found.verdict is Verdict.SUPPORTED
    assert "would catch" in found.figure


def test_an_audit_at_a_delta() -> None:
    """Gaussian noise for (1, 1e-2), whole and halved. False alarm of the sound one: 1e-6."""
    need = float(gaussian_sigma(1.0, 1e-2))

    def setting(factor: float) -> Any:
        def mechanism(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
            return np.sum(data) + factor * need * rng.standard_normal(trials)

        return lambda: (mechanism, PAIR, ApproxDP(1.0, 1e-2))

    about = claim(Eq(sigma, Delta / eps))
    assert AuditCheck(setting(1.0), "", trials=20_000).run(about, QUICK).verdict is Verdict.SUPPORTED
    half = AuditCheck(setting(0.5), "", trials=20_000)
    assert refuted_again(half, about, half.run(about, QUICK))


# Property ------------------------------------------------------------------------------------------
ANY = claim(Le(ratio, 1))


@pytest.mark.parametrize(("first", "seed"), [(3, 0), (17, 1), (60, 2), (99, 3)])
def test_a_planted_violation_is_found_shrunk_and_replayed(first: int, seed: int) -> None:
    """The bound breaks from n = first on: the counterexample is that n and the plainest rest."""

    def measure(case: Mapping[str, Any]) -> tuple[float, float]:
        return (2.0 if case["n"] >= first else 0.5), 1.0

    check = Property(measure, {"n": (1, 100), "seed": (0, 10**6), "step": (0.0, 1.0)}, "planted", examples=200)
    found = check.run(ANY, Effort(seed=seed))
    assert refuted_again(check, ANY, found)
    assert found.counterexample == {"n": first, "seed": 0, "step": 0.0}
    assert found.margin == 1.0


@pytest.mark.parametrize(
    ("measured", "bound", "verdict"),
    [
        (1.0, 1.0, Verdict.SUPPORTED),
        (0.0, 1.0, Verdict.SUPPORTED),
        (0.0, 0.0, Verdict.SUPPORTED),
        (1e-6, 0.0, Verdict.REFUTED),
        (1.0 + 1e-6, 1.0, Verdict.REFUTED),
        (float("nan"), 1.0, Verdict.REFUTED),
    ],
)
def test_the_edge_of_a_bound(measured: float, bound: float, verdict: Verdict) -> None:
    check = Property(lambda case: (measured, bound), {"n": (1, 3)}, "constant", examples=5)
    assert check.run(ANY, QUICK).verdict is verdict


def test_whole_ranges_give_whole_numbers() -> None:
    seen: list[Mapping[str, Any]] = []

    def measure(case: Mapping[str, Any]) -> tuple[float, float]:
        seen.append(case)
        return 0.1, 1.0

    Property(measure, {"n": (2, 5), "x": (0.5, 1.5)}, "", examples=30).run(ANY, QUICK)
    assert all(isinstance(c["n"], int) and 2 <= c["n"] <= 5 and 0.5 <= c["x"] <= 1.5 for c in seen)
    assert {c["n"] for c in seen} == {2, 3, 4, 5}


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
@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(0, 60))
def test_almost_all_means_nine_in_ten(settings_: int, lost: int) -> None:
    lost = min(lost, settings_)

    def measure(seed: int, trials: int) -> dict[str, tuple[float, float]]:
        return {f"setting {i}": ((2.0, 0.5) if i < lost else (0.5, 1.0)) for i in range(settings_)}

    check = Comparison(measure, "planted")
    found = check.run(ANY, QUICK)
    assert (found.verdict is Verdict.SUPPORTED) == (10 * (settings_ - lost) >= 9 * settings_)
    if found.verdict is Verdict.REFUTED:
        assert refuted_again(check, ANY, found)
        assert found.counterexample["worst"]["setting"].startswith("setting")


@pytest.mark.parametrize("ratios", [(1.5, 0.5), (0.5, 1.5), (float("inf"), 1.0)])
def test_a_loss_in_either_counts(ratios: tuple[float, float]) -> None:
    assert Comparison(lambda seed, trials: {"only": ratios}, "").run(ANY, QUICK).verdict is Verdict.REFUTED


@settings(deadline=None, max_examples=60)
@given(st.lists(st.booleans(), min_size=1, max_size=40), st.lists(st.booleans(), min_size=1, max_size=40))
def test_rows_are_counted_each_list_by_itself(first: list[bool], second: list[bool]) -> None:
    check = Counted({"error": first, "time": second}, least=0.9, because="printed")
    found = check.run(ANY, QUICK)
    enough = all(10 * sum(rows) >= 9 * len(rows) for rows in (first, second))
    assert (found.verdict is Verdict.SUPPORTED) == enough
    assert f"error in {sum(first)} of {len(first)} rows" in found.figure
    assert enough or refuted_again(check, ANY, found)
