"""Moments of noise and implications: true ones are proved, slips refuted at a point that replays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import strategies as st
from sympy import Eq, Integer, Le, Rational, exp, sqrt

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
from dpcheck.bounds.language.symbols import Delta_T, L, T, beta, d, eta, mu, n, noise_norm2, ratio, sigma
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Induction, Step
from dpcheck.bounds.proving.derivations import (
    Expectation,
    Implied,
    NoiseDensity,
    expected_largest,
    gaussian,
    gaussian_length,
    l2_laplace_length,
    laplace_size,
)
from dpcheck.bounds.proving.proofs import AtMost, Quoted

QUICK = Effort()
fraction = st.fractions(min_value=Rational(1, 10), max_value=10, max_denominator=30).map(
    lambda f: Rational(f.numerator, f.denominator)
)


def claim(states: Any, *assumes: Any, number: int = 1, kind: Kind = Kind.IDENTITY, checks: Any = ()) -> Claim:
    return Claim(f"zhang17.invented{number}", Source("zhang17", "nowhere"), kind, ".", states, assumes, checks=checks)


def refuted_again(check: Any, about: Claim, found: Evidence) -> bool:
    """The verdict is REFUTED, and replaying its point says so again."""
    if found.verdict is not Verdict.REFUTED:
        return False
    return check.replay(about, found.counterexample).verdict is Verdict.REFUTED


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
        NoiseDensity(x, exp(-x / sigma)).must_agree(x, 2 * sigma)


# Optimal parameters --------------------------------------------------------------------------------


# Implications --------------------------------------------------------------------------------------
LOSSES = (convex(), smooth(beta), lipschitz(L), eta <= 1 / beta)
STEEPER = (strongly_convex(mu), *LOSSES[1:])
proved = claim(
    Le(Delta_T, 2 * L * T * eta / n),
    *LOSSES,
    number=0,
    kind=Kind.SENSITIVITY,
    checks=[
        Chain(
            Delta_T,
            Step("<=", STATEMENT, because=Induction(T, step=lambda x: x + 2 * eta * L / n, given="a step adds 2ηL/n")),
        )
    ],
)


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


def test_the_largest_of_many_is_what_simulation_gives() -> None:
    """Means of 200 000 draws of ten, within six standard errors (2e-9)."""
    draws = np.random.default_rng(0).standard_normal((200_000, 10))
    for values, absolute in ((draws.max(axis=1), False), (np.abs(draws).max(axis=1), True)):
        assert abs(values.mean() - expected_largest(10, absolute)) < 6 * values.std() / np.sqrt(len(values))
    assert expected_largest(1) == pytest.approx(0, abs=1e-9)
    assert expected_largest(2) == pytest.approx(1 / np.sqrt(np.pi))
