"""Gaps between statement and proof: do the hypotheses of what a proof cites follow from its own?

A gap refutes nothing. It names the hypothesis that is missing, with a point that meets what the claim assumes
and breaks what the cited claim needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from dpcheck.bounds.language.claim import CITATION, Check, Cites, Claim, Effort, Evidence, Verdict, pretty
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.bounds.proving.chains import Cases, Chain
from dpcheck.bounds.proving.implications import Need, broken_at, needs, read


@dataclass(frozen=True)
class Citation:
    """One citation of a claim: what it needs, and whether that is assumed."""

    cites: Cites
    cited: Claim
    kind: ClassVar[str] = CITATION

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        found = needs(self.cited, claim, self.cites.where, effort.seed)
        gaps = [need for need in found if not need.answer.holds]
        sentences = [*self.other_neighbours(claim), *(self.sentence(need) for need in gaps)]
        if not sentences:
            how = "; ".join(f"{need}: {need.answer.how}" for need in found) or "it has none"
            return Evidence(self.kind, Verdict.PROVED, f"the hypotheses of {self.cites.id} follow", how)
        point = next((need.answer.point for need in gaps if need.answer.point), None)
        return self.gap(sentences, point)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        """The gap again, at a point that meets the claim's own hypotheses."""
        for hypothesis in self.cited.assumes:
            here = read(hypothesis, self.cites.where)
            if broken_at(here, claim.assumes, point):
                return self.gap(
                    [f"uses {self.cites.id}, which needs {pretty(hypothesis)}{allowed(here, point)}"], point
                )
        return Evidence(self.kind, Verdict.UNCHECKED, f"here {self.cites.id} applies")

    def sentence(self, need: Need) -> str:
        """What is needed, and how it fails here."""
        fails = {None: f"; not decided: {need.answer.how}", False: f"; {need.answer.how}"}[need.answer.holds]
        if need.answer.point is not None:
            fails = allowed(need.here, need.answer.point)
        return f"uses {self.cites.id}, which needs {need}{fails}"

    def other_neighbours(self, claim: Claim) -> list[str]:
        """A lemma for one neighbouring relation says nothing of another."""
        mine, theirs = (c.guarantee.relation if c.guarantee is not None else None for c in (claim, self.cited))
        if mine is None or theirs is None or mine == theirs:
            return []
        return [f"uses {self.cites.id}, which is about {theirs} neighbours; here they are {mine}"]

    def gap(self, sentences: list[str], point: Mapping[str, Any] | None) -> Evidence:
        more = (sentence.replace(f"uses {self.cites.id}, which", "it also", 1) for sentence in sentences[1:])
        shown = dict(point) if point else None
        return Evidence(self.kind, Verdict.UNCHECKED, "; ".join([sentences[0], *more]), counterexample=shown)


def allowed(here: Any, point: Mapping[str, Any]) -> str:
    """`; here ε = 5 is allowed`."""
    names = {str(s) for s in here.free_symbols} if isinstance(here, sympy.Basic) else point.keys()
    printed = {row.name: row.printed for row in TABLE.values()}
    values = [f"{printed.get(k, k)} = {float(point[k]):g}" for k in sorted(names & point.keys())]
    return f"; here {', '.join(values)} is allowed" if values else "; that holds nowhere here"


def citations_of(claim: Claim, known: Mapping[str, Claim]) -> list[Citation]:
    """The checks that a claim's citations bring, but for those that a proof settles under what it says: a case of
    it, the constants it chooses, or what it is granted."""
    chains = [check for check in claim.checks if isinstance(check, Cases | Chain)]
    settled = [c for check in chains if isinstance(check, Cases) or check.choosing for c in check.cites]
    return [Citation(c, known[c.id]) for c in claim.cites if c not in settled and not c.granted]


_: type[Check] = Citation
