"""A claim's mutants: its statement falsified in every way that is known to make it false.

A mutant is kept only if it is false as far as is known: changed in the direction that falsifies, and below (above)
what the claim's own checks and its corrected versions establish. A printed hypothesis on numbers is dropped or weakened
only where a search then finds a counterexample; one in words, which no number decides, and one that was added to prove
the statement count as needed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import sympy

from dpcheck.bounds.language.claim import (
    LOGS_FREE,
    Check,
    Claim,
    Evidence,
    Hypothesis,
    Kind,
    Rate,
    Setting,
    Verdict,
    lambdified,
    pretty,
)
from dpcheck.bounds.language.errors import DpcheckError
from dpcheck.bounds.language.symbols import NONE, TABLE, T
from dpcheck.bounds.privacy.numeric_checks import CompositionAccountant
from dpcheck.bounds.proving.chains import Cases, Chain
from dpcheck.bounds.proving.implications import relations
from dpcheck.bounds.proving.proofs import AtMost, Equals, Sharper
from dpcheck.bounds.proving.reasons import Minimiser
from dpcheck.bounds.relations.inequalities import counterexample, equations

STRONG = (Verdict.PROVED, Verdict.CERTIFIED, Verdict.LOOSE)
HUGE, MODEST, CLEARLY, RATE_CLEARLY = 1000, sympy.Rational(3, 2), 1.4, 5.0
POINTS = 4000


@dataclass(frozen=True)
class Mutant:
    """A false statement made from a claim, and how."""

    how: str
    claim: Claim


def mutants_of(
    claim: Claim, checks: Sequence[Check], better: Sequence[Claim] = (), found: Sequence[Evidence] = ()
) -> Iterator[Mutant]:
    """The statement falsified in every way that is known to make it false; `found` is what its checks say of it."""
    held = [e for check in checks for e in established(check, claim) if e.free_symbols <= TABLE.keys()]
    held += [b.formula for b in better if b.subject == claim.subject and b.relation == claim.relation]
    held += [claim.formula * room(claim, piece) for piece in found if piece.verdict in STRONG and piece.margin]
    tight = tightness(checks)
    for how, formula, factor in changed(claim):
        if factor is not None and isinstance(claim.states, Rate):
            continue  # a constant is no part of a rate
        if factor is MODEST and not (claim.relation == "=" and claim.kind is not Kind.PRIVACY) and not (held or tight):
            continue  # it may be loose by as much
        if falsifies(claim, formula) and not implied(held, claim, formula):
            yield from made(claim, how, formula=formula)
    if claim.relation in ("<=", ">=", "<", ">") and not any(equates(check) for check in checks):
        yield from made(claim, "direction flipped", flip=True)
    chosen = {s: e for check in checks if isinstance(check, Chain) for s, e in check.choosing.items()}
    of_the_losses = relations([h for h in claim.assumes if not isinstance(h, sympy.Basic)])
    for condition in claim.conditions:
        if condition not in of_the_losses:  # dropped or not, strongly convex and smooth losses have it
            yield from without(claim, condition, held, chosen)
    for hypothesis in needed(claim, checks):
        rest = [h for h in claim.assumes if h != hypothesis]
        yield from made(claim, f"{pretty(hypothesis)} dropped, which a proof must name", assumes=rest)


def changed(claim: Claim) -> Iterator[tuple[str, sympy.Expr, Any]]:
    """(how, formula, factor or None): constants, exponents, logarithms, symbols that could be mistaken."""
    formula = claim.formula
    for factor in (sympy.Integer(HUGE), MODEST):
        yield f"times {factor}", formula * factor, factor
        yield f"over {factor}", formula / factor, factor
    symbols = sorted(formula.free_symbols - {*claim.hidden}, key=str)
    for base in unit_free(sorted(claim.symbols - {claim.subject, *claim.hidden}, key=str), symbols):
        for power in (sympy.Rational(1, 2), sympy.Rational(-1, 2)):
            yield f"times ({pretty(base)})^({power})", formula * base**power, None
    for log in sorted(formula.atoms(sympy.log), key=str):
        if log.free_symbols:
            yield f"{pretty(log)} dropped", formula.subs(log, 1), None
    for one, other in combinations(symbols, 2):
        if alike(one, other):
            swap = {one: other, other: one}
            yield f"{pretty(one)} and {pretty(other)} swapped", formula.subs(swap, simultaneous=True), None


def unit_free(symbols: Sequence[sympy.Symbol], wanted: Sequence[sympy.Symbol]) -> Iterator[sympy.Expr]:
    """Symbols without a unit, and quotients and products of two that have none: a slip in units is refused anyway."""
    for symbol in symbols:
        if TABLE[symbol].unit == NONE and symbol in wanted:
            yield symbol
    for one, other in combinations([s for s in symbols if TABLE[s].unit != NONE], 2):
        if one in wanted or other in wanted:
            if TABLE[one].unit == TABLE[other].unit:
                yield one / other
            elif all(a == -b for a, b in zip(TABLE[one].unit, TABLE[other].unit, strict=True)):
                yield one * other


def alike(one: sympy.Symbol, other: sympy.Symbol) -> bool:
    """Whether two symbols could be mistaken for each other: same unit, same domain."""
    a, b = TABLE[one], TABLE[other]
    return (a.unit, a.integer, a.below) == (b.unit, b.integer, b.below)


def falsifies(claim: Claim, formula: sympy.Expr) -> bool:
    """Whether the change goes the wrong way somewhere in the hypotheses, by more than a constant could hide."""
    points = sample(claim, formula)
    old, new = at(claim.formula, points), at(formula, points)
    usable = np.isfinite(old) & np.isfinite(new) & (old != 0)
    if not np.any(usable):
        return False
    with np.errstate(over="ignore"):  # infinitely larger is larger
        ratio = new[usable] / old[usable]
    clearly = RATE_CLEARLY if isinstance(claim.states, Rate) else CLEARLY
    if claim.relation == "=" and claim.kind is not Kind.PRIVACY:
        return bool(np.any(np.abs(ratio - 1) > 1e-6))
    return bool(np.any(ratio > clearly if claim.relation in (">=", ">") else ratio < 1 / clearly))


def implied(held: Sequence[sympy.Expr], claim: Claim, formula: sympy.Expr) -> bool:
    """Whether one of what is established shows the mutant to be true, or all of it together: the best at each point."""
    if any(implies(e, claim, formula) for e in held):
        return True
    best = sympy.Max if claim.relation in (">=", ">") else sympy.Min
    return len(held) > 1 and implies(best(*held, evaluate=False), claim, formula)


def implies(known: sympy.Expr, claim: Claim, formula: sympy.Expr) -> bool:
    """Whether what is established shows the mutant to be true: at every point tried; of a rate, up to a constant."""
    if claim.relation == "=" and claim.kind is not Kind.PRIVACY:
        return False
    points = sample(claim, formula, known)
    held, old, new = (at(e, points) for e in (known, claim.formula, formula))
    usable = np.isfinite(held) & np.isfinite(old) & np.isfinite(new) & (new != 0) & (old != 0)
    if not np.any(usable):
        return False
    upward = claim.relation not in (">=", ">")
    with np.errstate(all="ignore"):
        share, before = (held / e if upward else e / held for e in (new, old))
    room = RATE_CLEARLY * float(np.max(before[usable])) if isinstance(claim.states, Rate) else 1 + 1e-9
    return bool(np.all(share[usable] <= room))


def without(
    claim: Claim, condition: sympy.Basic, held: Sequence[sympy.Expr], chosen: Mapping[sympy.Symbol, sympy.Expr]
) -> Iterator[Mutant]:
    """The condition dropped, and weakened a thousandfold, where what is established then breaks the statement.

    Constants that the statement says exist are those that its proof chooses.
    """
    stated = claim.formula.subs(chosen)
    rest = [c for c in claim.conditions if c != condition]
    tries: list[tuple[str, list[sympy.Basic]]] = [(f"{pretty(condition)} dropped", rest)]
    sides = isinstance(condition, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt)
    if sides and condition.lts.is_positive and condition.gts.is_positive:
        wider = sympy.Le(condition.lts, HUGE * condition.gts)
        if wider not in (sympy.true, sympy.false):
            tries.append((f"{pretty(condition)} weakened to {pretty(wider)}", [*rest, wider]))
    down = claim.relation in (">=", ">")
    for how, conditions in tries:
        for known in held:
            low, high = (stated, known) if down else (known, stated)
            if isinstance(claim.states, Rate) or counterexample(low, high, conditions=conditions) is None:
                continue
            yield from made(claim, how, conditions=conditions)
            break


def needed(claim: Claim, checks: Sequence[Check]) -> Iterator[Hypothesis]:
    """Hypotheses without which a chain must not hold: settings in words, and what we added.

    Algebra alone has no use for words, and to count operations takes no property of losses.
    """
    cases = [one for check in checks for one in (check.cases.values() if isinstance(check, Cases) else [check])]
    chains = [one for one in cases if isinstance(one, Chain)]
    reasons = [reason for one in chains for reason in (one.start, *(step.because for step in one.steps))]
    algebra = all(reason is None or isinstance(reason, sympy.Basic | Minimiser) for reason in reasons)
    if algebra or claim.kind is Kind.COST:
        return
    for hypothesis in claim.assumes:
        if hypothesis != LOGS_FREE and (isinstance(hypothesis, Setting) or hypothesis in claim.added):
            yield hypothesis


def made(
    claim: Claim,
    how: str,
    *,
    formula: sympy.Expr | None = None,
    flip: bool = False,
    conditions: Sequence[sympy.Basic] | None = None,
    assumes: Sequence[Hypothesis] | None = None,
) -> Iterator[Mutant]:
    """The mutated claim, unless it is no claim at all."""
    new, states = claim.formula if formula is None else formula, claim.states
    turned = {sympy.Le: sympy.Ge, sympy.Ge: sympy.Le, sympy.Lt: sympy.Gt, sympy.Gt: sympy.Lt}
    words = [h for h in claim.assumes if not isinstance(h, sympy.Basic)]
    try:
        if isinstance(states, Rate):
            changed_states: Any = replace(states, of=new, below=states.below != flip)
        else:
            changed_states = (turned[type(states)] if flip else type(states))(claim.subject, new)
        if assumes is None:
            assumes = claim.assumes if conditions is None else [*words, *conditions]
        added = [h for h in claim.added if h in assumes]
        found = replace(claim, states=changed_states, assumes=assumes, added=added)
        if found.unit_gap is None or claim.unit_gap is not None:  # the registry refuses a new gap in units
            yield Mutant(how, found)
    except DpcheckError:
        return


# What is known -------------------------------------------------------------------------------------
def established(check: Check, claim: Claim) -> list[sympy.Expr]:
    """What a check shows of the subject before it looks at the statement."""
    if isinstance(check, Chain):
        found = check.known(claim)
        return [] if found is None else [found]
    if isinstance(check, AtMost) and check.against is None:
        return [check.value]
    if isinstance(check, Sharper):
        return [check.bound]
    if isinstance(check, Equals):
        return [check.derived]
    if isinstance(check, CompositionAccountant):
        return [T * check.each]  # losses add up
    return []


def room(claim: Claim, piece: Evidence) -> sympy.Expr:
    """The factor by which the statement may be sharpened and stays true, as its check found."""
    factor = sympy.Rational(repr(1 + max(0.0, float(piece.margin or 0.0))))
    return factor if claim.relation in (">=", ">") else 1 / factor


def equates(check: Check) -> bool:
    """Whether it shows subject and formula to be equal: then the opposite bound is as true."""
    return isinstance(check, Equals) or (isinstance(check, Chain) and check.relation == "=")


def tightness(checks: Sequence[Check]) -> bool:
    """Whether a check compares the statement with an exact value, so that a modest factor shows."""
    return any(getattr(c, "exact", False) is True and getattr(c, "against", None) is None for c in checks)


def sample(claim: Claim, *exprs: sympy.Expr) -> dict[sympy.Symbol, np.ndarray]:
    """Points of the symbols' boxes that meet the claim's hypotheses; all of them if too few do."""
    fixed = equations(claim.conditions)
    names = sorted(claim.symbols.union(*(e.free_symbols for e in exprs)) - fixed.keys(), key=str)
    boxes = [TABLE[s].box if s in TABLE else (1e-2, 1e2) for s in names]
    logs = np.log(np.array(boxes).reshape(-1, 2))
    rng = np.random.default_rng(zlib.crc32(claim.id.encode()))
    unit = rng.random((POINTS, len(names)))
    unit[: POINTS // 4] = np.round(unit[: POINTS // 4])
    values = np.exp(logs[:, 0] + unit * (logs[:, 1] - logs[:, 0])).T
    points = {s: np.maximum(1, np.round(x)) if s.is_integer else x for s, x in zip(names, values, strict=True)}
    points |= {s: at(e, points) for s, e in fixed.items()}
    inside = np.ones(POINTS, bool)
    for condition in claim.conditions:
        if not isinstance(condition, sympy.Eq) and condition.free_symbols <= points.keys():
            used = sorted(condition.free_symbols, key=str)
            with np.errstate(all="ignore"):
                inside &= np.broadcast_to(sympy.lambdify(used, condition, "numpy")(*(points[s] for s in used)), POINTS)
    return {s: x[inside] for s, x in points.items()} if inside.sum() >= 10 else points


def at(expr: sympy.Expr, points: dict[sympy.Symbol, np.ndarray]) -> np.ndarray:
    """The expression at all points."""
    size = len(next(iter(points.values()))) if points else 1
    with np.errstate(all="ignore"):
        try:
            found = lambdified(expr)(*(points[s] for s in sorted(expr.free_symbols, key=str)))
        except (TypeError, ValueError, NameError, KeyError):
            return np.full(size, np.nan)
    return np.broadcast_to(found, size).astype(float)
