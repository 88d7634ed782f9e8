"""Whether relations between numbers follow from others, or contradict each other.

They are decided by substitution, by sets of one variable, by intervals, or by a point that meets what is given and
breaks what is needed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from dpcheck.bounds.language.formulas import compiled, pretty
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.bounds.relations.inequalities import (
    Answer,
    Where,
    branch_and_bound,
    counterexample,
    equations,
    meets,
    shown,
    signs_agree,
)

CELLS = 500  # of branch-and-bound per hypothesis: enough for two or three symbols
COVERS = 40  # substitutions tried per hypothesis
BEYOND = 1e6  # how much wider a box is searched for a point that breaks a hypothesis
FEW_SYMBOLS, FEW_COVERS = 3, 8  # of a difference whose slopes are looked at, and per slope
MANY = 5  # symbols beyond which hypotheses are not searched for a contradiction
STRICTLY = 1 - sympy.Rational(1, 10**9)


def relation_follows(needed: sympy.Basic, given: Sequence[sympy.Basic], seed: int = 0) -> Answer:
    """Whether a relation follows from others; False comes with a point."""
    if needed == sympy.true or needed in given or _canonical(needed) in [_canonical(g) for g in given]:
        return Answer(True, "holds for all values" if needed == sympy.true else "assumed")
    if isinstance(needed, sympy.And):
        parts = [relation_follows(part, given, seed) for part in needed.args]
        return next((a for a in parts if a.holds is False), next((a for a in parts if not a.holds), parts[0]))
    fixed = equations(given)
    if fixed and needed.subs(fixed) == sympy.true:
        return Answer(True, "by the equations assumed")
    point = breaking_point(needed, given, seed)
    if point is not None:
        return Answer(False, "a point that meets what is assumed breaks it", point)
    return _proved(needed.subs(fixed), [g.subs(fixed) for g in given])


def breaking_point(needed: sympy.Basic, given: Sequence[sympy.Basic], seed: int) -> dict[str, float] | None:
    """A point that meets all that is given and not what is needed; None if none was found."""
    if needed == sympy.false:
        return {}  # at every point
    if isinstance(needed, sympy.Eq):
        sides = [needed.args, needed.args[::-1]]
    elif isinstance(needed, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt):
        sides = [(needed.lts, needed.gts)]
    else:
        return None
    near = domains([needed, *given])
    boxes = (near, {s: widened(s, *ends) for s, ends in near.items()})
    found = (counterexample(*pair, conditions=given, box=box, seed=seed) for box in boxes for pair in sides)
    point = next((p for p in found if p is not None), None)
    if point is None and isinstance(needed, sympy.Lt | sympy.Gt):
        return _touching(needed, given)
    return point


def _touching(needed: sympy.Basic, given: Sequence[sympy.Basic]) -> dict[str, float] | None:
    """A point where a strict relation is an equation and all that is given holds."""
    plain = {s: sympy.Integer(1) if s.is_integer else sympy.Rational(1, 2) for s in needed.free_symbols}
    for symbol in sorted(needed.free_symbols, key=str):
        rest = {s: x for s, x in plain.items() if s != symbol}
        for value in _solutions(needed.lts - needed.gts, symbol, rest):
            point = {s: float(x) for s, x in (rest | {symbol: value}).items()}
            free = set().union(*(g.free_symbols for g in given)) - point.keys()
            inside = all(x < TABLE[s].below for s, x in point.items() if s in TABLE)
            if inside and not free and all(meets(g, point) for g in given) and not meets(needed, point):
                return {str(s): x for s, x in point.items()}
    return None


def _solutions(gap: sympy.Expr, symbol: sympy.Symbol, rest: Mapping[sympy.Symbol, Any]) -> list[sympy.Expr]:
    try:
        found = sympy.solve(gap.subs(rest), symbol)
    except NotImplementedError:
        return []
    return [x for x in found if x.is_Rational and x.is_positive]


def widened(symbol: sympy.Symbol, low: float, high: float) -> tuple[float, float]:
    """A box far beyond the one that is searched first, inside the symbol's domain."""
    row = TABLE.get(symbol)
    below = row.below if row is not None else float("inf")
    return (1.0 if symbol.is_integer else low / BEYOND), (high if below < float("inf") else high * BEYOND)


def _proved(needed: sympy.Basic, given: Sequence[sympy.Basic]) -> Answer:
    """By signs after a substitution that covers what is given, by sets of one variable, or at the ends of ranges.

    Intervals cover the box that the table names and no more: what they show there is left open.
    """
    if not isinstance(needed, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt):
        return Answer(None, "no point breaks it, and it was not proved")
    low, high = needed.lts, needed.gts
    if isinstance(needed, sympy.Lt | sympy.Gt):
        high = high * STRICTLY if high.is_positive else high
    if _by_cover(low, high, list(covers(given, needed.free_symbols))):
        return Answer(True, "by substitution")
    if _subset(needed, given):
        return Answer(True, "by sets of one variable")
    if never_negative_at_ends(high - low, given):
        return Answer(True, "monotone in each symbol, and true at the ends")
    box = domains([needed, *given])
    answer = branch_and_bound(high - low, box, given, limit=CELLS)
    how = f"shown only where it was looked at: {shown(box)}" if answer.holds else answer.how
    return Answer(None, f"no point breaks it; {how}", left=answer.left)


def never_negative_at_ends(gap: sympy.Expr, given: Sequence[sympy.Basic]) -> bool:
    """Whether gap >= 0 because it moves one way in each symbol, and is not negative in the limit at the worst ends."""
    for symbol in sorted(gap.free_symbols, key=str):
        if len(gap.free_symbols) > FEW_SYMBOLS:
            return False
        allowed = _allowed(symbol, [g for g in given if g.free_symbols == {symbol}])
        slope = sympy.diff(gap, symbol)
        tried = [*itertools.islice(covers(given, slope.free_symbols), FEW_COVERS)]
        rises, falls = (any(signs_agree(sign * slope, cover) for cover in tried) for sign in (1, -1))
        if not isinstance(allowed, sympy.Interval | sympy.Range) or not (rises or falls):
            return False
        gap = sympy.limit(gap, symbol, *((allowed.inf, "+") if rises else (allowed.sup, "-")))
    return bool(gap.is_extended_real) and (gap == sympy.oo or (bool(gap.is_number) and signs_agree(gap, {})))


def unreached(where: Where, given: Sequence[sympy.Basic], *sides: sympy.Expr) -> str:
    """Why the substitution leaves out values that are allowed; "" if it reaches all of them.

    Each symbol must move monotonically with a fresh non-negative symbol of its own, between ends that what is given
    implies. The fresh symbols of others may stand in it too: b = 1 + u, n = 1 + u + v is n = b + v.
    """
    taken = set().union(*(sympy.sympify(e).free_symbols for e in (*sides, *given)))
    back: dict[sympy.Symbol, sympy.Expr] = {}  # what each fresh symbol is in the old ones
    left = {symbol: sympy.sympify(value) for symbol, value in where.items()}
    while left:
        own = {s: [f for f in e.free_symbols if f not in TABLE and f not in back] for s, e in left.items()}
        symbol = next((s for s, fresh in own.items() if len(fresh) == 1 and fresh[0] not in taken), None)
        if symbol is None or not own[symbol][0].is_nonnegative:
            symbol, value = next(iter(left.items()))
            return f"{pretty(symbol)} = {pretty(value)} is not in terms of one fresh non-negative symbol of its own"
        fresh, value = own[symbol][0], left.pop(symbol)
        missed = _narrow(symbol, value, fresh, back, given)
        if missed:
            return missed
        taken.add(fresh)
        back |= _inverse(symbol, value.subs(back), fresh)
    return ""


def _narrow(
    symbol: sympy.Symbol, value: sympy.Expr, fresh: sympy.Symbol, back: Where, given: Sequence[sympy.Basic]
) -> str:
    """Why one symbol does not reach all its values as the fresh one goes from 0 up."""
    slope = sympy.simplify(sympy.diff(value, fresh))
    tried = [*itertools.islice(covers(given, slope.free_symbols), FEW_COVERS)]
    rising, falling = (any(signs_agree(sign * slope, cover) for cover in tried) for sign in (1, -1))
    if not (rising or falling):
        return f"{pretty(symbol)} = {pretty(value)} is not seen to be monotone"
    first, last = value.subs(fresh, 0), sympy.limit(value, fresh, sympy.oo)
    least, most = (first, last) if rising else (last, first)
    for needed in (sympy.Ge(symbol, least.subs(back)), sympy.Le(symbol, most.subs(back))):
        if needed != sympy.true and not relation_follows(needed, [g for g in given if g != sympy.true]).holds:
            return f"{pretty(symbol)} = {pretty(value)} reaches only {pretty(needed)}, which is not assumed"
    return ""


def _inverse(symbol: sympy.Symbol, value: sympy.Expr, fresh: sympy.Symbol) -> dict[sympy.Symbol, sympy.Expr]:
    """The fresh symbol in terms of the old one, if sympy finds the one solution."""
    try:
        found = sympy.solve(sympy.Eq(symbol, value), fresh)
    except NotImplementedError:
        return {}
    return {fresh: found[0]} if len(found) == 1 else {}


def _by_cover(low: sympy.Expr, high: sympy.Expr, tried: Sequence[Where]) -> bool:
    """Signs after one of the substitutions; a minimum is small if one of its parts is, a maximum if all are."""
    for side, enough in ((sympy.Min, any), (sympy.Max, all)):
        if isinstance(low, side):
            return enough(_by_cover(part, high, tried) for part in low.args)
    return any(signs_agree(high - low, cover) for cover in tried)


def covers(given: Sequence[sympy.Basic], wanted: set[sympy.Symbol]) -> Iterator[Where]:
    """Substitutions in fresh non-negative symbols that reach every value the relations allow (and perhaps more)."""
    options: dict[sympy.Symbol, list[sympy.Expr]] = {}
    for symbol, bound in itertools.chain(_bounds_given(given), _bounds_of_domains(given, wanted)):
        options.setdefault(symbol, []).append(bound)
    pairs = [(s, e) for s in sorted(options, key=str) for e in options[s]]
    few_first = itertools.chain.from_iterable(itertools.combinations(pairs, k) for k in range(4))
    for choice in itertools.islice(few_first, COVERS):
        cover = _closed(dict(choice))
        if cover is not None and len(cover) == len(choice):
            yield cover


def full_covers(given: Sequence[sympy.Basic], wanted: set[sympy.Symbol]) -> Iterator[Where]:
    """Substitutions that use a bound for as many symbols as can have one, then for all of these but one."""
    options: dict[sympy.Symbol, list[sympy.Expr]] = {}
    for symbol, bound in itertools.chain(_bounds_given(given), _bounds_of_domains(given, wanted)):
        options.setdefault(symbol, []).append(bound)
    for choice in itertools.islice(itertools.product(*options.values()), 2):
        pairs = dict(zip(options, choice, strict=True))
        for left_out in (None, *pairs):
            cover: dict[sympy.Symbol, sympy.Expr] = {}
            for symbol, bound in pairs.items():
                if symbol != left_out:
                    cover = _closed({**cover, symbol: bound}) or cover
            yield cover


def _closed(cover: dict[sympy.Symbol, sympy.Expr]) -> dict[sympy.Symbol, sympy.Expr] | None:
    """The cover with every bounded symbol replaced inside the bounds of others; None if they go in a circle."""
    for _ in cover:
        cover = {s: e.subs(cover, simultaneous=True) for s, e in cover.items()}
    return None if any(e.has(*cover) for e in cover.values()) else cover


def _bounds_given(given: Sequence[sympy.Basic]) -> Iterator[tuple[sympy.Symbol, sympy.Expr]]:
    """For a relation that bounds a symbol, the symbol in terms of the bound: eta <= 1/beta is eta = 1/(beta(1 + v))."""
    for number, relation in enumerate(given):
        if not isinstance(relation, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt):
            continue
        fresh = sympy.Symbol(f"cover{number}", nonnegative=True)
        low, high = relation.lts, relation.gts
        for symbol in sorted(relation.free_symbols, key=str):
            above, below = low / symbol, high / symbol  # what multiplies it, if it stands on one side only
            if not above.has(symbol) and not high.has(symbol) and above.is_positive and high.is_positive:
                yield symbol, high / above / (1 + fresh)
            if not below.has(symbol) and not low.has(symbol) and below.is_positive and low.is_nonnegative:
                yield symbol, low / below + fresh


def _bounds_of_domains(
    given: Sequence[sympy.Basic], wanted: set[sympy.Symbol]
) -> Iterator[tuple[sympy.Symbol, sympy.Expr]]:
    """Counts are at least 1, and a probability is below 1."""
    for symbol in sorted(wanted.union(*(g.free_symbols for g in given)), key=str):
        fresh, row = sympy.Symbol(f"domain_{symbol}", nonnegative=True), TABLE.get(symbol)
        if row is not None and row.integer:
            yield symbol, 1 + fresh
        elif row is not None and row.below < float("inf"):
            yield symbol, sympy.Rational(repr(row.below)) / (1 + fresh)


def contradiction(conditions: Sequence[sympy.Basic]) -> str | None:
    """Why no numbers meet the conditions, if that is proved; None if some do or nothing is known."""
    kept = [c for c in conditions if c.free_symbols]
    fixed = equations(kept)
    rest = [c.subs(fixed) for c in kept]
    if sympy.false in rest:
        return "an equation contradicts another condition"
    rest = [c for c in rest if c != sympy.true]
    if not rest or _some_point(rest):
        return None
    for symbol in set().union(*(c.free_symbols for c in rest)):
        alone = [c for c in rest if c.free_symbols == {symbol}]
        if alone and _allowed(symbol, alone) == sympy.EmptySet:
            return f"no {pretty(symbol)} is left"
    if len(set().union(*(c.free_symbols for c in rest))) > MANY:
        return None  # substitutions would take longer than an import may
    for i, condition in enumerate(rest):
        others = [*rest[:i], *rest[i + 1 :]]
        if _excluded(condition, others):
            return f"{pretty(condition)} is excluded by the others"
    return None


def _excluded(condition: sympy.Basic, others: Sequence[sympy.Basic]) -> bool:
    """Whether the opposite of a condition, strictly, follows from the others by substitution."""
    if not isinstance(condition, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt) or not condition.lts.is_positive:
        return False
    strictly = condition.lts if isinstance(condition, sympy.Lt | sympy.Gt) else condition.lts * STRICTLY
    return _by_cover(condition.gts, strictly, list(covers(others, condition.free_symbols)))


def _some_point(conditions: Sequence[sympy.Basic]) -> bool:
    """Whether one of some thousand points of the domains meets them all."""
    box = domains(conditions)
    names = sorted(box, key=str)
    logs = np.log([box[s] for s in names])
    unit = np.random.default_rng(0).random((4000, len(names)))
    points = np.exp(logs[:, 0] + unit * (logs[:, 1] - logs[:, 0]))
    whole = [bool(s.is_integer) for s in names]
    points[:, whole] = np.maximum(1.0, np.round(points[:, whole]))
    with np.errstate(all="ignore"):
        return bool(np.any(compiled(names, sympy.And(*conditions))(*points.T)))


def _subset(needed: sympy.Basic, given: Sequence[sympy.Basic]) -> bool:
    """Whether, in one variable, the values allowed are among the values needed."""
    if len(needed.free_symbols) != 1:
        return False
    (symbol,) = needed.free_symbols
    allowed = _allowed(symbol, [g for g in given if g.free_symbols == {symbol}])
    try:
        return allowed is not None and bool(allowed.is_subset(needed.as_set()))
    except (NotImplementedError, TypeError):
        return False


def _allowed(symbol: sympy.Symbol, alone: Sequence[sympy.Basic]) -> sympy.Set | None:
    """The values of one symbol that relations on it alone allow; None if sympy cannot say."""
    row = TABLE.get(symbol)
    found = sympy.Interval.open(0, sympy.oo if row is None or row.below == float("inf") else row.below)
    try:
        for relation in alone:
            found &= relation.as_set()
    except (NotImplementedError, TypeError):
        return None
    return found & sympy.S.Naturals if symbol.is_integer else found


def domains(relations: Sequence[sympy.Basic]) -> dict[sympy.Symbol, tuple[float, float]]:
    """Where to look for a point: the table's boxes, opened to the ends of the domains of counts and shares."""
    box = {}
    for symbol in set().union(*(r.free_symbols for r in relations)):
        row = TABLE.get(symbol)
        low, high = row.box if row is not None else (1e-3, 1e3)
        if row is not None and row.integer:
            low = min(low, 1.0)
        if row is not None and row.below < float("inf"):
            high = max(high, 0.99 * row.below)
        box[symbol] = (low, high)
    return box


def _canonical(relation: sympy.Basic) -> sympy.Basic:
    if not isinstance(relation, sympy.core.relational.Relational):
        return relation
    if relation.has(sympy.log):  # log of one fraction, however it is written
        relation = relation.replace(sympy.log, lambda inside: sympy.log(sympy.cancel(inside)))
    return getattr(relation, "canonical", relation)
