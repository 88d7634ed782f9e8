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
from dpcheck.bounds.privacy.box_accounts import KIND
from dpcheck.bounds.privacy.hidden_constants import judge_constants
from dpcheck.bounds.privacy.judging import accountable, judge
from dpcheck.bounds.privacy.question import Question
from dpcheck.bounds.privacy.release import Composed, Release


@dataclass(frozen=True)
class Accountant:
    """Judges a privacy claim from what is released, which `releases` describes in the claim's symbols.

    The search covers every symbol's range in the table, cut by the claim's hypotheses, and by `box` where it is
    given: what lies outside `box` is not looked at. `because` says what attains the releases' sensitivity.
    """

    releases: Release | Composed | Sequence[Release]
    because: str
    box: Mapping[sympy.Symbol, tuple[float, float]] = field(default_factory=dict)
    kind: ClassVar[str] = KIND

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        question = self.question(claim)
        if not question.reads_statement:
            how = f"nothing that is released or promised depends on {pretty(claim.subject)}"
            return Evidence(self.kind, Verdict.UNCHECKED, f"the statement is not read: {how}", self.because)
        if question.constant is not None or question.open_constants:
            return judge_constants(question, self.because, effort)
        return judge(question, self.because, effort)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        given = {s: float(point[str(s)]) for s in claim.hidden if str(s) in point}
        question = replace(self.question(claim), fixed=given)
        open_ = [] if question.constant is None else [question.constant]
        here = {str(s): float(point[str(s)]) for s in [*question.names, *open_]}
        return accountable(question).shown(here, self.because)

    def question(self, claim: Claim) -> Question:
        """The claim and what is released, together."""
        own = self.releases.parts if isinstance(self.releases, Release | Composed) else tuple(self.releases)
        return Question(claim, own, self.box)
