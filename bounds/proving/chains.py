"""A proof as a chain from what is known to the claim's own formula, written as on paper.

    Chain(
        excess_risk,                                                  # the claim's subject, or Cites(...)
        Step("<=", gap + beta / 2 * noise, because=Premise("F is β-smooth, E z = 0")),
        Step("<=", because=Cites("zhang17.lemma5", {distance: D})),   # gap gives way to the lemma's formula
        Step("=", because=Cites("zhang17.lemma6", {sigma: Delta / eps})),
        Step("<=", STATEMENT),                                        # the claim's right-hand side
    )

How to write one:
- It begins at the claim's subject. Of a privacy claim, which says how much noise is enough, it begins at a citation:
  the noise that the cited claim shows to be enough for the same guarantee, which must not exceed the formula.
- A step without a reason is algebra under the claim's hypotheses, and checked: an equation by simplification, an
  inequality by signs after a substitution that reaches every value allowed (`where` helps, and is checked to do so),
  or by intervals on a `box`, which makes the verdict CERTIFIED on that box.
- `Cites(id, where)` replaces the cited claim's subject by its formula, both read through `where`. The hypotheses of
  the cited claim must follow from those of this one. Without an expression the step is what the citation gives.
- `Rearranged(id)`: the cited claim, solved for what stands before: of F' ≤ F - a·g² + e, what is said of g².
- `Induction(over=T, step=OneStep(id, now, later))` carries a bound along a recurrence that another claim states.
- `Minimiser(of=bound)`: the symbol before is the minimiser of the bound, and so is the expression.
- `OnlySolution(equations, only=reason)`: what stands before is the only solution of equations, for this reason: a
  premise; the expression is put into them, and they hold.
- `Slack(given={reason: part}, seen=[part], cited=[(factor, Cites(id))])`: the sides differ by the sum of these parts,
  none of them negative: for the reason beside it, which is a premise, because the machine sees it under the
  hypotheses, or by the cited inequality, so many times.
- `Premise(words)` is not checked. It is named in the evidence: PROVED, given: ... It may not lead to the statement.
  Name the class of losses that it uses, "(convex, smooth)": a hypothesis must name it too, and so it must the T that a
  premise chooses. A step names the hypotheses that its reason rests on and no machine reads, `uses=[...]`: those in
  words, those on numbers (limits of a step size that a premise needs), the guarantee. It shows nothing of a claim that
  lacks one.
- The last step is STATEMENT, which is read from the claim and never typed again; of a rate, a number times it.
  `choosing` gives numbers to constants that the statement says exist.
- Claims with cases: `Cases({eps <= 1: Chain(...), eps > 1: Chain(...)})`, which must cover the hypotheses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import sympy

from dpcheck.bounds.language.claim import Check, Cites, Claim, Effort, Evidence, Kind, Rate, Verdict, pretty
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.resting import Used, missing
from dpcheck.bounds.language.symbols import T
from dpcheck.bounds.proving.implications import follows
from dpcheck.bounds.proving.links import DOWN, STRICT, UP, Algebra, Link, Reason, Settled, nearly
from dpcheck.bounds.proving.reasons import (
    Cited,
    Induction,
    Minimiser,
    OneStep,
    OnlySolution,
    Premise,
    Rearranged,
    Slack,
    enough_noise,
)
from dpcheck.bounds.proving.steps import box_text
from dpcheck.bounds.relations.inequalities import Answer, Box, Where

__all__ = [
    "STATEMENT",
    "Cases",
    "Chain",
    "Cites",
    "Induction",
    "Minimiser",
    "OneStep",
    "OnlySolution",
    "Premise",
    "Rearranged",
    "Slack",
    "Step",
]

STATEMENT = sympy.Symbol("STATEMENT")  # stands for the claim's own right-hand side
SIGNS = {"<=": "≤", ">=": "≥"}
OF_LOSSES = {  # what a hypothesis says of losses, in words, and a premise may use
    "strongly convex": re.compile(r"\bstrongly convex\b"),
    "convex": re.compile(r"\bconvex\b"),
    "smooth": re.compile(r"\bsmooth\b"),
    "Lipschitz": re.compile(r"\bLipschitz\b"),
    "modulus": re.compile(r"\bmodulus\b"),
}
STEPS, CHOSEN_STEPS = re.compile(r"\bT\b"), re.compile(r"\bT = ")  # the number of steps, in words


@dataclass(frozen=True)
class Step:
    """One link: `relation` to what stands before, the expression, and why. Algebra needs no reason.

    `uses` are hypotheses, and the guarantee, that the reason rests on: it shows nothing of a claim without them.
    """

    relation: str
    expr: sympy.Expr | None = None
    because: Reason | Cites | None = None
    where: Where = field(default_factory=dict)
    box: Box | None = None
    uses: Sequence[Used] = ()

    def __post_init__(self) -> None:
        if self.relation not in (*UP, *DOWN):
            raise InvalidInput("relation of a step", self.relation, "one of = <= < >= >", "Write it so.")

    @property
    def reason(self) -> Reason:
        """What settles it."""
        if isinstance(self.because, Cites):
            return Cited(self.because)
        return self.because if self.because is not None else Algebra()


@dataclass(frozen=True, init=False)
class Chain:
    """The claim by links, each settled in turn; the first that does not hold is named and proves nothing."""

    start: sympy.Expr | Cites
    steps: tuple[Step, ...]
    choosing: Mapping[sympy.Symbol, sympy.Expr]
    kind: ClassVar[str] = "symbolic"

    def __init__(
        self, start: sympy.Expr | Cites, *steps: Step, choosing: Mapping[sympy.Symbol, sympy.Expr] | None = None
    ) -> None:
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "choosing", choosing or {})
        self.must_compose()

    @property
    def cites(self) -> list[Cites]:
        """The claims it uses."""
        reasons = [self.start, *(s.because for s in self.steps)]
        found = [r.cites if isinstance(r, Rearranged) else r for r in reasons if isinstance(r, Cites | Rearranged)]
        steps = [r.step for r in reasons if isinstance(r, Induction) and isinstance(r.step, OneStep)]
        slack = [cites for r in reasons if isinstance(r, Slack) for cites in r.cites]
        return [*found, *(step.cites for step in steps), *slack]

    @property
    def relation(self) -> str:
        """What the links come to: a <= b = c < d gives a < d."""
        signs = {s.relation for s in self.steps} - {"="}
        if not signs:
            return "="
        strict = signs & set(STRICT)
        return min(strict) if strict else min(signs)

    def must_compose(self) -> None:
        """Refuse links that lead both up and down, and a last link that is not the statement."""
        signs = {s.relation for s in self.steps}
        if not (signs <= set(UP) or signs <= set(DOWN)):
            raise InvalidInput("chain", " ".join(s.relation for s in self.steps), "of one direction", "Turn a link.")
        last = self.steps[-1] if self.steps else None
        if last is None or last.expr is None or STATEMENT not in sympy.sympify(last.expr).free_symbols:
            raise InvalidInput("last step", getattr(last, "expr", None), "STATEMENT", "End in the claim's own formula.")
        if any(isinstance(s.because, Premise) and s.expr is not None and s.expr.has(STATEMENT) for s in self.steps):
            limit = "reached by a step that is checked"
            raise InvalidInput("STATEMENT", "a premise", limit, "What is taken as given is not derived.")

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        chosen = self.chosen(claim)
        refused = self.unfit(chosen) or missing([h for step in self.steps for h in step.uses], claim)
        if refused:
            return self.gap(refused)
        here, links, derived = self.begin(chosen, effort.seed)
        if not here.answer.holds:
            return self.gap(here.answer.how)
        settled = [here]
        for step in links:
            aim = stated(step.expr, chosen)
            link = Link(settled[-1].after, step.relation, aim, chosen, step.where, step.box, effort.seed)
            found = step.reason.settle(link)
            settled.append(found)
            if not found.answer.holds:
                return self.broken(step, link, found.answer)
            derived = derived or found.derives
            unsaid = unassumed(found.premises, chosen)
            if unsaid:
                return self.gap(unsaid)
            if not derived and nearly(found.after, chosen.formula):
                return self.gap("what is assumed is the statement in other letters: nothing is derived")
        return self.proved(settled, links, chosen)

    def known(self, claim: Claim) -> sympy.Expr | None:
        """What the links before the last show, whatever the statement is; None if they do not hold or say nothing."""
        here, links, _ = self.begin(claim, 0)
        for step in links[:-1]:
            if not here.answer.holds:
                return None
            link = Link(here.after, step.relation, stated(step.expr, claim), claim, step.where, step.box)
            here = step.reason.settle(link)
        return here.after if here.answer.holds and here.after != claim.subject else None

    def chosen(self, claim: Claim) -> Claim:
        """The claim with numbers for the constants that it says exist."""
        if not self.choosing:
            return claim
        strangers = [s for s in self.choosing if s not in claim.hidden]
        unfit = [e for e in map(sympy.sympify, self.choosing.values()) if not (e.is_number and e.is_positive)]
        if strangers or unfit:
            limit = "positive numbers, for constants that the statement says exist"
            raise InvalidInput("choosing", str(self.choosing), limit, "List them in `hidden`.")
        swap = dict(self.choosing)
        assumes = [h.subs(swap) if isinstance(h, sympy.Basic) else h for h in claim.assumes]
        states = claim.states.subs(swap) if isinstance(claim.states, sympy.Basic) else claim.states
        return replace(claim, states=states, assumes=[h for h in assumes if h != sympy.true], added=(), checks=())

    def unfit(self, claim: Claim) -> str:
        """Why a chain of this relation, between these ends, would not prove the claim."""
        enough = self.noise_of(claim)
        asked = "<=" if enough else claim.relation
        allowed = {"=": ("=",), "<=": UP, "<": ("<",), ">=": DOWN, ">": (">",)}.get(asked, ())
        if self.relation not in allowed:
            return f"the links give {self.relation}, the claim says {asked or pretty(claim.states)}"
        if not isinstance(self.start, Cites) and sympy.sympify(self.start) != claim.subject:
            return f"it begins at {pretty(self.start)}, the claim is about {pretty(claim.subject)}"
        if self.must_cite(claim):
            return f"it is about {pretty(claim.subject)}, not about what is private: begin at a claim that is"
        if claim.hidden and not isinstance(claim.states, Rate):
            unset = [s for s in claim.hidden if s in claim.symbols]
            if unset:
                return f"no number is chosen for {', '.join(map(pretty, unset))}"
        factor = sympy.sympify(self.steps[-1].expr) / STATEMENT
        constant = isinstance(claim.states, Rate) and factor.is_number and factor.is_positive and factor.is_finite
        return "" if factor == 1 or constant else f"it ends in {self.steps[-1].expr}, not in the statement"

    def must_cite(self, claim: Claim) -> bool:
        """Whether equations about the subject cannot show the claim: it says that so much noise makes private."""
        if claim.kind is not Kind.PRIVACY or claim.guarantee is None or isinstance(self.start, Cites):
            return False
        promised = [sympy.sympify(value) for value in claim.guarantee.parameters.values()]
        return claim.subject not in promised

    def noise_of(self, claim: Claim) -> bool:
        """Whether the claim says how much noise is enough: then the chain says how much is needed at most."""
        return claim.kind is Kind.PRIVACY and claim.relation == "=" and isinstance(self.start, Cites)

    def begin(self, claim: Claim, seed: int) -> tuple[Settled, tuple[Step, ...], bool]:
        """Where it starts, the links that are left, and whether something has been derived by then."""
        if not isinstance(self.start, Cites):
            return Settled(Answer(True, ""), sympy.sympify(self.start), derives=False), self.steps, False
        if self.noise_of(claim):
            return enough_noise(self.start, Link(claim.subject, "<=", None, claim, seed=seed)), self.steps, True
        first = Step({"<": "<=", ">": ">="}.get(self.relation, self.relation), because=self.start)
        start = Settled(Answer(True, ""), claim.subject, derives=False)
        return start, (first, *self.steps), False

    def broken(self, step: Step, link: Link, answer: Answer) -> Evidence:
        """The link that does not hold, and why."""
        aim = pretty(link.after) if link.after is not None else "..."
        point = f" at {dict(answer.point)}" if answer.point else ""
        words = f"{pretty(link.before)} {SIGNS.get(step.relation, step.relation)} {aim} ({step.reason})"
        return self.gap(words, answer.how + point)

    def gap(self, what: str, how: str = "") -> Evidence:
        return Evidence(self.kind, Verdict.UNCHECKED, f"gap: {what}", how)

    def proved(self, settled: list[Settled], links: tuple[Step, ...], claim: Claim) -> Evidence:
        """PROVED, or CERTIFIED on the box that intervals covered, with all that was not checked here."""
        premises = tuple(dict.fromkeys(p for s in settled for p in s.premises))
        rests = tuple(dict.fromkeys(r for s in settled for r in s.rests))
        boxes = [s.answer.left for s in settled if s.answer.left is not None]
        labels = dict.fromkeys(label for step in links if (label := label_of(step.reason)))
        first_cited = [self.start.id] if isinstance(self.start, Cites) and rests else []
        figure = f"by {', '.join(dict.fromkeys([*first_cited, *labels]))}"
        figure += f"; intervals{box_text(boxes[0])}" if boxes else ""
        first = pretty(settled[0].after)
        shown = (
            f"{SIGNS.get(step.relation, step.relation)} {pretty(found.after)} [{step.reason}]"
            for step, found in zip(links, settled[1:], strict=True)
        )
        verdict = Verdict.CERTIFIED if boxes else Verdict.PROVED
        return Evidence(self.kind, verdict, figure, " ".join([first, *shown]), premises=premises, rests=rests)


def unassumed(premises: Iterable[str], claim: Claim) -> str:
    """What a premise says of the losses and no hypothesis does: what is given must follow from what is assumed."""
    assumed = [str(h) for h in claim.assumes if not isinstance(h, sympy.Basic)]
    for premise in premises:
        for word, pattern in OF_LOSSES.items():
            if pattern.search(premise) and not any(pattern.search(h) for h in assumed):
                return f"it is given that {premise}, and no hypothesis says {word}"
        if CHOSEN_STEPS.search(premise) and T not in claim.symbols and not any(STEPS.search(h) for h in assumed):
            return f"it is given that {premise}, and no hypothesis says what T is"
    return ""


def label_of(reason: Reason) -> str:
    """A reason in a word or two; a premise is shown among what is given."""
    if isinstance(reason, Premise):
        return ""
    if isinstance(reason, Induction) and isinstance(reason.step, OneStep):
        return f"{reason} from {reason.step.cites.id}"
    if isinstance(reason, Slack):
        return ", ".join(dict.fromkeys(cites.id for cites in reason.cites)) or "leaving out terms ≥ 0"
    return str(reason)


def stated(expr: sympy.Expr | None, claim: Claim) -> sympy.Expr | None:
    """The expression with the claim's own formula in it."""
    return None if expr is None else sympy.sympify(expr).subs(STATEMENT, claim.formula)


@dataclass(frozen=True)
class Cases:
    """The claim by cases: each check shows it under one more condition, and together they cover the hypotheses."""

    cases: Mapping[sympy.Basic, Check]
    kind: ClassVar[str] = "symbolic"

    @property
    def cites(self) -> list[Cites]:
        """The claims that the cases use."""
        return [c for check in self.cases.values() for c in getattr(check, "cites", ())]

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        missed = self.missed(claim, effort.seed)
        if missed:
            return Evidence(self.kind, Verdict.UNCHECKED, f"gap: the cases leave out {missed}")
        chosen = [check.choosing for check in self.cases.values() if isinstance(check, Chain)]
        if any(one != chosen[0] for one in chosen):
            return Evidence(self.kind, Verdict.UNCHECKED, "gap: the cases choose different constants")
        pieces = dict(self.pieces(claim, effort))
        for case, piece in pieces.items():
            if piece.verdict not in (Verdict.PROVED, Verdict.CERTIFIED):
                part = f"the case {pretty(case)}"
                refutes = piece.verdict is Verdict.REFUTED
                return piece if refutes else replace(piece, figure=f"{piece.figure}, in {part}", part=part)
        certified = any(p.verdict is Verdict.CERTIFIED for p in pieces.values())
        said = "; ".join(f"{pretty(case)}: {piece.figure}" for case, piece in pieces.items())
        detail = "; ".join(f"{pretty(case)}: {piece.detail}" for case, piece in pieces.items())
        premises, rests = (
            tuple(dict.fromkeys(x for p in pieces.values() for x in getattr(p, name))) for name in ("premises", "rests")
        )
        verdict = Verdict.CERTIFIED if certified else Verdict.PROVED
        return Evidence(self.kind, verdict, said, detail, premises=premises, rests=rests)

    def pieces(self, claim: Claim, effort: Effort) -> Iterator[tuple[sympy.Basic, Evidence]]:
        """What each case comes to; one that the hypotheses exclude needs no proof."""
        for case, check in self.cases.items():
            yield case, check.run(replace(claim, assumes=[*claim.assumes, case], checks=()), effort)

    def missed(self, claim: Claim, seed: int) -> str:
        """What no case covers: the last must follow from the hypotheses wherever the others fail."""
        *others, last = self.cases
        beyond = [sympy.Not(case) for case in others]
        if sympy.false in beyond:
            return ""
        answer = follows(last, [*claim.assumes, *(b for b in beyond if b != sympy.true)], seed)
        if answer.holds:
            return ""
        at = f", for example {dict(answer.point)}" if answer.point else ""
        return f"what is neither {' nor '.join(pretty(c) for c in self.cases)}{at}"


_: type[Check] = Chain
__: type[Check] = Cases
