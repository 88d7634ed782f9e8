"""Which claim a name stands for: by id, or by an algorithm's stem, and then by what is best supported.

A stem's bounds are those of its file and those that its solver is checked against.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import sympy

import dpcheck.evidence
from dpcheck.bounds.language.claim import Claim, Kind, Rate, Verdict
from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.language.symbols import TABLE, eps
from dpcheck.bounds.language.utility_case import ANY, APPROX, CONVEX, PURE, STRONG, UtilityCase, case_of, translated
from dpcheck.bounds.registry import entries, modules_below
from dpcheck.verdicts.record import recorded

TRUSTED = (Verdict.PROVED, Verdict.CERTIFIED, Verdict.LOOSE)
RANKS = {**dict.fromkeys(TRUSTED, 0), Verdict.SUPPORTED: 1, Verdict.VACUOUS: 3, Verdict.REFUTED: 4}
# What a bound may depend on without leaving a choice of the algorithm open.
PROBLEM = {"n", "d", "eps", "delta", "gamma", "L", "beta", "mu", "D", "R", "w_hat", "distance", "D_F", "gap0", "G_C"}
PROBLEM |= {"diameter", "divergence"}


@dataclass(frozen=True, eq=False)
class BoundWithNoise(Claim):
    """A bound that names the noise, with the noise of a privacy claim put in."""

    noise: str = ""


def candidates(name: str, private: Iterable[str] = ("eps",), compose: bool = True) -> list[Claim]:
    """The bounds on errors that a name may stand for, in the order of their file: those with a symbol of privacy.

    With `compose`, a bound in terms of the noise gets the noise of the algorithm's own privacy claim.
    """
    if name in entries():
        return [translated(entries()[name].claim)] if compose else [entries()[name].claim]
    attached = attached_claims(name)
    own = [e.claim for k, e in entries().items() if e.algorithm == name or k.startswith(name + ".") or k in attached]
    found = [c for c in own if c.kind is Kind.UTILITY and c.holds]
    if compose:
        noises = sorted((c for c in own if c.kind is Kind.PRIVACY), key=lambda c: (rank(recorded(), c), bool(c.hidden)))
        found = [translated(with_noise(c, noises)) for c in found]
    found = [c for c in found if {str(s) for s in c.formula.free_symbols} & set(private)]
    stems = {e.algorithm for e in entries().values()}
    if not found and name in stems:
        raise InvalidInput(name, "without a bound on its error", "an algorithm with one", "See `dpcheck claims`.")
    if not found:
        near = difflib.get_close_matches(name, [*stems, *entries()], n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else "`dpcheck claims` lists them."
        raise UnknownName("algorithm or claim", name, "a stem or an id", hint)
    return found


def with_noise(claim: Claim, noises: Sequence[Claim]) -> Claim:
    """The bound at the noise of the first of these privacy claims that sets it; as it is if none does."""
    symbols = claim.formula.free_symbols
    noise = next((c for c in noises if c.subject in symbols and isinstance(c.states, sympy.Eq)), None)
    if eps in symbols or noise is None or isinstance(claim.states, Rate):
        return claim
    parts = {f.name: getattr(claim, f.name) for f in fields(claim) if f.init}
    parts |= {
        "states": claim.states.func(claim.subject, claim.formula.subs(noise.subject, noise.formula)),
        "assumes": [*claim.assumes, *noise.conditions],
        "guarantee": noise.guarantee,
        "hidden": (*claim.hidden, *noise.hidden),
    }
    return BoundWithNoise(**parts, noise=noise.id)


def attached_claims(stem: str) -> set[str]:
    """Claims that the solver of that stem is checked against: a baseline's bounds stand in another file."""
    modules = (module for _, name, module in modules_below(dpcheck.evidence) if name == stem)
    return {claim_id for module in modules for claim_id in getattr(module, "CHECKS", {})}


def shared_case(
    by_name: Mapping[str, Sequence[Claim]], wanted: Mapping[str, str | None]
) -> tuple[dict[str, Claim], UtilityCase, list[UtilityCase], str]:
    """One claim for each name, of one case where possible; the other cases shared; a caution where there is none."""
    by_case = {name: best_by_case(claims) for name, claims in by_name.items()}
    measures = set.intersection(*({str(c.measure) for c in cases} for cases in by_case.values()))
    if wanted["measure"] is not None:
        measures &= {wanted["measure"]}
    if not measures:
        said = "; ".join(f"{name} bounds {' and '.join(sorted(measured(cases)))}" for name, cases in by_case.items())
        raise InvalidInput("comparison", "of different errors", "of bounds on one and the same error", f"{said}.")
    shared = [c for c in set.intersection(*(set(cases) for cases in by_case.values())) if fits(c, wanted, measures)]
    if shared:
        first, *rest = sorted(shared, key=preference)
        return {name: cases[first] for name, cases in by_case.items()}, first, rest, ""
    chosen = {}
    for name, cases in by_case.items():
        own = sorted((c for c in cases if fits(c, {}, measures)), key=preference)
        chosen[name] = cases[min(own, key=lambda c: (not fits(c, wanted, measures), preference(c)))]
    found = {name: case_of(claim) for name, claim in chosen.items()}
    said = "; ".join(f"{name}: {c.losses} losses, {c.privacy}" for name, c in found.items())
    weakest = min(found.values(), key=lambda c: -(STRONG, CONVEX, ANY).index(c.losses))
    return chosen, weakest, [], f"These bounds rest on different assumptions ({said}): the least need not be the best."


def measured(cases: Iterable[UtilityCase]) -> set[str]:
    """What is bounded, as a reader sees it."""
    return {TABLE[c.measure].printed for c in cases}


def fits(case: UtilityCase, wanted: Mapping[str, str | None], measures: set[str]) -> bool:
    asked = ((wanted.get("losses"), case.losses), (wanted.get("privacy"), case.privacy))
    return str(case.measure) in measures and all(ask is None or ask == has for ask, has in asked)


def preference(case: UtilityCase) -> tuple[int, int, str]:
    """Excess risk before other errors, (ε, δ) before ε, stronger assumptions before weaker."""
    first = 0 if str(case.measure) == "excess_risk" else 1
    return first, (APPROX, PURE).index(case.privacy) * 3 + (STRONG, CONVEX, ANY).index(case.losses), str(case.measure)


def best_by_case(claims: Sequence[Claim]) -> dict[UtilityCase, Claim]:
    """Of each case the claim with the best verdict, then with the fewest parameters left open."""
    known = recorded()
    found: dict[UtilityCase, Claim] = {}
    for claim in sorted(claims, key=lambda c: (rank(known, c), len(left_open(c)))):
        found.setdefault(case_of(claim), claim)
    return found


def rank(known: Mapping[str, Any], claim: Claim) -> int:
    verdict = verdict_of(claim, known)
    return RANKS.get(Verdict(verdict), 2) if verdict in Verdict.__members__ else 2


def verdict_of(claim: Claim, known: Mapping[str, Any] | None = None) -> str:
    """The recorded verdict."""
    return str((recorded() if known is None else known).get(claim.id, {}).get("verdict", "not recorded"))


def left_open(claim: Claim) -> set[str]:
    """Parameters of the algorithm, or quantities of its run, that the bound is in terms of."""
    return {str(s) for s in claim.formula.free_symbols} - PROBLEM


def lower_bound(case: UtilityCase) -> Claim | None:
    """What no private algorithm can beat in this case, with units where the library has them."""
    found = [
        e.claim
        for e in entries().values()
        if e.claim.kind is Kind.LOWER_BOUND
        and (e.claim.subject, case_of(e.claim).losses) == (case.measure, case.losses)
    ]
    return min(found, key=lambda c: (c.ignores_units, rank(recorded(), c)), default=None)


def dropped_constants(chosen: Mapping[str, Claim]) -> str:
    """A caution where a bound is stated without the constants of the problem."""
    names = [name for name, claim in chosen.items() if claim.ignores_units]
    verb = "is" if len(names) == 1 else "are"
    said = f"{' and '.join(names)} {verb} stated with L, β, μ and D dropped: compare where these are 1."
    return said if names and len(names) < len(chosen) else ""


def refuted_privacy(name: str) -> str:
    """A caution where the privacy that an algorithm claims for its noise is refuted: its bound may buy nothing."""
    known = recorded()
    claims = [e.claim for e in entries().values() if e.algorithm == name and e.claim.kind is Kind.PRIVACY]
    bad = [
        c.id
        for c in claims
        if c.guarantee is not None and c.corrects is None and verdict_of(c, known) == Verdict.REFUTED
    ]
    return f"The privacy of {name} is refuted as stated ({', '.join(bad)})." if bad else ""
