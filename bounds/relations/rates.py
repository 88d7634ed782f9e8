"""How a bound grows: leading exponents, which term rules where, and where two bounds cross.

A bound is read up to constants. Of each symbol it is asked how the bound behaves as that symbol alone goes far:
up for sizes and smoothness, down for what is small when things are hard (ε, δ, μ, failure probabilities).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import mpmath
import numpy as np
import scipy  # its parts are imported on first use
import sympy

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.formulas import lambdified, pretty
from dpcheck.bounds.language.symbols import TABLE

SHRINKING = frozenset({"eps", "delta", "delta1", "gamma", "mu"})
FAR = (10**40, 10**80)  # where slopes are read off when no rule applies
STEEPEST = 100  # a measured power beyond this is an exponential
Growth = tuple[sympy.Expr, sympy.Expr]  # (a, b): like x^a (log x)^b, with x the symbol or its inverse
FLAT: Growth = (sympy.Integer(0), sympy.Integer(0))


@dataclass(frozen=True)
class Exponent:
    """symbol^power · |log symbol|^log."""

    power: sympy.Expr
    log: sympy.Expr

    def text(self, symbol: sympy.Symbol) -> str:
        """`n^-2·log(n)`, or "" where the symbol does not matter."""
        name = TABLE[symbol].printed if symbol in TABLE else str(symbol)
        inside = f"log(1/{name})" if direction(symbol) < 0 else f"log({name})"
        factors = [raised(name, self.power), raised(inside, self.log)]
        return "·".join(factor for factor in factors if factor)


def raised(base: str, power: sympy.Expr) -> str:
    """`base^power` as people write it."""
    if power == 0:
        return ""
    shown = pretty(power) if power.is_integer else f"({pretty(power)})"
    return base if power == 1 else f"{base}^{shown}"


@dataclass(frozen=True)
class Term:
    """One term of a sum, without its number, and the exponent of each symbol in it."""

    expr: sympy.Expr
    exponents: Mapping[sympy.Symbol, Exponent]


@dataclass(frozen=True)
class Leading:
    """The terms of a bound that no other term outgrows in every symbol."""

    terms: tuple[Term, ...]

    def at(self, **values: float) -> Term:
        """The term that is largest at these numbers."""
        if len(self.terms) == 1:
            return self.terms[0]
        sizes = [number_at(term.expr, values) for term in self.terms]
        return self.terms[int(np.argmax(sizes))]


def leading(expr: sympy.Expr, over: Iterable[sympy.Symbol] | None = None) -> Leading:
    """Exponents of every symbol (or of those in `over`, the others being constants), term by term.

    >>> from dpcheck.bounds.language.symbols import d, eps, n
    >>> found = leading(d * sympy.log(n) ** 2 / (n**2 * eps**2))
    >>> {str(s): (e.power, e.log) for s, e in sorted(found.terms[0].exponents.items(), key=lambda p: str(p[0]))}
    {'d': (1, 0), 'eps': (-2, 0), 'n': (-2, 2)}
    """
    expr = sympy.sympify(expr)
    symbols = sorted(expr.free_symbols if over is None else over, key=str)
    found: list[Term] = []
    for term in [expr] if collapses(expr, symbols) else summands(expr):
        exponents = {s: exponent(term, s) for s in symbols}
        if not any(outgrows(kept.exponents, exponents) for kept in found):
            found = [kept for kept in found if not outgrows(exponents, kept.exponents)]
            found.append(Term(term.as_coeff_Mul()[1], exponents))
    return Leading(tuple(found))


def ruling(expr: sympy.Expr, values: Mapping[str, float]) -> Term:
    """The term that rules at these numbers: min{1, √d/(nε)} is √d/(nε) where that is below 1."""
    choices = {}
    for choice in expr.atoms(sympy.Min, sympy.Max):
        sizes = [number_at(a, values) for a in choice.args]
        choices[choice] = choice.args[int(np.argmin(sizes) if isinstance(choice, sympy.Min) else np.argmax(sizes))]
    return leading(expr.xreplace(choices), expr.free_symbols).at(**values)


def exponent(expr: sympy.Expr, symbol: sympy.Symbol) -> Exponent:
    """How `expr` depends on one symbol that goes far, the others fixed."""
    power, log = growth(sympy.sympify(expr), symbol)
    return Exponent(power * direction(symbol), log)


def direction(symbol: sympy.Symbol) -> int:
    """1 where large values are the far end, -1 where small ones are."""
    return -1 if str(symbol) in SHRINKING else 1


def outgrows(one: Mapping[sympy.Symbol, Exponent], other: Mapping[sympy.Symbol, Exponent]) -> bool:
    """At least as large as the other, up to a constant, in every symbol; x^T compares only with itself."""
    for s in one:
        powers = (one[s].power, other[s].power)
        if one[s] != other[s] and (not all(p.is_number for p in powers) or larger(other[s], one[s], s)):
            return False
    return True


def larger(one: Exponent, other: Exponent, symbol: sympy.Symbol) -> bool:
    """Whether one grows faster than the other at the symbol's far end."""
    toward = direction(symbol)
    ranks = [(toward * as_float(e.power), as_float(e.log)) for e in (one, other)]
    return ranks[0] > ranks[1]


# Sums ----------------------------------------------------------------------------------------------
def summands(expr: sympy.Expr) -> list[sympy.Expr]:
    """The positive terms of the expanded bound. (a + b)^k for 0 < k < 1 counts as a^k + b^k, its order."""
    expanded = sympy.expand(expr, log=False)  # log(n/δ) is one factor, not a difference
    found: list[sympy.Expr] = []
    for term in sympy.Add.make_args(expanded):
        root = next((f for f in sympy.Mul.make_args(term) if splits(f)), None)
        if root is not None:
            base, power = (root, sympy.Integer(1)) if isinstance(root, sympy.Max) else root.as_base_exp()
            pieces = base.args if isinstance(base, sympy.Max) else summands(base)
            found += [s for piece in pieces for s in summands(term / root * piece**power)]
        elif not term.could_extract_minus_sign():
            found.append(term)
    return found or [expr]


def collapses(expr: sympy.Expr, symbols: Sequence[sympy.Symbol]) -> bool:
    """Whether negative terms cancel the leading positive ones: e^ε - 1 is of the order of ε, not of e^ε."""
    expanded = sympy.expand(expr, log=False)
    if not isinstance(expanded, sympy.Add) or not cancels(expanded):
        return False
    terms = summands(expr)
    try:
        return any(growth(expanded, s)[0] != highest([growth(t, s) for t in terms])[0] for s in symbols)
    except InvalidInput:
        return False  # of no plain order: the positive terms bound it


def splits(factor: sympy.Expr) -> bool:
    """A root of a sum, or a maximum."""
    base, power = factor.as_base_exp()
    return isinstance(base, sympy.Max) or (isinstance(base, sympy.Add) and bool(power.is_number and 0 < power < 1))


# One symbol ----------------------------------------------------------------------------------------
def growth(expr: sympy.Expr, symbol: sympy.Symbol) -> Growth:
    """(a, b) with expr ~ x^a (log x)^b as x, the symbol or its inverse, goes to infinity."""
    if symbol not in expr.free_symbols:
        return FLAT
    if expr == symbol:
        return sympy.Integer(direction(symbol)), sympy.Integer(0)
    if isinstance(expr, sympy.Mul):
        return reduce(lambda one, two: (one[0] + two[0], one[1] + two[1]), (growth(f, symbol) for f in expr.args))
    if isinstance(expr, sympy.Pow) and symbol not in expr.exp.free_symbols:
        a, b = growth(expr.base, symbol)
        return a * expr.exp, b * expr.exp
    if isinstance(expr, sympy.Pow):
        natural = sympy.exp(expr.exp * sympy.log(expr.base))  # 2^(log x / log 2) is x
        return growth_of_exp(natural.args[0], symbol) if isinstance(natural, sympy.exp) else growth(natural, symbol)
    if isinstance(expr, sympy.exp):
        return growth_of_exp(expr.args[0], symbol)
    if isinstance(expr, sympy.log):
        return growth_of_log(expr.args[0], symbol)
    if isinstance(expr, sympy.Max):
        return highest([growth(a, symbol) for a in expr.args])
    if isinstance(expr, sympy.Min):
        return highest([growth(a, symbol) for a in expr.args], sign=-1)
    if isinstance(expr, sympy.Add) and not cancels(expr):
        return highest([growth(a, symbol) for a in expr.args])
    return measured_growth(expr, symbol)


def highest(found: Sequence[Growth], sign: int = 1) -> Growth:
    """The fastest (or slowest) of several: by power, then by logarithm."""
    return max(found, key=lambda g: (sign * as_float(g[0]), sign * as_float(g[1])))


def as_float(value: sympy.Expr) -> float:
    """A comparable number; symbolic exponents have none."""
    if not value.is_number:
        raise InvalidInput("exponent", str(value), "a number", "Give the symbols in it a value first.")
    return float(value)


def cancels(total: sympy.Add) -> bool:
    """Whether terms of both signs stand in a sum: its order may be below that of its terms."""
    return len({bool(t.could_extract_minus_sign()) for t in total.args}) == 2


def growth_of_exp(argument: sympy.Expr, symbol: sympy.Symbol) -> Growth:
    a, b = growth(argument, symbol)
    if as_float(a) < 0 or (a == 0 and as_float(b) <= 0):
        return FLAT  # tends to a constant
    if a == 0:
        power = sympy.cancel(argument / sympy.log(symbol))
        if power.is_rational_function(symbol):  # d^(d/(2h+2d)) is about √d: its exponent settles faster than 1/log d
            return sympy.limit(power, symbol, sympy.oo), sympy.Integer(0)
        raise InvalidInput("bound", f"exp({argument})", "a product of powers", "Write powers of symbols as such.")
    return (-sympy.oo if argument.could_extract_minus_sign() else sympy.oo), sympy.Integer(0)


def growth_of_log(argument: sympy.Expr, symbol: sympy.Symbol) -> Growth:
    """log x^a ~ log x; the logarithm of what tends to 1 is as small as its distance from 1."""
    a, _ = growth(argument, symbol)
    if a != 0:
        return sympy.Integer(0), sympy.Integer(1)
    rest = argument - 1
    if isinstance(argument, sympy.Add) and symbol in rest.free_symbols and as_float(growth(rest, symbol)[0]) < 0:
        return growth(rest, symbol)
    return FLAT


def measured_growth(expr: sympy.Expr, symbol: sympy.Symbol) -> Growth:
    """The slope in the logarithm far out, where no rule applies: e^ε - 1 at small ε, and the like."""
    others = {s: sympy.Rational(7, 5) for s in expr.free_symbols - {symbol}}
    with mpmath.workdps(300):
        call = sympy.lambdify(symbol, expr.subs(others), "mpmath")
        ends = [mpmath.log(abs(call(mpmath.mpf(x) ** direction(symbol)))) / mpmath.log(x) for x in FAR]
        slope = float(2 * ends[1] - ends[0])  # a constant factor cancels
    if abs(slope) > STEEPEST:
        return (sympy.oo if slope > 0 else -sympy.oo), sympy.Integer(0)
    rounded = sympy.Rational(slope).limit_denominator(12) if math.isfinite(slope) else None
    if rounded is None or abs(float(rounded) - slope) > 1e-3:
        raise InvalidInput("bound", pretty(expr), f"of a known order in {symbol}", "Write it as a sum of products.")
    return rounded, sympy.Integer(0)


# Two bounds ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Crossing:
    """Where two bounds are equal: `formula` gives the symbol in terms of the others, `at` the places found."""

    symbol: sympy.Symbol
    formula: sympy.Expr | None
    at: tuple[float, ...]
    below: str  # which of the two is smaller before the first crossing: "first" or "second"


def crossing(
    first: sympy.Expr,
    second: sympy.Expr,
    symbol: sympy.Symbol,
    values: Mapping[str, float],
    box: tuple[float, float] | None = None,
) -> Crossing:
    """Where two bounds meet as `symbol` goes through its box, the others fixed by `values`.

    The formula is exact wherever the ratio of the two is a power of the symbol.
    """
    low, high = box or TABLE[symbol].box
    grid = np.geomspace(low, high, 400)
    one, two = (along(e, symbol, values) for e in (first, second))

    def gap(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.log(one(x)) - np.log(two(x))

    heights = gap(grid)
    turns = [i for i in range(len(grid) - 1) if np.isfinite(heights[i : i + 2]).all() and changes(*heights[i : i + 2])]
    roots = [
        float(math.exp(scipy.optimize.brentq(lambda u: gap(math.exp(u)), *np.log(grid[i : i + 2])))) for i in turns
    ]
    known = heights[np.isfinite(heights)]
    below = "second" if known.size and known[0] > 0 else "first"
    return Crossing(symbol, crossing_formula(first, second, symbol), tuple(roots), below)


def changes(left: float, right: float) -> bool:
    return (left < 0 <= right) or (left > 0 >= right)


def crossing_formula(first: sympy.Expr, second: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr | None:
    """The symbol at which a ratio C·symbol^k is 1."""
    ratio = sympy.powsimp(sympy.powdenest(first / second, force=True), force=True)
    power = power_of(ratio, symbol)
    if power is None or power == 0:
        return None
    return sympy.powdenest(ratio.subs(symbol, 1) ** (-1 / power), force=True)


def power_of(expr: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr | None:
    """k where expr = C·symbol^k with C free of the symbol; None where it is not of this kind."""
    if symbol not in expr.free_symbols:
        return sympy.Integer(0)
    factors = [f.as_base_exp() for f in sympy.Mul.make_args(expr) if symbol in f.free_symbols]
    if all(base == symbol and power.is_number for base, power in factors):
        return sum((power for _, power in factors), sympy.Integer(0))
    power = sympy.simplify(sympy.diff(expr, symbol) * symbol / expr)
    return power if power.is_number else None


def number_at(expr: sympy.Expr, values: Mapping[str, float]) -> float:
    """An expression at numbers by name; refuses a missing one."""
    return float(along(expr, None, values)(math.nan))


def along(expr: sympy.Expr, symbol: sympy.Symbol | None, values: Mapping[str, float]) -> Callable[[Any], Any]:
    """The expression as a function of one symbol (arrays too), the others fixed; refuses a missing one.

    Whatever is not a number there, an overflow or the root of a negative one, is nan.
    """
    names = sorted(expr.free_symbols, key=str)
    missing = [str(s) for s in names if s != symbol and str(s) not in values]
    if missing:
        meaning = "; ".join(f"{s} is the {TABLE[s].meaning}" for s in names if str(s) in missing and s in TABLE)
        raise InvalidInput("values", sorted(values), f"complete, with {missing}", f"{meaning or 'Give each a number'}.")
    call = lambdified(expr)

    def at(x: Any) -> Any:
        with np.errstate(all="ignore"):
            found = call(*(np.asarray(x if s == symbol else values[str(s)], float) for s in names))
        return np.broadcast_to(found, np.shape(x))[()]

    return at
