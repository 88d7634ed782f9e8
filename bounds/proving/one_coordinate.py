"""Inequalities between vectors and function values: their difference as a sum of what is never negative.

Vectors stand in one coordinate: both sides are quadratic forms in them, and a form that vanishes for all numbers
vanishes for all vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import sympy

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict, bounds_above
from dpcheck.bounds.proving.proofs import Same, wrong_way


@dataclass(frozen=True)
class Adds:
    """The claim's right side less `left` is the sum of `parts`, each never negative or of mean 0, for its reason.

    `where` writes the claim's symbols in coordinates. No parts: the two sides are equal. `squared` compares squares.
    """

    left: sympy.Expr
    where: Mapping[sympy.Symbol, sympy.Expr]
    parts: Mapping[str, sympy.Expr] = field(default_factory=dict)
    squared: bool = False
    kind: ClassVar[str] = "symbolic"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        if self.parts and not bounds_above(claim):
            return wrong_way(self.kind)
        right = claim.formula.subs(dict(self.where), simultaneous=True)
        right, left = (side**2 if self.squared else side for side in (right, self.left))
        reasons = "; ".join(self.parts) or "both sides in coordinates"
        answer = Same(
            reasons, sympy.expand(right - left), sympy.expand(sum(self.parts.values(), sympy.Integer(0)))
        ).settle(effort.seed)
        if not answer.holds:
            return Evidence(
                self.kind, Verdict.UNCHECKED, f"gap: the parts do not add up to the difference ({reasons})", answer.how
            )
        figure = f"right less left is a sum of {len(self.parts)} terms ≥ 0" if self.parts else "the sides are equal"
        return Evidence(self.kind, Verdict.PROVED, figure, reasons, premises=(*self.parts, "the sides in coordinates"))
