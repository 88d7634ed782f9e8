"""What kind of failure a refutation is, computed from its evidence, its corrected version and its hypotheses."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import sympy

from dpcheck.bounds.language.claim import Check, Claim, Effort, Evidence, Kind, Rate, Setting, Verdict, pretty
from dpcheck.bounds.language.errors import DpcheckError
from dpcheck.bounds.language.guarantees import ZCDP
from dpcheck.bounds.language.symbols import NONE, TABLE, delta, eps, unit_of
from dpcheck.bounds.privacy.judging import PATH
from dpcheck.bounds.proving.links import proportional
from dpcheck.bounds.proving.proofs import NoConstant
from dpcheck.bounds.proving.steps import Same, digits
from dpcheck.verdicts.failures import Failure

USUAL = 1.0  # the largest epsilon at which a failure is one of privacy in use
EVERY_EPSILON = f"no constant serves all ε; up to ε = {USUAL:g} no failure was found"
LEAST_DELTA = 1e-12  # what shows at smaller ones alone shows to nobody
USUAL_RHO = 0.5  # the same of concentrated privacy: that of Gaussians one deviation apart
LONG = 20  # operations from which on a quotient is not shown
HALVINGS = 4  # of the range between two caps
CAPS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
STANDS = (Verdict.PROVED, Verdict.CERTIFIED, Verdict.LOOSE, Verdict.SUPPORTED)
OF_A_PROOF = re.compile(r"\.(proof|recursion|start|step|sketch)(\.|$)")


@dataclass(frozen=True)
class Severity:
    """The kind of failure, the number or name that says how far it goes, and what to use instead."""

    failure: Failure
    how_far: str = ""
    instead: str = ""

    def __str__(self) -> str:
        return f"{self.failure}: {self.how_far}" if self.how_far else str(self.failure)


def severity(
    claim: Claim,
    checks: Sequence[Check],
    evidence: Sequence[Evidence],
    known: Mapping[str, Claim],
    recorded: Mapping[str, Any],
    effort: Effort,
) -> Severity:
    """The severity of a refuted claim."""
    better = [c for c in known.values() if c.corrects == claim.id and not fell(recorded.get(c.id))]
    instead = what_instead(claim, better)
    misprint = right_form(claim, better, known, effort.seed)
    if misprint:
        return Severity(Failure.MISPRINT, misprint, instead)
    theorem = theorem_of(claim, recorded)
    if theorem:
        return Severity(Failure.PROOF, f"{theorem} stands", instead)
    against = [e for e in evidence if e.verdict is Verdict.REFUTED]
    if claim.kind is Kind.PRIVACY and eps in claim.symbols.union(*parameters(claim)):
        return replace(of_privacy(claim, checks, against, effort), instead=instead)
    rho = claim.guarantee.rho if isinstance(claim.guarantee, ZCDP) else None
    kinds = {e.check for e in against}
    if isinstance(rho, sympy.Symbol) and refuted_up_to(USUAL_RHO, claim, checks, kinds, effort, rho):
        return Severity(Failure.PRIVACY, f"at {pretty(rho)} ≤ {USUAL_RHO:g}", instead)
    if grows_with_epsilon(checks) and not refuted_up_to(USUAL, claim, checks, kinds, effort):
        return Severity(Failure.BEYOND, EVERY_EPSILON, instead)
    return replace(of_a_bound(claim, better, against), instead=instead)


def fell(row: Mapping[str, Any] | None) -> bool:
    """Whether a corrected version is itself known to be false: then it corrects nothing."""
    return row is not None and row["verdict"] in (Verdict.REFUTED, Verdict.VACUOUS)


def parameters(claim: Claim) -> list[set[sympy.Symbol]]:
    """The symbols of the guarantee."""
    values = claim.guarantee.parameters.values() if claim.guarantee is not None else ()
    return [sympy.sympify(v).free_symbols for v in values]


# Privacy -------------------------------------------------------------------------------------------
def of_privacy(claim: Claim, checks: Sequence[Check], against: Sequence[Evidence], effort: Effort) -> Severity:
    """Whether it fails for an epsilon of at most 1, or else up to which it holds."""
    at = min((x for e in against if (x := epsilon_of(e)) is not None), default=None)
    kinds = {e.check for e in against}
    if against and not any(map(of_usual_delta, against)) and not refuted_for_usual_delta(claim, checks, kinds, effort):
        return Severity(
            Failure.BEYOND, f"seen at δ = {max(delta_of(e) for e in against):.2g} alone, not from {LEAST_DELTA:g} on"
        )
    if at == math.inf and not refuted_up_to(USUAL, claim, checks, kinds, effort):
        return Severity(Failure.BEYOND, EVERY_EPSILON)
    for cap in CAPS:
        if at is not None and cap / 2 >= at:
            break
        if refuted_up_to(cap, claim, checks, kinds, effort):
            if cap <= USUAL:
                return Severity(Failure.PRIVACY, f"at ε ≤ {cap:g}")
            low, high = CAPS[CAPS.index(cap) - 1], cap
            for _ in range(HALVINGS):
                middle = float(f"{math.sqrt(low * high):.3g}")
                low, high = (low, middle) if refuted_up_to(middle, claim, checks, kinds, effort) else (middle, high)
            return Severity(Failure.BEYOND, f"no failure found up to ε = {low:g}, fails by {high:g}")
    if at is not None and at <= USUAL:
        return Severity(Failure.PRIVACY, f"at ε = {at:g}")
    if at is None:
        return Severity(Failure.RATE, "no constant works") if against else Severity(Failure.PRIVACY)
    below = max((cap for cap in CAPS if cap < at), default=USUAL)
    return Severity(Failure.BEYOND, f"no failure found up to ε = {below:g}, fails at {at:g}")


def grows_with_epsilon(checks: Sequence[Check]) -> bool:
    """Whether ε grows without end along the family that breaks a rate: then small ones may be safe."""
    return any(isinstance(one, NoConstant) and sympy.sympify(one.path.get(eps, 1)).has(one.parameter) for one in checks)


def epsilon_of(piece: Evidence) -> float | None:
    """The epsilon of a counterexample: its own, or the one an audit was about."""
    point = piece.counterexample or {}
    if point.get(PATH, {}).get("eps", 0) > 0:  # a path on which no constant lasts, and ε grows along it
        return math.inf
    if isinstance(point.get("eps"), int | float):
        return float(point["eps"])
    claimed = re.search(r"claimed ([0-9.e+-]+)", piece.figure)
    return float(claimed[1]) if claimed else None


def delta_of(piece: Evidence) -> float:
    """The delta of a counterexample, or its logarithm's; 1 where it has none."""
    point = piece.counterexample or {}
    if isinstance(point.get("log10_delta"), int | float):
        return float(10.0 ** point["log10_delta"])
    return float(point["delta"]) if isinstance(point.get("delta"), int | float) else 1.0


def of_usual_delta(piece: Evidence) -> bool:
    return delta_of(piece) >= LEAST_DELTA


def refuted_for_usual_delta(claim: Claim, checks: Sequence[Check], kinds: set[str], effort: Effort) -> bool:
    """Whether a check still refutes the claim at a delta that somebody might use."""
    usual = sympy.Ge(delta, sympy.Rational(repr(LEAST_DELTA)))
    return any(of_usual_delta(e) for e in refuted_under(usual, claim, checks, kinds, effort))


def refuted_up_to(
    cap: float, claim: Claim, checks: Sequence[Check], kinds: set[str], effort: Effort, strength: sympy.Symbol = eps
) -> bool:
    """Whether a check still refutes the claim with ε (or what else says how private it is) at most `cap`."""
    capped = sympy.Le(strength, sympy.Rational(repr(cap)))
    return next(refuted_under(capped, claim, checks, kinds, effort), None) is not None


def refuted_under(
    more: sympy.Basic, claim: Claim, checks: Sequence[Check], kinds: set[str], effort: Effort
) -> Iterator[Evidence]:
    """What still refutes the claim under one hypothesis more."""
    try:
        narrower = replace(claim, assumes=[*claim.assumes, more], checks=())
    except DpcheckError:
        return  # its own hypotheses exclude it
    for check in checks:
        if check.kind in kinds - {"audit"}:
            with suppress(DpcheckError):
                found = check.run(narrower, effort)
                if found.verdict is Verdict.REFUTED:
                    yield found


# Other statements ----------------------------------------------------------------------------------
def of_a_bound(claim: Claim, better: Sequence[Claim], against: Sequence[Evidence]) -> Severity:
    """A condition that is missing, a constant, or a rate."""
    for other in better:
        if other.subject == claim.subject and other.formula == claim.formula:
            more = [h for h in other.assumes if h not in claim.assumes]
            if more:
                return Severity(Failure.CONDITION, " and ".join(pretty(h) for h in more))
    alike = [c for c in better if c.subject == claim.subject]
    same = [c for c in alike if c.relation == claim.relation or ratio(c, claim).is_number]
    no_constant = any(e.figure.startswith("no ") or "left/right grows" in e.figure for e in against)
    if isinstance(claim.states, Rate) or no_constant:
        cells = [e.counterexample for e in against if e.counterexample and "column" in e.counterexample]
        if cells:  # of a table, whose statement is that all cells follow
            return Severity(Failure.RATE, f"of the {cells[0]['column']} in row {cells[0]['row']}")
        off = ratio(same[0], claim) if same else None
        short = off is not None and sympy.count_ops(off) < LONG  # the quotient of two sums tells nothing
        return Severity(Failure.RATE, f"by {pretty(off)}" if short else "no constant works")
    if same:
        off = ratio(same[0], claim)
        if off.is_number:
            return Severity(Failure.CONSTANT, f"a factor of {digits(off)}")
        if proportional(same[0].formula, claim.formula):
            return Severity(Failure.CONSTANT, f"a factor of {pretty(off)}")
        most = largest_factor(same[0].formula, claim.formula)
        if most is not None:
            return Severity(Failure.CONSTANT, f"a factor of at most {digits(most)}")
        if sympy.simplify(off).is_Mul or sympy.simplify(off).is_Pow or off.is_Symbol:
            return Severity(Failure.RATE, f"by {pretty(off)}")
        if grows_without_end(off):
            return Severity(Failure.RATE, f"by {pretty(sympy.factor(off))}")
    worst = max((e.margin for e in against if e.margin is not None), default=None)
    return Severity(Failure.CONSTANT, f"by {1 + worst:.3g} at the point found" if worst is not None else "")


def grows_without_end(off: sympy.Expr) -> bool:
    """Whether a number of steps or records makes a factor as large as one likes."""
    counts = [s for s in off.free_symbols if s.is_integer]
    return any(sympy.limit(off, s, sympy.oo) is sympy.oo for s in counts)


def largest_factor(new: sympy.Expr, old: sympy.Expr) -> sympy.Expr | None:
    """The most by which a term of one sum exceeds its like in the other; None unless all terms have one."""
    ours, theirs = (sympy.expand(e).as_coefficients_dict() for e in (new, old))
    if ours.keys() != theirs.keys():
        return None
    factors = [ours[term] / theirs[term] for term in ours]
    return sympy.Max(*factors) if all(factor > 0 for factor in factors) else None


def ratio(other: Claim, claim: Claim) -> sympy.Expr:
    """What the printed formula would have to be multiplied with; logarithms stay as they are written."""
    factor = other.formula / claim.formula
    written = {sympy.Dummy(f"log{i}", positive=True): term for i, term in enumerate(factor.atoms(sympy.log))}
    plain = factor.xreplace({term: name for name, term in written.items()})
    return sympy.simplify(sympy.powsimp(plain, force=True)).xreplace(written)


def what_instead(claim: Claim, better: Sequence[Claim]) -> str:
    """The corrected statement, and by which factor it differs."""
    if not better:
        return ""
    best = better[0]
    words = f"{best.id}: {best.text()}"
    if best.subject == claim.subject and best.formula != claim.formula:
        off = ratio(best, claim)
        words += f", {pretty(off)} times the printed" if off.is_number or sympy.count_ops(off) < LONG else ""
    more = [h for h in best.assumes if h not in claim.assumes]
    return words + (f", with {' and '.join(pretty(h) for h in more)}" if more else "")


def right_form(claim: Claim, better: Sequence[Claim], known: Mapping[str, Claim], seed: int) -> str:
    """What shows that a slip of the pen made it false; "" otherwise.

    The right form is printed elsewhere (`misprint_of`, which must say what the corrected version does, up to a constant
    if it is a rate), or the proof has another symbol, or units show the slip, there or here: a symbol stands for
    another, or a factor is lost.
    """
    printed = known.get(claim.misprint_of or "")
    if printed is not None and printed.source.line == claim.source.line is not None:
        return ""  # the same place: nothing else is printed
    for form in (claim,) if printed is None else (printed, claim):
        for right in better:
            if form is not claim and says_the_same(form, right, seed):
                alike = says_the_same(claim, right, seed)
                lost = line_left_out(claim, form, right) if alike else ""
                if lost or form is right or not alike:
                    return f"the right form is {form.id}" + (f": {lost}" if lost else "")
            slip = symbol_for_another(form, right, seed) or factor_lost(form, right)
            if slip:
                return slip if form is claim else f"the right form is {form.id}, where {slip}"
            slip = symbol_of_the_proof(claim, form, right) if form is not claim else ""
            if slip:
                return slip
    return ""


def says_the_same(printed: Claim, right: Claim, seed: int) -> bool:
    """Whether a printed form is the corrected one."""
    some_constant = isinstance(printed.states, Rate) or printed.hidden
    if some_constant and proportional(printed.formula.subs(dict.fromkeys(printed.hidden, 1)), right.formula):
        return True
    return bool(Same("", printed.formula, right.formula, right.conditions).settle(seed).holds)


def line_left_out(claim: Claim, printed: Claim, right: Claim) -> str:
    """What the algorithm does where the right form is printed, in words, and not here; "" if nothing, or not enough.

    It is enough if the corrected version assumes no other words.
    """
    words = [{h for h in c.assumes if isinstance(h, Setting)} for c in (claim, printed, right)]
    more = words[1] - words[0]
    return "; ".join(sorted(str(h) for h in more)) if more and words[2] <= words[1] else ""


def symbol_for_another(printed: Claim, right: Claim, seed: int) -> str:
    """Which symbol stands for which, if that is all that is wrong and the units show it; "" otherwise."""
    ours, theirs = printed.formula.free_symbols, right.formula.free_symbols
    if printed.subject != right.subject or not printed.unit_gap or right.unit_gap:
        return ""
    if len(ours - theirs) != 1 or len(theirs - ours) != 1:
        return ""
    (wrong,), (meant,) = ours - theirs, theirs - ours
    swapped = printed.formula.subs(wrong, meant)
    holds = Same("", swapped, right.formula, right.conditions).settle(seed).holds
    return f"{pretty(wrong)} stands for {pretty(meant)}, as the units show" if holds else ""


def symbol_of_the_proof(claim: Claim, proof: Claim, right: Claim) -> str:
    """Which symbol stands for which, if that is all that is wrong and the proof bounds the same by the other one."""
    ours, theirs = claim.formula.free_symbols, right.formula.free_symbols
    if len(ours - theirs) != 1 or len(theirs - ours) != 1 or proof.subject != claim.subject:
        return ""
    (wrong,), (meant,) = ours - theirs, theirs - ours
    if wrong in proof.formula.free_symbols or meant not in proof.formula.free_symbols:
        return ""
    swapped = proportional(claim.formula.subs(wrong, meant), right.formula)
    return f"{pretty(wrong)} stands for {pretty(meant)}, which {proof.id} has" if swapped else ""


def factor_lost(printed: Claim, right: Claim) -> str:
    """The power of a symbol that the printed formula lacks, if that is all that is wrong and the units show it.

    Of a rate also a factor is free that nothing makes large: a polynomial in symbols of bounded range.
    """
    if not printed.unit_gap or right.unit_gap or printed.subject != right.subject:
        return ""
    powers = ratio(right, printed).as_powers_dict()
    lost = {base: power for base, power in powers.items() if base in TABLE and unit_of(base) != NONE}
    rest = sympy.Mul(*(base**power for base, power in powers.items() if base not in lost))
    free = isinstance(printed.states, Rate) and rest.is_polynomial(*rest.free_symbols)
    bounded = free and all(math.isfinite(TABLE[s].below) for s in rest.free_symbols)
    if len(lost) != 1 or not (rest == 1 or bounded):
        return ""
    ((symbol, power),) = lost.items()
    return f"a factor of {pretty(symbol**power)} is lost, as the units show"


def theorem_of(claim: Claim, recorded: Mapping[str, Any]) -> str:
    """The statement that a line of a proof is about, if that stands; "" otherwise."""
    found = OF_A_PROOF.search(claim.id)
    if found is None:
        return ""
    whole = claim.id[: found.start()]
    return whole if recorded.get(whole, {}).get("verdict") in STANDS else ""
