"""The verdict on what is released: a search for a point that leaks more than stated, then a cover of the box."""

from __future__ import annotations

from dpcheck.bounds.language.claim import Effort, Evidence, Verdict
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.privacy.box_accounts import KIND, Closed, Summed
from dpcheck.bounds.privacy.laws import RESPONSES, Gaussian, Laplace, Wishart, WithoutReplacement
from dpcheck.bounds.privacy.question import Question
from dpcheck.bounds.privacy.wishart_accounts import Cones
from dpcheck.bounds.privacy.worst_points import worst_points

PATH = "path"  # in the counterexample of a hidden constant: the exponents along which no constant lasts


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


def accountable(question: Question) -> Closed | Summed | Cones:
    """The way to account for these releases."""
    laws, schemes = {type(r.law) for r in question.releases}, {type(r.sampling) for r in question.releases}
    alone = all(r.always == 0 for r in question.releases)
    if isinstance(question.guarantee, PureDP) and laws <= {Laplace, *RESPONSES} and alone:
        if schemes <= {type(None)} or (schemes <= {type(None), WithoutReplacement} and laws == {Laplace}):
            return Closed(question)
    elif alone and schemes == {type(None)} and laws == {Gaussian}:
        return Closed(question)
    if isinstance(question.guarantee, ApproxDP) and laws <= {Gaussian, Laplace}:
        return Summed(question)
    wishart = laws == {Wishart} and len(question.releases) == 1 and alone
    if wishart and isinstance(question.guarantee, ApproxDP | PureDP):
        return Cones(question)
    limit = "(eps, delta)-DP for sampled or mixed releases; pure DP for Laplace noise, sampled without replacement"
    raise InvalidInput("guarantee", str(question.guarantee), limit, "State the claim in that notion.")
