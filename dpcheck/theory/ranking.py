"""All methods whose hypotheses a task meets, like with like: bound, verdict, cost, and what nobody can beat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dpcheck.audits.trials.spreading import in_order
from dpcheck.bounds.language.utility_case import PURE
from dpcheck.problems.losses import Loss
from dpcheck.theory.claim_choice import BoundWithNoise, refuted_privacy, verdict_of
from dpcheck.theory.claim_choice import rank as trust
from dpcheck.theory.cost import Cost, cost_of
from dpcheck.theory.likeness import CENTRAL, LOCALLY, Likeness, preference
from dpcheck.theory.method_bounds import BoundsOfKind, Findings, MethodBound, lower_on, methods, surveyed
from dpcheck.theory.task import Bound, LearningTask, task_of, why_not
from dpcheck.verdicts.record import recorded

if TYPE_CHECKING:
    from dpcheck.report.ranking_page import Presentation


@dataclass(frozen=True, eq=False)
class Ranked(MethodBound):
    """A method's place, what it costs, and the refuted claim that its bound stands for, if any.

    `caution` says where the privacy that its document claims for the noise is refuted.
    """

    cost: Cost
    caution: str = ""
    replaces: str = ""

    @property
    def value(self) -> float:
        return self.bound.here[0]


@dataclass(frozen=True, eq=False)
class RankedGroup(BoundsOfKind[Ranked]):
    """Bounds of one kind, the least first, and the lower bound of that very class.

    Of a local model, `central` is the least bound on the same error that a trusted curator may have.
    """

    central: Ranked | None = None

    @property
    def headline(self) -> str:
        """Who is least, and by how much."""
        first, *rest = self.rows
        what = "bound" if self.explicit else "rate"
        if not rest:
            return f"{first.method} alone has a {what} of this kind."
        factor = rest[0].value / first.value
        if factor < 1 + 1e-9:
            return f"{first.method} and {rest[0].method} have the same {what}."
        more = f"{rest[0].method} comes next, {factor:.3g} times larger"
        return f"{first.method} has the least {what}; {more}" + ("." if self.explicit else ", constants aside.")

    @property
    def lost(self) -> str:
        """What it costs that nobody is trusted; "" where no bound of the central model is on this error."""
        if self.central is None:
            return ""
        times = f"{self.rows[0].value / self.central.value:.3g} times" + ("" if self.explicit else ", constants aside,")
        return f"Central model: {self.central.method} has {self.central.value:.4g}; local privacy costs {times} that."


class Ranking(Findings):
    """What `rank` found. Print it, `plot()` it, or take its fields."""

    @property
    def shown(self) -> Presentation:
        from dpcheck.report.ranking_page import RANKING

        return RANKING

    def plot(self, path: Any = None) -> Any:
        """The bounds of each group over n. Needs matplotlib; writes to `path` if given."""
        from dpcheck.report import ranking_figure
        from dpcheck.report.figures import saved

        return saved(ranking_figure.ranking_figure(self), path)


def rank(
    *,
    n: float,
    d: float,
    eps: float,
    delta: float = 1e-5,
    loss: str | Loss = "logistic",
    strongly_convex: float = 0.0,
    model: str = CENTRAL,
    row_bound: float = 1.0,
    executor: Any = None,
    **given: float,
) -> Ranking:
    """Every method whose hypotheses the problem meets, ranked among bounds of its own kind only.

    The problem has `n` records, rows of norm at most `row_bound` in dimension `d`, a `loss` by name or as a Loss, and
    `strongly_convex` times ‖w‖²/2 added to it; constants of the losses follow. `given` are numbers for other symbols of
    the theory, as D or G_C. `model` is who must not learn what: central, local, or label. `executor` is what audits
    take (None: this process); methods are looked at one by one, and where changes no bit.
    """
    named: dict[str, Any] = {"loss": loss, "strongly_convex": strongly_convex, "model": model, "row_bound": row_bound}
    return ranking_of(task_of(n=n, d=d, eps=eps, delta=delta, **{**named, **given}), executor)


def ranking_of(task: LearningTask, executor: Any = None) -> Ranking:
    """The ranking of a task."""
    found: dict[Likeness, list[Ranked]] = {}
    left_out: dict[str, str] = {}
    refuted: dict[str, tuple[str, str]] = {}
    for method, one in zip(methods(), in_order(RankOn(task), methods(), executor), strict=True):
        for kind, row in one.rows.items():
            found.setdefault(kind, []).append(row)
        left_out |= {method: one.left_out} if one.left_out else {}
        refuted |= one.refuted
    central = ranking_of(replace(task, model=CENTRAL), executor).groups if task.model == LOCALLY and found else ()
    groups = []
    for kind in sorted(found, key=preference):
        lower, rows = lower_on(kind, task), tuple(sorted(found[kind], key=lambda row: row.value))
        lower = None if lower is None or why_not(lower) else lower
        groups.append(RankedGroup(kind, rows, lower, trusted(kind, central)))
    return Ranking(task, tuple(groups), left_out, refuted)


def trusted(kind: Likeness, central: Iterable[RankedGroup]) -> Ranked | None:
    """The least bound on this error among those of another model, whose constants are known as well or as badly.

    Bounds of the same privacy come first; one that holds in expectation stands for one that holds with probability.
    """
    alike = [g for g in central if (g.kind.error, g.kind.constants) == (kind.error, kind.constants)]
    same = [g for g in alike if g.kind.case.privacy == kind.case.privacy]
    return min((row for g in same or alike for row in g.rows), key=lambda row: row.value, default=None)


@dataclass(frozen=True, eq=False)
class OneMethod:
    """A method's best bound of each kind; why it has none; and which of its claims are refuted."""

    rows: Mapping[Likeness, Ranked]
    left_out: str
    refuted: Mapping[str, tuple[str, str]]


@dataclass(frozen=True, eq=False)
class RankOn:
    """What one method has to offer on a task, by name."""

    task: LearningTask

    def __call__(self, method: str) -> OneMethod:
        known, survey = recorded(), surveyed(method, self.task)
        rows = {}
        for kind, bounds in survey.bounds.items():
            standing = [bound for bound in bounds if not why_not(bound)]
            if standing:
                best = min(standing, key=lambda b: (trust(known, b.claim), b.here[0]))
                cost, corrects = cost_of(method, self.task, best.here[1], known), best.claim.corrects or ""
                refuted = f"{corrects} ({survey.refuted[corrects][0]})" if corrects in survey.refuted else ""
                caution = caution_of(method, best, kind)
                rows[kind] = Ranked(method, best, verdict_of(best.claim, known), cost, caution, refuted)
        left_out = survey.left_out
        if survey.bounds and not rows:
            first = next(iter(survey.bounds.values()))[0]
            left_out = f"{first.claim.id}: {why_not(first)}"
        return OneMethod(rows, left_out, survey.refuted)


def caution_of(method: str, bound: Bound, kind: Likeness) -> str:
    """Where the bound rests on noise as published, and the privacy of that is refuted at this ε."""
    if isinstance(bound.claim, BoundWithNoise):
        return ""
    failure = refuted_privacy(method, bound.numbers["eps"], kind.case.privacy == PURE)
    return f"its privacy as published is refuted ({failure}): run it with certified noise" if failure else ""
