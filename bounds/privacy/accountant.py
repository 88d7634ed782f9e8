"""The accountant: whether the noise of a claim gives the privacy that it states, anywhere in its hypotheses.

It searches the whole box for a point that leaks more than stated (REFUTED, by a sound lower bound there), and covers
the box with cells on which a sound upper bound keeps the promise (CERTIFIED, or LOOSE if less noise would do). What
holds at the points tried without covering the box is SUPPORTED.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import sympy

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict, pretty
from dpcheck.bounds.language.resting import Used, missing
from dpcheck.bounds.language.symbols import constants_of_losses
from dpcheck.bounds.privacy.box_accounts import KIND
from dpcheck.bounds.privacy.hidden_constants import judge_constants
from dpcheck.bounds.privacy.judging import accountable, judge
from dpcheck.bounds.privacy.question import Question
from dpcheck.bounds.privacy.release import Composed, Release


@dataclass(frozen=True)
class Accountant:
    """Judges a privacy claim from what is released, which `releases` describes in the claim's symbols.

    The search covers every symbol's range in the table, cut by the claim's hypotheses, and by `box` where it is
    given: what lies outside `box` is not looked at. `because` says what attains the releases' sensitivity, and `uses`
    are the hypotheses in words that it rests on: nothing is shown of a claim without them.
    """

    releases: Release | Composed | Sequence[Release]
    because: str
    box: Mapping[sympy.Symbol, tuple[float, float]] = field(default_factory=dict)
    uses: Sequence[Used] = ()
    kind: ClassVar[str] = KIND

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        question = self.question(claim)
        if not question.reads_statement:
            how = f"nothing that is released or promised depends on {pretty(claim.subject)}"
            return Evidence(self.kind, Verdict.UNCHECKED, f"the statement is not read: {how}", self.because)
        constants = question.constant is not None or question.open_constants
        found = (judge_constants if constants else judge)(question, self.because, effort)
        unnamed = self.unassumed(claim)
        if found.verdict is Verdict.REFUTED:
            return found
        unsaid = missing(self.uses, claim)
        if unsaid:
            return Evidence(self.kind, Verdict.UNCHECKED, f"gap: {unsaid}", self.because)
        if unnamed:
            figure = f"a record moves what is released by {pretty(unnamed[0])}, and no hypothesis on the losses says so"
            return Evidence(self.kind, Verdict.UNCHECKED, figure, self.because)
        return found

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        given = {s: float(point[str(s)]) for s in claim.hidden if str(s) in point}
        question = replace(self.question(claim), fixed=given)
        open_ = [] if question.constant is None else [question.constant]
        here = {str(s): float(point[str(s)]) for s in [*question.names, *open_]}
        return accountable(question).shown(here, self.because)

    def unassumed(self, claim: Claim) -> list[sympy.Symbol]:
        """The constants of losses in the sensitivities that no hypothesis of the claim names."""
        parts = self.releases.parts if isinstance(self.releases, Release | Composed) else tuple(self.releases)
        moved = sympy.Tuple(*(sympy.sympify(move) for part in parts for move in (part.sensitivity, part.always)))
        return sorted((moved.free_symbols & constants_of_losses()) - claim.named_constants, key=str)

    def question(self, claim: Claim) -> Question:
        """The claim and what is released, together."""
        own = self.releases.parts if isinstance(self.releases, Release | Composed) else tuple(self.releases)
        return Question(claim, own, self.box)
