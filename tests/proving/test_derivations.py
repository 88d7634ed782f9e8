"""Sums, recurrences, moments of noise and implications: true ones are proved, slips refuted at a point that replays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Eq, Integer, Le, Rational, exp, log, sqrt

from dpcheck.bounds.language.claim import (
    Claim,
    Effort,
    Evidence,
    Kind,
    Rate,
    Source,
    Verdict,
    convex,
    lipschitz,
    smooth,
    strongly_convex,
)
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.symbols import D, Delta_T, L, T, beta, d, eta, mu, n, noise_norm2, ratio, sigma
from dpcheck.bounds.proving.derivations import (
    Expectation,
    Implied,
    LargestNoise,
    Law,
    Recurrence,
    Telescopes,
    expected_largest,
    gaussian,
    gaussian_length,
    l2_laplace_length,
    laplace_size,
)
from dpcheck.bounds.proving.proofs import AtMost, Minimises, Quoted

QUICK = Effort()
fraction = st.fractions(min_value=Rational(1, 10), max_value=10, max_denominator=30).map(
    lambda f: Rational(f.numerator, f.denominator)
)


def claim(states: Any, *assumes: Any, number: int = 1, kind: Kind = Kind.IDENTITY, checks: Any = ()) -> Claim:
    return Claim(
        f"zhang17.invented{number}", Source("zhang17", "nowhere"), kind, ".", states, assumes, checks=checks
    )  # fmt: skip


def refuted_again(check: Any, about: Claim, found: Evidence) -> bool:
    """The verdict is REFUTED, and replaying its point says so again."""
    if found.verdict is not Verdict.REFUTED:
        return False
    return check.replay(about, found.counterexample).verdict is Verdict.REFUTED


# Sums ----------------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=8)
@given(fraction, fraction, fraction, st.sampled_from(["shift", "factor", "term"]))
def test_a_polynomial_sum(a: Rational, b: Rational, c: Rational, slip: str) -> None:
    """Σ (a k² + b k + c) from 1 to T, and three slips in its closed form."""
    check = Telescopes(T, lambda k: (a * k**2 + b * k + c) * L, "Faulhaber")
    total = L * (a * T * (T + 1) * (2 * T + 1) / 6 + b * T * (T + 1) / 2 + c * T)
    assert check.run(claim(Eq(ratio, total)), QUICK).verdict is Verdict.PROVED
    wrong = {"shift": total.subs(T, T - 1), "factor": 2 * total, "term": total - L * c * T}[slip]
    about = claim(Eq(ratio, wrong))
    assert refuted_again(check, about, check.run(about, QUICK))


def test_sums_that_telescope() -> None:
    assert (
        Telescopes(T, lambda k: 1 / (k * (k + 1)), "").run(claim(Eq(ratio, 1 - 1 / (T + 1))), QUICK).verdict == "PROVED"
    )
    geometric = Telescopes(T, lambda k: (1 - eta * mu) ** k, "", first=0, shift=-1)
    assert geometric.run(claim(Eq(ratio, (1 - (1 - eta * mu) ** T) / (eta * mu))), QUICK).verdict is Verdict.PROVED
    late = claim(Eq(ratio, (1 - (1 - eta * mu) ** (T + 1)) / (eta * mu)))
    assert refuted_again(geometric, late, geometric.run(late, QUICK))


@pytest.mark.parametrize(("constant", "verdict"), [(2, "PROVED"), (1, "REFUTED"), (Rational(3, 2), "REFUTED")])
def test_a_bound_on_a_sum(constant: Any, verdict: str) -> None:
    """Σ 1/k² ≤ 2 - 1/T; with less room it fails at a T that is shown."""
    check = Telescopes(T, lambda k: L / k**2, "", at_most=True)
    about = claim(Le(ratio, L * (constant - 1 / T)))
    found = check.run(about, QUICK)
    assert found.verdict == verdict
    assert verdict == "PROVED" or refuted_again(check, about, found)


def test_a_sum_without_a_proof_stays_open() -> None:
    """Σ 1/√k ≤ 2√T is true; its step needs more than signs."""
    check = Telescopes(T, lambda k: 1 / sqrt(k), "", at_most=True)
    found = check.run(claim(Le(ratio, 2 * sqrt(T))), QUICK)
    assert found.verdict is Verdict.UNCHECKED
    about = claim(Le(ratio, sqrt(T)))
    assert refuted_again(check, about, check.run(about, QUICK))


# Recurrences ---------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=8)
@given(fraction, st.sampled_from(["late", "constant", "start", "rate"]))
def test_the_closed_form_of_a_contraction(c: Rational, slip: str) -> None:
    check = Recurrence(T, 0 * L, lambda x: (1 - eta * mu) * x + c * eta * L / n, "contracts")
    form = c * L / (n * mu) * (1 - (1 - eta * mu) ** T)
    assert check.run(claim(Eq(Delta_T, form)), QUICK).verdict is Verdict.PROVED
    wrong = {
        "late": form.subs(T, T + 1),
        "constant": form * Rational(11, 10),
        "start": form + L / n,
        "rate": c * L / (n * mu) * (1 - (1 - 2 * eta * mu) ** T),
    }[slip]
    about = claim(Eq(Delta_T, wrong))
    assert refuted_again(check, about, check.run(about, QUICK))


@settings(deadline=None, max_examples=6)
@given(fraction, st.sampled_from([Rational(1, 2), Rational(9, 10), Integer(1), Integer(3)]))
def test_a_bound_on_a_recurrence(c: Rational, room: Rational) -> None:
    check = Recurrence(T, 0 * L, lambda x: x + c * eta * L / n, "adds", at_most=True)
    about = claim(Le(Delta_T, room * c * eta * L * T / n))
    found = check.run(about, QUICK)
    assert (found.verdict is Verdict.PROVED) if room >= 1 else refuted_again(check, about, found)


def test_hypotheses_are_kept_when_a_sequence_is_written_out() -> None:
    """x → 2x from L stays below 8L up to T = 3, which the claim assumes; without that it does not."""
    check = Recurrence(T, L, lambda x: 2 * x, "doubles", at_most=True)
    assert check.run(claim(Le(Delta_T, 8 * L), T <= 3), QUICK).verdict is Verdict.UNCHECKED
    free = claim(Le(Delta_T, 8 * L))
    assert refuted_again(check, free, check.run(free, QUICK))


# Noise ---------------------------------------------------------------------------------------------
MOMENTS = {
    "l2 Laplace, squared": (l2_laplace_length(d, sigma), lambda r: r**2, d * (d + 1) * sigma**2),
    "l2 Laplace": (l2_laplace_length(d, sigma), lambda r: r, d * sigma),
    "l2 Laplace, fourth": (l2_laplace_length(d, sigma), lambda r: r**4, d * (d + 1) * (d + 2) * (d + 3) * sigma**4),
    "Gaussian, squared": (gaussian_length(d, sigma), lambda r: r**2, d * sigma**2),
    "Gaussian, fourth": (gaussian_length(d, sigma), lambda r: r**4, d * (d + 2) * sigma**4),
    "Gaussian coordinate, fourth": (gaussian(sigma), lambda x: x**4, 3 * sigma**4),
    "Laplace, size": (laplace_size(sigma), lambda x: x, sigma),
    "Laplace, squared": (laplace_size(sigma), lambda x: x**2, 2 * sigma**2),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_of_noise(name: str) -> None:
    law, of, value = MOMENTS[name]
    check = Expectation(of, law, name)
    assert check.run(claim(Eq(noise_norm2, value)), QUICK).verdict is Verdict.PROVED
    for slip in (value * 2, value * sigma, value * (d + 1) / d, value + sigma**2):
        about = claim(Eq(noise_norm2, slip))
        assert refuted_again(check, about, check.run(about, QUICK))


def test_a_bound_on_the_mean_length() -> None:
    """E‖z‖ ≤ σ√d by Jensen, for Gaussian noise; not with 0.9."""
    check = Expectation(lambda r: r, gaussian_length(d, sigma), "length", at_most=True)
    assert check.run(claim(Le(ratio, sigma * sqrt(d))), QUICK).verdict is Verdict.PROVED
    about = claim(Le(ratio, Rational(9, 10) * sigma * sqrt(d)))
    assert refuted_again(check, about, check.run(about, QUICK))


def test_a_mean_that_quadrature_does_not_confirm_is_refused() -> None:
    x = sympy.Symbol("x", positive=True)
    with pytest.raises(InvalidInput, match="what quadrature gives"):
        Law(x, exp(-x / sigma)).must_agree(x, 2 * sigma)


def test_the_largest_of_many_is_what_simulation_gives() -> None:
    """Means of 200 000 draws of ten, within six standard errors (2e-9)."""
    draws = np.random.default_rng(0).standard_normal((200_000, 10))
    for values, absolute in ((draws.max(axis=1), False), (np.abs(draws).max(axis=1), True)):
        assert abs(values.mean() - expected_largest(10, absolute)) < 6 * values.std() / np.sqrt(len(values))
    assert expected_largest(1) == pytest.approx(0, abs=1e-9)
    assert expected_largest(2) == pytest.approx(1 / np.sqrt(np.pi))


@pytest.mark.parametrize(
    ("bound", "absolute", "verdict"),
    [
        (sigma * sqrt(2 * log(d)), False, "PROVED"),
        (2 * sigma * sqrt(log(d)), False, "PROVED"),
        (sigma * sqrt(log(d)), False, "REFUTED"),
        (sigma * sqrt(2 * log(d)), True, "REFUTED"),
        (sigma * sqrt(2 * log(2 * d)), True, "PROVED"),
        (sigma * sqrt(d), False, "UNCHECKED"),
        (sigma, False, "REFUTED"),
    ],
)
def test_bounds_on_the_largest_of_many(bound: sympy.Expr, absolute: bool, verdict: str) -> None:
    check, about = LargestNoise(d, sigma, "d coordinates", absolute), claim(Le(ratio, bound))
    found = check.run(about, QUICK)
    assert found.verdict == verdict
    assert verdict != "REFUTED" or refuted_again(check, about, found)


# Optimal parameters --------------------------------------------------------------------------------
@settings(deadline=None, max_examples=8)
@given(fraction, fraction, st.sampled_from([Rational(1, 2), 2, 4]))
def test_a_step_size_that_does_not_minimise_is_refuted(a: Rational, b: Rational, slip: Any) -> None:
    check = Minimises(a * D**2 / eta + b * eta * T * L**2, eta, None, "the sum")
    best = sqrt(a / b) * D / (L * sqrt(T))
    assert check.run(claim(Eq(ratio, best)), QUICK).verdict is Verdict.PROVED
    for wrong in (slip * best, best * sqrt(T), best / sqrt(T)):
        about = claim(Eq(ratio, wrong))
        assert refuted_again(check, about, check.run(about, QUICK))


def test_a_whole_number_is_as_good_as_its_neighbours() -> None:
    """T = 3.4 is the minimiser: 3 or 4 do as well as any whole number, so nothing refutes it."""
    check = Minimises(beta * D**2 / T + T * L**2 / beta, T, None, "the sum")
    about = claim(Eq(ratio, beta * D / L))
    for whole in range(1, 12):
        point = {"beta": 3.4, "D": 1.0, "L": 1.0, "T": float(whole)}
        assert check.replay(about, point).verdict is Verdict.UNCHECKED
    twice = claim(Eq(ratio, 2 * beta * D / L))
    assert check.replay(twice, {"beta": 3.4, "D": 1.0, "L": 1.0, "T": 3.0}).verdict is Verdict.REFUTED


# Implications --------------------------------------------------------------------------------------
LOSSES = (convex(), smooth(beta), lipschitz(L), eta <= 1 / beta)
STEEPER = (strongly_convex(mu), *LOSSES[1:])
proved = claim(
    Le(Delta_T, 2 * L * T * eta / n), *LOSSES, number=0, kind=Kind.SENSITIVITY,
    checks=[Recurrence(T, 0 * L, lambda x: x + 2 * eta * L / n, "adds", at_most=True)],
)  # fmt: skip


@pytest.mark.parametrize(
    ("states", "assumes", "options", "verdict"),
    [
        (Le(Delta_T, 3 * L * T * eta / n), LOSSES, {}, "PROVED"),
        (Le(Delta_T, L * T * eta / n), LOSSES, {}, "UNCHECKED"),
        (Rate(Delta_T, L * T * eta / n, below=True), LOSSES, {}, "UNCHECKED"),
        (Le(Delta_T, 2 * L * T * eta / sqrt(n)), [*LOSSES, n >= 2], {}, "PROVED"),
        (Le(Delta_T, L * T * eta / sqrt(n)), [*LOSSES, n >= 2], {}, "UNCHECKED"),
        (Le(Delta_T, 3 * L * T * eta / n), LOSSES[1:], {}, "UNCHECKED"),
        (Le(Delta_T, 3 * L * T * eta / n), STEEPER, {}, "PROVED"),
        (Le(Delta_T, 2 * L * T / (n * beta)), LOSSES[:3], {"where": {eta: 1 / beta}}, "PROVED"),
        (Rate(Delta_T, L * T / (n * beta)), LOSSES[:3], {"where": {eta: 1 / beta}}, "UNCHECKED"),
        (Rate(Delta_T, L * T / (n * beta)), LOSSES[:3], {"where": {eta: 1 / beta}, "constant": Integer(2)}, "PROVED"),
        (Eq(Delta_T, 2 * L * T * eta / n), LOSSES, {}, "PROVED"),
        (Eq(Delta_T, 3 * L * T * eta / n), LOSSES, {}, "UNCHECKED"),
    ],
)
def test_implied_by_another_claim(states: Any, assumes: Any, options: Any, verdict: str) -> None:
    assert Implied(proved, "larger", **options).run(claim(states, *assumes), QUICK).verdict == verdict


def test_what_follows_is_worth_what_it_follows_from() -> None:
    weak = claim(Le(Delta_T, 2 * L * T * eta / n), number=3, checks=[Quoted("from elsewhere")])
    false = claim(Le(Delta_T, L), number=4, checks=[AtMost(2 * L, "attained")])
    assert Implied(weak, "").run(claim(Le(Delta_T, 3 * L * T * eta / n)), QUICK).verdict is Verdict.UNCHECKED
    found = Implied(false, "").run(claim(Le(Delta_T, 2 * L)), QUICK)
    assert found.verdict is Verdict.UNCHECKED
    assert "which is refuted" in found.figure


def test_only_like_statements_are_compared() -> None:
    with pytest.raises(InvalidInput, match="about Δ_T"):
        Implied(proved, "").run(claim(Le(ratio, L)), QUICK)
    rate = claim(Rate(Delta_T, L), number=5)
    with pytest.raises(InvalidInput, match="A hidden constant implies no number"):
        Implied(rate, "").run(claim(Le(Delta_T, L)), QUICK)


def test_lower_bounds_may_shrink() -> None:
    strong = claim(sympy.Ge(Delta_T, 2 * L), number=6, kind=Kind.LOWER_BOUND, checks=[Quoted("")])
    shown = Implied(strong, "")
    assert "follows" in shown.run(claim(sympy.Ge(Delta_T, L), kind=Kind.LOWER_BOUND), QUICK).figure
    assert "not implied" in shown.run(claim(sympy.Ge(Delta_T, 3 * L), kind=Kind.LOWER_BOUND), QUICK).figure
