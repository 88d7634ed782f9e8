"""The table of symbols: units add up, and values outside a domain are refused."""

from __future__ import annotations

import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language import symbols
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.formulas import lambdified
from dpcheck.bounds.language.symbols import (
    NONE,
    TABLE,
    D,
    L,
    T,
    UnitMismatch,
    beta,
    delta,
    eps,
    eta,
    mu,
    n,
    point_in_words,
    quantity,
    unit_of,
    unit_text,
)

some_symbol = st.sampled_from(sorted(TABLE, key=str))
power = st.fractions(min_value=-3, max_value=3, max_denominator=6)


def rational(k: Fraction) -> sympy.Rational:
    return sympy.Rational(k.numerator, k.denominator)


@settings(deadline=None, max_examples=100)
@given(some_symbol, some_symbol, power, power)
def test_exponents_of_a_product_of_powers_add_up(a: sympy.Symbol, b: sympy.Symbol, j: Fraction, k: Fraction) -> None:
    expected = tuple(x * j + y * k for x, y in zip(TABLE[a].unit, TABLE[b].unit, strict=True))
    assert unit_of(a ** rational(j) * b ** rational(k)) == expected


@settings(deadline=None, max_examples=100)
@given(some_symbol, some_symbol)
def test_a_sum_has_a_unit_exactly_if_its_terms_share_it(a: sympy.Symbol, b: sympy.Symbol) -> None:
    if TABLE[a].unit == TABLE[b].unit:
        assert unit_of(2 * a + b) == TABLE[a].unit
        assert unit_of(sympy.Max(a, b)) == TABLE[a].unit
    else:
        for unlike in (2 * a + b, sympy.Min(a, b)):
            with pytest.raises(UnitMismatch):
                unit_of(unlike)


@settings(deadline=None, max_examples=60)
@given(some_symbol)
def test_exp_and_log_take_pure_numbers_only(a: sympy.Symbol) -> None:
    for f in (sympy.exp, sympy.log, sympy.erfc):
        if TABLE[a].unit == NONE:
            assert unit_of(f(a)) == NONE
        else:
            with pytest.raises(UnitMismatch, match="free of units"):
                unit_of(f(a))


def test_units_of_the_paper() -> None:
    """A step size times a gradient is a parameter; smoothness times a squared parameter is a loss."""
    assert unit_of(eta * L) == TABLE[D].unit
    assert unit_of(sympy.sqrt(beta * mu) * D**2) == unit_of(L * D)
    assert unit_of(sympy.exp(-eta * mu * T)) == NONE
    assert unit_of(sympy.Sum(L * T, (T, 1, 3))) == TABLE[L].unit
    assert unit_of(eps**n) == NONE
    with pytest.raises(UnitMismatch, match="fixed number"):
        unit_of(L**n)


def test_units_are_readable() -> None:
    assert unit_text(unit_of(sympy.sqrt(L))) == "loss^1/2 parameter^-1/2"
    assert unit_text(unit_of(D)) == "parameter"
    assert unit_text(NONE) == "no unit"


@settings(deadline=None, max_examples=200)
@given(some_symbol, st.floats(1e-9, 1.0))
def test_the_search_box_lies_in_the_domain(s: sympy.Symbol, share: float) -> None:
    row = TABLE[s]
    low, high = row.box
    inside = low * (high / low) ** share
    row.must_contain(max(1, round(inside)) if row.integer else min(inside, np.nextafter(row.below, 0)))


@settings(deadline=None, max_examples=200)
@given(some_symbol, st.sampled_from([np.nan, np.inf, -np.inf, -1e-9, -5.0]))
def test_outside_every_domain(s: sympy.Symbol, value: float) -> None:
    for given_value in (value, np.array([1.0, value])):
        with pytest.raises(InvalidInput, match=rf"{s} is .*it must be .*{re.escape(TABLE[s].meaning)}"):
            TABLE[s].must_contain(given_value)


@pytest.mark.parametrize(
    ("symbol", "value", "limit"),
    [
        (delta, 1.0, "< 1"),
        (delta, [0.1, 1.5], "< 1"),
        (n, 0, "whole number >= 1"),
        (n, 2.5, "whole number >= 1"),
        (T, [1, 2, 3.5], "whole number >= 1"),
        (eps, "one", "a number"),
        (eps, [[1.0], [1.0, 2.0]], "a number"),
        (eps, None, "finite"),
    ],
)
def test_outside_one_domain(symbol: sympy.Symbol, value: object, limit: str) -> None:
    with pytest.raises(InvalidInput, match=f"{symbol} is .*{limit}"):
        TABLE[symbol].must_contain(value)


def test_inside() -> None:
    delta_row, n_row = TABLE[delta], TABLE[n]
    delta_row.must_contain(0.0)
    delta_row.must_contain([0.0, 0.999])
    n_row.must_contain(10.0)


def test_a_symbol_is_declared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbols, "TABLE", dict(TABLE))
    assert quantity("L", TABLE[L].meaning, loss=1, parameter=-1) == L
    with pytest.raises(InvalidInput, match="declared once"):
        quantity("L", "length of something else", parameter=1)
    fresh = quantity("fresh_one", "a fresh quantity", parameter=2)
    assert symbols.unit_of(fresh) == symbols.unit(parameter=2)


def test_every_row_is_complete() -> None:
    for symbol, row in TABLE.items():
        assert row.name == str(symbol)
        assert row.meaning
        assert row.printed
        assert 0 < row.box[0] < row.box[1] <= row.below
        assert symbol.is_positive


def test_formulas_have_no_value_beyond_their_domain() -> None:
    """Seen: the root of a negative number, its imaginary part dropped with a warning, taken for a value."""
    value = lambdified(sympy.sqrt(1 - n) + 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(value(np.array([2.0, 5.0], complex))).all()
        assert value(np.array([1.0 + 0j])).tolist() == [2.0]
        assert np.isnan(lambdified(sympy.sqrt(-n))(4.0))


def test_points_are_in_the_documents_symbols() -> None:
    assert point_in_words({"eps": 2.0, "Delta": 1e-7, "invented": 3}) == "ε = 2, Δ = 1e-07, invented = 3"
