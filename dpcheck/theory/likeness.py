"""Which bounds may be ranked against each other: those that promise one error, alike, under the same assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import sympy

from dpcheck.bounds.language.claim import Claim, Kind, Rate
from dpcheck.bounds.language.guarantees import LABEL_ONLY, LOCAL, LOCAL_ATTRIBUTE, PureDP, Relation
from dpcheck.bounds.language.symbols import LIKELY, TABLE, gamma
from dpcheck.bounds.language.utility_case import ANY, APPROX, CONVEX, PURE, STRONG, UtilityCase, case_of
from dpcheck.bounds.registry import entries
from dpcheck.solvers.finding import solver_named
from dpcheck.theory.claim_choice import PROBLEM, left_open, rank
from dpcheck.verdicts.record import recorded

KNOWN = "all constants known"
ORDER = "up to a constant factor"
DROPPED = "as a rate in n, d, ε and δ, other constants dropped"
SIZES = {"n", "d", "eps", "delta", "gamma"}  # what a rate is in, when other constants are dropped
CENTRAL, LOCALLY, LABELS, ATTRIBUTES = "central", "local", "label", "local attribute"
ERRORS = {
    "excess_risk": "excess empirical risk",
    "likely_excess_risk": "excess empirical risk",
    "population_risk": "excess population risk",
    "gradient_norm": "gradient norm",
    "gradient_norm2": "squared gradient norm",
    "gradient_map2": "squared gradient mapping",
    "frank_wolfe_gap": "Frank-Wolfe gap",
    "likely_gap": "Frank-Wolfe gap",
    "ls_norm2": "squared gradient in the norm of A⁻¹",
    "step_map": "step over its size",
    "step_map2": "squared step over its size",
    "mirror_map": "mirror step over its size",
    "mirror_map2": "squared mirror step over its size",
    "average_error": "error of the average",
    "max_error": "largest error of a coordinate",
}


@dataclass(frozen=True)
class Likeness:
    """One kind of bound: the error, how it is promised, the losses, the privacy, and what is known of constants."""

    case: UtilityCase
    holds: str
    model: str
    constants: str

    @property
    def error(self) -> str:
        """The error in words, however it is promised."""
        return error_in_words(self.case.measure)

    def __str__(self) -> str:
        model = "" if self.model == CENTRAL else f"{self.model} model, "
        return (
            f"{self.error} {TABLE[self.case.measure].printed}, {self.holds}, {self.case.losses} losses, "
            f"{self.case.privacy}, {model}{self.constants}"
        )


def error_in_words(measure: sympy.Symbol) -> str:
    """A short name for what is bounded; its meaning, if nobody has given it one."""
    return ERRORS.get(str(measure), TABLE[measure].meaning)


def likeness_of(claim: Claim, model: str = CENTRAL) -> Likeness:
    """The kind of a bound; one that depends on a failure probability holds with the rest of it."""
    holds = LIKELY if gamma in claim.formula.free_symbols else claim.holds
    return Likeness(case_of(claim), holds, model, constants_of(claim))


def constants_of(claim: Claim) -> str:
    """Whether the bound is a number, a number up to a factor, or a rate in the sizes alone."""
    if not isinstance(claim.states, Rate) and not claim.hidden:
        return KNOWN
    return DROPPED if claim.ignores_units else ORDER


def preference(kind: Likeness) -> tuple[int, int, int, str]:
    """Excess risk before other errors, (ε, δ) before ε, stronger assumptions before weaker, known constants first."""
    first = 0 if str(kind.case.measure) == "excess_risk" else 1
    case = (APPROX, PURE).index(kind.case.privacy) * 3 + (STRONG, CONVEX, ANY).index(kind.case.losses)
    return first, case, (KNOWN, ORDER, DROPPED).index(kind.constants), str(kind)


@cache
def model_of(stem: str) -> str:
    """Who adds the noise or what it hides, from the relations of the stem's solver, else of its privacy claims."""
    solver = solver_named(stem)
    if solver is not None:
        return model_among(solver.relations)
    guarantees = (e.claim.guarantee for e in entries().values() if e.algorithm == stem)
    return model_among(g.relation for g in guarantees if g is not None)


def model_among(relations: Iterable[Relation]) -> str:
    """The model that neighbouring relations stand for."""
    names = {relation.name for relation in relations}
    known = {LOCAL.name: LOCALLY, LABEL_ONLY.name: LABELS, LOCAL_ATTRIBUTE.name: ATTRIBUTES}
    return known.get(names.pop(), CENTRAL) if len(names) == 1 else CENTRAL


def lower_bound_of(case: UtilityCase, constants: str = ORDER, model: str = CENTRAL) -> Claim | None:
    """What no private algorithm can beat in this very class: its error, losses and model; with units if it has any."""

    def fits(claim: Claim) -> bool:
        if claim.kind is not Kind.LOWER_BOUND:
            return False
        mine = case_of(claim)
        relation = () if claim.guarantee is None else (claim.guarantee.relation,)
        weaker = isinstance(claim.guarantee, PureDP) and case.privacy == APPROX  # says nothing of (ε, δ)
        same = (mine.measure, mine.losses) == (case.measure, case.losses)
        return same and not weaker and model_among(relation) == model

    found = [e.claim for e in entries().values() if fits(e.claim)]
    known, bare = recorded() if len(found) > 1 else {}, constants == DROPPED
    return min(found, key=lambda c: (c.ignores_units != bare, rank(known, c)), default=None)


# Names that stand for several bounds -----------------------------------------------------------------
def best_by_kind(claims: Sequence[Claim], model: str) -> dict[Likeness, Claim]:
    """Of each kind the claim with the best verdict; none that leaves a parameter open but T, where others do not.

    A rate with its constants is a rate without them too.
    """
    known = recorded()
    found: dict[Likeness, Claim] = {}
    whole = [claim for claim in claims if left_open(claim) <= {"T"}] or claims
    for claim in sorted(whole, key=lambda c: (rank(known, c), len(left_open(c)))):
        found.setdefault(likeness_of(claim, model), claim)
    for kind, claim in list(found.items()):
        if kind.constants != KNOWN:
            bare = without_constants(claim)
            if bare is not None:
                found[replace(kind, constants=DROPPED)] = bare
    return found


def without_constants(claim: Claim) -> Claim | None:
    """A rate at L = β = μ = D = ... = 1; None where its hypotheses exclude that."""
    ones = {s: sympy.Integer(1) for s in claim.symbols if str(s) in PROBLEM | {"G", "L_smooth"} and str(s) not in SIZES}
    assumes = [h.subs(ones) if isinstance(h, sympy.Basic) else h for h in claim.assumes]
    if sympy.false in assumes or not isinstance(claim.states, Rate):
        return None
    states = replace(claim.states, of=claim.formula.subs(ones))
    return replace(claim, states=states, assumes=[h for h in assumes if h != sympy.true], added=(), ignores_units=True)


def like_with_like(by_name: Mapping[str, Mapping[Likeness, Claim]]) -> list[tuple[Likeness, dict[str, Claim]]]:
    """Kinds that hold every name at least once, those that hold the most first, each with all names that have it."""
    sharing: dict[Likeness, dict[str, Claim]] = {}
    for name, kinds in by_name.items():
        for kind, claim in kinds.items():
            sharing.setdefault(kind, {})[name] = claim
    found, left = [], set(by_name)
    while left:
        useful = [kind for kind, names in sharing.items() if names.keys() & left]
        kind = min(useful, key=lambda kind: (-len(sharing[kind]), preference(kind)))
        found.append((kind, sharing[kind]))
        left -= sharing[kind].keys()
    return found
