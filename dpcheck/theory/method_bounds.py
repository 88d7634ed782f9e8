"""What the claims of every method say of a task, by kind of bound: `rank` puts it in order, `need` inverts it.

Methods are the stems with a claim on their error: a family that is added appears by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import dpcheck.evidence
from dpcheck.bounds.language.claim import Claim, Kind, Verdict
from dpcheck.bounds.registry import entries, modules_below
from dpcheck.report.reading_order import about
from dpcheck.solvers.finding import solvers
from dpcheck.theory.claim_choice import BoundWithNoise, verdict_of, with_noise
from dpcheck.theory.claim_choice import rank as trust
from dpcheck.theory.likeness import KNOWN, Likeness, likeness_of, lower_bound_of, model_of
from dpcheck.theory.task import MODELS, Bound, LearningTask, bound_on
from dpcheck.verdicts.record import recorded

if TYPE_CHECKING:  # rich is for who prints
    from dpcheck.report.ranking_page import Presentation

NEVER = (Verdict.REFUTED, Verdict.VACUOUS, Verdict.NOT_REPRODUCED)


@dataclass(frozen=True, eq=False)
class MethodBound:
    """One method's bound on the task, and its verdict."""

    method: str
    bound: Bound
    verdict: str

    @property
    def source(self) -> str:
        """The claim it comes from, and whose noise it takes."""
        claim = self.bound.claim
        noise = claim.noise if isinstance(claim, BoundWithNoise) else ""
        return f"{claim.id} with the noise of {noise}" if noise else claim.id


Row = TypeVar("Row", bound=MethodBound)


@dataclass(frozen=True, eq=False)
class BoundsOfKind(Generic[Row]):
    """Bounds of one kind, the best first, and the lower bound of that very class."""

    kind: Likeness
    rows: tuple[Row, ...]
    lower: Bound | None

    @property
    def explicit(self) -> bool:
        """Whether values are promises, and not rates with a constant taken as 1."""
        return self.kind.constants == KNOWN


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found on a task, like with like; why a method has no place; `refuted` bounds, which have none.

    Of a refuted one: its severity, and the claim that stands in its place.
    """

    task: LearningTask
    groups: tuple[Any, ...]
    left_out: Mapping[str, str]
    refuted: Mapping[str, tuple[str, str]]

    @property
    def shown(self) -> Presentation:
        """How it is presented."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return self.shown.plain(self)

    @cached_property
    def _text(self) -> str:
        from dpcheck.report.theory import as_text

        return as_text(self.shown.page(self), width=120)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.shown.html(self)


@dataclass(frozen=True, eq=False)
class Survey:
    """The bounds of one method on a task, by kind; why it has none; and which of its claims are refuted."""

    bounds: Mapping[Likeness, list[Bound]]
    left_out: str
    refuted: Mapping[str, tuple[str, str]]


def surveyed(method: str, task: LearningTask) -> Survey:
    """All that the claims of a method say of the task, whatever its n."""
    known = recorded()
    found: dict[Likeness, list[Bound]] = {}
    reasons: dict[str, str] = {}
    refuted: dict[str, tuple[str, str]] = {}
    for claim in methods()[method] if model_of(method) in MODELS[task.model] else ():
        kind = likeness_of(claim, model_of(method))
        if not task.admits(kind.case):
            continue
        if noise_or_own_verdict(claim, known) in NEVER:
            refuted[claim.id] = how_refuted(claim, known)
            continue
        bound = bound_on(claim, task)
        if isinstance(bound, Bound):
            found.setdefault(kind, []).append(bound)
        else:
            reasons[claim.id] = bound
    telling = min(reasons, key=lambda i: (reasons[i].count("--") or len(reasons[i]), i), default="")
    return Survey(found, f"{telling}: {reasons[telling]}" if reasons and not found else "", refuted)


@lru_cache(maxsize=1)
def methods() -> dict[str, list[Claim]]:
    """Every solver's stem with its claims on a private error: of its own files, and those its evidence is attached to.

    Bounds in terms of the noise get that of its best privacy claim. Checks are left behind: they are for verdicts, and
    not every worker could be sent them.
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
    found = {}
    for stem, claims in sorted(own.items()):
        noises = sorted((c for c in claims if c.kind is Kind.PRIVACY), key=lambda c: (trust(known, c), bool(c.hidden)))
        errors = [with_noise(c, noises) for c in claims if c.kind is Kind.UTILITY and c.holds]
        private = [c for c in errors if "eps" in {str(s) for s in c.formula.free_symbols}]
        if private:
            found[stem] = [replace(claim, checks=()) for claim in private]
    return found


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


def lower_on(kind: Likeness, task: LearningTask) -> Bound | None:
    """The lower bound of the class on this task, whatever its n."""
    claim = lower_bound_of(kind.case, kind.constants, kind.model)
    found = None if claim is None else bound_on(claim, task)
    return found if isinstance(found, Bound) else None
