"""What a utility claim is about: which error, of which losses, under which kind of privacy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy

from dpcheck.bounds.language.claim import Claim, Rate, Setting
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.language.symbols import TABLE, L, beta, delta, mu

STRONG, CONVEX, ANY = "strongly convex", "convex", "not necessarily convex"
PURE, APPROX = "ε-DP", "(ε, δ)-DP"
ONE_NAME = {"G": L, "L_smooth": beta}  # what another document calls the constants of 003
MIRROR_MAP = "1-strongly convex in"  # a norm: that is said of w, which generates distances, not of the losses
RISKS = ("excess_risk", "likely_excess_risk")  # without a word on convexity these are of convex losses


@dataclass(frozen=True)
class UtilityCase:
    """Two claims of one case bound the same error under the same assumptions on losses and privacy."""

    measure: sympy.Symbol
    losses: str
    privacy: str

    def __str__(self) -> str:
        return f"{TABLE[self.measure].printed}, {self.losses} losses, {self.privacy}"


def case_of(claim: Claim) -> UtilityCase:
    """The case of a claim, from its hypotheses and guarantee; where these are silent, from its words and symbols."""
    return UtilityCase(claim.subject, losses_of(claim), privacy_of(claim))


def losses_of(claim: Claim) -> str:
    words = " ".join([claim.says, *(h.words for h in claim.assumes if isinstance(h, Setting))]).lower()
    words = words.replace(MIRROR_MAP, "")
    if claim.has("strongly convex") or mu in claim.formula.free_symbols or "strongly convex" in words:
        return STRONG
    convex = claim.has("convex") is not None or str(claim.subject) in RISKS
    return CONVEX if convex and "non-convex" not in words else ANY


def privacy_of(claim: Claim) -> str:
    if isinstance(claim.guarantee, PureDP):
        return PURE
    parts = claim.id.split(".")
    if isinstance(claim.guarantee, ApproxDP) or "approx" in parts:
        return APPROX
    return PURE if "pure" in parts or delta not in claim.formula.free_symbols else APPROX


def translated(claim: Claim) -> Claim:
    """The claim with each constant under one name, so that bounds of two documents can be set side by side."""
    here = {s: ONE_NAME[str(s)] for s in claim.symbols if str(s) in ONE_NAME}
    if not here:
        return claim
    states = claim.states
    moved = replace(states, of=states.of.xreplace(here)) if isinstance(states, Rate) else states.xreplace(here)
    assumes = [h.xreplace(here) if isinstance(h, sympy.Basic) else h for h in claim.assumes]
    return replace(claim, states=moved, assumes=[h for h in assumes if h != sympy.true])
