"""Hidden constants of a noise formula: the smallest that works on the box, or growth that no constant survives.

"There are c, c1 such that ..." cannot be refuted at one point. It is refuted here if, for each value tried of the
constants in the hypotheses, a path inside the hypotheses leads to points where c must grow without bound: sound lower
bounds of the least c at four points a factor ten apart in the path's parameter rise by at least RISE each time, and
one of two limits along the path, which sympy takes with c free, says that they rise for ever. Growth over the four
decades alone is reported and left UNCHECKED: along some paths it ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import sympy

from dpcheck.bounds.language.claim import Effort, Evidence, Verdict
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import TABLE, point_in_words, printed_name
from dpcheck.bounds.privacy import sampled_gaussian as sampled
from dpcheck.bounds.privacy.box_accounts import CLEARLY, KIND, Closed, Summed
from dpcheck.bounds.privacy.cells import CellCertificate
from dpcheck.bounds.privacy.judging import PATH, accountable, judged, no_points
from dpcheck.bounds.privacy.laws import Gaussian, Poisson, WithoutReplacement
from dpcheck.bounds.privacy.question import Question
from dpcheck.bounds.privacy.release import ONE
from dpcheck.bounds.privacy.wishart_accounts import Cones
from dpcheck.bounds.privacy.worst_points import Field, Points, most_usual, stacked, worst_points

Array = np.ndarray
Limit = Callable[[sympy.Expr], sympy.Expr]  # of an expression along a path
SETTINGS = (1e-2, 1.0, 1e2)  # values tried for a constant of the hypotheses
DECADES = (1.0, 10.0, 100.0, 1000.0)  # the path's parameter
RISE = 1.5  # least growth of c from one decade to the next
EXPONENTS = (-1, 0, 1, 2)  # of the path's parameter in each symbol
LARGEST = 1e15  # c beyond this counts as none


@dataclass(frozen=True, eq=False)
class Needed:
    """The least constant that works, at many points and at one."""

    question: Question

    @cached_property
    def account(self) -> Closed | Summed:
        found = accountable(self.question)
        if isinstance(found, Cones):
            raise InvalidInput("hidden constant", str(self.question.constant), "none in Wishart noise", "Name it.")
        return found

    @property
    def name(self) -> str:
        return str(self.question.constant)

    def with_constant(self, points: Mapping[str, Any], value: Any) -> dict[str, Any]:
        return {**points, self.name: value}

    def roughly(self, points: Points) -> Array:
        """The least constant at each point: exact for closed forms, else an upper bound from moments."""
        inside = self.question.inside(self.with_constant(points, 1.0))
        found = np.full(inside.shape, np.nan)
        if np.any(inside):
            some = {k: v[inside] for k, v in points.items()}
            found[inside] = _bisected(self._keeps(some), int(inside.sum()), 40 if self.exact else 11)
        return found

    def at_least(self, points: Points) -> Array:
        """A sound lower bound of the least constant at each point."""
        if self.exact:
            return self.roughly(points)
        account = self.account
        assert isinstance(account, Summed)
        size = len(next(iter(points.values())))
        return _bisected(lambda c: account.seen(self.with_constant(points, c)) <= CLEARLY, size, 40, upwards=False)

    @property
    def exact(self) -> bool:
        return isinstance(self.account, Closed)

    def _keeps(self, points: Points) -> Callable[[Array], Array]:
        """Where the promise is kept, as a function of the constant at each point."""
        account = self.account
        if isinstance(account, Summed):
            return lambda c: account.used(self.question.values(self.with_constant(points, c))) <= 1
        allowed = account.allowed(self.question.values(self.with_constant(points, 1.0)))
        return lambda c: account.spent(self.question.values(self.with_constant(points, c))) <= allowed

    def around(self, point: Mapping[str, float], start: float) -> tuple[float, float]:
        """Sound bounds of the least constant at one point: too small, and enough."""
        account = self.account
        if isinstance(account, Closed):
            exact = float(self.roughly(stacked([point]))[0])
            return exact * (1 - 1e-9), exact * (1 + 1e-9)
        low = sampled.crossing(lambda c: account.low(self.with_constant(point, c)) - 1, start, 2e-3)[0]
        return low, sampled.crossing(lambda c: account.high(self.with_constant(point, c)) - 1, start, 2e-3)[1]


def judge_constants(question: Question, because: str, effort: Effort) -> Evidence:
    """The verdict on a claim that says that there are constants."""
    open_ = question.open_constants
    settings = [dict(zip(open_, row, strict=True)) for row in product(SETTINGS, repeat=len(open_))]
    fixed = [replace(question, fixed={**question.fixed, **setting}) for setting in settings]
    if question.constant is None:
        found = [(judged(q, because, effort), setting) for q, setting in zip(fixed, settings, strict=True)]
        ranks = [Verdict.LOOSE, Verdict.CERTIFIED, Verdict.SUPPORTED, Verdict.UNCHECKED, Verdict.REFUTED]
        judgements = [(evidence, setting) for evidence, setting in found if evidence is not None]
        best = min(judgements, key=lambda pair: ranks.index(pair[0].verdict), default=None)
        return no_points(question, because) if best is None else _with_setting(*best)
    searched = [_Searched.of(q, effort) for q in fixed]
    met = [s for s in searched if s is not None]
    if not met:
        return no_points(question, because)
    grown = [s.growth() for s in met]
    bounded = [s for s, g in zip(met, grown, strict=True) if g is None]
    if bounded:
        return _smallest(bounded, because, effort)
    told = min((g for g in grown if g is not None), key=lambda g: g.forever is not None)
    also = f", and likewise for {open_[0]} = {', '.join(f'{v:g}' for v in SETTINGS)}" if len(open_) == 1 else ""
    found_ = told.evidence(because)
    return replace(found_, detail=found_.detail + also)


@dataclass(frozen=True, eq=False)
class _Searched:
    """One choice of the hypotheses' constants, with the points tried, the most demanding first."""

    needed: Needed
    field: Field
    tried: Points

    @classmethod
    def of(cls, question: Question, effort: Effort) -> _Searched | None:
        needed = Needed(question)
        whole = frozenset(str(s) for s in question.names if TABLE[s].integer)
        field = Field(question.box, whole)

        def score(points: Points) -> Array:
            with np.errstate(all="ignore"):
                return np.nan_to_num(np.log(needed.roughly(points)), nan=-np.inf, posinf=math.log(LARGEST))

        samples = (2048 if needed.exact else 256) * (4 if effort.thorough else 1)
        tried = worst_points(score, field, effort.seed, samples, keep=4, rounds=12 if needed.exact else 8)
        return cls(needed, field, tried) if len(next(iter(tried.values()))) else None

    def point(self, index: int) -> dict[str, float]:
        return {k: float(v[index]) for k, v in self.tried.items()}

    def growth(self) -> Growth | None:
        """A path along which the least constant grows, for ever if possible; None if there is none."""
        ending = None
        for start in (self.point(most_usual(self.tried, self.field)), self.point(0)):
            base = _rounded(start, self.field)
            if not self.needed.question.inside(self.needed.with_constant(stacked([base]), 1.0))[0]:
                base = start
            for ray in self._steepest(base):
                found = Growth(self.needed, base, ray)
                if found.established and found.forever is not None:
                    return found
                ending = ending or (found if found.established else None)
        return ending

    def _steepest(self, base: Mapping[str, float]) -> list[dict[str, int]]:
        """Paths from a point along which c grows by moments or closed form: fewest symbols first."""
        names = list(self.field.box)
        limited = {str(s) for s in self.needed.question.limits}
        choices = [(0,) if k in limited else (0, -1) if k == "delta" else EXPONENTS for k in names]
        rays = np.array([r for r in product(*choices) if any(r)])
        if len(rays) == 0:
            return []
        far = {k: base[k] * DECADES[-1] ** rays[:, i].astype(float) for i, k in enumerate(names)}
        allowed = np.all([_in_domain(k, far[k]) for k in names], axis=0)
        allowed &= self.needed.question.inside(self.needed.with_constant(far, 1.0))
        rays, far = rays[allowed], {k: v[allowed] for k, v in far.items()}
        if len(rays) == 0:
            return []
        with np.errstate(all="ignore"):
            rise = np.log(self.needed.roughly(far) / self.needed.roughly(stacked([base])))
        steep = np.flatnonzero(np.nan_to_num(rise, nan=-1.0) > len(DECADES[1:]) * math.log(RISE))
        size = np.abs(rays[steep]).sum(axis=1)
        order = np.lexsort((-rise[steep], size, (rays[steep] != 0).sum(axis=1)))
        return [dict(zip(names, (int(a) for a in rays[i]), strict=True)) for i in steep[order][:12]]


@dataclass(frozen=True, eq=False)
class Growth:
    """The least constant along a path: each symbol is multiplied by the parameter to its exponent."""

    needed: Needed
    base: Mapping[str, float]
    ray: Mapping[str, int]

    @cached_property
    def constants(self) -> list[float]:
        """Sound lower bounds of the least constant at each decade."""
        points = [self.at(decade) for decade in DECADES]
        inside = self.needed.question.inside(self.needed.with_constant(stacked(points), 1.0))
        if not np.all(inside):
            return [0.0] * len(DECADES)
        return [float(c) for c in self.needed.at_least(stacked(points))]

    @property
    def established(self) -> bool:
        """Whether it rises each time, and no slower in the end."""
        if min(self.constants) <= 0:
            return False
        rises = [b / a for a, b in zip(self.constants, self.constants[1:], strict=False)]
        return min(rises) >= RISE and rises[-1] >= 0.7 * rises[0]

    def evidence(self, because: str) -> Evidence:
        name = TABLE[self.needed.question.constant].printed if self.needed.question.constant else "c"
        ray = [(printed_name(k), a) for k, a in self.ray.items() if a]
        along = ", ".join(f"{symbol}·λ^{a}" if a != 1 else f"{symbol}·λ" for symbol, a in ray)
        least = ", ".join(f"{c:.3g}" for c in self.constants)
        figure = f"no {name} works: it must exceed {least} at {along} for λ = 1, 10, 100, 1000"
        detail = f"{because}; as λ grows, {self.forever}"
        if self.forever is None:
            figure = f"{name} must exceed {least} at {along} for λ = 1, 10, 100, 1000; whether for ever is open"
            detail = because
        path = {k: float(a) for k, a in self.ray.items() if a}
        shown = {**self.instance, PATH: path}
        verdict = Verdict.REFUTED if self.established and self.forever is not None else Verdict.UNCHECKED
        margin = self.constants[-1] / max(self.constants[0], 1e-300) - 1
        return Evidence(KIND, verdict, figure, detail, margin, counterexample=shown)

    def at(self, decade: float) -> dict[str, float]:
        """The point of the path."""
        return {k: v * decade ** self.ray.get(k, 0) for k, v in self.base.items()}

    @property
    def instance(self) -> dict[str, float]:
        """The farthest point where one constant, a little below what it must exceed, is seen to be too small."""
        constant = self.needed.question.constant
        assert constant is not None
        for decade, least in zip(reversed(DECADES), reversed(self.constants), strict=True):
            fixed = {**self.needed.question.fixed, constant: float(f"{0.9 * least:.2g}")}
            there = replace(self.needed.question, fixed=fixed)
            if accountable(there).shown(self.at(decade), "").verdict is Verdict.REFUTED:
                return there.completed(self.at(decade))
        return self.needed.question.completed(self.base)

    @cached_property
    def forever(self) -> str | None:
        """Why the constant grows for ever, whatever its value; None if sympy cannot tell."""
        question, far = self.needed.question, sympy.Symbol("far", positive=True)
        where = {s: sympy.Rational(repr(self.base[str(s)])) * far ** self.ray.get(str(s), 0) for s in question.names}
        where |= dict.fromkeys(question.merged, sympy.Integer(1))

        def at(expr: sympy.Expr) -> sympy.Expr:
            return sympy.limit(sympy.simplify(expr.subs(where)), far, sympy.oo)

        try:
            inside = all(_lasts(condition, at) for condition in question.conditions)
            return _why(question, at) if inside and isinstance(question.guarantee, ApproxDP) else None
        except (NotImplementedError, TypeError, ValueError):
            return None


def _lasts(condition: sympy.Basic, at: Limit) -> bool:
    """Whether a hypothesis that holds at the four decades still does in the limit."""
    if not isinstance(condition, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt):
        return False
    return bool(at(condition.lts / condition.gts) <= 1)


def _why(question: Question, at: Limit) -> str | None:
    """One of two reasons for which no noise of this form is enough in the limit, at a fixed delta."""
    stated, delta = question.promised["eps"], at(question.promised["delta"])
    if not (delta.is_number and 0 < delta < 1):
        return None
    for own, (ratio, steps, _, *sizes) in zip(question.releases, question.expressions, strict=True):
        if not isinstance(own.law, Gaussian) or isinstance(own.sampling, Poisson):
            continue
        rate = ONE if own.sampling is None else sizes[0] / sizes[1]
        draws = at(rate * steps)
        often = own.sampling is None or draws is sympy.oo
        # The sum of all steps moves by about rate sqrt(steps) ratio deviations, and sqrt(2 eps) is already too much.
        if often and at((rate * ratio) ** 2 * steps / (1 + stated)) is sympy.oo:
            return "(rate·ratio)²·steps/(1+ε) grows without bound for any c: the sum of all steps tells the two apart"
        # Some step lies beyond half the shift: without the record with probability below steps e^(-ratio^2/8).
        alone = isinstance(own.sampling, WithoutReplacement) and at(stated).is_finite and at(ratio) is sympy.oo
        drawn = 1 - sympy.exp(-draws)
        if alone and bool(drawn > delta) and at(steps * sympy.exp(-(ratio**2) / 8)) == 0:
            words = f"the record is drawn at least once with probability near {float(drawn):.3g} > δ"
            return f"{words}, and then moves one step by any multiple of the noise"
    return None


def _smallest(kept: Sequence[_Searched], because: str, effort: Effort) -> Evidence:
    """The smallest constant that works at all points tried, certified on the box if the cells allow it."""
    rough = [float(s.needed.roughly({k: v[:1] for k, v in s.tried.items()})[0]) for s in kept]
    best = int(np.argmin(rough))
    searched = kept[best]
    low, high = searched.needed.around(searched.point(0), rough[best])
    question = searched.needed.question
    constant = question.constant
    assert constant is not None
    name = TABLE[constant].printed
    setting, at = _fixed(question), point_in_words(searched.point(0))
    figure = (
        f"smallest {name} that works: {low:.4g} to {high:.4g}" + (f" with {setting}" if setting else "") + f", at {at}"
    )
    others = "; ".join(
        f"about {c:.3g} with {_fixed(other.needed.question)}"
        for c, other in zip(rough, kept, strict=True)
        if other is not searched
    )
    enough = (1.02 if searched.needed.exact else 1.1) * high
    chosen = replace(question, fixed={**question.fixed, constant: enough})
    account = accountable(chosen)
    certificate = CellCertificate(False, 0, 1.0)
    if account.coverable:
        certificate = account.cells(1.0, 200_000 if effort.thorough or searched.needed.exact else 12_000)
    count = len(next(iter(searched.tried.values())))
    covered = (
        f"{name} = {enough:.4g} certified on {certificate.cells} cells"
        if certificate.certified
        else (
            f"{count} points tried, {100 * (1 - certificate.left):.1f}% of the box certified with {name} = {enough:.4g}"
        )
    )
    verdict = Verdict.CERTIFIED if certificate.certified else Verdict.SUPPORTED
    detail = "; ".join(part for part in (because, others, covered, question.shown()) if part)
    return Evidence(KIND, verdict, figure, detail)


def _with_setting(found: Evidence, setting: Mapping[sympy.Symbol, float]) -> Evidence:
    shown = {str(s): v for s, v in setting.items()}
    point = None if found.counterexample is None else {**found.counterexample, **shown}
    return replace(found, figure=f"with {point_in_words(shown)}: {found.figure}", counterexample=point)


def _fixed(question: Question) -> str:
    """The constants that a question has settled."""
    return point_in_words({str(s): v for s, v in question.fixed.items()})


def _bisected(keeps: Any, size: int, rounds: int, upwards: bool = True) -> Array:
    """For each point, the least number that keeps a promise, by bisection of its logarithm; rounded up or down."""
    low, high = np.full(size, math.log(1 / LARGEST)), np.full(size, math.log(LARGEST))
    for _ in range(rounds):
        middle = (low + high) / 2
        good = np.asarray(keeps(np.exp(middle)))
        low, high = np.where(good, low, middle), np.where(good, middle, high)
    return np.exp(high if upwards else low)


def _rounded(point: Mapping[str, float], field: Field) -> dict[str, float]:
    rounded = {k: float(f"{v:.0e}") for k, v in point.items()}
    return {k: max(min(v, field.box[k][1]), field.box[k][0]) for k, v in rounded.items()}


def _in_domain(name: str, values: Array) -> Array:
    row = next(q for s, q in TABLE.items() if str(s) == name)
    fits = (values > 0) & (values < row.below)
    return fits & (values >= 1) & (values == np.round(values)) if row.integer else fits
