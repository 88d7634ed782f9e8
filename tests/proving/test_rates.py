"""Exponents against slopes far out, solved symbols against the bound they solve, crossings against both bounds."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sympy import Max, Min, Rational, exp, log, sqrt

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Source
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput, UnknownName
from dpcheck.bounds.language.symbols import TABLE, D, L, T, beta, d, delta, eps, excess_risk, mu, n, sigma
from dpcheck.bounds.registry import library
from dpcheck.bounds.relations import solving
from dpcheck.bounds.relations.rates import (
    along,
    crossing,
    crossing_formula,
    exponent,
    leading,
    number_at,
    power_of,
    ruling,
)
from dpcheck.bounds.relations.solving import best, symbol_named

POINT = {"d": 50, "eps": 1.0, "delta": 1e-5, "L": 1.0, "beta": 0.25, "mu": 0.01}


def powers(expr: sympy.Expr) -> list[dict[str, tuple[Any, Any]]]:
    return [{str(s): (e.power, e.log) for s, e in term.exponents.items()} for term in leading(expr).terms]


def invented(formula: sympy.Expr, **others: Any) -> Claim:
    return Claim(
        "zhang17.remark.invented", Source("zhang17", "."), Kind.UTILITY, ".", Rate(excess_risk, formula), **others
    )


# Exponents -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (d * log(n) ** 2 / (n**2 * eps**2), [{"n": (-2, 2), "d": (1, 0), "eps": (-2, 0)}]),
        (
            sqrt(d * log(n / delta)) / n,
            [{"n": (-1, Rational(1, 2)), "d": (Rational(1, 2), 0), "delta": (0, Rational(1, 2))}],
        ),
        ((beta + mu) ** 2 / mu, [{"beta": (2, 0), "mu": (-1, 0)}]),
        (1 / T + T**2 / n**2, [{"T": (-1, 0), "n": (0, 0)}, {"T": (2, 0), "n": (-2, 0)}]),
        (exp(-T) + d / n, [{"T": (-sympy.oo, 0), "d": (0, 0), "n": (0, 0)}, {"T": (0, 0), "d": (1, 0), "n": (-1, 0)}]),
        (sqrt(d**2 + n), [{"d": (0, 0), "n": (Rational(1, 2), 0)}, {"d": (1, 0), "n": (0, 0)}]),
        (Max(d, n) / eps, [{"d": (0, 0), "n": (1, 0), "eps": (-1, 0)}, {"d": (1, 0), "n": (0, 0), "eps": (-1, 0)}]),
        (1 / (n + d), [{"n": (-1, 0), "d": (-1, 0)}]),
        (log(1 + d / n), [{"d": (0, 1), "n": (-1, 0)}]),
        (exp(eps) - 1, [{"eps": (1, 0)}]),
        (2**T, [{"T": (sympy.oo, 0)}]),
    ],
    ids=str,
)
def test_leading_terms(expr: sympy.Expr, expected: list[dict[str, Any]]) -> None:
    found = powers(expr)
    assert len(found) == len(expected)
    assert all(term in found for term in expected)


def test_a_minimum_is_ruled_by_its_smaller_part() -> None:
    bound = Min(1, sqrt(d) / (n * eps))
    assert ruling(bound, {"n": 1e4, "d": 50, "eps": 1}).exponents[n].power == -1
    assert ruling(bound, {"n": 10, "d": 1e6, "eps": 1}).exponents[n].power == 0
    assert exponent(bound, d).power == 0  # a large dimension ends at 1


def test_which_term_rules_depends_on_the_point() -> None:
    found = leading(2 * beta * D**2 / T + 9 * T**2 * L**2 * d / (beta * n**2 * eps**2))
    here = {"beta": 1, "D": 1, "L": 1, "d": 5, "n": 1000, "eps": 1}
    assert found.at(T=1, **here).exponents[T].power == -1
    assert found.at(T=1000, **here).exponents[T].power == 2


def test_text_of_exponents() -> None:
    term = leading(d * log(n) ** 2 * log(1 / delta) / (n ** Rational(2, 3) * eps)).terms[0]
    assert [term.exponents[s].text(s) for s in (n, d, eps, delta)] == ["n^(-2/3)·log(n)^2", "d", "ε^-1", "log(1/δ)"]
    assert exponent(d, n).text(n) == ""


quarters = st.integers(-8, 8).map(lambda k: Rational(k, 4))


@st.composite
def products(draw: st.DrawFn) -> sympy.Expr:
    """c · n^a · d^b · eps^e · log(n/delta)^j · log(d n)^k, and the like."""
    a, b, e = (draw(quarters) for _ in range(3))
    j, k = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    return draw(st.integers(1, 9)) * n**a * d**b * eps**e * log(n / delta) ** j * log(2 * d * n) ** k


def far_slope(expr: sympy.Expr, symbol: sympy.Symbol) -> tuple[float, float]:
    """Power and logarithmic power, from values where the logarithm itself is large."""
    sign = -1 if str(symbol) in ("eps", "delta") else 1
    others = {s: Rational(3, 10) if str(s) == "delta" else 2 for s in expr.free_symbols - {symbol}}
    with mpmath.workdps(60):
        call = sympy.lambdify(symbol, expr.subs(others), "mpmath")
        logs = [mpmath.mpf(10) ** k for k in (6, 7, 8)]
        heights = [mpmath.log(abs(call(mpmath.exp(sign * u)))) for u in logs]
        rows = mpmath.matrix([[sign * u, mpmath.log(u), 1] for u in logs])
        power, log_power, _ = mpmath.lu_solve(rows, mpmath.matrix(heights))
    return float(power), float(log_power)


@settings(max_examples=40)
@given(products(), st.sampled_from([n, d, eps, delta]))
def test_exponents_are_slopes_far_out(expr: sympy.Expr, symbol: sympy.Symbol) -> None:
    assume(symbol in expr.free_symbols)
    found = exponent(expr, symbol)
    assert (float(found.power), float(found.log)) == pytest.approx(far_slope(expr, symbol), abs=2e-3)


@settings(max_examples=25)
@given(st.lists(products(), min_size=2, max_size=4), st.sampled_from([n, d]))
def test_a_sum_grows_like_its_fastest_leading_term(terms: list[sympy.Expr], symbol: sympy.Symbol) -> None:
    total = sum(terms)
    assume(isinstance(total, sympy.Add) and symbol in total.free_symbols)
    fastest = max((float(t.exponents[symbol].power), float(t.exponents[symbol].log)) for t in leading(total).terms)
    assert fastest == max((float(e.power), float(e.log)) for e in (exponent(t, symbol) for t in terms))


def test_an_exponent_that_settles_is_read_as_where_it_settles() -> None:
    for power, settled in ((d / (2 * T + 2 * d), 1 / 2), ((3 * d + T) / (d + 1), 3), (1 / d, 0)):
        found = exponent(d**power / n, d)
        assert (found.power, found.log) == (sympy.Rational(settled), 0)
    with pytest.raises(InvalidInput, match="a product of powers"):
        exponent(d ** (1 + 1 / log(d)) / n, d)


def test_every_utility_claim_has_exponents() -> None:
    for claim in library.values():
        if claim.kind in (Kind.UTILITY, Kind.LOWER_BOUND):
            assert leading(claim.formula).terms


def test_planted_wrong_exponents_are_noticed() -> None:
    """The slope test above would fail on a lost logarithm and on a wrong power."""
    right = far_slope(d * log(n) ** 2 / n**2, n)
    for wrong in (d * log(n) / n**2, d * log(n) ** 2 / n):
        found = exponent(wrong, n)
        assert (float(found.power), float(found.log)) != pytest.approx(right, abs=2e-3)


# Solving -------------------------------------------------------------------------------------------
SOLVABLE = [
    ("zhang17.theorem2.approx", {"n": 1e5, **POINT}),
    ("zhang17.theorem2.pure.proof", {"n": 1e5, "D": 3.0, "T": 500, **POINT}),
    ("zhang17.theorem3.approx.corrected", {"n": 1e4, "D": 1.0, **POINT}),
    ("zhang17.table1.bassily.pure", {"n": 1e4, "d": 20, "eps": 0.7}),
    ("zhang17.table1.bassily.approx", {"n": 1e4, "d": 20, "eps": 0.7, "delta": 1e-4}),
    ("zhang17.theorem5.convex.corrected", {"n": 1e4, "D": 1.0, **POINT}),
    ("zhang17.theorem1", {"n": 1000, "T": 20, "L": 1.0, "beta": 1.0, "eps": 0.5, "delta": 1e-5}),
]


@pytest.mark.parametrize(("claim_id", "point"), SOLVABLE)
def test_solving_inverts_evaluating(claim_id: str, point: dict[str, float]) -> None:
    """The bound at a point, solved for one of its symbols, gives that symbol back; whole numbers exactly.

    Where the bound hardly depends on the symbol (D after 500 steps), it gives back the bound.
    """
    claim = library[claim_id]
    names = sorted(str(s) for s in claim.formula.free_symbols)
    for name in sorted({*names} - {"mu", "beta", "delta", "T"}):
        values = {k: point[k] for k in names if k != name}
        numbers = along(claim.formula, symbol_named(claim, name), values)
        target, moved = float(numbers(point[name])), float(numbers(2 * point[name]))
        found = claim.solve_for(name, error=target * (1 + 1e-9), **values)
        assert found.check <= target * (1 + 2e-9)
        if abs(moved / target - 1) < 1e-3:
            assert found.check == pytest.approx(target, rel=1e-8)
            continue
        assert found.value == pytest.approx(point[name], rel=1e-6)
        if found.formula is not None:
            values["error"] = values[str(claim.subject)] = target
            closed = sympy.N(found.formula.subs({s: values[str(s)] for s in found.formula.free_symbols}))
            assert float(closed) == pytest.approx(point[name], rel=1e-5)


@settings(max_examples=10)
@given(st.floats(1e-4, 1e-1), st.integers(1, 200), st.floats(0.05, 5))
def test_one_record_fewer_is_too_few(error: float, dim: int, e: float) -> None:
    claim = library["zhang17.table1.bassily.approx"]
    found = claim.solve_for("n", error=error, d=dim, eps=e, delta=1e-5)
    assert found.value == int(found.value)
    assert claim.evaluate(n=found.value, d=dim, eps=e, delta=1e-5) <= error * (1 + 1e-9)
    if found.value > 1:
        assert claim.evaluate(n=found.value - 1, d=dim, eps=e, delta=1e-5) > error
    wider = claim.solve_for("d", error=error, n=found.value, eps=e, delta=1e-5)
    assert wider.value >= dim  # the largest dimension that these records still serve


def test_closed_forms() -> None:
    found = library["zhang17.theorem2"].solve_for("n", error=0.01, **POINT)
    assert found.claim == "zhang17.theorem2.approx"
    assert found.value == 11997
    error = solving.ERROR
    assert sympy.simplify(found.formula - L * sqrt(beta * d * log(1 / delta) / error) / (eps * mu)) == 0
    assert "Hidden constants are taken as 1" in str(found)
    by_lambert = library["zhang17.table1.bassily.pure"].solve_for("n", error=0.01, d=50, eps=1)
    assert by_lambert.formula.has(sympy.LambertW)
    steps = library["zhang17.theorem2.pure.proof"].solve_for("T", error=0.5, n=1e5, D=10.0, **POINT)
    assert steps.formula is not None
    assert steps.formula.has(log)
    quadratic = invented(d + d**2).solve_for("d", error=12.0)
    assert quadratic.value == 3
    assert float(quadratic.formula.subs(error, 12)) == pytest.approx(3)


def test_sigma_is_the_statement_itself() -> None:
    claim = library["zhang17.theorem1"]
    values = {"n": 100, "T": 10, "L": 1.0, "beta": 1.0, "delta": 1e-5}
    noise = claim.solve_for("sigma", eps=0.5, **values)
    assert noise.value == claim.evaluate(eps=0.5, **values)
    assert claim.solve_for("eps", sigma=noise.value, **values).value == pytest.approx(0.5, rel=1e-6)


def test_a_target_out_of_reach_says_how_near_one_gets() -> None:
    claim = library["zhang17.theorem2.pure.proof"]
    with pytest.raises(InvalidInput, match=r"no value.*at best 0\.\d+") as caught:
        claim.solve_for("n", error=1e-3, T=10, D=1.0, **{k: v for k, v in POINT.items() if k != "delta"})
    floor = float(str(caught.value).split("at best ")[1].split(",")[0])
    assert floor == pytest.approx(0.125 * math.exp(-2 * 0.0025 * 10 / 0.26**2), rel=1e-3)


def test_only_outside_the_hypotheses() -> None:
    claim = library["zhang17.theorem5.convex.corrected"]
    with pytest.raises(HypothesisViolated, match=r"violates ε ≤ 1.*Without it eps would be 96"):
        claim.solve_for("eps", error=0.01, d=50, n=100, delta=1e-5, L=1, D=1)


def test_a_narrow_range_is_found() -> None:
    """Between two points that are tried: only T = 1000 of T/1000 + 1000/T comes down to 2."""
    claim = invented(T / 1000 + 1000 / T)
    assert claim.solve_for("T", error=2 * (1 + 1e-9)).value == 1000


def test_a_hypothesis_may_set_the_value() -> None:
    claim = invented(d / n, assumes=[n >= 100])
    found = claim.solve_for("n", error=1.0, d=5)
    assert (found.value, found.check) == (100, 0.05)
    assert "A hypothesis sets this value" in found.note


@pytest.mark.parametrize(
    ("symbol", "values", "error", "words"),
    [
        ("m", {"error": 0.1}, UnknownName, "symbol to solve for is m"),
        ("n", {}, InvalidInput, "target is None"),
        ("n", {"error": 0.1, "target": 0.2}, InvalidInput, "given once"),
        ("n", {"error": -1}, InvalidInput, "error is -1; it must be a finite number > 0"),
        ("n", {"error": math.nan}, InvalidInput, "finite number > 0"),
        ("n", {"error": True}, InvalidInput, "finite number > 0"),
        ("n", {"error": 0.1, "n": 5}, InvalidInput, "left open"),
        ("n", {"error": 0.1, "eps": [1.0, 2.0]}, InvalidInput, "one number"),
        ("n", {"error": 0.1, "delta": 2.0}, InvalidInput, "delta is 2.0"),
        ("n", {"error": 0.1, "d": None}, InvalidInput, "d is None"),
    ],
)
def test_bad_input(symbol: str, values: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        library["zhang17.theorem2.approx"].solve_for(symbol, **{**POINT, **values})


def test_a_missing_value_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"complete, with \['eps'\]. eps is the privacy parameter"):
        library["zhang17.theorem2.approx"].solve_for("n", error=0.1, **{k: v for k, v in POINT.items() if k != "eps"})


# The least bound -----------------------------------------------------------------------------------
@settings(max_examples=20)
@given(st.floats(0.1, 10), st.floats(1e-6, 1e-2), st.integers(1, 3))
def test_best_steps(a: float, b: float, power: int) -> None:
    """A/T + B T^p: the formula, and no whole number does better."""
    bound = beta / T + mu * T**power
    found = best(bound, T, beta=a, mu=b)
    height = along(bound, T, {"beta": a, "mu": b})
    assert found.bound <= height(np.arange(1.0, 3000.0)).min() * (1 + 1e-12)
    assert found.formula is not None
    exact = float(found.formula.subs({beta: a, mu: b}))
    assert abs(found.value - max(1.0, exact)) <= 1


def test_best_of_a_claim_and_of_nothing() -> None:
    found = best(library["zhang17.theorem2.pure.proof"], "T", n=1e5, D=3.0, **POINT)
    assert found.value > 100
    with pytest.raises(UnknownName, match="symbol is m"):
        best(beta / T, "m", beta=1.0)


# Crossings -----------------------------------------------------------------------------------------
@settings(max_examples=15)
@given(products(), products())
def test_crossings_are_where_bounds_meet_and_do_not_depend_on_the_order(one: sympy.Expr, two: sympy.Expr) -> None:
    here = {"d": 20.0, "eps": 0.5, "delta": 1e-5}
    ahead, back = crossing(one, two, n, here, (2, 1e9)), crossing(two, one, n, here, (2, 1e9))
    assert ahead.at == pytest.approx(back.at, rel=1e-9)
    for x in ahead.at:
        point = {**here, "n": x}
        assert number_at(one, point) == pytest.approx(number_at(two, point), rel=1e-6)
    if ahead.at:
        assert {ahead.below, back.below} == {"first", "second"}
        first = number_at(one, {**here, "n": 2}) < number_at(two, {**here, "n": 2})
        assert (ahead.below == "first") == first


@settings(max_examples=15)
@given(products(), products())
def test_closed_crossings(one: sympy.Expr, two: sympy.Expr) -> None:
    formula = crossing_formula(one, two, eps)
    ratio = one / two
    if eps not in ratio.free_symbols:
        assert formula is None
        return
    here = {"n": 1e4, "d": 20.0, "delta": 1e-5}
    at = number_at(formula, here)
    assume(1e-60 < at < 1e60)
    assert number_at(ratio, {**here, "eps": at}) == pytest.approx(1.0, rel=1e-6)


def test_powers_of_a_symbol() -> None:
    assert power_of(d * n**-2 / eps, n) == -2
    assert power_of((n * d) ** Rational(2, 3), n) == Rational(2, 3)
    assert power_of(log(n) * n, n) is None
    assert power_of(n + d, n) is None
    assert power_of(d, n) == 0


def test_the_table_has_the_symbols_used_here() -> None:
    assert {n, d, eps, delta, sigma} <= TABLE.keys()
