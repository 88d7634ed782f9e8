"""How much data each method needs for a given error: the bounds of a ranking, inverted."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.language.symbols import TABLE, n
from dpcheck.bounds.relations.solving import edge
from dpcheck.problems.losses import Loss
from dpcheck.theory.claim_choice import rank as trust
from dpcheck.theory.claim_choice import verdict_of
from dpcheck.theory.likeness import CENTRAL, Likeness, preference
from dpcheck.theory.method_bounds import BoundsOfKind, Findings, MethodBound, lower_on, methods, surveyed
from dpcheck.theory.task import Bound, task_of, why_not
from dpcheck.verdicts.record import recorded

if TYPE_CHECKING:
    from dpcheck.report.ranking_page import Presentation

MOST, LARGE = 1e15, 1e9  # records that anybody has, and many
GRID = np.unique(np.round(np.geomspace(1.0, MOST, 600)))
RISKS = ("excess_risk", "likely_excess_risk", "population_risk")


@dataclass(frozen=True, eq=False)
class LeastData(MethodBound):
    """The least n from which on a method's bound keeps to the error."""

    n: float


@dataclass(frozen=True, eq=False)
class NeedGroup(BoundsOfKind[LeastData]):
    """Methods with a bound of one kind, the least n first; `least` is that of the lower bound of this class."""

    least: float | None


@dataclass(frozen=True, eq=False)
class Needs(Findings):
    """What `need` found."""

    error: float

    __repr__ = Findings.__repr__

    @property
    def shown(self) -> Presentation:
        from dpcheck.report.ranking_page import NEEDS

        return NEEDS


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
    if isinstance(error, bool) or not isinstance(error, int | float) or not 0 < error <= sys.float_info.max:
        raise InvalidInput("error", error, "a finite number > 0", "It is what the bound is to keep to.")
    if "n" in given:
        raise InvalidInput("n", given["n"], "left open: it is what is sought", "Use rank for a given n.")
    named: dict[str, Any] = {"loss": loss, "strongly_convex": strongly_convex, "model": model, "row_bound": row_bound}
    task = task_of(n=2, d=d, eps=eps, delta=delta, **{**named, **given})
    known = recorded()
    surveys = {method: surveyed(method, task) for method in methods()}
    chosen = chosen_kinds({kind for survey in surveys.values() for kind in survey.bounds}, measure)
    found: dict[Likeness, list[LeastData]] = {}
    left_out = {method: survey.left_out for method, survey in surveys.items() if survey.left_out}
    for method, survey in surveys.items():
        for kind in survey.bounds.keys() & chosen:
            sizes = [(least_n(bound, error), bound) for bound in survey.bounds[kind]]
            reached = [(trust(known, bound.claim), size, bound) for size, bound in sizes if size is not None]
            if reached:
                _, size, bound = min(reached, key=lambda one: one[:2])
                found.setdefault(kind, []).append(LeastData(method, bound, verdict_of(bound.claim, known), size))
            else:
                left_out[method] = unreached(survey.bounds[kind][0])
    groups = []
    for kind in sorted(found, key=preference):
        lower = lower_on(kind, task)
        least = None if lower is None else least_n(lower, error)
        groups.append(NeedGroup(kind, tuple(sorted(found[kind], key=lambda row: row.n)), lower, least))
    refuted = {claim: how for survey in surveys.values() for claim, how in survey.refuted.items()}
    return Needs(task, tuple(groups), left_out, refuted, float(error))


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
