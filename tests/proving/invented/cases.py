"""Pairs of invented claims, a true one and one with a slip: what they are, and the drawing of formulas and slips."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from hypothesis import strategies as st
from sympy import Expr, Integer, Rational, Symbol, log, sqrt

from dpcheck.bounds.language.claim import Check, Claim, Kind, Source
from dpcheck.bounds.language.symbols import TABLE, D, L, T, beta, d, distance, eps, m, mu, n, sigma_g, w_hat


@dataclass(frozen=True)
class Case:
    """A claim and the check that is to judge it."""

    claim: Claim
    check: Check


Pair = tuple[Case, Case]  # a true claim, and one that a slip made false
Draw = Callable[[st.SearchStrategy[Any]], Any]
Family = Callable[[Draw], Pair]
FAMILIES: dict[str, tuple[str, int, Family]] = {}


def family(kind: str, name: str, examples: int = 5) -> Callable[[Family], Family]:
    """Register a maker of pairs: how many pairs to draw is a matter of what its check costs."""

    def keep(make: Family) -> Family:
        FAMILIES[f"{kind}: {name}"] = (kind, examples, make)
        return make

    return keep


def case(
    check: Check, states: Any, *assumes: Any, kind: Kind = Kind.UTILITY, id: str = "zhang17.invented1", **others: Any
) -> Case:
    return Case(Claim(id, Source("zhang17", "nowhere"), kind, ".", states, assumes, **others), check)


# Drawing -------------------------------------------------------------------------------------------
fraction = st.fractions(min_value=Rational(1, 5), max_value=8, max_denominator=12).map(
    lambda f: Rational(f.numerator, f.denominator)
)
KIN = [(n, d, T, m), (beta, mu), (D, distance, w_hat), (L, sigma_g), (eps,)]  # of one unit each
halves = st.sampled_from([Rational(k, 2) for k in (-4, -3, -2, -1, 1, 2, 3, 4)])
Powers = dict[Symbol, Rational]


def powers(draw: Draw) -> Powers:
    """A product of powers, of one symbol from some of the kinships."""
    chosen = draw(st.lists(st.sampled_from(range(len(KIN))), min_size=2, max_size=4, unique=True))
    return {KIN[i][draw(st.integers(0, len(KIN[i]) - 1))]: draw(halves) for i in chosen}


def product(constant: Expr, of: Powers) -> Expr:
    return constant * sympy.Mul(*(s**k for s, k in of.items()))


def slipped(draw: Draw, constant: Expr, of: Powers) -> tuple[Expr, Powers]:
    """One slip: in the constant, in an exponent, a symbol lost, or taken for another of its unit."""
    symbol = draw(st.sampled_from(sorted(of, key=str)))
    rest = {s: k for s, k in of.items() if s != symbol}
    kin = [s for row in KIN if symbol in row for s in row if s not in of]
    how = draw(st.sampled_from(["constant", "exponent", "lost", *(["kin"] if kin else [])]))
    if how == "constant":
        factor = draw(st.sampled_from([Rational(1, 2), Integer(2), sqrt(2), 1 / sqrt(2), Integer(4)]))
        return constant * factor, of
    if how == "exponent":
        step = draw(st.sampled_from([Rational(1), Rational(-1), Rational(1, 2), Rational(-1, 2)]))
        return constant, {**rest, symbol: of[symbol] + step}
    if how == "lost":
        return constant, rest
    return constant, {**rest, draw(st.sampled_from(kin)): of[symbol]}


def largest_ratio(top: tuple[Expr, Powers], bottom: tuple[Expr, Powers]) -> float:
    """The logarithm of the largest ratio of two products over the boxes of the table, by hand."""
    total = float(log(top[0] / bottom[0]))
    for s in {*top[1], *bottom[1]}:
        k = float(top[1].get(s, 0) - bottom[1].get(s, 0))
        total += max(k * np.log(TABLE[s].box[0]), k * np.log(TABLE[s].box[1]))
    return total
