"""Symbolic checks that derive the value a claim states: sums, recurrences, moments of noise, other claims.

A closed form that fails is refuted at a point that replays: the sum or the recurrence carried out step by step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import mpmath
import numpy as np
import sympy

from dpcheck.bounds.language.claim import (
    Cites,
    Claim,
    Effort,
    Evidence,
    Kind,
    Rate,
    Verdict,
    bounds_above,
    judge,
    pretty,
)
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.proving.implications import needs, relations
from dpcheck.bounds.proving.inequalities import Where, counterexample, exceeds, never_exceeds
from dpcheck.bounds.proving.links import at_most
from dpcheck.bounds.proving.proofs import AtMost, Equals, induction, shown_by, wrong_way
from dpcheck.bounds.proving.steps import Less, Same, Step, at, digits, named

SMALL = (1, 2, 3, 5, 8, 13)  # lengths at which a sum or a recurrence is written out


# Sequences -----------------------------------------------------------------------------------------
class Sequence(ABC):
    """What a sum or a recurrence comes to after `over` steps, against the claim's right-hand side.

    An identity must be equal at every length; with `at_most` the claim is an upper bound.
    """

    kind: ClassVar[str] = "symbolic"
    over: sympy.Symbol
    because: str
    at_most: bool

    @abstractmethod
    def steps(self, bound: sympy.Expr, given: list[sympy.Basic]) -> list[Step]:
        """An induction on the length that shows the bound."""

    @abstractmethod
    def after(self, length: int) -> sympy.Expr:
        """The value at that length, written out."""

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        if self.at_most and not bounds_above(claim):
            return wrong_way(self.kind)
        proof = shown_by(self.steps(claim.formula, relations(claim.assumes)), self.kind, effort)
        if proof.verdict is Verdict.PROVED:
            return replace(proof, figure=f"by induction on {pretty(self.over)}", premises=(self.because,))
        for length in SMALL:
            point = self.difference(claim, length, effort.seed)
            if point is not None:
                return self.replay(claim, {**point, str(self.over): float(length)})
        how = f"{proof.figure}; written out for {pretty(self.over)} in {SMALL}, nothing differs"
        return Evidence(self.kind, Verdict.UNCHECKED, self.because, how)

    def difference(self, claim: Claim, length: int, seed: int) -> dict[str, float] | None:
        """A point of the hypotheses where the value written out contradicts the claim."""
        value, stated = self.after(length), claim.formula.subs(self.over, length)
        conditions = [c.subs(self.over, length) for c in claim.conditions]
        if sympy.false in conditions:
            return None
        kept = [c for c in conditions if c != sympy.true]
        sides = [(value, stated)] if self.at_most else [(value, stated), (stated, value)]
        points = (counterexample(low, high, conditions=kept, seed=seed) for low, high in sides)
        return next((p for p in points if p is not None), None)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        length = int(point[str(self.over)])
        value, stated = self.after(length), claim.formula.subs(self.over, length)
        here = {k: v for k, v in point.items() if k != str(self.over)}
        exact, said = (at(e, here) for e in (value, stated))
        numbers = named(here, value, stated)
        wrong = exceeds(value, stated, numbers) or (not self.at_most and exceeds(stated, value, numbers))
        figure = f"after {length} is {digits(exact)}, stated {'at most ' if self.at_most else ''}{digits(said)}"
        margin = float(exact / said - 1) if said.is_real and said != 0 and exact.is_real else None
        verdict = Verdict.REFUTED if wrong else Verdict.UNCHECKED
        return Evidence(self.kind, verdict, figure, self.because, margin, counterexample=dict(point))


@dataclass(frozen=True)
class Telescopes(Sequence):
    """The sum of `term(k)` for k from `first` to `over` + `shift`, in closed form or bounded."""

    over: sympy.Symbol
    term: Callable[[sympy.Expr], sympy.Expr]
    because: str
    first: int = 1
    shift: int = 0
    at_most: bool = False
    where: Where = field(default_factory=dict)

    def steps(self, bound: sympy.Expr, given: list[sympy.Basic]) -> list[Step]:
        free, where = at_every_length(self.over, given, self.where)
        start, growth = bound.subs(self.over, 1), bound.subs(self.over, self.over + 1) - bound
        added = self.term(self.over + 1 + self.shift)
        if self.at_most:
            return [
                Less("it holds at 1", self.after(1), start, where, given=free),
                Less("it grows by the next term at least", added, growth, where, given=free),
            ]
        return [Same("it holds at 1", self.after(1), start), Same("it grows by the next term", added, growth)]

    def after(self, length: int) -> sympy.Expr:
        terms = range(self.first, length + self.shift + 1)
        return sympy.Add(*(sympy.sympify(self.term(sympy.Integer(k))) for k in terms))


@dataclass(frozen=True)
class Recurrence(Sequence):
    """x₀ = `start`, then `step` again and again: x after `over` steps, in closed form or bounded.

    A bound is proved by induction, which takes a step that grows with its argument.
    """

    over: sympy.Symbol
    start: sympy.Expr
    step: Callable[[sympy.Expr], sympy.Expr]
    because: str
    at_most: bool = False
    where: Where = field(default_factory=dict)

    def steps(self, bound: sympy.Expr, given: list[sympy.Basic]) -> list[Step]:
        if self.at_most:
            return induction(self.over, self.start, self.step, bound, where=self.where, given=given)
        at_0, at_1, following = (bound.subs(self.over, k) for k in (0, 1, self.over + 1))
        return [
            Same("it holds at the start", self.start, at_0),
            Same("the first step keeps it", self.step(at_0), at_1),
            Same("a step keeps it", self.step(bound), following),
        ]

    def after(self, length: int) -> sympy.Expr:
        value = self.start
        for _ in range(length):
            value = self.step(value)
        return value


def at_every_length(
    over: sympy.Symbol, given: list[sympy.Basic], where: Where
) -> tuple[list[sympy.Basic], Mapping[sympy.Symbol, sympy.Expr]]:
    """What is given, and a substitution, without what bounds the length: it need not hold at every step."""
    return [g for g in given if over not in g.free_symbols], {s: e for s, e in where.items() if s != over}


# Noise ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Law:
    """Noise by its density in one variable, up to a constant: a coordinate, or the length of a vector."""

    variable: sympy.Symbol
    density: sympy.Expr
    low: sympy.Expr = sympy.S.Zero

    def mean(self, value: sympy.Expr) -> sympy.Expr:
        """E value, by two integrals; refused unless quadrature at a point agrees."""
        ends = (self.variable, self.low, sympy.oo)
        parts = [sympy.integrate(f, ends, conds="none") for f in (value * self.density, self.density)]
        found = sympy.simplify(sympy.gammasimp(parts[0] / parts[1]))
        self.must_agree(value, found)
        return found

    def must_agree(self, value: sympy.Expr, found: sympy.Expr) -> None:
        """Refuse a mean that quadrature at a point does not confirm: symbolic integration has bugs."""
        names = (value.free_symbols | self.density.free_symbols) - {self.variable}
        point = {s: 3 if s.is_integer else sympy.Rational(3, 4) for s in names}
        ends = [0, 1, mpmath.inf] if self.low == 0 else [-mpmath.inf, 0, mpmath.inf]
        top, bottom = (
            mpmath.quad(sympy.lambdify(self.variable, f.subs(point), "mpmath"), ends)
            for f in (value * self.density, self.density)
        )
        if abs(sympy.N(found.subs(point)) - top / bottom) > 1e-6 * abs(top / bottom):
            raise InvalidInput("expectation", str(found), "what quadrature gives", "Integrate it by hand: use Equals.")


def gaussian(deviation: sympy.Expr) -> Law:
    """One coordinate of Gaussian noise."""
    x = sympy.Symbol("x", real=True)
    return Law(x, sympy.exp(-(x**2) / (2 * deviation**2)), -sympy.oo)


def laplace_size(scale: sympy.Expr) -> Law:
    """The absolute value of Laplace noise."""
    x = sympy.Symbol("x", positive=True)
    return Law(x, sympy.exp(-x / scale))


def gaussian_length(dimension: sympy.Expr, deviation: sympy.Expr) -> Law:
    """The length of a vector of Gaussian noise (a chi law)."""
    r = sympy.Symbol("r", positive=True)
    return Law(r, r ** (dimension - 1) * sympy.exp(-(r**2) / (2 * deviation**2)))


def l2_laplace_length(dimension: sympy.Expr, scale: sympy.Expr) -> Law:
    """The length of noise with density proportional to exp(-‖z‖₂/scale) (a gamma law)."""
    r = sympy.Symbol("r", positive=True)
    return Law(r, r ** (dimension - 1) * sympy.exp(-r / scale))


@dataclass(frozen=True)
class Expectation:
    """The claim's right-hand side against E `of`(noise), integrated from the law of the noise."""

    of: Callable[[sympy.Symbol], sympy.Expr]
    law: Law
    because: str
    at_most: bool = False
    where: Where = field(default_factory=dict)
    kind: ClassVar[str] = "symbolic"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        found = self.comparison().run(claim, effort)
        if self.at_most and found.verdict is Verdict.UNCHECKED:  # gamma functions: the second moment is plainer
            value = self.of(self.law.variable)
            root = sympy.sqrt(self.law.mean(value**2))
            jensen = AtMost(root, f"{self.because}; (E|x|)² ≤ E x² (Jensen)", self.where, exact=False)
            return jensen.run(claim, effort)
        return found

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.comparison().replay(claim, point)

    def comparison(self) -> Equals | AtMost:
        mean = self.law.mean(self.of(self.law.variable))
        return AtMost(mean, self.because, self.where) if self.at_most else Equals(mean, self.because)


@dataclass(frozen=True)
class LargestNoise:
    """The claim bounds E max of `count` independent N(0, deviation²): proved by Jensen, refuted by quadrature.

    E max ≤ log(count)/λ + λσ²/2 for every λ > 0, hence σ√(2 log count); of absolute values, with 2·count.
    """

    count: sympy.Expr
    deviation: sympy.Expr
    because: str
    absolute: bool = False
    where: Where = field(default_factory=dict)
    kind: ClassVar[str] = "symbolic"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        if not bounds_above(claim):
            return wrong_way(self.kind)
        count = 2 * self.count if self.absolute else self.count
        jensen = self.deviation * sympy.sqrt(2 * sympy.log(count))
        answer = never_exceeds(jensen, claim.formula, where=self.where, conditions=claim.conditions, confirm=False)
        if answer.holds:
            return Evidence(self.kind, Verdict.PROVED, f"at most {pretty(jensen)}: {self.because}", answer.how)
        names = sorted(claim.formula.free_symbols | self.deviation.free_symbols | self.count.free_symbols, key=str)
        for size in (1, 2, 3, 10, 100, 10_000, 10**6):
            point = {str(s): float(size) if s == self.count else 1.0 for s in names}
            found = self.replay(claim, point)
            if found.verdict is Verdict.REFUTED and claim.violated_by(point) is None:
                return found
        return Evidence(self.kind, Verdict.UNCHECKED, self.because, answer.how)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        count, deviation, stated = (
            float(at(e, point)) for e in (sympy.sympify(self.count), self.deviation, claim.formula)
        )
        exact = deviation * expected_largest(int(count), self.absolute)
        verdict = Verdict.REFUTED if exact > stated + 1e-6 * deviation else Verdict.UNCHECKED
        figure = f"is {exact:.4g}, stated at most {stated:.4g}"
        return Evidence(self.kind, verdict, figure, self.because, counterexample=dict(point))


def expected_largest(count: int, absolute: bool = False) -> float:
    """E max of `count` independent standard normals (or of their absolute values), to about 1e-8."""
    from scipy import integrate, special  # costs more than the rest of this file

    if absolute:
        return float(integrate.quad(lambda x: -np.expm1(count * np.log1p(-2 * special.ndtr(-x))), 0, 40, limit=200)[0])
    above = integrate.quad(lambda x: -np.expm1(count * special.log_ndtr(x)), 0, 40, limit=200)[0]
    below = integrate.quad(lambda x: np.exp(count * special.log_ndtr(x)), -40, 0, limit=200)[0]
    return float(above - below)


# Other claims --------------------------------------------------------------------------------------
HOLDS_AS = {
    Verdict.PROVED: Verdict.PROVED,
    Verdict.CERTIFIED: Verdict.CERTIFIED,
    Verdict.LOOSE: Verdict.CERTIFIED,
    Verdict.SUPPORTED: Verdict.SUPPORTED,
}


@dataclass(frozen=True)
class Implied:
    """The claim follows from another one read through `where`: hypotheses and statement.

    The other claim's own checks are run: what it is worth is what this one gets. A rate takes the constant that
    suffices; `cover` is the substitution that shows the inequality between the two right-hand sides.
    """

    by: Claim
    because: str
    where: Where = field(default_factory=dict)
    constant: sympy.Expr = sympy.S.One
    cover: Where = field(default_factory=dict)
    kind: ClassVar[str] = "symbolic"

    @property
    def cites(self) -> list[Cites]:
        """The claim it uses: citations may not go in a circle."""
        return [Cites(self.by.id, self.where)]

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        self.must_compare(claim)
        if self.by.relation != "=" and bounds_above(self.by) != bounds_above(claim):
            return Evidence(self.kind, Verdict.UNCHECKED, f"gap: {self.by.id} bounds from the other side")
        gaps = [need for need in needs(self.by, claim, self.where, effort.seed) if not need.answer.holds]
        if gaps:
            return Evidence(self.kind, Verdict.UNCHECKED, f"gap: {self.by.id} needs {gaps[0]}", gaps[0].answer.how)
        step = self.step(claim)
        answer = step.settle(effort.seed)
        if answer.holds is None and isinstance(step, Less):  # a chain's algebra clears roots
            answer = at_most(step.left, step.right, claim.conditions, self.cover, seed=effort.seed)
        if not answer.holds:
            return Evidence(self.kind, Verdict.UNCHECKED, f"gap: not implied by {self.by.id}", answer.how)
        pieces = [check.run(self.by, effort) for check in self.by.checks]
        worth = judge(pieces, self.by.kind)
        figure, detail = f"follows from {self.by.id}, which is {worth.lower()}", f"{self.because}; {answer.how}"
        premises = tuple(dict.fromkeys(p for e in pieces if e.verdict is worth for p in e.premises))
        verdict = HOLDS_AS.get(worth, Verdict.UNCHECKED)
        return Evidence(self.kind, verdict, figure, detail, premises=premises, rests=(self.by.id,))

    def step(self, claim: Claim) -> Step:
        """What is left to show: a bound (or noise that suffices) may grow, a lower bound may shrink."""
        theirs = self.by.formula.subs(self.where, simultaneous=True)
        if isinstance(claim.states, sympy.Eq) and claim.kind is not Kind.PRIVACY:
            return Same(self.because, theirs, claim.formula, claim.conditions)
        rate = isinstance(claim.states, Rate)
        lower = claim.states.below if rate else isinstance(claim.states, sympy.Ge | sympy.Gt)
        low, high = theirs, (self.constant if rate else sympy.S.One) * claim.formula
        return Less(self.because, *((high, low) if lower else (low, high)), self.cover, given=claim.conditions)

    def must_compare(self, claim: Claim) -> None:
        """Refuse two statements about different things, and an explicit bound from a rate."""
        theirs = self.by.subject.subs(self.where, simultaneous=True)
        if theirs != claim.subject:
            limit = f"about {pretty(claim.subject)}"
            raise InvalidInput(f"statement of {self.by.id}", f"about {pretty(theirs)}", limit, "Check `where`.")
        if isinstance(self.by.states, Rate) and not isinstance(claim.states, Rate):
            limit = "an explicit bound, as that of the claim it is to imply"
            raise InvalidInput(f"statement of {self.by.id}", "a rate", limit, "A hidden constant implies no number.")
