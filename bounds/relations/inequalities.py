"""Deciding that one expression never exceeds another: by signs, by intervals, or by a counterexample.

Each way is sound by itself: coefficients of one sign, branch-and-bound with outward rounding, or a point
confirmed with fifty digits. What none of them decides is named: the box that is left over.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import scipy  # its parts are imported on first use
import sympy
from mpmath import iv

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.formulas import lambdified
from dpcheck.bounds.language.symbols import TABLE

Box = Mapping[sympy.Symbol, tuple[float, float]]
Where = Mapping[sympy.Symbol, sympy.Expr]


@dataclass(frozen=True)
class Answer:
    """True with how, False with a point, or None with what is left open: `left` is the box not decided."""

    holds: bool | None
    how: str
    point: Mapping[str, float] | None = None
    left: Box | None = None


def never_exceeds(
    left: sympy.Expr,
    right: sympy.Expr,
    *,
    where: Where | None = None,
    box: Box | None = None,
    conditions: Sequence[sympy.Basic] = (),
    seed: int = 0,
    confirm: bool = True,
) -> Answer:
    """Whether left <= right for all values of the (positive) symbols that meet `conditions`.

    `where` rewrites symbols in fresh non-negative ones so that exactly the allowed values are covered
    (eta = 1 / (beta (1 + v)) for eta <= 1/beta). `box` bounds the symbols for interval arithmetic.
    """
    point = counterexample(left, right, conditions=conditions, box=box, seed=seed) if confirm else None
    if point is not None:
        return Answer(False, "counterexample confirmed with 50 digits", point)
    if signs_agree(right - left, where or {}):
        return Answer(True, "all coefficients have one sign")
    if box is not None:
        return branch_and_bound(right - left, box, conditions)
    return Answer(None, "no counterexample found, and the sign of the difference is not evident")


def signs_agree(gap: sympy.Expr, where: Where) -> bool:
    """Whether gap >= 0 because, over a common denominator, no coefficient is negative."""
    gap = sympy.together(sympy.expand(gap.subs(dict(where), simultaneous=True)))
    if gap.is_number:
        return bool(sympy.N(gap, 60) >= 0) and (gap == 0 or abs(sympy.N(gap, 60)) > sympy.Float("1e-40"))
    top, bottom = sympy.fraction(sympy.cancel(gap))
    return _no_negative_term(top * bottom) or (_no_negative_term(top) and _no_negative_term(bottom))


def _no_negative_term(expr: sympy.Expr) -> bool:
    """One sign over all monomials of non-negative symbols (other factors, like exp, are asked for their sign)."""
    expr = sympy.expand(expr)
    try:
        coefficients = sympy.Poly(expr, *sorted(expr.free_symbols, key=str)).coeffs()
    except (sympy.PolynomialError, sympy.GeneratorsNeeded):
        coefficients = _like_terms(expr)
    symbols_fit = all(s.is_nonnegative for s in expr.free_symbols)
    return symbols_fit and all(c.is_nonnegative or (c.is_number and sympy.N(c, 60) > 0) for c in coefficients)


def _like_terms(expr: sympy.Expr) -> list[sympy.Expr]:
    """Its terms, those that differ by a number only put together: 2 sqrt(log d) - sqrt(2) sqrt(log d) is one."""
    found: dict[sympy.Expr, sympy.Expr] = {}
    symbols = expr.free_symbols  # asked once: of a sum of thousands of terms it takes longer than all the rest
    for term in sympy.Add.make_args(expr):
        number, rest = term.as_independent(*symbols, as_Add=False)
        found[rest] = found.get(rest, sympy.S.Zero) + number
    return [number * rest for rest, number in found.items()]


# Intervals -----------------------------------------------------------------------------------------
def enclose(expr: sympy.Expr, box: Mapping[sympy.Symbol, Any]) -> Any:
    """Interval enclosure of an expression, outward rounded (rationals stay exact)."""
    if expr.is_Symbol:
        return box[expr]
    if expr.is_Rational or expr.is_Float:
        exact = sympy.Rational(expr)
        return iv.mpf(int(exact.p)) / iv.mpf(int(exact.q))
    if expr is sympy.E or expr is sympy.pi:
        return iv.e if expr is sympy.E else iv.pi
    args = [enclose(a, box) for a in expr.args]
    if isinstance(expr, sympy.Add):
        return sum(args, iv.mpf(0))
    if isinstance(expr, sympy.Mul):
        return math.prod(args, start=iv.mpf(1))
    if isinstance(expr, sympy.exp):
        return iv.exp(args[0])
    if isinstance(expr, sympy.log):
        return iv.log(args[0])
    if isinstance(expr, sympy.Pow):
        return _power(expr, args)
    if isinstance(expr, sympy.Min | sympy.Max):
        pick = min if isinstance(expr, sympy.Min) else max
        return iv.mpf([pick(a.a for a in args), pick(a.b for a in args)])
    if isinstance(expr, sympy.Abs):
        return abs(args[0])
    limit = "built from + * ^ exp log Min Max Abs"
    raise InvalidInput("expression", str(expr), limit, "Rewrite it for interval arithmetic.")


def _power(expr: sympy.Pow, args: list[Any]) -> Any:
    base, exponent = expr.args
    if base is sympy.E:
        return iv.exp(args[1])
    if exponent.is_Integer:
        return args[0] ** int(exponent)
    if exponent == sympy.Rational(1, 2):
        return iv.sqrt(args[0])
    return iv.exp(args[1] * iv.log(args[0]))


Cell = tuple[tuple[float, float], ...]


def branch_and_bound(gap: sympy.Expr, box: Box, conditions: Sequence[sympy.Basic] = (), limit: int = 20_000) -> Answer:
    """Whether gap >= 0 wherever the conditions hold on the box; cells are split along their widest side.

    Widest cells first: what is left at the limit is then the smallest box around the undecided ones. A condition
    on symbols that the box does not bound cuts no cell, and then no point is offered as a counterexample.
    """
    known = [c for c in conditions if c.free_symbols <= box.keys()]
    names = sorted(gap.free_symbols.union(*(c.free_symbols for c in known)), key=str)
    missing = [s for s in names if s not in box]
    if missing:
        raise InvalidInput("box", missing, "given for every symbol", "Add their ranges.")
    start = tuple((float(box[s][0]), float(box[s][1])) for s in names)
    open_cells: deque[Cell] = deque([start])
    value, order = lambdified(gap), sorted(gap.free_symbols, key=str)

    def negative(point: Mapping[sympy.Symbol, float]) -> bool:
        with np.errstate(all="ignore"):
            return bool(value(*(point[s] for s in order)) < 0)

    for used in range(limit):
        if not open_cells:
            return Answer(True, f"interval branch-and-bound, {used} cells")
        cell = open_cells.popleft()
        held = {s: iv.mpf(list(side)) for s, side in zip(names, cell, strict=True)}
        if _ends(gap, held)[0] >= 0 or any(_never(c, held) for c in known):
            continue  # proved here, or outside the conditions
        point = _middle(cell, names)
        inside = len(known) == len(conditions) and all(box[s][0] <= x <= box[s][1] for s, x in point.items())
        if inside and negative(point) and clearly_negative(gap, point) and all(meets(c, point) for c in conditions):
            found = {str(s): x for s, x in point.items()}
            return Answer(False, f"counterexample confirmed with 50 digits, in cell {used + 1}", found)
        open_cells.extend(_halves(cell))
    if not open_cells:
        return Answer(True, f"interval branch-and-bound, {limit} cells")
    left = _hull(names, open_cells)
    share = sum(_volume(c) for c in open_cells) / (_volume(start) or 1.0)
    return Answer(None, f"undecided after {limit} cells: {share:.2g} of the box, within {shown(left)}", left=left)


def shown(box: Box) -> str:
    """A box in words."""
    return ", ".join(f"{s} in [{a:.4g}, {b:.4g}]" for s, (a, b) in box.items())


def _ends(expr: sympy.Expr, cell: Mapping[sympy.Symbol, Any]) -> tuple[float, float]:
    """Ends of the enclosure; all reals where a log or a root may leave them."""
    try:
        found = enclose(expr, cell)
        return float(mpmath.mpf(found.a)), float(mpmath.mpf(found.b))
    except mpmath.libmp.ComplexResult:
        return -math.inf, math.inf


def _never(condition: sympy.Basic, cell: Mapping[sympy.Symbol, Any]) -> bool:
    """Whether the condition fails on the whole cell; False if that cannot be told."""
    if isinstance(condition, sympy.Eq):
        low, high = _ends(condition.lhs - condition.rhs, cell)
        return low > 0 or high < 0
    if isinstance(condition, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt):
        return _ends(condition.gts - condition.lts, cell)[1] < 0
    return False


def _middle(cell: Cell, names: Sequence[sympy.Symbol]) -> dict[sympy.Symbol, float]:
    """The cell's middle, at a whole number where the symbol is one."""
    point = {s: _between(*side) for s, side in zip(names, cell, strict=True)}
    return {s: float(max(1, round(x))) if s.is_integer else x for s, x in point.items()}


def clearly_negative(gap: sympy.Expr, point: Mapping[sympy.Symbol, float]) -> bool:
    """Whether gap < 0 at the point, with fifty digits and by 1e-9 of its terms."""
    exact = {s: sympy.Rational(repr(x)) for s, x in point.items()}
    terms = [sympy.N(term.subs(exact), 50) for term in sympy.Add.make_args(gap)]
    if not all(term.is_real and term.is_finite for term in terms):
        return False
    return bool(sum(terms) < -sympy.Float("1e-9") * sum(abs(term) for term in terms))


def meets(condition: sympy.Basic, point: Mapping[sympy.Symbol, float]) -> bool:
    """Whether the condition holds at the point, exactly (equations to 1e-9)."""
    exact = {s: sympy.Rational(repr(float(x))) for s, x in point.items()}
    if isinstance(condition, sympy.Eq):
        left, right = (sympy.N(e.subs(exact), 50) for e in condition.args)
        return bool(abs(left - right) <= (abs(left) + abs(right)) * sympy.Float("1e-9"))
    return condition.subs(exact) == sympy.true


def _halves(cell: Cell) -> list[Cell]:
    widths = [math.log(hi / lo) if lo > 0 else (hi - lo) / (abs(hi) + abs(lo) + 1e-12) for lo, hi in cell]
    widest = int(np.argmax(widths))
    lo, hi = cell[widest]
    cut = _between(lo, hi)
    return [(*cell[:widest], half, *cell[widest + 1 :]) for half in ((lo, cut), (cut, hi))]


def _between(low: float, high: float) -> float:
    """The middle: of the logarithms where the side spans scales."""
    return math.sqrt(low * high) if low > 0 and high > 4 * low else (low + high) / 2


def _hull(names: Sequence[sympy.Symbol], cells: Iterable[Cell]) -> Box:
    ends = np.array(list(cells))
    return {s: (float(ends[:, i, 0].min()), float(ends[:, i, 1].max())) for i, s in enumerate(names)}


def _volume(cell: Cell) -> float:
    return math.prod(hi - lo for lo, hi in cell if hi > lo)


# Counterexamples -----------------------------------------------------------------------------------
def counterexample(
    left: sympy.Expr,
    right: sympy.Expr,
    *,
    conditions: Sequence[sympy.Basic] = (),
    box: Box | None = None,
    seed: int = 0,
    samples: int = 20_000,
) -> dict[str, float] | None:
    """A point with left > right, the roundest found and confirmed with 50 digits; None if the search fails."""
    if not left.free_symbols | right.free_symbols:
        return {} if bool(sympy.N(left - right, 50) > 0) else None
    fixed = equations(conditions)
    if fixed:
        return _on_equations(left, right, conditions, fixed, box, seed, samples)
    names = sorted(set().union(*(e.free_symbols for e in (left, right, *conditions))), key=str)
    bounds = _search_box(names, box)
    rng = np.random.default_rng(seed)
    unit = rng.random((samples, len(names)))
    unit[: samples // 4] = np.round(unit[: samples // 4])  # corners first: slips show at extremes
    logs = bounds[:, 0] + unit * (bounds[:, 1] - bounds[:, 0])
    margin = _margin(left, right, names, conditions)
    values = margin(_points(logs, names))
    best = int(np.argmax(values))
    if values[best] <= 0 and np.isfinite(values[best]):
        search = scipy.optimize.minimize(
            lambda x: -margin(_points(np.clip(x, bounds[:, 0], bounds[:, 1])[None], names))[0],
            logs[best],
            method="Nelder-Mead",
        )
        logs[best] = np.clip(search.x, bounds[:, 0], bounds[:, 1])
    point = _points(logs[best][None], names)[0]
    return _roundest(left, right, names, conditions, point, np.exp(bounds))


def equations(conditions: Sequence[sympy.Basic]) -> dict[sympy.Symbol, sympy.Expr]:
    """What equations among the conditions say of a symbol: eta = 1/beta, or eps <= 1 and eps >= 1.

    Random points would never meet them.
    """
    fixed: dict[sympy.Symbol, sympy.Expr] = {}
    at_most = {(c.lts, c.gts) for c in conditions if isinstance(c, sympy.Le | sympy.Ge)}
    for condition in conditions:
        both_ways = isinstance(condition, sympy.Le | sympy.Ge) and (condition.gts, condition.lts) in at_most
        if isinstance(condition, sympy.Eq) or both_ways:
            left, right = (side.subs(fixed) for side in condition.args)
            for symbol, value in ((left, right), (right, left)):
                if symbol.is_Symbol and not value.has(symbol):
                    fixed = {s: e.subs(symbol, value) for s, e in fixed.items()} | {symbol: value}
                    break
    return fixed


def _on_equations(
    left: sympy.Expr,
    right: sympy.Expr,
    conditions: Sequence[sympy.Basic],
    fixed: Mapping[sympy.Symbol, sympy.Expr],
    box: Box | None,
    seed: int,
    samples: int,
) -> dict[str, float] | None:
    """A counterexample where some symbols are given by the others."""
    rest = [c.subs(fixed) for c in conditions]
    if sympy.false in rest:
        return None
    kept = [c for c in rest if c != sympy.true]
    sides = [e.subs(fixed) for e in (left, right)]
    point = counterexample(*sides, conditions=kept, box=box, seed=seed, samples=samples)
    if point is None:
        return None
    default = {str(s): 1.0 for e in fixed.values() for s in e.free_symbols}  # in neither side: any value will do
    full = default | point
    values = {s: e.subs({t: sympy.Rational(repr(full[str(t)])) for t in e.free_symbols}) for s, e in fixed.items()}
    return full | {str(s): float(value) for s, value in values.items()}


def _search_box(names: Sequence[sympy.Symbol], box: Box | None) -> np.ndarray:
    """Log-ranges; a symbol outside the table (a fresh one) searches [1e-3, 1e3]."""
    default = {s: TABLE[s].box if s in TABLE else (1e-3, 1e3) for s in names}
    sides = [(box or {}).get(s, default[s]) for s in names]
    return np.log([[max(lo, 1e-300), hi] for lo, hi in sides])


def _points(logs: np.ndarray, names: Sequence[sympy.Symbol]) -> np.ndarray:
    points = np.exp(logs)
    whole = [bool(s.is_integer) for s in names]
    points[:, whole] = np.maximum(1.0, np.round(points[:, whole]))
    return points


def _margin(left: Any, right: Any, names: Sequence[sympy.Symbol], conditions: Sequence[sympy.Basic]) -> Any:
    """Vectorised relative excess of left over right; -inf where a condition fails."""
    sides = [(sorted(e.free_symbols, key=str), lambdified(e)) for e in (left, right)]
    tests = [(sorted(c.free_symbols, key=str), sympy.lambdify(sorted(c.free_symbols, key=str), c)) for c in conditions]

    def margin(points: np.ndarray) -> np.ndarray:
        column = dict(zip(names, points.T, strict=True))
        with np.errstate(all="ignore"):
            low, high = (np.broadcast_to(f(*(column[s] for s in free)), len(points)) for free, f in sides)
            excess = (low - high) / (np.abs(low) + np.abs(high) + 1e-300) - 1e-9
            for free, test in tests:
                excess = np.where(test(*(column[s] for s in free)), excess, -np.inf)
        return np.where(np.isnan(excess), -np.inf, excess)

    return margin


PLAIN = (1.0, 2.0, 10.0, 0.1, 5.0, 100.0, 0.5, 0.01, 1000.0, 1e-3, 1e4, 1e-5, 1e5, 1e6)


def _roundest(
    left: sympy.Expr,
    right: sympy.Expr,
    names: Sequence[sympy.Symbol],
    conditions: Sequence[sympy.Basic],
    point: np.ndarray,
    sides: np.ndarray,
) -> dict[str, float] | None:
    """The point in as plain numbers as still violate inside the box: few digits, then well-known values."""
    margin = _margin(left, right, names, conditions)

    def violates(candidate: np.ndarray, by: float) -> bool:
        inside = np.all((candidate >= sides[:, 0] * (1 - 1e-9)) & (candidate <= sides[:, 1] * (1 + 1e-9)))
        return bool(inside) and margin(candidate[None])[0] > by

    for digits in (1, 2, 3, 17):
        rounded = np.array([float(f"{x:.{digits - 1}e}") for x in point])
        if not violates(rounded, 0.0):
            continue
        for i in range(len(rounded)):
            for plain in PLAIN:
                trial = rounded.copy()
                trial[i] = plain
                if violates(trial, 0.05):
                    rounded = trial
                    break
        found = dict(zip(names, rounded.tolist(), strict=True))
        if exceeds(left, right, found) and all(meets(c, found) for c in conditions):
            return {str(s): float(x) for s, x in found.items()}
    return None


def exceeds(left: sympy.Expr, right: sympy.Expr, point: Mapping[sympy.Symbol, float]) -> bool:
    """Whether left > right at the point, with fifty digits and a relative margin of 1e-9."""
    exact = {s: sympy.Rational(repr(float(x))) for s, x in point.items()}
    low, high = (sympy.N(e.subs(exact), 50) for e in (left, right))
    if not (low.is_real and high.is_real):
        return bool(low.is_finite and high.is_finite)
    return bool(low - high > (abs(low) + abs(high)) * sympy.Float("1e-9"))
