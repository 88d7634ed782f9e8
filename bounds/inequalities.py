"""Deciding that one expression never exceeds another: by signs, by intervals, or by a counterexample.

Each way is sound by itself: coefficients of one sign, branch-and-bound with outward rounding, or a point
confirmed with fifty digits.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import sympy
from mpmath import iv
from scipy import optimize

from bounds.claim import lambdified
from bounds.errors import InvalidInput
from bounds.symbols import TABLE

Box = Mapping[sympy.Symbol, tuple[float, float]]
Where = Mapping[sympy.Symbol, sympy.Expr]


@dataclass(frozen=True)
class Answer:
    """True with how, False with a point, or None with what is left open."""

    holds: bool | None
    how: str
    point: Mapping[str, float] | None = None


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
        return branch_and_bound(right - left, box)
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
        coefficients = sympy.Add.make_args(expr)
    symbols_fit = all(s.is_nonnegative for s in expr.free_symbols)
    return symbols_fit and all(c.is_nonnegative or (c.is_number and sympy.N(c, 60) > 0) for c in coefficients)


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
    raise InvalidInput("expression", str(expr), "built from + * ^ exp log", "Rewrite it for interval arithmetic.")


def _power(expr: sympy.Pow, args: list[Any]) -> Any:
    base, exponent = expr.args
    if base is sympy.E:
        return iv.exp(args[1])
    if exponent.is_Integer:
        return args[0] ** int(exponent)
    if exponent == sympy.Rational(1, 2):
        return iv.sqrt(args[0])
    return iv.exp(args[1] * iv.log(args[0]))


def branch_and_bound(gap: sympy.Expr, box: Box, limit: int = 20_000) -> Answer:
    """Whether gap >= 0 on the box; cells are split along their widest side until decided."""
    names = sorted(gap.free_symbols, key=str)
    missing = [s for s in names if s not in box]
    if missing:
        raise InvalidInput("box", missing, "given for every symbol", "Add their ranges.")
    start = tuple((float(box[s][0]), float(box[s][1])) for s in names)
    heap: list[tuple[float, int, tuple[tuple[float, float], ...]]] = [(0.0, 0, start)]
    for used, tie in zip(range(limit), itertools.count(1), strict=False):
        if not heap:
            return Answer(True, f"interval branch-and-bound, {used} cells")
        _, _, cell = heapq.heappop(heap)
        lowest = _lowest(gap, {s: iv.mpf(list(side)) for s, side in zip(names, cell, strict=True)})
        if lowest >= 0:
            continue
        widths = [(hi - lo) / (abs(hi) + abs(lo) + 1e-12) for lo, hi in cell]
        widest = int(np.argmax(widths))
        lo, hi = cell[widest]
        for side in ((lo, (lo + hi) / 2), ((lo + hi) / 2, hi)):
            child = (*cell[:widest], side, *cell[widest + 1 :])
            heapq.heappush(heap, (lowest, 2 * tie + (side[0] != lo), child))
    if not heap:
        return Answer(True, f"interval branch-and-bound, {limit} cells")
    left = ", ".join(f"{s} in [{a:.4g}, {b:.4g}]" for s, (a, b) in zip(names, heap[0][2], strict=True))
    return Answer(None, f"undecided after {limit} cells, e.g. {left}")


def _lowest(gap: sympy.Expr, cell: Mapping[sympy.Symbol, Any]) -> float:
    """Lower end of the enclosure; -inf where a log or a root may leave the reals."""
    try:
        return float(mpmath.mpf(enclose(gap, cell).a))
    except mpmath.libmp.ComplexResult:
        return -math.inf


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
    names = sorted(set().union(*(e.free_symbols for e in (left, right, *conditions))), key=str)
    if not left.free_symbols | right.free_symbols:
        return {} if bool(sympy.N(left - right, 50) > 0) else None
    bounds = _search_box(names, box)
    rng = np.random.default_rng(seed)
    unit = rng.random((samples, len(names)))
    unit[: samples // 4] = np.round(unit[: samples // 4])  # corners first: slips show at extremes
    logs = bounds[:, 0] + unit * (bounds[:, 1] - bounds[:, 0])
    margin = _margin(left, right, names, conditions)
    values = margin(_points(logs, names))
    best = int(np.argmax(values))
    if values[best] <= 0 and np.isfinite(values[best]):
        search = optimize.minimize(
            lambda x: -margin(_points(np.clip(x, bounds[:, 0], bounds[:, 1])[None], names))[0],
            logs[best],
            method="Nelder-Mead",
        )
        logs[best] = np.clip(search.x, bounds[:, 0], bounds[:, 1])
    point = _points(logs[best][None], names)[0]
    return _roundest(left, right, names, conditions, point, np.exp(bounds))


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
        if exceeds(left, right, dict(zip(names, rounded.tolist(), strict=True))):
            return {str(s): float(x) for s, x in zip(names, rounded, strict=True)}
    return None


def exceeds(left: sympy.Expr, right: sympy.Expr, point: Mapping[sympy.Symbol, float]) -> bool:
    """Whether left > right at the point, with fifty digits and a relative margin of 1e-9."""
    exact = {s: sympy.Rational(repr(float(x))) for s, x in point.items()}
    low, high = (sympy.N(e.subs(exact), 50) for e in (left, right))
    if not (low.is_real and high.is_real):
        return bool(low.is_finite and high.is_finite)
    return bool(low - high > (abs(low) + abs(high)) * sympy.Float("1e-9"))
