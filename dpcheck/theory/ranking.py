"""All methods whose hypotheses a task meets, like with like: bound, verdict, cost, and what nobody can beat.

Methods are the stems with a claim on their error: a family that is added appears by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import dpcheck.evidence
from dpcheck.bounds.language.claim import Claim, Kind, Verdict
from dpcheck.bounds.language.utility_case import PURE
from dpcheck.bounds.registry import entries, modules_below
from dpcheck.problems.losses import Loss
from dpcheck.report.reading_order import about
from dpcheck.solvers.finding import solvers
from dpcheck.theory.claim_choice import BoundWithNoise, refuted_privacy, verdict_of, with_noise
from dpcheck.theory.claim_choice import rank as trust
from dpcheck.theory.cost import Cost, cost_of
from dpcheck.theory.likeness import CENTRAL, KNOWN, LOCALLY, Likeness, likeness_of, lower_bound_of, model_of, preference
from dpcheck.theory.task import MODELS, Bound, LearningTask, bound_on, task_of, why_not
from dpcheck.verdicts.record import recorded

NEVER = (Verdict.REFUTED, Verdict.VACUOUS, Verdict.NOT_REPRODUCED)


@dataclass(frozen=True, eq=False)
class Ranked:
    """One method's bound on the task, and the refuted claim that it stands for, if any.

    `caution` says where the privacy that its document claims for the noise is refuted.
    """

    method: str
    bound: Bound
    verdict: str
    cost: Cost
    caution: str = ""
    replaces: str = ""

    @property
    def value(self) -> float:
        return self.bound.here[0]

    @property
    def source(self) -> str:
        """The claim it comes from, and whose noise it takes."""
        return source_of(self.bound.claim)


@dataclass(frozen=True, eq=False)
class RankedGroup:
    """Bounds of one kind, least first, and the lower bound of that very class.

    Of a local model, `central` is the least bound on the same error that a trusted curator may have.
    """

    kind: Likeness
    rows: tuple[Ranked, ...]
    lower: Bound | None
    central: Ranked | None = None

    @property
    def explicit(self) -> bool:
        """Whether values are promises, and not rates with a constant taken as 1."""
        return self.kind.constants == KNOWN

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


@dataclass(frozen=True, eq=False)
class Ranking:
    """What `rank` found. Print it, `plot()` it, or take its fields. `refuted` bounds are not ranked."""

    task: LearningTask
    groups: tuple[RankedGroup, ...]
    left_out: Mapping[str, str]
    refuted: Mapping[str, tuple[str, str]]  # its severity, and the claim that stands in its place

    def plot(self, path: Any = None) -> Any:
        """The bounds of each group over n. Needs matplotlib; writes to `path` if given."""
        from dpcheck.report import ranking_figure
        from dpcheck.report.figures import saved

        return saved(ranking_figure.ranking_figure(self), path)

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        from dpcheck.report.ranking_page import ranking_json

        return ranking_json(self)

    @cached_property
    def _text(self) -> str:
        from dpcheck.report.ranking_page import ranking_page
        from dpcheck.report.theory import as_text

        return as_text(ranking_page(self), width=120)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from dpcheck.report.ranking_page import ranking_html

        return ranking_html(self)


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
    **given: float,
) -> Ranking:
    """Every method whose hypotheses the problem meets, ranked among bounds of its own kind only.

    The problem has `n` records, rows of norm at most `row_bound` in dimension `d`, a `loss` by name or as a Loss, and
    `strongly_convex` times ‖w‖²/2 added to it; constants of the losses follow. `given` are numbers for other symbols of
    the theory, as D or G_C. `model` is who must not learn what: central, local, or label.
    """
    named: dict[str, Any] = {"loss": loss, "strongly_convex": strongly_convex, "model": model, "row_bound": row_bound}
    return ranking_of(task_of(n=n, d=d, eps=eps, delta=delta, **{**named, **given}))


def ranking_of(task: LearningTask) -> Ranking:
    """The ranking of a task."""
    known, survey = recorded(), surveyed(task)
    found: dict[Likeness, list[Ranked]] = {}
    left_out = dict(survey.left_out)
    for method, by_kind in survey.bounds.items():
        standing = {kind: [b for b in bounds if not why_not(b)] for kind, bounds in by_kind.items()}
        if not any(standing.values()):
            bound = next(iter(by_kind.values()))[0]
            left_out[method] = f"{bound.claim.id}: {why_not(bound)}"
            continue
        for kind, bounds in standing.items():
            if bounds:
                best = min(bounds, key=lambda b: (trust(known, b.claim), b.here[0]))
                caution, cost = caution_of(method, best, kind), cost_of(method, task, best.here[1], known)
                corrects = best.claim.corrects or ""
                refuted = f"{corrects} ({survey.refuted[corrects][0]})" if corrects in survey.refuted else ""
                row = Ranked(method, best, verdict_of(best.claim, known), cost, caution, refuted)
                found.setdefault(kind, []).append(row)
    central = ranking_of(replace(task, model=CENTRAL)).groups if task.model == LOCALLY and found else ()
    groups = [
        RankedGroup(
            kind, tuple(sorted(found[kind], key=lambda row: row.value)), lower_on(kind, task), trusted(kind, central)
        )
        for kind in sorted(found, key=preference)
    ]
    return Ranking(task, tuple(groups), left_out, survey.refuted)


def trusted(kind: Likeness, central: Iterable[RankedGroup]) -> Ranked | None:
    """The least bound on this error among those of another model, whose constants are known as well or as badly.

    Bounds of the same privacy come first; one that holds in expectation stands for one that holds with probability.
    """
    alike = [g for g in central if (g.kind.error, g.kind.constants) == (kind.error, kind.constants)]
    same = [g for g in alike if g.kind.case.privacy == kind.case.privacy]
    return min((row for g in same or alike for row in g.rows), key=lambda row: row.value, default=None)


@dataclass(frozen=True, eq=False)
class BoundsByMethod:
    """The bounds of every method on a task, by kind; why a method has none; and what is refuted."""

    bounds: Mapping[str, Mapping[Likeness, list[Bound]]]
    left_out: Mapping[str, str]
    refuted: Mapping[str, tuple[str, str]]


def surveyed(task: LearningTask) -> BoundsByMethod:
    """All that the claims of the methods say of the task, whatever its n."""
    known = recorded()
    found: dict[str, dict[Likeness, list[Bound]]] = {}
    left_out: dict[str, str] = {}
    refuted: dict[str, tuple[str, str]] = {}
    for method, claims in methods():
        if model_of(method) not in MODELS[task.model]:
            continue
        reasons: dict[str, str] = {}
        for claim in claims:
            kind = likeness_of(claim, model_of(method))
            if not task.admits(kind.case):
                continue
            if noise_or_own_verdict(claim, known) in NEVER:
                refuted[claim.id] = how_refuted(claim, known)
                continue
            bound = bound_on(claim, task)
            if isinstance(bound, Bound):
                found.setdefault(method, {}).setdefault(kind, []).append(bound)
            else:
                reasons[claim.id] = bound
        if reasons and method not in found:
            claim_id = min(reasons, key=lambda i: (reasons[i].count("--") or len(reasons[i]), i))
            left_out[method] = f"{claim_id}: {reasons[claim_id]}"
    return BoundsByMethod(found, left_out, refuted)


# Methods ---------------------------------------------------------------------------------------------
@lru_cache(maxsize=1)
def methods() -> tuple[tuple[str, list[Claim]], ...]:
    """Every solver's stem with its claims on a private error: of its own files, and those its evidence is attached to.

    Bounds in terms of the noise get that of its best privacy claim.
    """
    known = recorded()
    attached: dict[str, set[str]] = {}
    for _, stem, module in modules_below(dpcheck.evidence):
        attached.setdefault(stem, set()).update(getattr(module, "CHECKS", {}))
    own: dict[str, list[Claim]] = {}
    for claim_id, entry in entries().items():
        stems = {about(entry.algorithm), *(stem for stem, ids in attached.items() if claim_id in ids)}
        for stem in stems & solvers().keys():
            own.setdefault(stem, []).append(entry.claim)
    found = []
    for stem, claims in sorted(own.items()):
        noises = sorted((c for c in claims if c.kind is Kind.PRIVACY), key=lambda c: (trust(known, c), bool(c.hidden)))
        errors = [with_noise(c, noises) for c in claims if c.kind is Kind.UTILITY and c.holds]
        private = [c for c in errors if "eps" in {str(s) for s in c.formula.free_symbols}]
        if private:
            found.append((stem, private))
    return tuple(found)


def source_of(claim: Claim) -> str:
    """The claim, and whose noise it takes."""
    return (
        f"{claim.id} with the noise of {claim.noise}" if isinstance(claim, BoundWithNoise) and claim.noise else claim.id
    )


def noise_or_own_verdict(claim: Claim, known: Mapping[str, Any]) -> str:
    """Its verdict; that of the noise it was given where this is worse than nothing."""
    noise = known.get(claim.noise, {}).get("verdict") if isinstance(claim, BoundWithNoise) else None
    return str(noise) if noise in NEVER else verdict_of(claim, known)


def how_refuted(claim: Claim, known: Mapping[str, Any]) -> tuple[str, str]:
    """How gravely, and the claim that corrects it or prints its right form; "" if there is none."""
    if verdict_of(claim, known) not in NEVER and isinstance(claim, BoundWithNoise):
        return f"the noise that it needs, {claim.noise}, is refuted", ""
    corrected = [i for i, e in entries().items() if e.claim.corrects == claim.id]
    instead = next(iter([*corrected, *([claim.misprint_of] if claim.misprint_of else [])]), "")
    return str(known[claim.id].get("severity") or known[claim.id]["verdict"]), instead


def caution_of(method: str, bound: Bound, kind: Likeness) -> str:
    """Where the bound rests on noise as published, and the privacy of that is refuted at this ε."""
    if isinstance(bound.claim, BoundWithNoise):
        return ""
    failure = refuted_privacy(method, bound.numbers["eps"], kind.case.privacy == PURE)
    return f"its privacy as published is refuted ({failure}): run it with certified noise" if failure else ""


def lower_on(kind: Likeness, task: LearningTask) -> Bound | None:
    """The lower bound of the class on this task."""
    claim = lower_bound_of(kind.case, kind.constants, kind.model)
    found = None if claim is None else bound_on(claim, task)
    return found if isinstance(found, Bound) and not why_not(found) else None
