"""The symbolic checks on invented statements: true ones are never refuted, slips are, at a point that replays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Eq, Integer, Le, Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Kind, Rate, Source, Verdict
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.symbols import (
    D,
    Delta_T,
    L,
    T,
    beta,
    c,
    c1,
    d,
    delta,
    eps,
    eta,
    excess_risk,
    m,
    mu,
    n,
    ratio,
    sigma,
)
from dpcheck.bounds.proving.proofs import (
    AtMost,
    Bounded,
    Equals,
    NoConstant,
    Sharper,
    Units,
)
from dpcheck.bounds.proving.steps import Less, Same
from dpcheck.bounds.relations.conditions import unreached

QUICK = Effort()
whole = st.integers(1, 9)
fraction = st.fractions(min_value=Rational(1, 10), max_value=10, max_denominator=30).map(
    lambda f: Rational(f.numerator, f.denominator)
)
slip_factor = st.sampled_from([Rational(1, 2), Rational(9, 10), Rational(11, 10), Integer(2), Integer(4)])
too_small = st.sampled_from([Rational(1, 4), Rational(1, 2), Rational(2, 3), Rational(19, 20)])
v, w, extra, gap = (Symbol(name, nonnegative=True) for name in ("v", "w", "extra", "gap"))
big = Symbol("big", positive=True)


def claim(states: Any, *assumes: Any) -> Claim:
    return Claim("zhang17.invented1", Source("zhang17", "nowhere"), Kind.IDENTITY, ".", states, assumes)


def refuted_again(check: Any, about: Claim, found: Evidence) -> bool:
    """The verdict is REFUTED, and replaying its point says so again."""
    if found.verdict is not Verdict.REFUTED:
        return False
    return check.replay(about, found.counterexample).verdict is Verdict.REFUTED


# Equals --------------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=12)
@given(whole, fraction, fraction)
def test_identities_written_another_way_are_proved(k: int, a: Rational, b: Rational) -> None:
    derived = (a * L + b * beta) ** 2 / n + log(L**k * eps)
    stated = (a**2 * L**2 + 2 * a * b * L * beta + b**2 * beta**2) / n + k * log(L) + log(eps)
    assert Equals(derived, "expanded").run(claim(Eq(sigma, stated)), QUICK).verdict is Verdict.PROVED


SLIPS = {
    "constant": lambda a, c: (a * L * T / n, c * a * L * T / n),
    "missing square": lambda a, c: (a * L**2 * d / n**2, a * L**2 * d / n),
    "wrong exponent": lambda a, c: (
        (a * L * d / (n * eps)) ** Rational(2, 3),
        (a * L * d / (n * eps)) ** Rational(1, 3),
    ),
    "log of the wrong thing": lambda a, c: (a * sqrt(log(2 / delta)), a * sqrt(log(2 / (1 - delta)))),
    "log of a negative": lambda a, c: (a * sqrt(log(1 / delta)), a * sqrt(log(delta))),
    "sign": lambda a, c: (a * (1 - exp(-eps)), a * (exp(-eps) - 1)),
    "term forgotten": lambda a, c: (a * L**2 + d * sigma**2, a * L**2 + sigma**2),
    "forced root": lambda a, c: (a * log((L - beta) ** 2), 2 * a * log(L - beta)),
}


@pytest.mark.parametrize("slip", SLIPS)
@settings(deadline=None, max_examples=4)
@given(a=fraction, c=slip_factor)
def test_a_slip_in_an_identity_is_refuted(slip: str, a: Rational, c: Rational) -> None:
    derived, stated = SLIPS[slip](a, c)
    check, about = Equals(lambda: derived, "derived"), claim(Eq(Delta_T, stated))
    assert refuted_again(check, about, check.run(about, QUICK))


def test_a_pole_refutes_no_identity() -> None:
    """log|L - beta| in two writings that sympy does not simplify to one another: no point shows a difference."""
    check = Equals(log((L - beta) ** 2) / 2, "both sides are infinite at L = beta")
    about = claim(Eq(sigma, log((L - beta) ** 4) / 4))
    assert check.run(about, QUICK).verdict is not Verdict.REFUTED
    assert check.replay(about, {"L": 1.0, "beta": 1.0}).verdict is Verdict.UNCHECKED
    assert Equals(1 / (L - beta), "").replay(claim(Eq(sigma, L)), {"L": 1.0, "beta": 1.0}).verdict is Verdict.REFUTED


def test_a_point_that_lacks_a_symbol_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"point is \['L'\].*complete, with \['n'\]"):
        Equals(L / n, "").replay(claim(Eq(sigma, L)), {"L": 1.0})


# AtMost --------------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=10)
@given(fraction, fraction, st.integers(0, 3))
def test_true_bounds_are_proved(a: Rational, b: Rational, k: int) -> None:
    check = AtMost(a * L * d**k / n, "a part of the sum")
    assert check.run(claim(Le(ratio, a * L * d**k / n + b * beta)), QUICK).verdict is Verdict.PROVED
    covered = AtMost(L / (n * mu), "by substitution", where={beta: mu + gap})
    assert covered.run(claim(Le(ratio, L * (1 + beta / mu) / (n * beta)), mu <= beta), QUICK).verdict is Verdict.PROVED


@settings(deadline=None, max_examples=10)
@given(fraction, too_small)
def test_a_bound_too_small_is_refuted(a: Rational, c: Rational) -> None:
    check, about = AtMost(a * L * T / n + beta, "attained"), claim(Le(ratio, c * a * L * T / n + beta))
    found = check.run(about, QUICK)
    assert refuted_again(check, about, found)
    assert 0 < found.margin <= float(1 / c - 1) + 1e-9
    gap_only = AtMost(a * L * T / n + beta, "an upper bound", exact=False).run(about, QUICK)
    assert gap_only.verdict is Verdict.UNCHECKED
    noise = claim(Eq(sigma, c * L / (a * eps)))
    against = AtMost(L / sigma, "the loss", against=a * eps)
    assert refuted_again(against, noise, against.run(noise, QUICK))
    typed = AtMost(a * eps, "reads no statement", against=a * eps)
    assert typed.run(noise, QUICK).verdict is Verdict.UNCHECKED


@settings(deadline=None, max_examples=10)
@given(fraction)
def test_a_bound_true_under_its_hypotheses_only(a: Rational) -> None:
    value, stated = a * (exp(eps) - 1), 2 * a * eps
    held, free = claim(Le(ratio, stated), eps <= 1), claim(Le(ratio, stated))
    inside, outside = AtMost(value, "", box={eps: (0.01, 1.0)}), AtMost(value, "")
    assert inside.run(held, QUICK).verdict is Verdict.CERTIFIED  # below 0.01 nothing is shown
    assert "[0.01, 1]" in inside.run(held, QUICK).figure
    assert outside.run(held, QUICK).verdict is not Verdict.REFUTED
    assert refuted_again(outside, free, outside.run(free, QUICK))


def test_hypotheses_that_act_together() -> None:
    """mu <= beta <= L: a search that ignored beta, which is in neither side, would refute mu <= L."""
    assert AtMost(mu, "").run(claim(Le(ratio, L), mu <= beta, beta <= L), QUICK).verdict is not Verdict.REFUTED


# Rates ---------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=8)
@given(fraction, st.sampled_from([Rational(1, 3), Rational(1, 2), 1, 2]))
def test_no_constant_works_when_the_ratio_grows(a: Rational, power: Any) -> None:
    path = {n: 10, L: 1, d: big**power}
    check, about = NoConstant(a * L * d**2 / n, path, big, "d grows"), claim(Rate(excess_risk, L * d / n))
    assert refuted_again(check, about, check.run(about, QUICK))
    assert check.run(about, QUICK).counterexample["d"] == pytest.approx(1e6 ** float(power))


@settings(deadline=None, max_examples=8)
@given(fraction, fraction)
def test_a_true_rate_has_a_constant_however_slowly_it_shows(a: Rational, late: Rational) -> None:
    """The ratio climbs to its limit: at a small parameter it still grows, and that must refute nothing."""
    check = NoConstant(a * L * d / (d + 1000 * late), {L: 1, d: big}, big, "climbs, but to a limit")
    about = claim(Rate(excess_risk, L))
    assert check.run(about, QUICK).verdict is Verdict.UNCHECKED
    assert check.replay(about, {"d": 1.0}).verdict is Verdict.UNCHECKED


def test_only_rates_have_no_constant() -> None:
    with pytest.raises(InvalidInput, match="a rate"):
        NoConstant(L, {L: big}, big, "").run(claim(Le(excess_risk, L)), QUICK)


def test_a_rate_too_tangled_to_prove() -> None:
    box = {n: (10, 1e8), d: (1, 1e6)}
    bound = (sqrt(d) + log(n)) / n
    supported = Bounded(bound, box, "").run(claim(Rate(excess_risk, sqrt(d) * log(n) / n)), QUICK)
    assert supported.verdict is Verdict.SUPPORTED
    assert Bounded(bound, box, "").run(claim(Rate(excess_risk, log(n) / n)), QUICK).verdict is Verdict.UNCHECKED


# Units ---------------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=12)
@given(
    st.sampled_from([Rational(k, 2) for k in range(-4, 5)]),
    st.sampled_from([Rational(k, 2) for k in range(-4, 5)]),
    fraction,
)
def test_units_refute_exactly_the_unlike(i: Rational, j: Rational, a: Rational) -> None:
    """excess risk has the unit of L D; L^i D^j has it at i = j = 1 only, whichever way the powers differ."""
    check, about = Units(), claim(Rate(excess_risk, a * L**i * D**j * d / n))
    found = check.run(about, QUICK)
    if (i, j) == (1, 1):
        assert found.verdict is Verdict.SUPPORTED
        assert check.replay(about, {"loss_scale": 1e6}).verdict is Verdict.UNCHECKED
    else:
        assert refuted_again(check, about, found)
        assert found.margin > 1


def test_units_of_unlike_terms_decide_nothing() -> None:
    assert Units().run(claim(Rate(excess_risk, L + beta)), QUICK).verdict is Verdict.UNCHECKED


# Minima, looseness, contradictions -----------------------------------------------------------------


@settings(deadline=None, max_examples=8)
@given(fraction, st.sampled_from([Rational(11, 10), Rational(3, 2), 3]))
def test_loose_by_a_constant(a: Rational, c: Any) -> None:
    found = Sharper(a * L / n, "proved elsewhere").run(claim(Le(Delta_T, c * a * L / n)), QUICK)
    assert found.verdict is Verdict.LOOSE
    assert found.margin == pytest.approx(float(c) - 1)
    same = Sharper(a * L / n, "proved elsewhere").run(claim(Le(Delta_T, a * L / n)), QUICK)
    assert same.verdict is Verdict.UNCHECKED


def test_loose_by_a_ratio_that_varies() -> None:
    about = claim(Le(Delta_T, 5 * L * (mu + beta) / (n * mu * beta)), mu <= beta)
    found = Sharper(2 * L / (n * mu), "").run(about, QUICK)
    assert found.verdict is Verdict.LOOSE
    assert "from 2.5 to 5" in found.figure
    crossing = claim(Le(Delta_T, L * (mu + beta) / (2 * n * mu * beta)))
    assert Sharper(L / (n * mu), "below in places").run(crossing, QUICK).verdict is Verdict.UNCHECKED


# Proofs --------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=8)
@given(fraction, fraction)
def test_steps_under_a_substitution(a: Rational, b: Rational) -> None:
    """a eta <= b exactly if eta <= b/a: the substitution covers that, and no more."""
    covers = {eta: b / (a * (1 + v))}
    known = [eta <= b / a]
    assert Less("", a * eta, b + 0 * L, covers, given=known).settle(0).holds
    assert not Less("", a * eta, b * Rational(99, 100), covers, given=known).settle(0).holds
    assert not Less("", a * eta, b + 0 * L, covers).settle(0).holds


@pytest.mark.parametrize(
    ("where", "given", "reaches"),
    [
        ({n: 1 + v}, [], True),
        ({n: 2 + v}, [], False),
        ({n: 2 + v}, [n >= 2], True),
        ({m: 1 + v, n: 1 + v + w}, [m <= n], True),
        ({m: 1 + v, n: 1 + v + w}, [], False),
        ({m: 1 + v, n: 1 + v}, [m <= n], False),
        ({eps: log(1 / delta) / (1 + v)}, [eps <= log(1 / delta)], True),
        ({eps: (v - 1) ** 2}, [], False),
        ({eps: 1 / beta}, [], False),
        ({eta: 1 / (beta * (1 + v))}, [eta <= 1 / beta], True),
        ({eta: 1 / (beta * (2 + v))}, [eta <= 1 / beta], False),
        ({eta: (1 + 2 * v) / (beta * (1 + v))}, [eta <= 2 / beta], False),
        ({eta: (1 + 2 * v) / (beta * (1 + v))}, [eta <= 2 / beta, eta >= 1 / beta], True),
    ],
)
def test_which_substitutions_reach_every_value(where: Any, given: list[Any], reaches: bool) -> None:
    assert (unreached(where, given) == "") is reaches
    assert unreached(where, given, v * L) != ""  # the fresh symbol stands in what it is to cover


def test_a_narrow_substitution_proves_nothing_for_any_check() -> None:
    stated = claim(Le(ratio, Integer(1)), eps <= 1)
    assert AtMost(eps, "", {eps: 1 / (1 + v)}).run(stated, QUICK).verdict is Verdict.PROVED
    wide = claim(Le(ratio, sympy.Integer(1)))
    assert (
        AtMost(eps * mu, "", {eps: 1 / (1 + v), mu: 1 / (1 + w)}, exact=False).run(wide, QUICK).verdict
        is not Verdict.PROVED
    )


def test_what_is_typed_in_is_named_as_given() -> None:
    known = [
        (Equals(2 * L, "the reason"), Eq(ratio, L + L)),
        (AtMost(L, "the reason"), Le(ratio, 2 * L)),
        (Sharper(L, "the reason"), Le(ratio, 2 * L)),
    ]
    for check, states in known:
        assert "the reason" in check.run(claim(states), QUICK).premises


def test_no_constant_leaves_the_constants_free() -> None:
    """There are c, c1 such that: a path may not choose them, and must meet the hypotheses whatever they are."""
    about = replace(claim(Le(excess_risk, c * L * eps), eps <= c1 * T), hidden=(c, c1))

    def verdict(value: Any, path: Any, of: Any = about) -> Verdict:
        return NoConstant(value, {L: 1, **path}, big, "").run(of, QUICK).verdict

    assert verdict(eps**2, {eps: big, T: big**2}) is Verdict.REFUTED
    assert verdict(eps**2, {eps: c1 * big, T: big}) is Verdict.REFUTED
    assert verdict(eps**2, {eps: big, T: big}) is Verdict.UNCHECKED  # a c1 below 1 excludes it
    assert verdict(eps**2, {eps: big, T: big**2, c: 1}) is Verdict.UNCHECKED
    assert verdict(eps**2, {eps: big}) is Verdict.UNCHECKED
    assert verdict(eps, {eps: big, T: big**2}) is Verdict.UNCHECKED
    lower = claim(Rate(excess_risk, L, below=True))
    assert verdict(big, {}, lower) is Verdict.UNCHECKED
    small = claim(Rate(excess_risk, L), delta <= Rational(1, 2))
    assert verdict(big, {delta: Rational(2, 3)}, small) is Verdict.UNCHECKED
    assert verdict(big, {delta: 1 - 1 / big}, claim(Rate(excess_risk, L))) is Verdict.REFUTED
    assert verdict(big, {delta: 2 - 1 / big}, claim(Rate(excess_risk, L))) is Verdict.UNCHECKED


def test_a_free_exponent_does_not_hide_that_a_bound_vanishes() -> None:
    """2/d² + d^-c goes to 0 whatever c is, and 2 + d^-c does not."""
    vanishing, staying = (replace(claim(Le(ratio, first + d ** (-c))), hidden=(c,)) for first in (2 / d**2, Integer(2)))
    check = NoConstant(Rational(1, 2), {d: big}, big, "a chance that stays")
    assert check.run(vanishing, QUICK).verdict is Verdict.REFUTED
    assert check.run(staying, QUICK).verdict is Verdict.UNCHECKED


def test_no_constant_replays_in_the_symbols_of_the_claim() -> None:
    check, about = NoConstant(L * d**2 / n, {L: 1, n: 10, d: big**2}, big, ""), claim(Rate(excess_risk, L * d / n))
    found = check.run(about, QUICK)
    assert found.counterexample == {"L": 1.0, "n": 10.0, "d": 1e12}
    assert check.replay(about, {"L": 1, "n": 10, "d": 1e4}).margin == 1e4


def test_an_instance_that_floats_cannot_hold_shows_nothing() -> None:
    """δ = e^-λ is 0 in floats at λ = 1e3, and a replay at δ = 0 would be outside; at λ = 500 it is one."""
    about = claim(Rate(excess_risk, L / n))
    path = {L: 1, n: 10, delta: sympy.exp(-big)}
    grows = L / n * sympy.log(1 / delta)
    assert "leaves the range of floats" in NoConstant(grows, path, big, "", at=1e3).run(about, QUICK).figure
    found = NoConstant(grows, path, big, "", at=500).run(about, QUICK)
    assert found.verdict is Verdict.REFUTED
    assert found.counterexample is not None
    assert found.counterexample["delta"] > 0


def test_numbers_that_differ_are_refuted_without_a_point() -> None:
    """An empty counterexample is one: there is nothing to choose."""
    assert Same("numbers", sympy.sqrt(2), sympy.Rational(3, 2)).settle(0).holds is False
    assert Same("numbers", sympy.Rational(3, 2), sympy.sqrt(2)).settle(0).holds is False
    assert Same("numbers", sympy.sqrt(2) ** 2, sympy.Integer(2)).settle(0).holds is True
