"""One link of a chain, and algebra under the claim's hypotheses: an identity or an inequality, checked by machine.

A reason takes a link from what stands before it to what stands after it, and says what it has not checked itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import sympy

from dpcheck.bounds.language.claim import Claim, lambdified
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.proving.implications import beyond, relations
from dpcheck.bounds.proving.steps import Same, box_text
from dpcheck.bounds.relations.conditions import STRICTLY, covers, full_covers, never_negative_at_ends, unreached
from dpcheck.bounds.relations.inequalities import (
    Answer,
    Box,
    Where,
    branch_and_bound,
    counterexample,
    equations,
    signs_agree,
)

UP, DOWN = ("=", "<=", "<"), ("=", ">=", ">")
STRICT = ("<", ">")
TRIED, FEW = 12, 3  # substitutions per link; those after which ratios and powers are tried too
MOST_ROOT = 6


@dataclass(frozen=True)
class Link:
    """What is to be settled: `before` `relation` `after`, under the claim's hypotheses. No `after`: what follows."""

    before: sympy.Expr
    relation: str
    after: sympy.Expr | None
    claim: Claim
    where: Where = field(default_factory=dict)
    box: Box | None = None
    seed: int = 0

    @property
    def target(self) -> sympy.Expr:
        """What it is to reach; only a citation may leave that to itself."""
        if self.after is None:
            raise InvalidInput("step", f"{self.relation} nothing", "an expression", "Say what is reached.")
        return self.after

    @property
    def given(self) -> list[sympy.Basic]:
        """The hypotheses on numbers, μ ≤ β of the losses among them."""
        return list(dict.fromkeys(relations(self.claim.assumes)))


@dataclass(frozen=True)
class Settled:
    """What became of a link. `derives` says that it adds something: more than a rewriting or an assumption."""

    answer: Answer
    after: sympy.Expr
    premises: tuple[str, ...] = ()
    rests: tuple[str, ...] = ()
    derives: bool = True


class Reason(Protocol):
    """Why a link holds."""

    def settle(self, link: Link) -> Settled: ...


# Algebra -------------------------------------------------------------------------------------------
class Algebra:
    """Checked by machine: an identity, or an inequality under the hypotheses. What a step without reason means."""

    def settle(self, link: Link) -> Settled:
        answer = compare(link, link.before, link.target)
        rewrites = link.relation == "=" or nearly(link.before, link.target)
        return Settled(answer, link.target, derives=not rewrites)

    def __str__(self) -> str:
        return "algebra"


def compare(link: Link, left: sympy.Expr, right: sympy.Expr) -> Answer:
    """Whether left `relation` right wherever the claim's hypotheses hold."""
    fixed = equations(link.given)
    left, right = (sympy.sympify(e).subs(fixed) for e in (left, right))
    given = [g for g in (c.subs(fixed) for c in link.given) if g != sympy.true]
    if left == right and link.relation not in STRICT:
        return Answer(True, "the same expression")
    if link.relation == "=":
        return equal(link, left, right, given)
    low, high = (left, right) if link.relation in UP else (right, left)
    if link.relation in STRICT:
        if not high.is_positive:
            return Answer(None, "a strict inequality takes a positive right-hand side")
        high = high * STRICTLY
    return at_most(low, high, given, {s: e for s, e in link.where.items() if s not in fixed}, link.box, link.seed)


def equal(link: Link, left: sympy.Expr, right: sympy.Expr, given: Sequence[sympy.Basic]) -> Answer:
    """Whether left = right; `where` may write symbols so that roots come out: σ = v(v+1) for √(4σ+1)."""
    where = {s: e for s, e in link.where.items() if s in left.free_symbols | right.free_symbols}
    missed = unreached(where, given, left, right)
    if not where or missed:
        return Answer(None, missed) if missed else Same("", left, right, given).settle(link.seed)
    found = Same("", *(rooted(e.subs(where, simultaneous=True)) for e in (left, right))).settle(link.seed)
    return found if found.holds else Same("", left, right, given).settle(link.seed)


def rooted(expr: sympy.Expr) -> sympy.Expr:
    """With the squares taken out of roots, and the bases of other powers over one denominator."""
    roots = expr.replace(
        lambda e: e.is_Pow and e.exp.is_Rational and not e.exp.is_integer, lambda e: sympy.factor(e.base) ** e.exp
    )
    return roots.replace(lambda e: e.is_Pow and not e.exp.is_number, lambda e: sympy.cancel(e.base) ** e.exp)


def at_most(
    low: sympy.Expr,
    high: sympy.Expr,
    given: Sequence[sympy.Basic],
    where: Where | None = None,
    box: Box | None = None,
    seed: int = 0,
) -> Answer:
    """Whether low <= high for all values that meet what is given.

    `where` is tried before the substitutions found here; it must reach every value allowed, and that is checked. A
    `box` decides by intervals, and what it leaves out is said.
    """
    used = low.free_symbols | high.free_symbols
    kept = [g for g in given if g.free_symbols & used]
    point = counterexample(low, high, conditions=kept, box=box, seed=seed)
    if point is not None:
        return Answer(False, "counterexample confirmed with 50 digits", point)
    low, high = exponents(low, high)
    if where:
        missed = unreached(where, given, low, high)
        if missed:
            return Answer(None, missed)
    if any(signs_agree(gap, {}) for gap in gaps(low, high, [where] if where else substitutions(kept, used))):
        return Answer(True, "all coefficients have one sign")
    if never_negative_at_ends(high - low, kept):
        return Answer(True, "monotone in each symbol, and true at the ends")
    if box is not None:
        found = branch_and_bound(high - low, box, kept)
        if found.holds and beyond(box, given, seed):
            return Answer(True, f"{found.how}{box_text(box)}", left=box)
        return found
    return Answer(None, "no counterexample found, and the sign of the difference is not evident")


def exponents(low: sympy.Expr, high: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """Of the same number times e^a and e^b, a and b, which stand in the same order; other sides as they are."""
    (one, a), (other, b) = (side.as_independent(sympy.exp, as_Add=False) for side in (low, high))
    if one == other and one.is_positive and isinstance(a, sympy.exp) and isinstance(b, sympy.exp):
        return a.exp, b.exp
    return low, high


def substitutions(given: Sequence[sympy.Basic], used: set[sympy.Symbol]) -> Iterator[Where]:
    """Substitutions that reach every value allowed: none, then the fullest, then the plainest."""
    tried: list[Where] = []
    for cover in itertools.chain([{}], full_covers(given, used), covers(given, used)):
        if (not cover or cover.keys() & used) and cover not in tried:
            tried.append(cover)
            yield cover
        if len(tried) == TRIED:
            return


def gaps(low: sympy.Expr, high: sympy.Expr, covers_: Iterable[Where]) -> Iterator[sympy.Expr]:
    """Expressions of which one that is never negative shows low <= high, the quickest to decide first.

    After each substitution the difference, logarithms apart and minima on the low side smoothed; then, where sides are
    positive, 1 less their ratio, term by term, and the difference of the powers that clear roots.
    """
    kept = []
    for cover in covers_:
        sides = [sympy.expand_log(e.subs(dict(cover), simultaneous=True)) for e in (low, high)]
        smooth = above_minima(sides[0])
        if smooth is not None:
            yield sides[1] - smooth
        kept.append(sides)
        yield sides[1] - sides[0]
    for below, above in kept[:FEW]:
        if above.is_positive:
            terms = sympy.Add.make_args(sympy.expand(below))
            yield 1 - sympy.Add(*(sympy.simplify(sympy.powsimp(t / above, force=True)) for t in terms))
        power = math.lcm(*(_roots(below) | _roots(above)))
        if above.is_positive and below.is_nonnegative and 1 < power <= MOST_ROOT:
            yield above**power - below**power


def above_minima(expr: sympy.Expr) -> sympy.Expr | None:
    """With the harmonic mean of its positive terms for each minimum that it grows with; None if there is no such."""
    minima = {least: sympy.Dummy("least", positive=True) for least in expr.atoms(sympy.Min)}
    plain = expr.xreplace(minima)
    if not minima or plain.has(sympy.Min) or not all(term.is_positive for least in minima for term in least.args):
        return None
    if not all(sympy.diff(plain, stands).is_nonnegative for stands in minima.values()):
        return None
    return plain.xreplace({s: len(least.args) / sum(1 / term for term in least.args) for least, s in minima.items()})


def _roots(expr: sympy.Expr) -> set[int]:
    """The denominators of its exponents."""
    return {int(p.exp.q) for p in expr.atoms(sympy.Pow) if p.exp.is_Rational} | {1}


def nearly(left: sympy.Expr, right: sympy.Expr) -> bool:
    """Whether one is the other but for a number and powers of logarithms: as good as the same, to assume."""
    plain = [sympy.sympify(e).replace(sympy.log, lambda *_: sympy.Integer(1)) for e in (left, right)]
    return proportional(left, right) or (sympy.zoo not in plain and proportional(*plain))


def proportional(left: sympy.Expr, right: sympy.Expr) -> bool:
    """Whether one is a number times the other: the same in other letters."""
    names = sorted(left.free_symbols | right.free_symbols, key=str)
    if left == 0 or right == 0:
        return bool(sympy.simplify(left - right) == 0)
    points = np.random.default_rng(0).uniform(0.3, 0.9, (3, len(names)))
    with np.errstate(all="ignore"):
        try:
            sides = [
                lambdified(e)(*points.T[[names.index(s) for s in sorted(e.free_symbols, key=str)]])
                for e in (left, right)
            ]
        except (TypeError, ValueError, NameError):
            return bool(sympy.simplify(left / right).is_number)
    ratios = np.broadcast_to(sides[0] / sides[1], 3)
    return bool(np.all(np.isfinite(ratios))) and float(np.ptp(ratios)) <= 1e-9 * float(np.abs(ratios).max())
