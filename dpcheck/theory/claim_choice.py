"""Which claim a name stands for: by id, or by an algorithm's stem, and then by what is best supported.

A stem's bounds are those of its file and those that its solver is checked against.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import sympy

from dpcheck.bounds.language.claim import Claim, Kind, Rate, Verdict
from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.symbols import eps
from dpcheck.bounds.language.utility_case import translated
from dpcheck.bounds.registry import entries, modules_below
from dpcheck.bounds.relations.conditions import contradiction
from dpcheck.verdicts.failures import Failure, rank_of
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
    """The bound at the noise of the first of these privacy claims that sets it, and may be met along with it; as it is
    if none does.
    """
    symbols = claim.formula.free_symbols
    if eps in symbols or isinstance(claim.states, Rate):
        return claim
    setting = (c for c in noises if c.subject in symbols and isinstance(c.states, sympy.Eq))
    noise = next((c for c in setting if contradiction([*claim.conditions, *c.conditions]) is None), None)
    if noise is None:
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
    from dpcheck import evidence  # late: who solves a bound for a symbol asks for none

    modules = (module for _, name, module in modules_below(evidence) if name == stem)
    return {claim_id for module in modules for claim_id in getattr(module, "CHECKS", {})}


def rank(known: Mapping[str, Any], claim: Claim) -> int:
    verdict = verdict_of(claim, known)
    return RANKS.get(Verdict(verdict), 2) if verdict in Verdict.__members__ else 2


def verdict_of(claim: Claim, known: Mapping[str, Any] | None = None) -> str:
    """The recorded verdict."""
    return str((recorded() if known is None else known).get(claim.id, {}).get("verdict", "not recorded"))


def left_open(claim: Claim) -> set[str]:
    """Parameters of the algorithm, or quantities of its run, that the bound is in terms of."""
    return {str(s) for s in claim.formula.free_symbols} - PROBLEM


def refuted_privacy(stem: str, eps: float, pure: bool | None = None) -> str:
    """The gravest failure of the privacy that an algorithm claims for its noise, at this ε; "" if none is known.

    Slips of the pen, and of a proof, are none. `pure` asks for claims of ε-DP alone, or of others.
    """
    known = recorded()
    claims = [e.claim for e in entries().values() if e.algorithm == stem and e.claim.kind is Kind.PRIVACY]
    bad = []
    for claim in claims:
        asked = claim.guarantee is not None and pure in (None, isinstance(claim.guarantee, PureDP))
        if asked and claim.corrects is None and verdict_of(claim, known) == Verdict.REFUTED:
            severity = str(known[claim.id].get("severity", ""))
            if not beyond(severity, eps) and not severity.startswith((Failure.MISPRINT, Failure.PROOF)):
                bad.append((rank_of(severity), claim.id, severity))
    if not bad:
        return ""
    _, claim_id, severity = min(bad)
    return f"{claim_id}, {severity}"


def beyond(severity: str, eps: float) -> bool:
    """Whether the failure is known for larger ε only."""
    told = re.search(r"^only beyond: .*up to ε = ([\d.]+)", severity)
    return told is not None and eps <= float(told[1].rstrip("."))
