"""How much data each method needs for a given error: the bounds of a ranking, inverted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.language.symbols import TABLE, n
from dpcheck.bounds.relations.solving import edge
from dpcheck.problems.losses import Loss
from dpcheck.theory.claim_choice import rank as trust
from dpcheck.theory.claim_choice import verdict_of
from dpcheck.theory.likeness import CENTRAL, KNOWN, Likeness, lower_bound_of, preference
from dpcheck.theory.ranking import source_of, surveyed
from dpcheck.theory.task import Bound, LearningTask, bound_on, task_of, why_not
from dpcheck.verdicts.record import recorded

MOST, LARGE = 1e15, 1e9  # records that anybody has, and many
GRID = np.unique(np.round(np.geomspace(1.0, MOST, 600)))
RISKS = ("excess_risk", "likely_excess_risk", "population_risk")


@dataclass(frozen=True, eq=False)
class LeastData:
    """The least n from which on a method's bound keeps to the error."""

    method: str
    bound: Bound
    verdict: str
    n: float

    @property
    def source(self) -> str:
        """The claim it comes from, and whose noise it takes."""
        return source_of(self.bound.claim)


@dataclass(frozen=True, eq=False)
class NeedGroup:
    """Methods with a bound of one kind, the least n first; `least` is that of the lower bound of this class."""

    kind: Likeness
    rows: tuple[LeastData, ...]
    lower: Bound | None
    least: float | None

    @property
    def explicit(self) -> bool:
        """Whether each n is enough, and not so up to the constant of a rate."""
        return self.kind.constants == KNOWN


@dataclass(frozen=True, eq=False)
class Needs:
    """What `need` found."""

    task: LearningTask
    error: float
    groups: tuple[NeedGroup, ...]
    left_out: Mapping[str, str]
    refuted: Mapping[str, tuple[str, str]]

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        from dpcheck.report.ranking_page import needs_json

        return needs_json(self)

    @cached_property
    def _text(self) -> str:
        from dpcheck.report.ranking_page import needs_page
        from dpcheck.report.theory import as_text

        return as_text(needs_page(self), width=120)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from dpcheck.report.ranking_page import needs_html

        return needs_html(self)


def need(
    *,
    error: float,
    d: float,
    eps: float,
    delta: float = 1e-5,
    loss: str | Loss = "logistic",
    strongly_convex: float = 0.0,
    model: str = CENTRAL,
    row_bound: float = 1.0,
    measure: str | None = None,
    **given: float,
) -> Needs:
    """The least n with which each method's bound is at most `error`, like with like: see `rank` for the problem.

    `measure` is the name of the error that is meant; by default risks, or whatever is bounded where no risk is.
    """
    if isinstance(error, bool) or not isinstance(error, int | float) or not 0 < error < float("inf"):
        raise InvalidInput("error", error, "a finite number > 0", "It is what the bound is to keep to.")
    if "n" in given:
        raise InvalidInput("n", given["n"], "left open: it is what is sought", "Use rank for a given n.")
    named: dict[str, Any] = {"loss": loss, "strongly_convex": strongly_convex, "model": model, "row_bound": row_bound}
    task = task_of(n=2, d=d, eps=eps, delta=delta, **{**named, **given})
    known, survey = recorded(), surveyed(task)
    kinds = {kind for by_kind in survey.bounds.values() for kind in by_kind}
    chosen = chosen_kinds(kinds, measure)
    found: dict[Likeness, list[LeastData]] = {}
    left_out = dict(survey.left_out)
    for method, by_kind in survey.bounds.items():
        for kind in by_kind.keys() & chosen:
            sizes = [(least_n(bound, error), bound) for bound in by_kind[kind]]
            reached = [(trust(known, bound.claim), size, bound) for size, bound in sizes if size is not None]
            if reached:
                _, size, bound = min(reached, key=lambda one: one[:2])
                found.setdefault(kind, []).append(LeastData(method, bound, verdict_of(bound.claim, known), size))
            else:
                left_out[method] = unreached(by_kind[kind][0])
    groups = []
    for kind in sorted(found, key=preference):
        claim = lower_bound_of(kind.case, kind.constants, kind.model)
        lower = None if claim is None else bound_on(claim, task)
        lower = lower if isinstance(lower, Bound) else None
        least = None if lower is None else least_n(lower, error)
        groups.append(NeedGroup(kind, tuple(sorted(found[kind], key=lambda row: row.n)), lower, least))
    return Needs(task, float(error), tuple(groups), left_out, survey.refuted)


def chosen_kinds(kinds: set[Likeness], measure: str | None) -> set[Likeness]:
    """Those of the measure asked for; else of risks, if any."""
    names = {str(kind.case.measure) for kind in kinds}
    if measure is not None and measure not in names:
        printed = sorted(f"{kind.case.measure} ({TABLE[kind.case.measure].printed})" for kind in kinds)
        limit = f"one of {', '.join(dict.fromkeys(printed))}"
        raise UnknownName("measure", measure, limit, "These are bounded for such losses.")
    wanted = {measure} if measure is not None else names & {*RISKS} or names
    return {kind for kind in kinds if str(kind.case.measure) in wanted}


def unreached(bound: Bound) -> str:
    """Why no n keeps to the error: a hypothesis that fails for any n, or what the bound comes to at best."""
    large = replace(bound, numbers={**bound.numbers, "n": LARGE})
    at_best = float(np.nanmin(bound.along(n=GRID), initial=np.inf))
    return f"{bound.claim.id}: {why_not(large) or f'at best {at_best:.3g}, whatever n'}"


def least_n(bound: Bound, error: float) -> float | None:
    """The least n from which on the bound keeps to the error, within its hypotheses; None where no n does."""

    def keeps(size: Any) -> Any:
        return bound.along(n=size) <= error * (1 + 1e-12)  # nan does not

    return float(edge(GRID, keeps, n)) if keeps(GRID).any() else None
