"""The numeric checks and the checks that run code: sound statements pass, planted slips are caught and replay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Eq, Integer, Le, Rational, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Kind, Replayable, Source, Verdict
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.language.symbols import (
    Delta,
    Delta_T,
    L,
    T,
    delta,
    delta1,
    eps,
    eps_out,
    eta,
    n,
    ratio,
    sigma,
    sigma_g,
)
from dpcheck.bounds.library.convex.gradient_descent import sensitivity_at
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.exact import gaussian_mu, gaussian_sigma
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.numeric_checks import (
    CompositionAccountant,
    Counted,
    Exactness,
    GaussianAccountant,
    SampledGaussianAccountant,
)
from dpcheck.bounds.privacy.release import Release
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.comparison_checks import Lower
from dpcheck.evidence.false_alarms import FALSE_ALARM
from dpcheck.evidence.property_checks import Property

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


@settings(deadline=None, max_examples=2)
@given(st.fractions(min_value=1, max_value=3, max_denominator=20))
def test_a_sound_noise_formula_is_certified(room: Any) -> None:
    check = GaussianAccountant(Delta / sigma, "sound", SMALL)
    about = claim(Eq(sigma, classical * Delta * Rational(room.numerator, room.denominator)), eps <= 1)
    found = check.run(about, QUICK)
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
    check = GaussianAccountant(Delta / sigma, slip, SMALL | ({eps: (0.1, 5.0)} if "squared" in slip else {}))
    about = claim(Eq(sigma, Delta / mu), *([] if "squared" in slip else [eps <= 1]))
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
    check = GaussianAccountant(Delta / sigma, "fails at the end only", {eps: (0.1, 1.0), delta: (0.0099, 0.0101)})
    found = check.run(about, QUICK)
    assert refuted_again(check, about, found)
    assert found.counterexample["eps"] <= limit


def test_the_range_of_eps_decides() -> None:
    """The classical formula holds for eps <= 1 and not for any eps."""
    check = GaussianAccountant(Delta / sigma, "", {delta: (1e-6, 0.1)})
    free = claim(Eq(sigma, classical * Delta))
    assert check.run(about_sigma, QUICK).verdict in (Verdict.CERTIFIED, Verdict.LOOSE)
    assert refuted_again(check, free, check.run(free, QUICK))


def test_an_accountant_needs_a_function_of_eps_and_delta() -> None:
    with pytest.raises(InvalidInput, match="a function of eps and delta"):
        GaussianAccountant(1 / sigma, "").run(about_sigma, QUICK)


# Sampled Gaussian and composition ------------------------------------------------------------------
stated = 2 * sqrt(log(3 * n / delta) * log(2 / delta)) / eps


def test_sampled_noise_that_is_sound_is_certified() -> None:
    check = SampledGaussianAccountant(sigma_g / L, n**2, "one record a step", sizes=(2, 10))
    about = claim(Eq(sigma_g, stated * L), eps <= 1)
    assert check.run(about, QUICK).verdict in (Verdict.CERTIFIED, Verdict.LOOSE)


@pytest.mark.parametrize(("slip", "steps"), [(Rational(1, 10), n**2), (Integer(1) / 3, 400 * n**2)])
def test_sampled_noise_too_small_is_refuted(slip: sympy.Expr, steps: sympy.Expr) -> None:
    """Noise divided by 10; and a third of it with 400 times the steps."""
    check = SampledGaussianAccountant(sigma_g / L, steps, "planted", sizes=(2, 10))
    about = claim(Eq(sigma_g, stated * slip * L), eps <= 1)
    assert refuted_again(check, about, check.run(about, QUICK))


def test_noise_typed_in_beside_the_statement_decides_nothing() -> None:
    """The statement may say anything: the check would not notice."""
    typed = [
        GaussianAccountant(1 / classical, "", SMALL),
        SampledGaussianAccountant(stated, n**2, "", sizes=(2, 10)),
        Accountant(Release(Delta, Gaussian(classical * Delta)), ""),
    ]
    for check in typed:
        found = check.run(about_sigma, QUICK)
        assert found.verdict is Verdict.UNCHECKED
        assert "not read" in found.figure


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
        (T - 1) * eps,
    ],
    ids=["no second term", "T ignored", "no first term", "a quarter", "root of T alone", "nothing for one step"],
)
def test_a_composition_bound_with_a_slip_is_refuted(slip: sympy.Expr) -> None:
    check, about = CompositionAccountant(""), claim(Eq(eps_out, slip))
    assert refuted_again(check, about, check.run(about, QUICK))


def test_basic_composition_is_exact_without_slack() -> None:
    found = CompositionAccountant("").run(claim(Eq(eps_out, T * eps)), QUICK)
    assert found.verdict is Verdict.CERTIFIED


@pytest.mark.parametrize(
    ("factor", "each_delta", "total", "sound"),
    [
        (T, delta / T, delta, True),
        (2 * sqrt(2 * T * log(2 / delta)), delta, (T + 1) * delta, True),
        (2 * sqrt(2 * T * log(2 / delta)), delta, delta, False),  # T times δ is lost
        (2 * sqrt(2 * T), delta / T, 2 * delta, False),
    ],
    ids=["basic", "advanced", "a delta that does not grow", "no logarithm"],
)
def test_mechanisms_with_a_delta_of_their_own(
    factor: sympy.Expr, each_delta: sympy.Expr, total: sympy.Expr, sound: bool
) -> None:
    """Points whose hypothesis fails are left out."""
    about = replace(claim(Eq(eps_out, factor * eps), factor * eps < 1), guarantee=ApproxDP(eps_out, total))
    check = CompositionAccountant("", eps, each_delta, delta)
    found = check.run(about, QUICK)
    assert found.verdict in (Verdict.CERTIFIED, Verdict.LOOSE) if sound else refuted_again(check, about, found)


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


# Lower ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("shift", "verdict"), [(-1.0, Verdict.SUPPORTED), (1.0, Verdict.NOT_REPRODUCED), (0.0, Verdict.UNCHECKED)]
)
def test_what_is_said_to_be_lower_is_told_from_what_is_not(shift: float, verdict: Verdict) -> None:
    """False alarms: 1e-3. Means 1 apart, deviation 1, 60 runs; one setting of two that is higher is enough."""

    def measure(seed: int, trials: int, thorough: bool) -> Mapping[str, tuple[np.ndarray, np.ndarray]]:
        rng = np.random.default_rng(seed)
        clear = rng.normal(0, 1, trials), rng.normal(5, 1, trials)
        return {"clear": clear, "asked": (rng.normal(shift, 1, trials), rng.normal(0, 1, trials))}

    check, about = Lower(measure, "made up"), claim(Le(ratio, 1), kind=Kind.EXPERIMENT)
    found = check.run(about, Effort(seed=3))
    assert found.verdict is verdict
    if verdict is Verdict.NOT_REPRODUCED:
        assert found.counterexample is not None
        assert found.counterexample["worst"] == "asked"
        assert check.replay(about, found.counterexample).figure == found.figure


def test_counts_are_compared_as_they_are() -> None:
    check = Lower(lambda *_: {"cost": (np.array([3.0]), np.array([2.0]))}, "made up")
    assert check.run(claim(Le(ratio, 1)), QUICK).verdict is Verdict.NOT_REPRODUCED


# Printed tables ------------------------------------------------------------------------------------
def test_counts_are_replayed_for_the_lists_that_are_named() -> None:
    check = Counted({"first": [True, True], "second": [True, False]}, 1.0, "a table")
    about = claim(Le(ratio, L), kind=Kind.EXPERIMENT)
    found = check.run(about, QUICK)
    assert found.counterexample == {"first": 1.0, "second": 0.5}
    assert check.replay(about, {"second": 0.5}).verdict is Verdict.REFUTED
    assert check.replay(about, {"first": 1.0}).verdict is Verdict.SUPPORTED
    for wrong in ({"third": 1.0}, {"second": 0.25}, {}):
        with pytest.raises(InvalidInput):
            check.replay(about, wrong)
