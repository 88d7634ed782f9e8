"""Symbolic checks that derive the value a claim states: moments of noise, and what follows from other claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
from dpcheck.bounds.proving.implications import needs
from dpcheck.bounds.proving.links import at_most
from dpcheck.bounds.proving.proofs import AtMost, Equals
from dpcheck.bounds.proving.steps import Less, ProofLine, Same
from dpcheck.bounds.relations.inequalities import Where


# Noise ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class NoiseDensity:
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


def gaussian(deviation: sympy.Expr) -> NoiseDensity:
    """One coordinate of Gaussian noise."""
    x = sympy.Symbol("x", real=True)
    return NoiseDensity(x, sympy.exp(-(x**2) / (2 * deviation**2)), -sympy.oo)


def laplace_size(scale: sympy.Expr) -> NoiseDensity:
    """The absolute value of Laplace noise."""
    x = sympy.Symbol("x", positive=True)
    return NoiseDensity(x, sympy.exp(-x / scale))


def gaussian_length(dimension: sympy.Expr, deviation: sympy.Expr) -> NoiseDensity:
    """The length of a vector of Gaussian noise (a chi law)."""
    r = sympy.Symbol("r", positive=True)
    return NoiseDensity(r, r ** (dimension - 1) * sympy.exp(-(r**2) / (2 * deviation**2)))


def l2_laplace_length(dimension: sympy.Expr, scale: sympy.Expr) -> NoiseDensity:
    """The length of noise with density proportional to exp(-‖z‖₂/scale) (a gamma law)."""
    r = sympy.Symbol("r", positive=True)
    return NoiseDensity(r, r ** (dimension - 1) * sympy.exp(-r / scale))


@dataclass(frozen=True)
class Expectation:
    """The claim's right-hand side against E `of`(noise), integrated from the law of the noise."""

    of: Callable[[sympy.Symbol], sympy.Expr]
    law: NoiseDensity
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

    def step(self, claim: Claim) -> ProofLine:
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
