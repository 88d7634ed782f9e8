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

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.privacy.box_accounts import KIND, Closed, Summed
from dpcheck.bounds.privacy.laws import Gaussian, Laplace, OneBit, WithoutReplacement
from dpcheck.bounds.privacy.question import Question
from dpcheck.bounds.privacy.release import Composed, Release
from dpcheck.bounds.privacy.worst_points import worst_points

RAY = "ray."  # prefix of the exponents in the counterexample of a hidden constant


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
        if question.constant is not None or question.open_constants:
            from dpcheck.bounds.privacy.hidden_constants import judge_constants  # which is built on this module

            return judge_constants(question, self.because, effort)
        return judge(question, self.because, effort)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        given = {s: float(point[str(s)]) for s in claim.hidden if str(s) in point}
        question = replace(self.question(claim), fixed=given)
        if any(k.startswith(RAY) for k in point):
            from dpcheck.bounds.privacy.hidden_constants import replay_growth

            return replay_growth(question, self.because, point)
        here = {str(s): float(point[str(s)]) for s in question.names}
        return accountable(question).shown(here, self.because)

    def question(self, claim: Claim) -> Question:
        """The claim and what is released, together."""
        own = self.releases.parts if isinstance(self.releases, Release | Composed) else tuple(self.releases)
        return Question(claim, own, self.box)


def judge(question: Question, because: str, effort: Effort) -> Evidence:
    """The verdict on a claim whose constants are all given."""
    return judged(question, because, effort) or no_points(question, because)


def no_points(question: Question, because: str) -> Evidence:
    """Nothing can be said."""
    figure = "no point tried meets the hypotheses"
    return Evidence(KIND, Verdict.UNCHECKED, figure, f"{because}; {question.shown()}")


def judged(question: Question, because: str, effort: Effort) -> Evidence | None:
    """The verdict, or None if no point that was tried meets the hypotheses."""
    account, kind = accountable(question), KIND
    tried = worst_points(account.score, account.field, effort.seed, account.samples * (4 if effort.thorough else 1))
    count = len(next(iter(tried.values())))
    if count == 0:
        return None
    point = account.violation(tried)
    if point is not None:
        found = account.shown(account.plainest(point), because)
        needed = f"; {account.most_needed(tried)}"
        return Evidence(kind, found.verdict, found.figure + needed, because, found.margin, None, found.counterexample)
    return account.verdict(tried, count, because, effort)


def accountable(question: Question) -> Closed | Summed:
    """The way to account for these releases."""
    laws, schemes = {type(r.law) for r in question.releases}, {type(r.sampling) for r in question.releases}
    alone = all(r.always == 0 for r in question.releases)
    if isinstance(question.guarantee, PureDP) and laws <= {Laplace, OneBit} and alone:
        if schemes <= {type(None)} or (schemes <= {type(None), WithoutReplacement} and laws == {Laplace}):
            return Closed(question)
    elif alone and schemes == {type(None)} and laws == {Gaussian}:
        return Closed(question)
    if isinstance(question.guarantee, ApproxDP) and laws <= {Gaussian, Laplace}:
        return Summed(question)
    limit = "(eps, delta)-DP for sampled or mixed releases; pure DP for Laplace noise, sampled without replacement"
    raise InvalidInput("guarantee", str(question.guarantee), limit, "State the claim in that notion.")
