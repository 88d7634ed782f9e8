"""The steps that proofs are made of, each settled by itself: an identity or an inequality."""

from __future__ import annotations

import cmath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from dpcheck.bounds.language.claim import lambdified, pretty
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.bounds.relations.conditions import unreached
from dpcheck.bounds.relations.inequalities import Answer, Box, Where, counterexample, meets, never_exceeds


@dataclass(frozen=True)
class Same:
    """left = right for all values that meet `given`."""

    says: str
    left: sympy.Expr
    right: sympy.Expr
    given: Sequence[sympy.Basic] = ()

    def settle(self, seed: int) -> Answer:
        """Simplify the difference; if it stays, look for a point where it is not zero."""
        gap = sympy.simplify(self.left - self.right)
        if gap == 0:
            return Answer(True, "the difference simplifies to 0")
        point = counterexample(self.left, self.right, conditions=self.given, seed=seed)
        if point is None:  # an empty point is one: numbers that differ
            point = counterexample(self.right, self.left, conditions=self.given, seed=seed)
        if point is None:
            point = where_complex(self.left, self.right, self.given)
        if point is not None:
            return Answer(False, "the sides differ", point)
        positive = all(s.is_nonnegative for s in gap.free_symbols)  # else a root of x² is not x
        if positive and sympy.simplify(sympy.expand_log(sympy.powsimp(gap, force=True), force=True)) == 0:
            return Answer(True, "the difference simplifies to 0")
        return Answer(None, f"the difference {pretty(gap)} was not simplified")


@dataclass(frozen=True)
class Less:
    """left <= right on the values that `where` or `box` cover."""

    says: str
    left: sympy.Expr
    right: sympy.Expr
    where: Where = field(default_factory=dict)
    box: Box | None = None
    given: Sequence[sympy.Basic] = ()

    def settle(self, seed: int) -> Answer:
        missed = unreached(self.where, self.given, self.left, self.right)
        if missed:
            return Answer(None, missed)
        return never_exceeds(
            self.left,
            self.right,
            where=self.where,
            box=self.box,
            conditions=self.given,
            seed=seed,
            confirm=not self.where,
        )


ProofLine = Same | Less


def settle(steps: Sequence[ProofLine], seed: int) -> tuple[ProofLine, Answer] | None:
    """The first step that does not hold, with its answer; None if all hold."""
    for step in steps:
        answer = step.settle(seed)
        if not answer.holds:
            return step, answer
    return None


def where_complex(left: sympy.Expr, right: sympy.Expr, given: Sequence[sympy.Basic] = ()) -> dict[str, float] | None:
    """A point of the table's boxes, plain if possible, where the sides differ because one is not even real."""
    sides = (left, right)
    names = sorted(set().union(*(e.free_symbols for e in (*sides, *given))), key=str)
    boxes = np.array([TABLE[s].box if s in TABLE else (1e-3, 1e3) for s in names]).reshape(-1, 2)
    low, high = np.log(boxes).T
    points = np.exp(low + np.random.default_rng(0).random((200, len(names))) * (high - low))
    points[0] = np.where(boxes[:, 1] >= 1, np.maximum(1.0, boxes[:, 0]), 0.1)
    points[:, [bool(s.is_integer) for s in names]] //= 1
    with np.errstate(all="ignore"):
        real = [np.isfinite(lambdified(e)(*points[:, [names.index(s) for s in free(e)]].T)) for e in sides]
    for row in points[~np.logical_and.reduce(np.broadcast_arrays(*real, np.ones(200, bool)))]:
        point = {str(s): float(f"{x:.2g}") for s, x in zip(names, row, strict=True)}
        if not all(meets(c, named(point, c)) for c in given):
            continue
        a, b = (at(e, point) for e in sides)
        if a.is_finite and b.is_finite and not (a.is_real and b.is_real) and abs(a - b) > 1e-9 * (abs(a) + abs(b)):
            return point
    return None


def free(expr: sympy.Expr) -> list[sympy.Symbol]:
    """Its symbols, in the order that `lambdified` takes them."""
    return sorted(expr.free_symbols, key=str)


def named(point: Mapping[str, Any], *exprs: sympy.Expr) -> dict[sympy.Symbol, float]:
    """The point keyed by the expressions' own symbols."""
    symbols = {str(s): s for e in exprs for s in e.free_symbols}
    missing = sorted(set(symbols) - set(point))
    if missing:
        raise InvalidInput("point", sorted(point), f"complete, with {missing}", "Give NAME=VALUE for each.")
    return {s: float(point[name]) for name, s in symbols.items()}


def at(expr: sympy.Expr, point: Mapping[str, Any]) -> sympy.Expr:
    """Thirty digits of an expression at a point."""
    return sympy.N(expr.subs({s: sympy.Rational(repr(x)) for s, x in named(point, expr).items()}), 30)


def digits(value: Any) -> str:
    """Four digits, for people; the power of ten alone where floats end."""
    number = complex(value)
    if cmath.isinf(number) and getattr(value, "is_finite", False):
        return f"10^{int(sympy.log(value, 10).evalf())}"
    return f"{number.real:.4g}" if number.imag == 0 else f"{number:.4g}"


def box_text(box: Box | None) -> str:
    """The box, in words."""
    return "" if box is None else " on " + ", ".join(f"{pretty(s)} in [{a:g}, {b:g}]" for s, (a, b) in box.items())
