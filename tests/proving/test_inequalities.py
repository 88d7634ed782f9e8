"""Deciding inequalities: true ones are never refuted, false ones get a point, intervals enclose."""

from __future__ import annotations

import mpmath
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import iv
from sympy import Rational, Symbol, exp, log, sqrt

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.symbols import D, L, T, beta, delta, eps, eta, mu, n
from dpcheck.bounds.relations.inequalities import (
    branch_and_bound,
    counterexample,
    enclose,
    exceeds,
    never_exceeds,
    signs_agree,
)

x, y = Symbol("x", positive=True), Symbol("y", positive=True)
v = Symbol("v", nonnegative=True)
ratio = st.fractions(min_value=Rational(1, 20), max_value=20, max_denominator=50).map(
    lambda f: Rational(f.numerator, f.denominator)
)
exponent = st.sampled_from([Rational(k, 2) for k in range(-4, 5)])
monomial = st.tuples(ratio, exponent, exponent, exponent).map(lambda m: m[0] * L ** m[1] * beta ** m[2] * n ** m[3])
posynomial = st.lists(monomial, min_size=1, max_size=4).map(lambda terms: sympy.Add(*terms))


# Expressions of which the truth is known -----------------------------------------------------------
@settings(deadline=None, max_examples=20)
@given(posynomial, posynomial)
def test_adding_positive_terms_is_proved_to_be_more(small: sympy.Expr, more: sympy.Expr) -> None:
    found = never_exceeds(small, small + more)
    assert found.holds, found


@settings(deadline=None, max_examples=20)
@given(posynomial, st.fractions(min_value=Rational(101, 100), max_value=3, max_denominator=100))
def test_a_constant_too_small_is_refuted_where_it_says(value: sympy.Expr, slip: Rational) -> None:
    stated = value / Rational(slip.numerator, slip.denominator)
    found = never_exceeds(value, stated)
    assert found.holds is False
    point = {s: found.point[str(s)] for s in value.free_symbols}
    assert exceeds(value, stated, point)


@settings(deadline=None, max_examples=20)
@given(ratio, ratio, st.integers(1, 3))
def test_means_are_never_refuted(a: Rational, b: Rational, k: int) -> None:
    """Arithmetic and geometric means, convexity of powers and of exp: true, and tight along a surface."""
    assert counterexample(2 * sqrt(a * b * L * beta), a * L + b * beta) is None
    assert counterexample((L + beta) ** (k + 1), 2**k * (L ** (k + 1) + beta ** (k + 1))) is None
    assert counterexample(1 + a * eps, exp(a * eps)) is None


@settings(deadline=None, max_examples=20)
@given(ratio, ratio, st.sampled_from(["square", "root", "log", "exponent"]))
def test_a_slip_in_form_is_found(a: Rational, b: Rational, slip: str) -> None:
    right, wrong = {
        "square": (a * L**2 + b * beta, a * L + b * beta),
        "root": (a * L * sqrt(T), a * L),
        "log": (a * L * log(2 / delta), a * L * log(2 / (1 - delta))),
        "exponent": (a * L / n, a * L / n ** Rational(3, 2)),
    }[slip]
    point = counterexample(right, wrong)
    assert point is not None
    assert exceeds(right, wrong, {s: point[str(s)] for s in right.free_symbols | wrong.free_symbols})


@settings(deadline=None, max_examples=30)
@given(ratio)
def test_conditions_are_kept(c: Rational) -> None:
    """c L <= beta has no counterexample among the points that meet it, and has one elsewhere that meets L <= D."""
    assert counterexample(c * L, beta, conditions=[c * L <= beta]) is None
    point = counterexample(c * L, beta, conditions=[L <= D])
    assert point is not None
    assert point["L"] <= point["D"]


def test_conditions_hold_together_over_symbols_in_neither_side() -> None:
    """mu <= beta and beta <= L imply mu <= L, though beta stands in neither side."""
    assert counterexample(mu, L, conditions=[mu <= beta, beta <= L]) is None
    assert counterexample(mu, L, conditions=[mu <= beta]) is not None


def test_whole_numbers_stay_whole() -> None:
    assert counterexample(sympy.Integer(1), n) is None
    assert counterexample(n * (3 - n), sympy.Integer(2)) is None  # at most 2 at n = 1, 2; 9/4 in between
    point = counterexample(x * (3 - x), sympy.Integer(2))
    assert point is not None


def test_numbers_only() -> None:
    assert counterexample(sympy.Integer(2), sympy.Integer(1)) == {}
    assert counterexample(sympy.Integer(1), sympy.Integer(2)) is None
    assert never_exceeds(log(3), sympy.Integer(1)).holds is False
    assert never_exceeds(sympy.Integer(1), log(3)).holds


def test_counterexamples_are_plain_and_stay_in_the_box() -> None:
    assert counterexample(2 * L * n, L * n) == {"L": 1.0, "n": 2.0}
    held = counterexample(L, D, box={L: (3, 4), D: (0.5, 0.7)})
    assert 3 <= held["L"] <= 4
    assert 0.5 <= held["D"] <= 0.7


# Signs ---------------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=20)
@given(ratio, ratio)
def test_signs_decide_by_substitution(a: Rational, b: Rational) -> None:
    """a x >= b for all x >= b/a: seen after x = (b + v)/a; and a x >= 2 b is not."""
    assert signs_agree(a * L - b, {L: (b + v) / a})
    assert not signs_agree(a * L - 2 * b, {L: (b + v) / a})


@pytest.mark.parametrize("gap", [-1 / L, -L, L - 1, -L / (1 + L), 1 / L - 1, sympy.Integer(-1), log(L), -exp(L)])
def test_signs_never_approve_what_can_be_negative(gap: sympy.Expr) -> None:
    assert not signs_agree(gap, {})


@pytest.mark.parametrize(
    "gap", [1 / L, L / (1 + beta), exp(L), L - L, (L - beta) ** 2 + 4 * L * beta, log(sympy.E + 1)]
)
def test_signs_approve(gap: sympy.Expr) -> None:
    assert signs_agree(gap, {})


# Intervals -----------------------------------------------------------------------------------------
@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> sympy.Expr:
    """Expressions over x, y > 0 that are real there."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from([x, y, sympy.pi, sympy.E, Rational(1, 3), sympy.Integer(2)]))
    a, b = draw(trees(depth - 1)), draw(trees(depth - 1))
    kinds = ["+", "-", "*", "square", "exp", "log", "root", "inverse", "cube root", "least", "most", "size"]
    how = draw(st.sampled_from(kinds))
    return {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "square": lambda: a**2,
        "exp": lambda: exp(-(a**2)),
        "log": lambda: log(1 + a**2),
        "root": lambda: sqrt(1 + a**2),
        "inverse": lambda: 1 / (1 + a**2),
        "cube root": lambda: (1 + a**2) ** Rational(1, 3),
        "least": lambda: sympy.Min(a, b),
        "most": lambda: sympy.Max(a, b),
        "size": lambda: sympy.Abs(a - b),
    }[how]()


side = st.tuples(st.floats(0.01, 50), st.floats(0.0, 10)).map(lambda s: (s[0], s[0] + s[1]))


@settings(deadline=None, max_examples=100)
@given(trees(), side, side, st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=5))
def test_enclosures_hold_every_value(
    expr: sympy.Expr, xs: tuple[float, float], ys: tuple[float, float], shares: list[tuple[float, float]]
) -> None:
    held = enclose(expr, {x: iv.mpf(list(xs)), y: iv.mpf(list(ys))})
    with mpmath.workdps(40):
        for a, b in shares:
            at = {x: min(max(xs[0] + a * (xs[1] - xs[0]), xs[0]), xs[1])}
            at[y] = min(max(ys[0] + b * (ys[1] - ys[0]), ys[0]), ys[1])
            value = sympy.lambdify([x, y], expr, "mpmath")(mpmath.mpf(at[x]), mpmath.mpf(at[y]))
            rounding = mpmath.mpf(10) ** -35 * (1 + abs(value))
            assert mpmath.mpf(held.a) - rounding <= value <= mpmath.mpf(held.b) + rounding


@settings(deadline=None, max_examples=60)
@given(st.floats(1e-6, 1e6))
def test_a_decimal_is_enclosed_as_the_number_it_stores(value: float) -> None:
    held = enclose(sympy.Float(value), {})
    assert mpmath.mpf(held.a) <= mpmath.mpf(value) <= mpmath.mpf(held.b)


def test_enclosures_refuse_what_they_do_not_know() -> None:
    with pytest.raises(InvalidInput, match="built from"):
        enclose(sympy.erfc(x), {x: iv.mpf([1, 2])})


@settings(deadline=None, max_examples=3)
@given(st.floats(0.05, 0.9))
def test_branch_and_bound_proves_with_room_and_never_without(room: float) -> None:
    """e^x >= 1 + x + x^2/2 on [0.1, 2]; with the constant raised beyond the least gap it is false."""
    least = float(exp(Rational(1, 10)) - 1 - Rational(1, 10) - Rational(1, 200))
    gap = exp(x) - 1 - x - x**2 / 2
    assert branch_and_bound(gap - least * room, {x: (0.1, 2.0)}).holds
    false = branch_and_bound(gap - least / room, {x: (0.1, 2.0)})
    assert false.holds is False
    assert exceeds(least / Rational(repr(room)), gap, {x: false.point["x"]})


def test_branch_and_bound_in_two_dimensions() -> None:
    """x^2 + y^2 - 2 x y + 0.1 = (x - y)^2 + 0.1, whose terms cancel."""
    gap = x**2 + y**2 - 2 * x * y + Rational(1, 10)
    found = branch_and_bound(gap, {x: (1, 2), y: (1, 2)})
    assert found.holds
    assert "cells" in found.how


def test_branch_and_bound_at_its_limit() -> None:
    """Decided with the very last cell that was allowed."""
    assert branch_and_bound(x, {x: (1, 2)}, limit=1).holds
    assert branch_and_bound(x - 1, {x: (0, 2)}, limit=1).holds is None


def test_what_is_not_decided_is_named_as_a_box() -> None:
    """(x - 1)^2 touches 0 at 1: no point below, no proof, and what is left shrinks around it."""
    gap = x**2 - 2 * x + 1 + y * 0
    few, many = (branch_and_bound(gap, {x: (0.5, 2.0)}, limit=k) for k in (10, 200))
    for found in (few, many):
        assert found.holds is None
        low, high = found.left[x]
        assert 0.5 <= low <= 1 <= high <= 2
        assert f"x in [{low:.4g}, {high:.4g}]" in found.how
    assert many.left[x][1] - many.left[x][0] < (few.left[x][1] - few.left[x][0]) / 4


def test_conditions_cut_the_box() -> None:
    """x >= y - 1/10 wherever x >= y; the whole box holds points that break it."""
    gap, box = x - y + Rational(1, 10), {x: (1, 2), y: (1, 2)}
    assert branch_and_bound(gap, box, [y <= x]).holds
    assert branch_and_bound(gap, box).holds is False
    assert branch_and_bound(gap, box, [y <= x + 1]).holds is False
    elsewhere = branch_and_bound(gap, box, [y <= L], limit=50)  # nothing is known of L: no point may be offered
    assert elsewhere.holds is None


def test_whole_numbers_are_tried_whole() -> None:
    """n (n - 3) + 2 is negative between 1 and 2 only: no whole number shows it, and nothing proves it."""
    assert branch_and_bound(n * (n - 3) + 2, {n: (1, 2)}, limit=60).holds is None
    assert branch_and_bound(n * (n - 3) + 1, {n: (1, 2)}, limit=60).point["n"] in (1.0, 2.0)


@settings(deadline=None, max_examples=20)
@given(ratio, st.sampled_from([1, 2]))
def test_equations_among_the_conditions_are_kept(c: Rational, k: int) -> None:
    """eta = c/beta: then eta beta = c, and a bound on eta alone fails where it must."""
    given_ = [sympy.Eq(eta, c / beta**k)]
    assert counterexample(eta * beta**k, c * (1 + Rational(1, 10**6)), conditions=given_) is None
    point = counterexample(eta, beta, conditions=given_)
    assert point is not None
    assert point["eta"] == pytest.approx(float(c) / point["beta"] ** k)
    assert exceeds(eta, beta, {eta: point["eta"], beta: point["beta"]})


def test_branch_and_bound_where_a_log_leaves_the_reals() -> None:
    assert branch_and_bound(log(x - 1) + 100, {x: (0.5, 2)}, limit=200).holds is None
    assert branch_and_bound(sqrt(x - 1), {x: (0.5, 2)}, limit=200).holds is None


def test_branch_and_bound_needs_a_box() -> None:
    with pytest.raises(InvalidInput, match=r"box is \[y\].*every symbol"):
        branch_and_bound(x + y, {x: (1, 2)})


# Points --------------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=60)
@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_exceeds_needs_a_margin(a: float, b: float) -> None:
    assume(abs(a - b) > 1e-8 * (a + b))
    assert exceeds(x, y, {x: a, y: b}) == (a > b)
    assert not exceeds(x, x * (1 - Rational(1, 10**10)), {x: a})


def test_exceeds_at_a_pole_or_outside_the_reals() -> None:
    assert not exceeds(1 / (x - y), x, {x: 1.0, y: 1.0})
    assert exceeds(x, log(x - 2), {x: 1.0})  # no bound at all: it is not real
