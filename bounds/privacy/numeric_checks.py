"""The accountant's shorter forms and the worst-case check: numeric, each with an error bound.

The accountant (accountant.py) searches the hypotheses' box for a point where the stated noise leaks more than
stated, and certifies the box if there is none. The worst-case check compares a stated constant with the exact one.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar

import numpy as np
import sympy

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict, bounds_above
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.symbols import delta, delta1, eps, n, point_in_words
from dpcheck.bounds.performance.worst_case import NotCertified, WorstCase
from dpcheck.bounds.privacy import exact as accounting
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.box_accounts import LOOSE_FROM
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release


@dataclass(frozen=True)
class GaussianAccountant:
    """One Gaussian release: `mu` is its true sensitivity over its noise, the claim's own subject (accountant.py).

    With the claim's formula in the place of its subject, all symbols but eps and delta must cancel, once `where` has
    chosen among the instances that attain the sensitivity.
    """

    mu: sympy.Expr
    because: str
    box: Mapping[sympy.Symbol, tuple[float, float]] = field(default_factory=dict)
    where: Mapping[sympy.Symbol, sympy.Expr] = field(default_factory=dict)
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.accountant(claim).run(claim, effort)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.accountant(claim).replay(claim, point)

    def accountant(self, claim: Claim) -> Accountant:
        """The general check."""
        stated = self.mu.subs(claim.subject, claim.formula)
        ratio = sympy.simplify(sympy.simplify(stated).subs(dict(self.where)))
        if ratio.free_symbols - {eps, delta}:
            raise InvalidInput("mu", str(ratio), "a function of eps and delta", "Substitute the other symbols.")
        over_noise = claim.subject / claim.formula if self.mu.has(claim.subject) else sympy.Integer(1)
        return Accountant(Release(ratio * over_noise, Gaussian(1)), self.because, self.box)


@dataclass(frozen=True)
class SampledGaussianAccountant:
    """Noisy sums of a random record or batch, many steps, replace-one neighbours (accountant.py).

    `multiplier` is the noise deviation over the Lipschitz constant, `steps` a function of n, which ranges over `sizes`.
    """

    multiplier: sympy.Expr
    steps: sympy.Expr
    because: str
    batch: int = 1
    sizes: Sequence[int] = (2, 1_000_000)
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.accountant.run(claim, effort)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.accountant.replay(claim, point)

    @property
    def accountant(self) -> Accountant:
        """The general check."""
        releases = Release(2, Gaussian(self.multiplier), WithoutReplacement(self.batch, n), self.steps)
        return Accountant(releases, self.because, {n: (min(self.sizes), max(self.sizes))})


ROUNDED = 1 + 1e-6  # of a total delta of 1e-9, which is computed as a difference from 1


@dataclass(frozen=True)
class CompositionAccountant:
    """The epsilon stated for T mechanisms against their optimal composition, which is exact and attained.

    Each is (`each`, `each_delta`)-private, the latter in T and `slack`; all together promise what the claim's
    guarantee says or, where each is pure, `slack`. Points outside the hypotheses are left out.
    """

    because: str
    each: sympy.Symbol = eps
    each_delta: sympy.Expr = sympy.S.Zero
    slack: sympy.Symbol = delta1
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        sizes = (1, 2, 5, 10, 50, 200, 1000, 10_000) if effort.thorough else (1, 2, 10, 200, 10_000)
        epsilons = np.geomspace(1e-3, 5, 25 if effort.thorough else 12)
        names = str(self.each), "T", str(self.slack)
        tried = [
            dict(zip(names, map(float, p), strict=True)) for p in product(epsilons, sizes, (0.3, 1e-2, 1e-5, 1e-9))
        ]
        points = [p for p in tried if self.inside(claim, p)]
        used = [share(self.optimal(claim, p), float(claim.evaluate(**p))) for p in points]
        worst = int(np.argmax(used))
        if used[worst] > 1 + 1e-9:
            return self.replay(claim, points[worst])
        figure = f"optimal composition uses at most {used[worst]:.4f} of the stated epsilon"
        verdict = Verdict.LOOSE if used[worst] < 1 / LOOSE_FROM else Verdict.CERTIFIED
        detail = f"{self.because}; eps 1e-3 to 5, T up to {max(sizes)}, slack 1e-9 to 0.3"
        part = f"at {len(points)} points"
        return Evidence(self.kind, verdict, figure, detail, margin=1 / used[worst] - 1, part=part)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        here = {k: float(point[k]) for k in (str(self.each), "T", str(self.slack))}
        exact, stated = self.optimal(claim, here), float(claim.evaluate(**here))
        verdict = Verdict.REFUTED if exact > stated * (1 + 1e-9) else Verdict.UNCHECKED
        figure = f"epsilon is {exact:.6g}, stated {stated:.6g}"
        return Evidence(self.kind, verdict, figure, self.because, share(exact, stated) - 1, counterexample=here)

    def inside(self, claim: Claim, point: Mapping[str, float]) -> bool:
        """Whether the claim speaks of this point."""
        return self.total(claim, point) < 1 and claim.violated_by(point) is None

    def total(self, claim: Claim, point: Mapping[str, float]) -> float:
        """The delta of all of them."""
        if self.each_delta == 0:
            return point[str(self.slack)]
        assert claim.guarantee is not None
        return value_at(claim.guarantee.parameters["delta"], point)

    def optimal(self, claim: Claim, point: Mapping[str, float]) -> float:
        """The exact epsilon of T such mechanisms, at the delta of all of them."""
        own = value_at(self.each_delta, point)
        composed = accounting.optimal_composition(point[str(self.each)], own, int(point["T"]))
        return composed.epsilon(self.total(claim, point) * (ROUNDED if own else 1.0))


def share(used: float, stated: float) -> float:
    """How much of a stated epsilon is used; all and more where none is stated and some is."""
    if stated > 0:
        return used / stated
    return math.inf if used > 0 else 0.0


def value_at(expr: sympy.Expr, point: Mapping[str, float]) -> float:
    """An expression as a number."""
    return float(sympy.sympify(expr).subs({s: point[str(s)] for s in sympy.sympify(expr).free_symbols}))


@dataclass(frozen=True)
class Exactness:
    """A stated constant against the exact worst case of performance estimation at several points.

    `worst(point)` solves the semidefinite program; `points` are numbers for the claim's symbols. What it certifies
    are those points, and all that rescaling loss and parameter makes of them, so the two sides must agree in units.
    The symbols in `vary` are also tried far from the points: only the hypotheses may keep them near (step sizes).
    """

    worst: Callable[[Mapping[str, float]], WorstCase]
    points: Sequence[Mapping[str, float]]
    because: str
    vary: Sequence[str] = ()
    kind: ClassVar[str] = "worst-case"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        if not bounds_above(claim):
            return Evidence(self.kind, Verdict.UNCHECKED, "a lower bound: the worst case is an upper one", self.because)
        if claim.unit_gap is not None:
            return Evidence(
                self.kind, Verdict.UNCHECKED, f"at another scale it differs: {claim.unit_gap}", self.because
            )
        points = [*(self.points if effort.thorough else self.points[:5]), *self.further(claim)]
        results = [(p, float(claim.evaluate(**p)), self.worst(p)) for p in points]
        point, stated, found = max(results, key=lambda r: r[2].lower / r[1])
        if found.lower > above(stated):
            return self.replay(claim, point)
        slack = np.array([s / w.value for _, s, w in results])
        gaps = max(w.gap for _, _, w in results)
        if any(w.value > above(s) for _, s, w in results):
            return Evidence(self.kind, Verdict.UNCHECKED, "the dual bound lies above the statement", self.because)
        verdict = Verdict.LOOSE if slack.min() > LOOSE_FROM else Verdict.CERTIFIED
        spread = f"{slack.min():.6f}" if np.ptp(slack) < 1e-4 else f"{slack.min():.3f} to {slack.max():.3f}"
        figure = f"stated / exact = {spread}"
        detail = f"{self.because}; {len(points)} programs, primal-dual gap at most {gaps:.1e}"
        part = "; ".join(map(point_in_words, points))
        return Evidence(
            self.kind, verdict, figure, f"{detail}, at {part}", float(slack.min() - 1), part=f"at {len(points)} points"
        )

    def further(self, claim: Claim) -> Iterator[dict[str, float]]:
        """The first point with a number that may vary ten times as large or small, wherever the hypotheses allow it."""
        for name in self.vary:
            for factor in (10.0, 0.1):
                point = {**self.points[0], name: self.points[0][name] * factor}
                if claim.violated_by(point) is None:
                    yield point

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        """Run the method on the worst case made concrete, where there is one; else its Gram matrix must do."""
        here = {k: float(v) for k, v in point.items()}
        stated, found = float(claim.evaluate(**here)), self.worst(here)
        how, reached = "worst case", found.lower
        if found.build is not None:
            with contextlib.suppress(NotCertified):
                how, reached = "a run reaches", found.instance().reached()
        verdict = Verdict.REFUTED if reached > above(stated) else Verdict.UNCHECKED
        figure = f"{how} {reached:.6g}, stated at most {stated:.6g}"
        return Evidence(self.kind, verdict, figure, self.because, reached / stated - 1, counterexample=here)


@dataclass(frozen=True)
class Counted:
    """How often a claim holds in a printed table: each named list must hold in a share `least` of its rows."""

    rows: Mapping[str, Sequence[bool]]
    least: float
    because: str
    kind: ClassVar[str] = "property"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.counted(self.rows)

    def counted(self, rows: Mapping[str, Sequence[bool]]) -> Evidence:
        """Whether each of these lists holds often enough."""
        figure = ", ".join(f"{name} in {sum(held)} of {len(held)} rows" for name, held in rows.items())
        shares = {name: sum(held) / len(held) for name, held in rows.items()}
        if min(shares.values()) >= self.least:
            return Evidence(self.kind, Verdict.SUPPORTED, figure, self.because)
        return Evidence(self.kind, Verdict.REFUTED, figure, self.because, counterexample=shares)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        """The lists that are named, counted again; a share that is not theirs is refused."""
        unknown = sorted(point.keys() - self.rows.keys())
        if unknown or not point:
            raise InvalidInput("list", unknown, f"among {sorted(self.rows)}", "Name one of them with its share.")
        named = {name: held for name, held in self.rows.items() if name in point}
        for name, held in named.items():
            if abs(sum(held) / len(held) - float(point[name])) > 1e-9:
                limit = f"{sum(held) / len(held)!r}, its share in the table"
                raise InvalidInput(name, point[name], limit, "Leave the number as it was printed.")
        return self.counted(named)


def above(stated: float) -> float:
    """What a worst case must exceed to contradict a statement: the solver's two bounds may be that far apart."""
    return stated * (1 + 1e-5)
