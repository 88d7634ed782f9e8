"""Certificates over a whole box: cells whose worst case keeps the claim, split until all are decided.

A bound that is monotone in each of its arguments needs only their ends on a cell, which intervals enclose.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
import sympy

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.exact import UNIT

Array = np.ndarray
LEAST, LARGEST = 1e-300, 1e300  # stand for what a double cannot hold
Range = tuple[Array, Array]
Corner = Mapping[str, Array]


@dataclass(frozen=True)
class CellCertificate:
    """Whether a claim holds on a whole box. `left` is the share of its (log-)volume that is undecided."""

    certified: bool
    cells: int
    left: float = 0.0
    undecided_cell: dict[str, tuple[float, float]] | None = None


def certify_cells(
    violation_upper: Callable[[Corner, Corner], Array],
    box: Mapping[str, tuple[float, float]],
    whole: Collection[str] = (),
    log: bool = True,
    limit: int = 500_000,
    guide: Callable[[Corner, Corner], Array] | None = None,
    shrink: Callable[[Corner, Corner], tuple[Corner, Corner]] | None = None,
) -> CellCertificate:
    """Cover a box with cells until each is certified or `limit` cells were tried.

    `violation_upper(low, high)` bounds the violation on each cell from above (<= 0: the claim holds there); it takes
    arrays by name. Names in `whole` stand for whole numbers: their cells shrink to those inside. `guide`, cheaper and
    of the same shape, chooses the sides along which cells are halved; `shrink` cuts off what is outside hypotheses.

    >>> def upper(low, high): return high["x"] ** 2 - low["x"] - 2
    >>> found = certify_cells(upper, {"x": (1, 1.9)})
    >>> found.certified, found.left
    (True, 0.0)
    """
    names = list(box)
    outer = np.array([box[name] for name in names], float)
    _must_be_box(box, outer, log)
    cells = np.log(outer)[None] if log else outer[None]  # (cell, name, end)
    share, tried = np.ones(1), 0
    is_whole = np.array([name in whole for name in names])

    def ends(at: Array) -> tuple[Array, Array]:
        low, high = at[:, :, 0], at[:, :, 1]
        if log:
            room = 64 * UNIT  # neighbours overlap
            low, high = (np.clip(np.exp(side), outer[:, 0], outer[:, 1]) for side in (low, high))
            low, high = low * (1 - room), high * (1 + room)
        low = np.where(is_whole, np.ceil(low - 1e-9 * low), low)
        return low, np.where(is_whole, np.floor(high + 1e-9 * high), high)

    def called(function: Callable[[Corner, Corner], Array], low: Array, high: Array) -> Array:
        found = np.asarray(function(dict(zip(names, low.T, strict=True)), dict(zip(names, high.T, strict=True))))
        return np.where(np.isnan(found), np.inf, found)

    def guided(low: Array, high: Array) -> Array:
        return called(guide or violation_upper, low, high)

    while len(cells):
        tried += len(cells)
        low, high = ends(cells)
        if shrink is not None:
            inner = shrink(dict(zip(names, low.T, strict=True)), dict(zip(names, high.T, strict=True)))
            low, high = (np.array([side[name] for name in names]).T for side in inner)
            smaller = np.log(np.stack([low, np.maximum(high, low)], axis=2)) if log else np.stack([low, high], axis=2)
            share = share * _volume(smaller) / np.maximum(_volume(cells), 1e-300)
            cells = smaller
        violation = np.where(np.any(low > high, axis=1), -1.0, 0.0)  # no whole number inside
        some = violation == 0
        violation[some] = called(violation_upper, low[some], high[some])
        open_ = violation > 0
        cells, share, low, high = cells[open_], share[open_], low[open_], high[open_]
        if len(cells) == 0:
            break
        stuck = np.all(high <= low * (1 + 1e-12) if log else high <= low, axis=1)
        if tried + 2 * len(cells) > limit or np.any(stuck):
            worst = int(np.argmax(stuck)) if np.any(stuck) else int(np.argmax(violation[open_]))
            shown = {k: (float(a), float(b)) for k, a, b in zip(names, low[worst], high[worst], strict=True)}
            return CellCertificate(False, tried, float(share.sum()), shown)
        along = _best_side(guided, cells, low, high, log)
        cells, share = _halved(cells, along), np.concatenate([share, share]) / 2
    return CellCertificate(True, tried)


def _volume(cells: Array) -> Array:
    """Product of the widths, each at least a thousandth so that sides of one value do not hide the others."""
    return np.prod(np.maximum(cells[:, :, 1] - cells[:, :, 0], 1e-3), axis=1)


def _best_side(bound: Callable[[Array, Array], Array], cells: Array, low: Array, high: Array, log: bool) -> Array:
    """The side of each cell whose width costs most: at its middle the bound would be least."""
    width = cells[:, :, 1] - cells[:, :, 0]
    if cells.shape[1] == 1:
        return np.zeros(len(cells), int)
    middle = np.sqrt(low * high) if log else (low + high) / 2
    gains = []
    for i in range(cells.shape[1]):
        thin_low, thin_high = low.copy(), high.copy()
        thin_low[:, i] = thin_high[:, i] = middle[:, i]
        gains.append(np.where(high[:, i] > low[:, i], bound(thin_low, thin_high), np.inf))
    gain = np.array(gains).T
    # Where nothing helps yet, halve the widest side.
    helpless = ~np.isfinite(gain).any(axis=1) | (np.ptp(np.where(np.isfinite(gain), gain, 1e300), axis=1) == 0)
    widest = np.argmax(np.where(high > low, width, -1.0), axis=1)
    return np.where(helpless, widest, np.argmin(gain, axis=1))


def _halved(cells: Array, along: Array) -> Array:
    left, right = cells.copy(), cells.copy()
    rows = np.arange(len(cells))
    middle = cells[rows, along].mean(axis=1)
    left[rows, along, 1] = right[rows, along, 0] = middle
    return np.concatenate([left, right])


def _must_be_box(box: Mapping[str, tuple[float, float]], outer: Array, log: bool) -> None:
    good = np.all(np.isfinite(outer)) and np.all(outer[:, 0] <= outer[:, 1])
    if not good or (log and np.any(outer <= 0)):
        limit = "finite (low, high) pairs" + (" of positive numbers" if log else "")
        raise InvalidInput("box", dict(box), limit, "Order the ends, or pass log=False.")


# Intervals ---------------------------------------------------------------------------------------------


KnownRanges = dict[sympy.Expr, Range]  # of expressions met before in the same cells


def range_of(expr: sympy.Expr, box: Mapping[str, Range], known: KnownRanges | None = None) -> Range:
    """Ends that enclose an expression on each cell (natural interval extension, rounded outwards).

    >>> x = sympy.Symbol("x")
    >>> low, high = range_of(1 / x + x, {"x": (np.array([1.0]), np.array([2.0]))})
    >>> bool(1.499 < low[0] <= 1.5 and 3 <= high[0] < 3.001)
    True
    """
    if expr.is_Symbol:
        return box[str(expr)]
    known = {} if known is None else known
    if expr not in known:
        if expr.is_number:
            return _number(expr)
        parts = [range_of(a, box, known) for a in expr.args]
        with np.errstate(all="ignore"):
            known[expr] = _outwards(*_combined(expr, parts))
    return known[expr]


@lru_cache(maxsize=4096)
def _number(expr: sympy.Expr) -> Range:
    value = np.asarray(float(expr))
    return _outwards(value, value)


def _combined(expr: sympy.Expr, parts: Sequence[Range]) -> Range:
    if isinstance(expr, sympy.Add):
        return reduce(np.add, (p[0] for p in parts)), reduce(np.add, (p[1] for p in parts))
    if isinstance(expr, sympy.Mul):
        return reduce(_product, parts)
    if isinstance(expr, sympy.Min):
        return reduce(np.minimum, (p[0] for p in parts)), reduce(np.minimum, (p[1] for p in parts))
    if isinstance(expr, sympy.Max):
        return reduce(np.maximum, (p[0] for p in parts)), reduce(np.maximum, (p[1] for p in parts))
    if isinstance(expr, sympy.exp):
        return np.exp(parts[0][0]), np.exp(parts[0][1])
    if isinstance(expr, sympy.log):
        return _log(parts[0])
    if isinstance(expr, sympy.ceiling):
        return np.ceil(parts[0][0]), np.ceil(parts[0][1])
    if isinstance(expr, sympy.Pow):
        return _power(expr, parts)
    raise InvalidInput("expression", str(expr), "built from + * ^ exp log Min Max ceiling", "Rewrite it.")


def _product(one: Range, other: Range) -> Range:
    corners = [np.asarray(a * b) for a in one for b in other]
    low, high = reduce(np.minimum, corners), reduce(np.maximum, corners)
    if np.isnan(low).any():  # 0 times infinity
        corners = [np.where(np.isnan(c), 0.0, c) for c in corners]
        return reduce(np.minimum, corners), reduce(np.maximum, corners)
    return low, high


def _log(inner: Range) -> Range:
    low, high = (np.where(end > 0, np.log(np.maximum(end, 1e-320)), -np.inf) for end in inner)
    return low, high


def _power(expr: sympy.Pow, parts: Sequence[Range]) -> Range:
    base, exponent = expr.args
    if base is sympy.E:
        return np.exp(parts[1][0]), np.exp(parts[1][1])
    if exponent.is_number:
        power = float(exponent)
        low, high = parts[0]
        if power == int(power) and int(power) % 2 == 0 and np.any(low < 0):
            size = np.maximum(np.abs(low), np.abs(high))
            low, high = np.where((low < 0) & (high > 0), 0.0, np.minimum(np.abs(low), np.abs(high))), size
        low = low if power == int(power) else np.maximum(low, 0.0)
        ends = [np.asarray(low, float) ** power, np.asarray(high, float) ** power]
        if power > 0:
            return ends[0], ends[1]
        pole = (low < 0) & (high > 0)
        return np.where(pole, -np.inf, ends[1]), np.where(pole, np.inf, ends[0])
    logs = _product(_log(parts[0]), parts[1])
    return np.exp(logs[0]), np.exp(logs[1])


def _outwards(low: Array, high: Array) -> Range:
    """Moved apart by a few roundings; what is not a number bounds nothing.

    A lower end that overflowed is still above the largest double, and an upper end that underflowed above 0.
    """
    low, high = (np.asarray(end, float) for end in (low, high))
    low, high = low - 8 * UNIT * np.abs(low), high + 8 * UNIT * np.abs(high)
    if low.all() and high.all() and np.isfinite(low).all() and np.isfinite(high).all():
        return low, high  # nearly always: no zero, no infinity
    low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    low = np.where((low == 0) & np.signbit(low), -LEAST, np.minimum(low, LARGEST))
    return low, np.where((high == 0) & ~np.signbit(high), LEAST, np.maximum(high, -LARGEST))


def never_holds(condition: sympy.Basic, box: Mapping[str, Range], known: KnownRanges | None = None) -> Array:
    """Where a hypothesis fails on a whole cell. What cannot be told counts as held."""
    shape = np.broadcast_shapes(*(side.shape for ends in box.values() for side in ends))
    if not isinstance(condition, sympy.core.relational.Relational) or isinstance(condition, sympy.Ne):
        return np.zeros(shape, bool)
    sides = (condition.lhs, condition.rhs) if isinstance(condition, sympy.Eq) else (condition.lts, condition.gts)
    left, right = (range_of(side, box, known) for side in sides)
    apart = left[0] > right[1]
    if isinstance(condition, sympy.Eq):
        apart = apart | (left[1] < right[0])
    return np.broadcast_to(apart, shape)
