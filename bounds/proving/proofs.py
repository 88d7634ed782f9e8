"""The symbolic checks beside chains: values and bounds that a claim is compared with, rates that fail, units.

Each takes the claim's own right-hand side, so a check cannot drift from the statement it judges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import sympy

from dpcheck.bounds.language.claim import (
    LOGS_FREE,
    Check,
    Claim,
    Effort,
    Evidence,
    Rate,
    Verdict,
    bounds_above,
    lambdified,
    pretty,
)
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.resting import Used, as_promised, missing
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.bounds.proving.implications import beyond, relations
from dpcheck.bounds.proving.steps import ProofLine, Same, at, box_text, digits, named, settle
from dpcheck.bounds.relations.conditions import unreached
from dpcheck.bounds.relations.inequalities import Answer, Box, Where, counterexample, exceeds, never_exceeds


@dataclass(frozen=True)
class PrintedCells:
    """The cells of a printed table against the claim's own formula: `cells(formula)` compares each of them."""

    cells: Callable[[sympy.Expr], Sequence[ProofLine]]
    figure: str
    kind: ClassVar[str] = "symbolic"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        found = shown_by(self.cells(claim.formula), self.kind, effort)
        return replace(found, figure=self.figure) if found.verdict is Verdict.PROVED else found


def shown_by(steps: Sequence[ProofLine], kind: str, effort: Effort) -> Evidence:
    """Whether all steps hold; what they show is for the check that made them from its claim."""
    gap = settle(steps, effort.seed)
    if gap is None:
        return Evidence(kind, Verdict.PROVED, f"{len(steps)} steps hold", "; ".join(s.says for s in steps))
    step, answer = gap
    return Evidence(kind, Verdict.UNCHECKED, f"gap: {step.says}", answer.how)


@dataclass(frozen=True)
class Equals:
    """The claim's right-hand side against the value that `because` derives (a function if slow to derive).

    `uses` are the hypotheses that it rests on: it shows nothing of a claim without them.
    """

    value: sympy.Expr | Callable[[], sympy.Expr]
    because: str
    uses: Sequence[Used] = ()
    kind: ClassVar[str] = "symbolic"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        unsaid = missing(self.uses, claim)
        if unsaid:
            return Evidence(self.kind, Verdict.UNCHECKED, f"gap: {unsaid}", self.because)
        answer = Same(self.because, self.derived, claim.formula, claim.conditions).settle(effort.seed)
        if answer.holds:
            return Evidence(self.kind, Verdict.PROVED, "equal", answer.how, premises=(self.because,))
        if answer.holds is None:
            return Evidence(self.kind, Verdict.UNCHECKED, self.because, answer.how)
        return self.replay(claim, answer.point or {})

    @property
    def derived(self) -> sympy.Expr:
        return self.value if isinstance(self.value, sympy.Basic) else self.value()

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        exact, stated = (at(e, point) for e in (self.derived, claim.formula))
        differs = {exact.is_finite, stated.is_finite} == {True, False}
        if exact.is_finite and stated.is_finite:
            differs = bool(abs(exact - stated) > 1e-9 * (abs(exact) + abs(stated)))
        verdict = Verdict.REFUTED if differs else Verdict.UNCHECKED
        figure = f"is {digits(exact)}, stated {digits(stated)}"
        off = float(exact / stated - 1) if exact.is_real and stated.is_real and stated != 0 else None
        return Evidence(self.kind, verdict, figure, self.because, off, counterexample=dict(point))


@dataclass(frozen=True)
class AtMost:
    """`value` never exceeds the claim's right-hand side, or `against` where that is what the claim promises.

    Where the claim says what its subject is (a scale of noise), the subject may stand in `value`, and ε in `against`
    is what the claim promises. With `exact` the value is attained, so a point above the bound refutes the claim;
    otherwise the value is itself a proven upper bound and a point above only leaves a gap. `uses` are the hypotheses
    that it rests on: it shows nothing of a claim without them.
    """

    value: sympy.Expr
    because: str
    where: Where = field(default_factory=dict)
    box: Box | None = None
    exact: bool = True
    against: sympy.Expr | None = None
    uses: Sequence[Used] = ()
    kind: ClassVar[str] = "symbolic"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        if not bounds_above(claim):
            return wrong_way(self.kind)
        unread = self.unread(claim)
        if unread:
            return Evidence(self.kind, Verdict.UNCHECKED, unread, self.because)
        value, stated = self.sides(claim)
        point = counterexample(value, stated, conditions=claim.conditions, box=self.box, seed=effort.seed)
        if point is not None and self.exact:
            return self.replay(claim, point)
        if point is not None:
            return Evidence(self.kind, Verdict.UNCHECKED, f"gap: {self.because}", f"exceeded at {point}")
        answer = under(claim, value, stated, self.where, self.box, effort.seed)
        if answer.point is not None and self.exact:
            return self.replay(claim, answer.point)
        return shown_above(self.kind, "it is at most that", self.because, answer)

    def unread(self, claim: Claim) -> str:
        """What of the claim it does not read, or rests on and does not find; "" if there is nothing."""
        if self.against is not None and not self.value.has(claim.subject):
            how = f"{pretty(self.value)} does not depend on {pretty(claim.subject)}"
            return f"the statement is not read: {how}"
        if self.against is not None and as_promised(self.value, self.against, claim) is None:
            return f"the promise is not read: {pretty(self.against)} says nothing of {claim.promise or 'none'}"
        unsaid = missing(self.uses, claim)
        return f"gap: {unsaid}" if unsaid else ""

    def sides(self, claim: Claim) -> tuple[sympy.Expr, sympy.Expr]:
        """The value, with the claim's own formula for its subject, and what it is compared with."""
        promised = None if self.against is None else as_promised(self.value, self.against, claim)
        if promised is None:
            return self.value, claim.formula
        return promised[0].subs(claim.subject, claim.formula), promised[1]

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        value, bound = self.sides(claim)
        exact, stated = (at(e, point) for e in (value, bound))
        above = exceeds(value, bound, named(point, value, bound))
        verdict = Verdict.REFUTED if above else Verdict.UNCHECKED
        figure = f"reaches {digits(exact)}, stated at most {digits(stated)}"
        margin = float(exact / stated - 1) if exact.is_real and stated.is_real and stated != 0 else None
        return Evidence(self.kind, verdict, figure, self.because, margin, counterexample=dict(point))


@dataclass(frozen=True)
class Sharper:
    """A smaller bound that is proved in another claim: the stated one is loose by the ratio of the two."""

    bound: sympy.Expr
    because: str
    kind: ClassVar[str] = "symbolic"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        if not bounds_above(claim):
            return wrong_way(self.kind)
        ratio = sympy.simplify(claim.formula / self.bound)
        given = [c for c in claim.conditions if c.free_symbols <= ratio.free_symbols]
        most, least = (extreme(sign * ratio, given, effort.seed) * sign for sign in (1, -1))
        figure = f"loose by {pretty(ratio)}, from {least:.3g} to {most:.3g}"
        verdict = Verdict.LOOSE if least > 1.05 else Verdict.UNCHECKED
        return Evidence(self.kind, verdict, figure, margin=least - 1, premises=(self.because,))


@dataclass(frozen=True)
class Bounded:
    """A rate against an explicit bound too tangled to prove: its ratio over a wide box, and whether it grows.

    `box` spans several decades of each symbol; the largest ratio may be at most 3 times the largest well inside,
    a rule of thumb: hence SUPPORTED, never more.
    """

    bound: sympy.Expr
    box: Box
    because: str
    kind: ClassVar[str] = "symbolic"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        names = sorted((self.bound / claim.formula).free_symbols, key=str)
        logs = np.log([self.box[s] for s in names])
        unit = np.random.default_rng(effort.seed).random((100_000, len(names)))
        unit[:50_000] = np.round(unit[:50_000])
        points = np.exp(logs[:, 0] + unit * (logs[:, 1] - logs[:, 0]))
        ratios = lambdified(self.bound / claim.formula)(*points.T)
        inner = np.all((unit > 0.1) & (unit < 0.9), axis=1)
        growth = float(ratios.max() / ratios[inner].max())
        verdict = Verdict.SUPPORTED if growth < 3 else Verdict.UNCHECKED
        figure = f"bound / rate at most {ratios.max():.3g}"
        return Evidence(self.kind, verdict, figure, f"{self.because}; {len(points)} points{box_text(self.box)}")


@dataclass(frozen=True)
class NoConstant:
    """A family along which the true value, over the claimed bound, grows without end: no hidden constant works.

    `value` is attained (or a proven lower bound of what is attained) when `path` gives each symbol as an expression
    of one parameter that goes to infinity. The constants that the statement says exist stay free, all at once, and
    every hypothesis must hold along the path, whatever they are. Where the statement leaves powers of logarithms out,
    as Õ does, the ratio must outgrow every power of the logarithm of whatever moves.
    """

    value: sympy.Expr
    path: Mapping[sympy.Symbol, sympy.Expr]
    parameter: sympy.Symbol
    because: str
    at: float = 1e6
    kind: ClassVar[str] = "symbolic"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        if not (isinstance(claim.states, Rate) or claim.hidden):
            limit = "a rate, or with constants that exist"
            raise InvalidInput("statement", claim.text(), limit, "Use AtMost for explicit constants.")
        if not bounds_above(claim):
            return wrong_way(self.kind)
        return self.far_out(claim, sympy.Rational(repr(float(self.at))))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.far_out(claim, self.place(point))

    def far_out(self, claim: Claim, place: sympy.Expr) -> Evidence:
        """Whether the ratio grows without end; shown at this place of the path and a thousand times later."""
        outside = self.outside(claim, place)
        if outside:
            return Evidence(self.kind, Verdict.UNCHECKED, outside, self.because)
        plain = (self.value / claim.formula).subs(self.path)
        if LOGS_FREE in claim.assumes:
            ratio = plain
            if not self.outgrows_logs(claim, ratio):
                return Evidence(self.kind, Verdict.UNCHECKED, "the ratio may be a power of a logarithm", self.because)
        else:
            ratio = sympy.simplify(plain)
            limit = sympy.limit(ratio, self.parameter, sympy.oo)
            if limit is not sympy.oo and claim.hidden:  # sympy may lose a power with a free exponent on one fraction
                limit = sympy.limit(plain, self.parameter, sympy.oo)
            if limit is not sympy.oo:
                return Evidence(self.kind, Verdict.UNCHECKED, f"ratio tends to {limit}", self.because)
        one = dict.fromkeys(claim.hidden, 1)  # shown with each of them at 1
        shown = ratio.subs(one)
        here, later = (shown.evalf(20, subs={self.parameter: x}) for x in (place, 1000 * place))
        along = {s: sympy.sympify(e).subs(one) for s, e in self.path.items()}
        numbers = {str(s): as_float(e.subs(self.parameter, place)) for s, e in along.items()}
        numbers |= {str(s): float(math.ceil(x)) for s in along if s.is_integer and (x := numbers[str(s)]) < math.inf}
        if not (here.is_real and later.is_real):
            rest = ", ".join(map(pretty, shown.free_symbols - {self.parameter}))
            return Evidence(self.kind, Verdict.UNCHECKED, f"the path does not say what {rest} is", self.because)
        huge = {s: e.subs(self.parameter, place) for s, e in along.items() if numbers[str(s)] == math.inf}
        shown_at = {name: number for name, number in numbers.items() if number < math.inf}
        gone = [name for name, number in shown_at.items() if number <= 0]
        if gone or not any(e.has(self.parameter) for s, e in along.items() if s not in huge):
            name = next(iter([*gone, *map(str, huge)]), "the path")
            return Evidence(self.kind, Verdict.UNCHECKED, f"{name} leaves the range of floats there", self.because)
        verdict = Verdict.REFUTED if later > 1.5 * here else Verdict.UNCHECKED
        figure = f"no constant works: value/rate is {digits(here)}, and {digits(later / here)}x that 1000 times later"
        figure += "".join(f"; {pretty(s)} is {digits(e.evalf())} there" for s, e in huge.items())
        return Evidence(self.kind, verdict, figure, self.because, as_float(here), counterexample=shown_at)

    def outgrows_logs(self, claim: Claim, ratio: sympy.Expr) -> bool:
        """Whether the ratio grows faster than every power of the logarithm of each symbol and side that moves."""
        sizes = (sympy.sympify(e).subs(self.path) for e in (*self.path.values(), self.value, claim.formula))
        moving = dict.fromkeys(size for size in sizes if size.has(self.parameter))
        speeds = (logarithm(ratio) / sympy.log(sympy.Abs(logarithm(size))) for size in moving)
        return all(sympy.limit(speed, self.parameter, sympy.oo) is sympy.oo for speed in speeds)

    def place(self, point: Mapping[str, Any]) -> sympy.Expr:
        """Where on the path a point lies, read off a symbol that moves along it."""
        for symbol, value in self.path.items():
            moving = sympy.sympify(value)
            if moving.has(self.parameter) and str(symbol) in point:
                found = sympy.solve(moving - sympy.Rational(repr(float(point[str(symbol)]))), self.parameter)
                places = [x for x in found if x.is_real and x > 0]
                if places:
                    return places[-1]
        moving_ones = [str(s) for s, e in self.path.items() if sympy.sympify(e).has(self.parameter)]
        raise InvalidInput("point", sorted(point), f"with one of {moving_ones}", "It says how far out to look.")

    def outside(self, claim: Claim, place: sympy.Expr) -> str:
        """Why the path does not stay in the claim's hypotheses; "" if it does, here and a thousand times later."""
        bound = [s for s in self.path if s in claim.hidden]
        if bound:
            return f"the path chooses {', '.join(map(pretty, bound))}, which the statement leaves free"
        for symbol, value in self.path.items():
            free = sympy.sympify(value).subs(dict.fromkeys(claim.hidden, 1))
            ends = [free.evalf(20, subs={self.parameter: x}) for x in (place, 1000 * place)]
            if symbol in TABLE and not all(0 < x < TABLE[symbol].below for x in ends):
                return f"the path leaves the domain of {pretty(symbol)}"
        for condition in claim.conditions:
            if not condition.free_symbols & self.path.keys():
                continue  # it can be met whatever the path is
            unset = condition.free_symbols - self.path.keys() - {*claim.hidden}
            if unset:
                return f"the path does not say what {', '.join(map(pretty, unset))} is, which {pretty(condition)} needs"
            if not self.keeps(condition.subs(self.path), claim, place):
                return f"the path leaves the hypotheses: {pretty(condition)} fails"
        return ""

    def keeps(self, condition: sympy.Basic, claim: Claim, place: sympy.Expr) -> bool:
        """Whether a condition holds along the path; one with a hidden constant far out, whatever that is."""
        ordered = isinstance(condition, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt)
        if not condition.free_symbols & {*claim.hidden}:
            if ordered and LOGS_FREE in claim.assumes:  # sides that no machine writes out
                condition = type(condition)(logarithm(condition.lhs), logarithm(condition.rhs))
            return all(condition.subs(self.parameter, x) == sympy.true for x in (place, 1000 * place))
        if not ordered:
            return bool(condition == sympy.true)
        share = sympy.simplify(condition.lts / condition.gts)
        return bool(share == 1 and not isinstance(condition, sympy.Lt | sympy.Gt)) or bool(
            sympy.limit(share, self.parameter, sympy.oo) == 0
        )


def logarithm(positive: sympy.Expr) -> sympy.Expr:
    """Of a product of powers, as a sum."""
    return sympy.expand(sympy.simplify(sympy.expand_log(sympy.log(positive), force=True)))


def as_float(value: sympy.Expr) -> float:
    """As a float, infinite where floats end."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


@dataclass(frozen=True)
class Units:
    """The sides disagree in units: rescaling the loss (or the parameter) breaks any constant."""

    kind: ClassVar[str] = "symbolic"
    admits_unit_gap: ClassVar[bool] = True  # the registry refuses a claim with a gap that no check of its own admits

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        if claim.unit_gap is None:
            return Evidence(self.kind, Verdict.SUPPORTED, "units agree")
        scales = [{f"{what}_scale": scale} for what in ("loss", "parameter") for scale in (1e6, 1e-6)]
        found = [self.replay(claim, point) for point in scales]
        return next((e for e in found if e.verdict is Verdict.REFUTED), found[0])

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        """Rescale the loss (or the parameter) by c: the left side grows by c^a, the right by another power."""
        what = "parameter" if "parameter_scale" in point else "loss"
        axis = ("loss", "parameter").index(what)
        c = sympy.Symbol("c", positive=True)
        symbols = claim.formula.free_symbols | claim.subject.free_symbols
        scaled = {s: s * c ** sympy.Rational(*TABLE[s].unit[axis].as_integer_ratio()) for s in symbols}
        left, right = (sympy.simplify(e.subs(scaled, simultaneous=True) / e) for e in (claim.subject, claim.formula))
        scale = sympy.Rational(repr(float(point[f"{what}_scale"])))
        grows = sympy.N((left / right).subs(c, scale))
        verdict = Verdict.REFUTED if grows.is_number and grows > 1 else Verdict.UNCHECKED
        if not grows.is_number:
            return Evidence(self.kind, Verdict.UNCHECKED, claim.unit_gap or "units agree")
        figure = f"{what} times {digits(sympy.N(scale))}: left/right grows {digits(grows)}x"
        return Evidence(self.kind, verdict, figure, claim.unit_gap or "", float(grows), counterexample=dict(point))


@dataclass(frozen=True)
class Quoted:
    """A statement taken from elsewhere that nothing here can decide; `why` says what is missing."""

    why: str
    kind: ClassVar[str] = "symbolic"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return Evidence(self.kind, Verdict.UNCHECKED, f"quoted {self.why}")


def under(claim: Claim, low: sympy.Expr, high: sympy.Expr, where: Where, box: Box | None, seed: int) -> Answer:
    """Whether low <= high wherever the claim's hypotheses hold; on a box, `left` says which part that is."""
    given = relations(claim.assumes)
    missed = unreached(where, given, low, high)
    if missed:
        return Answer(None, missed)
    answer = never_exceeds(low, high, where=where, box=box, conditions=given, seed=seed, confirm=not where)
    if answer.holds and box is not None and "branch" in answer.how and beyond(box, given, seed):
        return replace(answer, left=box)
    return answer


def shown_above(kind: str, figure: str, because: str, answer: Answer) -> Evidence:
    """PROVED given the reason, or CERTIFIED on the box that intervals covered."""
    if not answer.holds:
        return Evidence(kind, Verdict.UNCHECKED, f"gap: {because}", answer.how)
    box = box_text(answer.left)
    verdict = Verdict.CERTIFIED if box else Verdict.PROVED
    return Evidence(kind, verdict, figure + box, answer.how, premises=(because,))


def wrong_way(kind: str) -> Evidence:
    """A check of upper bounds says nothing of a lower one."""
    return Evidence(kind, Verdict.UNCHECKED, "the claim is a lower bound, and this shows an upper one")


def extreme(expr: sympy.Expr, given: Sequence[sympy.Basic], seed: int) -> float:
    """The largest value of an expression over the table's boxes, among points that meet the conditions."""
    names = sorted(expr.free_symbols, key=str)
    if not names:
        return float(expr)
    logs = np.log([TABLE[s].box for s in names])
    unit = np.random.default_rng(seed).random((20_000, len(names)))
    unit[:1000] = np.round(unit[:1000])
    points = np.exp(logs[:, 0] + unit * (logs[:, 1] - logs[:, 0]))
    allowed = np.ones(len(points), bool)
    for condition in given:
        used = sorted(condition.free_symbols, key=str)
        with np.errstate(all="ignore"):
            allowed &= sympy.lambdify(used, condition)(*(points[:, names.index(s)] for s in used))
    return float(lambdified(expr)(*points[allowed].T).max())


_: type[Check] = AtMost  # every class here meets the protocol
