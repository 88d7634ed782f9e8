"""Why a link of a chain holds, algebra apart: a premise, a citation, an induction, a minimum, a solution, slack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import sympy

from dpcheck.bounds.language.claim import Cites, Claim, FunctionClass, Kind, Rate, Setting, pretty
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.resting import other_promise
from dpcheck.bounds.language.symbols import TABLE, eta
from dpcheck.bounds.proving.implications import Need, follows, needs, says_step
from dpcheck.bounds.proving.links import DOWN, STRICT, UP, Link, Settled, at_most, compare, nearly, substitutions
from dpcheck.bounds.proving.steps import Same
from dpcheck.bounds.registry import library
from dpcheck.bounds.relations.inequalities import Answer, counterexample, equations, signs_agree


# Assumptions ---------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Premise:
    """Taken as given, and named wherever the proof is shown: "Jensen", "the risk is convex"."""

    says: str

    def settle(self, link: Link) -> Settled:
        return Settled(Answer(True, "given"), link.target, (self.says,), derives=False)

    def __str__(self) -> str:
        return self.says


# Citations -----------------------------------------------------------------------------------------
def claim_of(cites: Cites) -> Claim:
    """The claim cited."""
    found: Claim = library[cites.id]
    return found


def read(cites: Cites, link: Link) -> tuple[Claim, Settled | None, tuple[str, ...]]:
    """The cited claim, a gap if its hypotheses do not follow here, and what had to be granted."""
    cited = claim_of(cites)
    unsaid = step_unsaid(cites, link.claim) or other_promise(cites, cited, link.claim)
    if unsaid:
        return cited, Settled(Answer(None, unsaid), link.before), ()
    found = [need for need in needs(cited, link.claim, cites.where, link.seed) if not need.answer.holds]
    gaps_ = [need for need in found if not (cites.granted and in_words(need, link.claim))]
    granted = (cites.granted,) if len(gaps_) < len(found) else ()
    if gaps_:
        return cited, Settled(Answer(None, f"{cites.id} needs {gaps_[0]}: {gaps_[0].answer.how}"), link.before), ()
    return cited, None, granted


def step_unsaid(cites: Cites, claim: Claim) -> str:
    """That the cited claim is read at a step size which this one does not say; "" if it does."""
    if eta not in cites.where or eta in claim.symbols:
        return ""
    taken = sympy.sympify(cites.where[eta])
    if any(says_step(h.words, taken, claim.symbols) for h in claim.assumes if isinstance(h, Setting)):
        return ""
    return f"{cites.id} is read at the step size {pretty(taken)}, and no hypothesis says that this one is taken"


def in_words(need: Need, claim: Claim) -> bool:
    """Whether what is missing is a setting, or the region of a class of losses that is assumed elsewhere."""
    if isinstance(need.here, Setting):
        return True
    anywhere = [replace(h, where="") if isinstance(h, FunctionClass) else h for h in claim.assumes]
    return isinstance(need.here, FunctionClass) and bool(follows(replace(need.here, where=""), anywhere).holds)


@dataclass(frozen=True)
class Cited:
    """By a claim: its subject, wherever it stands in `before`, gives way to its formula, both read through `where`.

    Before must grow (or fall) with the subject, unless the claim is an equation.
    """

    cites: Cites

    def settle(self, link: Link) -> Settled:
        cited, gap, granted = read(self.cites, link)
        if gap is not None:
            return gap
        if isinstance(cited.states, Rate):
            limit, remedy = "an explicit bound", "A hidden constant gives no number: use Implied for rates."
            raise InvalidInput(f"statement of {cited.id}", "a rate", limit, remedy)
        where = dict(self.cites.where)
        subject, formula = (e.subs(where, simultaneous=True) for e in (cited.subject, cited.formula))
        stands = sympy.Dummy("stands", positive=True)
        frame = sympy.sympify(link.before).subs(subject, stands)
        if not frame.has(stands):
            return Settled(
                Answer(None, f"{pretty(subject)}, which {cited.id} is about, does not stand there"), link.before
            )
        relation = cited.relation
        if frame != stands and relation != "=":
            relation = self.carried(frame, stands, cited, link)
        if relation not in directions(link.relation):
            how = f"{cited.id} says {pretty(subject)} {cited.relation} {pretty(formula)}: no {link.relation} follows"
            return Settled(Answer(None, how), link.before)
        reached = frame.subs(stands, formula)
        rests = (cited.id,)
        if link.after is None:
            strict = link.relation in STRICT and relation not in STRICT
            return Settled(Answer(None if strict else True, cited.id), reached, granted, rests)
        rest = replace(link, relation={"<": "<=", ">": ">="}[relation]) if relation in STRICT else link
        return Settled(compare(rest, reached, link.after), link.after, granted, rests)

    def carried(self, frame: sympy.Expr, stands: sympy.Symbol, cited: Claim, link: Link) -> str:
        """The relation that the claim's gives to the whole expression: its own if that grows with the subject."""
        slope = sympy.diff(frame, stands)
        turned = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}
        for sign, relation in ((1, cited.relation), (-1, turned[cited.relation])):
            if any(signs_agree(sign * slope, cover) for cover in substitutions(link.given, slope.free_symbols)):
                return relation
        return ""

    def __str__(self) -> str:
        return self.cites.id


@dataclass(frozen=True)
class Rearranged:
    """By a claim in which what stands before occurs, with a coefficient of known sign: solved for it.

    Of F' <= F - a g^2 + e with a > 0, what g^2 gives way to is (F - F' + e)/a.
    """

    claim: Cites | str

    @property
    def cites(self) -> Cites:
        return self.claim if isinstance(self.claim, Cites) else Cites(self.claim)

    def settle(self, link: Link) -> Settled:
        cited, gap, granted = read(self.cites, link)
        if gap is not None:
            return gap
        if isinstance(cited.states, Rate) or not cited.relation:
            raise InvalidInput(f"statement of {cited.id}", cited.text(), "an inequality", "A rate gives no number.")
        where, fixed = dict(self.cites.where), equations(link.given)
        sides = [e.subs(where, simultaneous=True).subs(fixed) for e in (cited.subject, cited.formula)]
        low, high = sides if cited.relation in UP else sides[::-1]
        stands = sympy.Dummy("stands", positive=True)
        rest = sympy.expand(high - low).subs(link.before, stands)
        slope = sympy.factor(sympy.diff(rest, stands))
        direction = UP if slope.is_negative else DOWN if slope.is_positive else ()
        if slope.has(stands) or link.relation not in direction or link.relation in STRICT:
            how = f"{cited.id} gives no {link.relation} for {pretty(link.before)}, whose coefficient is {pretty(slope)}"
            return Settled(Answer(None, how), link.before)
        reached = rest.subs(stands, 0) / -slope
        answer = Answer(True, cited.id) if link.after is None else compare(link, reached, link.after)
        return Settled(answer, reached if link.after is None else link.after, granted, (cited.id,))

    def __str__(self) -> str:
        return f"{self.cites.id}, solved"


def directions(relation: str) -> tuple[str, ...]:
    """The relations that lead the same way."""
    return ("=",) if relation == "=" else UP if relation in UP else DOWN


# Inductions ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class OneStep:
    """A recurrence read from a claim about one step, in which `later` (or its square) is bounded in terms of `now`."""

    claim: Cites | str
    now: sympy.Symbol
    later: sympy.Symbol

    @property
    def cites(self) -> Cites:
        return self.claim if isinstance(self.claim, Cites) else Cites(self.claim)


@dataclass(frozen=True)
class Induction:
    """By induction on `over`.

    With `step`, what stands before is what `start` has become after `over` steps, which is a premise: the expression
    after must hold at 0 and be carried on by a step, which grows with its argument. A step read from a claim (OneStep)
    is cited; a function is a premise, said in `given`. Without `step` both sides are functions of `over`: they must
    hold at `first`, and the differences from one to the next must stand in the same relation.
    """

    over: sympy.Symbol
    start: sympy.Expr | int = 0
    step: OneStep | Callable[[sympy.Expr], sympy.Expr] | None = None
    given: str = ""
    first: int = 1

    def settle(self, link: Link) -> Settled:
        free = replace(link.claim, assumes=[h for h in link.claim.assumes if not self.about(h)], added=(), checks=())
        here = replace(link, claim=free, where={s: e for s, e in link.where.items() if s != self.over})
        if self.step is not None:
            return self.by_steps(here)
        if self.first > 1 and not follows(sympy.Ge(self.over, self.first), link.claim.assumes, link.seed).holds:
            return Settled(Answer(None, f"{pretty(self.over)} < {self.first} is allowed, and left out"), link.before)
        return self.by_differences(here)

    def about(self, hypothesis: object) -> bool:
        """A hypothesis on the number of steps: it cannot be used at every step."""
        return isinstance(hypothesis, sympy.Basic) and self.over in hypothesis.free_symbols

    def by_differences(self, link: Link) -> Settled:
        sides = [sympy.sympify(e) for e in (link.before, link.target)]
        begun = [[e.subs(self.over, k).doit() for e in sides] for k in range(self.first, max(self.first, 1) + 1)]
        growth = [sympy.simplify((e.subs(self.over, self.over + 1) - e).doit()) for e in sides]
        if sides[0].has(sympy.Sum):
            growth[0] = self.last_terms(sides[0])
        answers = [*(("at the start", compare(link, *ends)) for ends in begun)]
        return Settled(all_hold([*answers, ("from one to the next", compare(link, *growth))]), link.target)

    def last_terms(self, expr: sympy.Expr) -> sympy.Expr:
        """What a sum up to `over` gains at the next."""

        def gain(found: sympy.Sum) -> sympy.Expr:
            (index, low, high) = found.limits[0]
            if len(found.limits) != 1 or high != self.over or low.has(self.over) or found.function.has(self.over):
                raise InvalidInput("sum", str(found), f"of terms up to {self.over}", "Write it so.")
            return found.function.subs(index, self.over + 1)

        sums = {found: sympy.Dummy() for found in expr.atoms(sympy.Sum)}
        framed = expr.xreplace(sums)
        after = framed.subs(self.over, self.over + 1).subs({d: d + gain(s) for s, d in sums.items()}, simultaneous=True)
        return sympy.simplify(after - framed)

    def by_steps(self, link: Link) -> Settled:
        squared = False
        begins = f"{pretty(link.before)} is what {pretty(self.start)} becomes in {pretty(self.over)} steps"
        premises: tuple[str, ...] = (self.given, begins) if self.given else (begins,)
        rests: tuple[str, ...] = ()
        if isinstance(self.step, OneStep):
            cited, gap, granted = read(self.step.cites, link)
            if gap is not None:
                return gap
            where = dict(self.step.cites.where)
            subject, formula = (e.subs(where, simultaneous=True) for e in (cited.subject, cited.formula))
            squared = subject == self.step.later**2
            if not (squared or subject == self.step.later) or cited.relation not in directions(link.relation):
                return Settled(Answer(None, f"{cited.id} says nothing of one step: {cited.text()}"), link.before)
            step: Callable[[sympy.Expr], sympy.Expr] = partial(formula.subs, self.step.now)
            premises, rests = (*premises, *granted), (cited.id,)
        elif not self.given:
            raise InvalidInput("induction", "a step without reason", "with `given`", "Say why a step is that.")
        else:
            assert self.step is not None
            step = self.step
        return Settled(self.carried(link, step, squared), link.target, premises, rests)

    def carried(self, link: Link, step: Callable[[sympy.Expr], sympy.Expr], squared: bool) -> Answer:
        """Holds at the start, is carried on by a step, and the step grows with its argument."""
        power = 2 if squared else 1
        before = sympy.Symbol("before", nonnegative=True)
        slope = sympy.diff(sympy.sympify(step(before)), before)
        at_0, at_1, following = (link.target.subs(self.over, k) for k in (0, 1, self.over + 1))
        answers = [
            ("at the start", compare(link, sympy.sympify(self.start), at_0)),
            ("by the first step", compare(link, sympy.sympify(step(at_0)).subs(self.over, 0), at_1**power)),
            ("by a step", compare(link, step(link.target), following**power)),
        ]
        if link.relation != "=":
            up = replace(link, relation="<=")
            answers.append(("a step grows with its argument", compare(up, sympy.Integer(0), slope)))
        return all_hold(answers)

    def __str__(self) -> str:
        return f"induction on {pretty(self.over)}"


def all_hold(answers: Sequence[tuple[str, Answer]]) -> Answer:
    """The first that does not hold, or how all do."""
    for what, answer in answers:
        if not answer.holds:
            return Answer(answer.holds, f"{what}: {answer.how}", answer.point)
    boxes = [answer.left for _, answer in answers if answer.left is not None]
    return Answer(True, "; ".join(f"{what}: {a.how}" for what, a in answers), left=boxes[0] if boxes else None)


@dataclass(frozen=True)
class Minimiser:
    """By calculus: what stands before is the symbol that minimises `of`, and after is the only point where it does."""

    of: sympy.Expr

    def settle(self, link: Link) -> Settled:
        if not (link.before.is_Symbol and self.of.has(link.before)):
            return Settled(Answer(None, f"{pretty(link.before)} does not stand in {pretty(self.of)}"), link.before)
        slope = sympy.diff(self.of, link.before)
        flat = Same("", sympy.simplify(slope.subs(link.before, link.target)), sympy.Integer(0)).settle(link.seed)
        convex = at_most(sympy.Integer(0), sympy.diff(slope, link.before), link.given, seed=link.seed)
        if link.relation != "=" or sympy.simplify(sympy.diff(slope, link.before)) == 0:
            return Settled(Answer(None, "the minimiser is one point"), link.before)
        return Settled(all_hold([("the slope vanishes there", flat), ("convex", convex)]), link.target)

    def __str__(self) -> str:
        return f"it minimises {pretty(self.of)}"


@dataclass(frozen=True)
class OnlySolution:
    """By insertion: what stands before is the only solution of equations, and what stands after solves them.

    `equations(x)` vanish at a solution x; why what stands before is one, and the only one, is a premise, `only`.
    """

    equations: Callable[[sympy.Expr], Sequence[sympy.Expr]]
    only: str

    def settle(self, link: Link) -> Settled:
        if link.relation != "=":
            return Settled(Answer(None, "the solution is one value"), link.before)
        unknown = sympy.Function("unknown", positive=True)  # of all that the solution depends on: it may be a sequence
        names = sorted(link.target.free_symbols, key=str)
        asked = [sympy.sympify(e) for e in self.equations(unknown(*names))]
        if not any(e.has(unknown) for e in asked):
            return Settled(Answer(None, "the equations say nothing of it"), link.before)
        left = [Same("", e, sympy.Integer(0), link.given).settle(link.seed) for e in self.equations(link.target)]
        answer = all_hold([(f"equation {i}", found) for i, found in enumerate(left, 1)])
        typed = any(solved(e, unknown, len(names)) for e in asked)  # an equation that is the solution itself
        return Settled(answer, link.target, (self.only,), derives=not typed)

    def __str__(self) -> str:
        return "inserting it into its equations"


def solved(equation: sympy.Expr, unknown: type[sympy.Function], size: int) -> bool:
    """Whether an equation is a number of times x = what is typed, x at all values of its symbols and not at some."""
    found = equation.atoms(unknown)
    x = sympy.Dummy("x")
    slope = sympy.diff(equation.subs(dict.fromkeys(found, x)), x)
    return len(found) == 1 and bool(slope.is_number) and all(len(e.free_symbols) >= size for e in found)


FEW = 2_000  # points at which a part is looked at before its sign is argued


# Slack ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Slack:
    """The two sides differ by a sum of parts, none of them ever negative: what a proof gives away.

    `seen` are parts whose sign the hypotheses decide, which is checked; of those `given` the reason is a premise; each
    of `cited` is a factor ≥ 0 and a claim, whose larger side less its smaller is multiplied with it. Vectors may stand
    in one coordinate: both sides are then quadratic forms, and what vanishes for all numbers vanishes for all vectors.
    """

    given: Mapping[str, sympy.Expr] = field(default_factory=dict)
    seen: Sequence[sympy.Expr] = ()
    cited: Sequence[tuple[sympy.Expr, Cites]] = ()

    @property
    def cites(self) -> list[Cites]:
        return [cites for _, cites in self.cited]

    def settle(self, link: Link) -> Settled:
        if link.relation not in ("<=", ">="):
            return Settled(Answer(None, f"parts that may be 0 or more show no {link.relation}"), link.before)
        parts, granted = list(self.given.values()), tuple[str, ...]()
        for factor, cites in self.cited:
            claim, gap, more = read(cites, link)
            if gap is not None:
                return gap
            parts.append(factor * difference(claim, cites))
            granted += more
        low, high = (link.before, link.target) if link.relation in UP else (link.target, link.before)
        total = sympy.Add(*parts, *self.seen)
        odd = next((e for e in (low, high, *parts, *self.seen) if not quadratic(e)), None)
        if odd is not None:
            return Settled(
                Answer(None, f"{pretty(odd)} is no quadratic form: one coordinate says nothing"), link.before
            )
        over, total = (sympy.expand(e.subs(equations(link.given))) for e in (high - low, total))
        answer = Same("", over, total, link.given).settle(link.seed)
        if not answer.holds:
            return Settled(Answer(None, f"the parts do not add up to the difference: {answer.how}"), link.before)
        for part in (*self.seen, *(factor for factor, _ in self.cited)):
            if not self.never_negative(sympy.sympify(part), link):
                return Settled(Answer(None, f"{pretty(part)} is not seen to be ≥ 0"), link.before)
        for reason, part in self.given.items():
            factors = [f for f in sympy.Mul.make_args(sympy.sympify(part)) if f.free_symbols]
            public = sorted((f for f in factors if f.free_symbols <= TABLE.keys()), key=sympy.count_ops)
            spared = int(len(public) == len(factors))  # the reason is why one is ≥ 0; vectors are the proof's own
            unseen = [f for f in public[: len(public) - spared] if not self.never_negative(f, link)]
            if unseen and spared:  # the longest was not looked at
                unseen += [f for f in public[-1:] if not self.never_negative(f, link)]
            if len(unseen) > spared:
                what = " or ".join(map(pretty, unseen))
                return Settled(Answer(None, f"{reason}: {what} is not seen to be ≥ 0"), link.before)
        alone = len(self.given) == 1 and not self.seen and not self.cited  # the difference itself is taken as given
        typed = alone or any(restates(sympy.sympify(part), link.claim) for part in self.given.values())
        premises, rests = (*self.given, *granted), tuple(cites.id for cites in self.cites)
        added = Answer(True, "the parts add up to the difference")
        return Settled(added, link.target, premises, rests, derives=not typed)

    def never_negative(self, part: sympy.Expr, link: Link) -> bool:
        """By the signs of its factors, where the hypotheses hold, one of which may be a hypothesis itself."""
        sides = [g for g in link.given if isinstance(g, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt)]
        here = [g.gts - g.lts for g in sides if g.free_symbols <= part.free_symbols]
        tried = [part, *(sympy.cancel(part / side) for side in here)]
        if any(rest.is_nonnegative for rest in tried):
            return True
        if counterexample(sympy.S.Zero, part, conditions=link.given, samples=FEW) is not None:
            return False  # seen at once, where a search for a reason would take a minute
        tried.sort(key=sympy.count_ops)
        return any(self.covered(rest, link) for rest in tried)

    def covered(self, part: sympy.Expr, link: Link) -> bool:
        """By a substitution that reaches every value allowed."""
        for cover in substitutions(link.given, part.free_symbols):
            here = sympy.factor(part.subs(dict(cover), simultaneous=True))
            if here.is_nonnegative or signs_agree(here, {}):
                return True
        return False

    def __str__(self) -> str:
        return "; ".join([*self.given, *(cites.id for cites in self.cites)]) or "the parts are ≥ 0"


def restates(part: sympy.Expr, claim: Claim) -> bool:
    """Whether a part that is taken to be ≥ 0 says what the claim does, but for a number and logarithms."""
    subject = sympy.Dummy("subject", positive=True)
    here = part.subs(claim.subject, subject)
    slope = sympy.diff(here, subject)
    return slope != 0 and not slope.has(subject) and nearly(sympy.expand(here - slope * subject) / slope, claim.formula)


def difference(claim: Claim, cites: Cites) -> sympy.Expr:
    """The larger side of an inequality less the smaller."""
    if isinstance(claim.states, Rate) or not claim.relation:
        raise InvalidInput(f"statement of {claim.id}", claim.text(), "an inequality", "A rate gives no number.")
    where = dict(cites.where)
    subject, formula = (e.subs(where, simultaneous=True) for e in (claim.subject, claim.formula))
    return formula - subject if claim.relation in UP else subject - formula


def quadratic(expr: sympy.Expr) -> bool:
    """Whether an expression is a polynomial of degree 2 at most in its vectors, the symbols that may be negative."""
    vectors = [s for s in sympy.sympify(expr).free_symbols if not s.is_nonnegative]
    if not vectors:
        return True
    try:
        return bool(sympy.Poly(expr, *vectors).total_degree() <= 2)
    except sympy.PolynomialError:
        return False


def enough_noise(cites: Cites, link: Link) -> Settled:
    """The noise that a cited claim shows to be enough for the same guarantee."""
    cited, gap, granted = read(cites, link)
    if gap is not None:
        return gap
    mine = link.claim.guarantee
    theirs = cited.guarantee
    same = mine is not None and theirs is not None and type(mine) is type(theirs) and mine.relation == theirs.relation
    if same:
        assert mine is not None
        assert theirs is not None
        where = dict(cites.where)
        params = {k: sympy.sympify(v).subs(where, simultaneous=True) for k, v in theirs.parameters.items()}
        same = all(sympy.simplify(params[k] - sympy.sympify(v)) == 0 for k, v in mine.parameters.items())
    if not same or cited.kind is not Kind.PRIVACY:
        return Settled(Answer(None, f"{cited.id} does not promise {mine}"), link.before)
    where = dict(cites.where)
    subject, formula = (e.subs(where, simultaneous=True) for e in (cited.subject, cited.formula))
    if subject != link.claim.subject:
        how = f"{cited.id} is about {pretty(subject)}, the claim about {pretty(link.claim.subject)}"
        return Settled(Answer(None, how), link.before)
    return Settled(Answer(True, cited.id), formula, granted, (cited.id,))
