"""What a proof rests on beside its algebra: hypotheses that it names, and the promise of a privacy claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import sympy

from dpcheck.bounds.language.claim import Cites, Claim, Hypothesis, Kind, pretty
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.language.symbols import TABLE

Used: TypeAlias = Hypothesis | Guarantee


def missing(uses: Sequence[Used], claim: Claim) -> str:
    """The first of what a reason rests on that the claim does not say; "" if it says all."""
    unsaid = next((h for h in uses if h != claim.guarantee and h not in claim.assumes), None)
    if unsaid is None:
        return ""
    words = pretty(unsaid) if isinstance(unsaid, sympy.Basic) else str(unsaid)
    return f"a step rests on this, which is no hypothesis: {words}"


def promise_of(claim: Claim) -> dict[str, sympy.Expr]:
    """The parameters of its guarantee."""
    given = claim.guarantee.parameters if claim.guarantee is not None else {}
    return {name: sympy.sympify(value) for name, value in given.items()}


def as_promised(value: sympy.Expr, against: sympy.Expr, claim: Claim) -> tuple[sympy.Expr, sympy.Expr] | None:
    """A loss and what it is compared with, for the ε (or δ, ...) that the claim promises; None if it promises no such.

    In both, the table's ε stands for the promised one. What is no privacy claim is compared as it is written.
    """
    if claim.kind is not Kind.PRIVACY:
        return value, against
    promised = promise_of(claim)
    here = {s: promised[str(s)] for s in TABLE if str(s) in promised}
    if against in promised.values():
        return value.subs(here, simultaneous=True), against
    if not against.free_symbols & here.keys():
        return None
    return value.subs(here, simultaneous=True), against.subs(here, simultaneous=True)


def other_promise(cites: Cites, cited: Claim, claim: Claim) -> str:
    """That a privacy claim is cited for another promise than the one made here; "" if it is the same, or there is none.

    Neighbours are compared where citations are (bounds/proving/citations.py).
    """
    mine, theirs = claim.guarantee, cited.guarantee
    if cited.kind is not Kind.PRIVACY or mine is None or theirs is None:
        return ""
    here = {name: e.subs(dict(cites.where), simultaneous=True) for name, e in promise_of(cited).items()}
    same = type(mine) is type(theirs) and all(sympy.simplify(e - promise_of(claim)[n]) == 0 for n, e in here.items())
    return "" if same else f"{cites.id} promises {theirs}, and here it is {mine}"
