"""Two ways to account for releases over a box: exact closed forms, and sound bounds from both sides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import sympy

from dpcheck.bounds.language.claim import Effort, Evidence, Verdict, pretty
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP, gaussian_delta
from dpcheck.bounds.language.symbols import TABLE, point_in_words
from dpcheck.bounds.privacy import sampled_gaussian as sampled
from dpcheck.bounds.privacy.cells import CellCertificate, Corner, certify_cells
from dpcheck.bounds.privacy.exact import SLACK, gaussian_mu
from dpcheck.bounds.privacy.laws import RESPONSES, Gaussian, WithReplacement
from dpcheck.bounds.privacy.moments import epsilon_above, epsilon_below
from dpcheck.bounds.privacy.question import Question
from dpcheck.bounds.privacy.release_values import Values
from dpcheck.bounds.privacy.worst_points import Field, Points, most_usual, roundest, stacked

Array = np.ndarray
KIND = "accountant"
LOOSE_FROM = 1.05  # noise this much above what is needed is worth calling loose
CLEARLY = 1e-6  # relative excess below which a violation may be rounding
ROUGHLY = 4e-3  # accuracy of epsilon while searching


@dataclass(frozen=True, eq=False)
class Account:
    """What both ways share: the field to search, and the cover by cells."""

    question: Question
    samples: ClassVar[int] = 2048
    coverable: ClassVar[bool] = True

    @cached_property
    def field(self) -> Field:
        whole = frozenset(str(s) for s in self.question.names if TABLE[s].integer)
        return Field(self.question.box, whole)

    def cells(self, factor: float, limit: int) -> CellCertificate:
        """Whether noise that is smaller by `factor` still keeps the promise on the whole box."""

        def upper(low: Corner, high: Corner) -> Array:
            violation = np.full(len(next(iter(low.values()))), -1.0)
            some = ~self.question.outside(low, high)
            if np.any(some):
                ends = ({k: v[some] for k, v in side.items()} for side in (low, high))
                violation[some] = self.excess(self.question.ranges(*ends), factor)
            return violation

        def guide(low: Corner, high: Corner) -> Array:
            return self.guide(self.question.ranges(low, high))

        joined = any(len(c.free_symbols) > 1 for c in self.question.conditions)
        shrink = self.question.shrunk if joined else None
        return certify_cells(upper, self.field.box, self.field.whole, limit=limit, guide=guide, shrink=shrink)

    def excess(self, values: Values, factor: float) -> Array:
        raise NotImplementedError

    def guide(self, values: Values) -> Array:
        """About the log of the squared epsilon spent over the one stated; rises as sampling gets far from Gaussian."""
        stated, spent = values.promise, np.asarray(-np.inf)
        level = next(stated[k] for k in ("eps", "rho", "mu") if k in stated)
        with np.errstate(all="ignore"):
            rare = np.log(1 / stated.get("delta", np.asarray(0.5)))
            for step in values.steps:
                square = step.steps * (step.picked * step.ratio) ** 2 if step.product is None else step.product
                heavy = step.ratio**2 / 2 + 2 * rare / level * step.picked * step.ratio
                spent = np.logaddexp(spent, np.log(square) + np.where(step.picked < 1, heavy, 0.0))
                spent = np.logaddexp(spent, np.log(step.steps * step.always**2))
            return np.asarray(spent + np.log(rare) - 2 * np.log(level))


# All records in every step: closed forms ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Closed(Account):
    """Gaussian noise on sums of all records, or Laplace noise under pure DP: the exact factor that the noise lacks."""

    @cached_property
    def constant(self) -> float | None:
        """The factor if it is the same everywhere."""
        if isinstance(self.question.guarantee, ApproxDP):
            return None
        squares, stated = 0, self.question.promised
        if isinstance(self.question.guarantee, PureDP):
            if any(r.sampling is not None for r in self.question.releases) or self._gaussian:
                return None
            found = sum(ratio * steps for ratio, steps, *_ in self.question.expressions) / stated["eps"]
        else:
            squares = sum(ratio**2 * steps for ratio, steps, *_ in self.question.expressions)
            found = sympy.sqrt(squares) / _largest_mu(self.question.guarantee, stated, sympy.sqrt)
        simple = sympy.simplify(found)
        return float(simple) if simple.is_number else None

    @property
    def _gaussian(self) -> bool:
        return isinstance(self.question.releases[0].law, Gaussian)

    @property
    def _bits(self) -> bool:
        """Reports of one bit: their loss is not linear in their noise."""
        return isinstance(self.question.releases[0].law, RESPONSES)

    def factor(self, values: Values) -> Array:
        """By what the noise must be multiplied to keep the promise, exactly."""
        with np.errstate(all="ignore"):
            return self.spent(values) / self.allowed(values)

    def spent(self, values: Values) -> Array:
        """Total sensitivity over noise; under pure DP the sum of all losses."""
        if not isinstance(self.question.guarantee, PureDP):
            return total_mu(values)
        with np.errstate(all="ignore"):
            losses = [np.log1p(s.picked * np.expm1(np.minimum(s.ratio, 700.0))) for s in values.steps]
            most = sum(s.steps * loss for s, loss in zip(values.steps, losses, strict=True))
        return np.full(np.shape(most), np.inf) if self._gaussian else np.asarray(most)

    def allowed(self, values: Values) -> Array:
        """What may be spent."""
        stated = values.promise
        if isinstance(self.question.guarantee, PureDP):
            return stated["eps"]
        if isinstance(self.question.guarantee, ApproxDP):
            fits = (stated["delta"] > 0) & (stated["delta"] < 1) & (stated["eps"] > 0)
            largest = gaussian_mu(np.where(fits, stated["eps"], 1.0), np.where(fits, stated["delta"], 0.5))
            return np.where(fits, largest, np.nan)
        return np.asarray(_largest_mu(self.question.guarantee, stated, np.sqrt))

    def score(self, points: Points) -> Array:
        """Logarithm of the factor, -inf outside the hypotheses."""
        with np.errstate(all="ignore"):
            found = np.log(self.factor(self.question.values(points)))
        found = np.where(np.isnan(found), -np.inf, found)
        return np.where(self.question.inside(points), found, -np.inf)

    def excess(self, values: Values, factor: float) -> Array:
        """An upper bound on the violation on cells, from their worst ends."""
        stated = values.promise
        if isinstance(self.question.guarantee, ApproxDP):
            with np.errstate(all="ignore"):
                true = gaussian_delta(stated["eps"], total_mu(values) * factor)
                return np.where(np.isnan(true), np.inf, true * (1 + SLACK) / stated["delta"] - 1)
        return self.factor(values) * factor * (1 + SLACK) - 1

    def violation(self, tried: Points) -> dict[str, float] | None:
        """The most usual among the clear violations."""
        scores = self.score(tried)
        worst = float(scores.max())
        if worst <= CLEARLY:
            return None
        clear = np.flatnonzero(scores >= min(0.02, worst / 2))
        return one_of_usual({k: v[clear] for k, v in tried.items()}, self.field)

    def plainest(self, point: Mapping[str, float]) -> dict[str, float]:
        margin = min(0.01, float(self.score(stacked([point]))[0]) / 2)
        return roundest(point, lambda p: float(self.score(stacked([p]))[0]) > max(margin, CLEARLY), self.field)

    def shown(self, point: Mapping[str, float], because: str) -> Evidence:
        """The exact figures at one point."""
        values = self.question.values({k: np.asarray(v, float) for k, v in point.items()})
        factor = float(self.factor(values))
        excess = factor - 1
        if isinstance(self.question.guarantee, ApproxDP):
            eps, delta = float(values.promise["eps"]), float(values.promise["delta"])
            true = float(gaussian_delta(eps, float(total_mu(values))))
            excess = true / delta - 1
            figure = f"ε = {eps:g}: delta is {true:.3g}, stated {delta:g}"
        elif self._gaussian and isinstance(self.question.guarantee, PureDP):
            figure = "Gaussian noise is not private with delta = 0, whatever its scale"
        else:
            lacking = (
                f"the loss is {factor:.4g} times that of"
                if self._bits
                else f"the noise must be {factor:.4g} times larger for"
            )
            promised = ", ".join(f"{k} = {pretty(v)}" for k, v in self.question.guarantee.parameters.items())
            figure = f"{lacking} {type(self.question.guarantee).__name__}({promised})"
        verdict = Verdict.REFUTED if excess > CLEARLY else Verdict.UNCHECKED
        return Evidence(KIND, verdict, figure, because, excess, counterexample=self.question.completed(point))

    def most_needed(self, tried: Points) -> str:
        scores = self.score(tried)
        worst = int(np.argmax(scores))
        most = f"{math.exp(scores[worst]):.4g} times the"
        if self._bits:
            return f"{most} stated loss at most wherever tried, at {_at(tried, worst)}"
        return f"{most} noise holds wherever tried, needed at {_at(tried, worst)}"

    def verdict(self, tried: Points, count: int, because: str, effort: Effort) -> Evidence:
        """Certify the box, with less noise first."""
        kind, wasted = KIND, np.exp(-self.score(tried))
        least, most = float(wasted.min()), float(wasted.max())
        where = self.question.shown()
        if self.constant is not None:
            verdict = Verdict.LOOSE if 1 / self.constant > LOOSE_FROM else Verdict.CERTIFIED
            figure = f"noise {1 / self.constant:.4g} times what is needed, everywhere on {where}"
            return Evidence(kind, verdict, figure, f"{because}; closed form", margin=1 / self.constant - 1)
        limit = 1_000_000 if effort.thorough else 200_000
        for factor in ([0.98 * least] if 0.98 * least > LOOSE_FROM else []) + [1.0]:
            certificate = self.cells(factor, limit)
            if certificate.certified:
                verdict = Verdict.LOOSE if factor > LOOSE_FROM else Verdict.CERTIFIED
                figure = f"noise {least:.3f} to {most:.3f} times what is needed on {where}"
                detail = f"{because}; exact curve on {certificate.cells} cells"
                return Evidence(kind, verdict, figure, detail, margin=factor - 1)
        return supported(certificate, count, f"noise at least {least:.4f} times what is needed", because, where)


def total_mu(values: Values) -> Array:
    """Total sensitivity over noise of all steps; NaN, which shows nothing, where numbers are too large to tell."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.sqrt(sum(s.steps * s.ratio**2 for s in values.steps))


def _largest_mu(guarantee: Any, stated: Mapping[str, Any], root: Any) -> Any:
    """The largest total sensitivity over noise that keeps the guarantee."""
    if isinstance(guarantee, ZCDP):
        return root(2 * stated["rho"])
    if isinstance(guarantee, RenyiDP):
        return root(2 * stated["eps"] / stated["alpha"])
    assert isinstance(guarantee, GaussianDP)
    return stated["mu"]


# Sampled or mixed releases: bounds from both sides -----------------------------------------------------


@dataclass(frozen=True, eq=False)
class Summed(Account):
    """Releases without a closed form: moments screen and certify, sums of losses decide at single points."""

    samples: ClassVar[int] = 1024

    @property
    def coverable(self) -> bool:  # type: ignore[override]
        """Whether the bounds on cells apply: a record may be drawn once at most in a step."""
        return not any(isinstance(r.sampling, WithReplacement) for r in self.question.releases)

    def used(self, values: Values) -> Array:
        """Upper bound of the true epsilon over the stated one."""
        eps, delta = values.promise["eps"], values.promise["delta"]
        fits = np.isfinite(eps) & (eps > 0) & (delta > 0) & (delta < 1)
        for step in values.steps:
            fits = fits & np.isfinite(step.ratio) & (step.ratio > 0) & np.isfinite(step.steps)
        found = np.full(eps.shape, np.inf)
        if np.any(fits):
            parts = [p.at(fits) for p in values.parts(self.question.relation)]
            found[fits] = epsilon_above(parts, eps[fits], delta[fits]) / eps[fits]
        return found

    def score(self, points: Points) -> Array:
        inside = self.question.inside(points)
        found = np.full(inside.shape, -np.inf)
        if np.any(inside):
            used = self.used(self.question.values({k: v[inside] for k, v in points.items()}))
            found[inside] = np.log(np.clip(used, 1e-300, 1e300))
        return found

    def excess(self, values: Values, factor: float) -> Array:
        louder = Values(values.promise, tuple(s.with_ratio_times(factor) for s in values.steps))
        return self.used(louder) - 1

    def seen(self, points: Points) -> Array:
        """Logarithm of a lower bound of the true epsilon over the stated one."""
        values = self.question.values(points)
        eps, delta = values.promise["eps"], values.promise["delta"]
        best = np.zeros(eps.shape)
        for part in values.attackable(self.question.relation):
            alone = part.filled or self.question.relation == ADD_REMOVE
            best = np.maximum(best, epsilon_below(part, delta, alone))
        with np.errstate(divide="ignore"):
            return np.log(best / eps)

    def low(self, point: Mapping[str, float], tolerance: float = ROUGHLY) -> float:
        """A sound lower bound of the true epsilon over the stated one, at one point."""
        eps, delta = self.promise(point)
        attacks = self.question.attacked(point)
        return max(sampled.epsilon_low(r, delta, self.question.relation, tolerance) for r in attacks) / eps

    def high(self, point: Mapping[str, float], tolerance: float = ROUGHLY) -> float:
        """A sound upper bound of the true epsilon over the stated one, at one point."""
        eps, delta = self.promise(point)
        return sampled.epsilon_high(self.question.released(point), delta, self.question.relation, tolerance) / eps

    def promise(self, point: Mapping[str, float]) -> tuple[float, float]:
        stated = self.question.values({k: np.asarray(v, float) for k, v in point.items()}).promise
        return float(stated["eps"]), float(stated["delta"])

    def violation(self, tried: Points) -> dict[str, float] | None:
        """A point whose true epsilon certainly exceeds the stated one."""
        first = {k: v[:4096] for k, v in tried.items()}
        seen = self.seen(first)
        if seen.max() > 0.02:
            clear = np.flatnonzero(seen >= min(0.05, seen.max()))
            return one_of_usual({k: v[clear] for k, v in first.items()}, self.field)
        for index in _distinct(first, self.score(first), self.field, 12):
            point = {k: float(v[index]) for k, v in first.items()}
            if self.high(point) > 1 and self.low(point) > 1 + CLEARLY:
                return point
        return None

    def plainest(self, point: Mapping[str, float]) -> dict[str, float]:
        def still(trial: dict[str, float]) -> bool:
            one = stacked([trial])
            if not self.question.inside(one)[0]:
                return False
            return bool(self.seen(one)[0] > 0.01 or self.low(trial) > 1.002)

        return roundest(point, still, self.field)

    def shown(self, point: Mapping[str, float], because: str) -> Evidence:
        low, high, eps = self.low(point, 1e-3), self.high(point, 1e-3), self.promise(point)[0]
        verdict = Verdict.REFUTED if low > 1 + CLEARLY else Verdict.UNCHECKED
        figure = f"eps is in [{low * eps:.4g}, {high * eps:.4g}], stated {eps:g}"
        return Evidence(KIND, verdict, figure, because, low - 1, counterexample=self.question.completed(point))

    def needed(self, point: Mapping[str, float]) -> float:
        """The least certified factor on the noise at one point."""
        return sampled.least_factor(
            self.question.released(point), *self.promise(point), self.question.relation, ROUGHLY
        )

    def most_needed(self, tried: Points) -> str:
        worst = {k: float(v[0]) for k, v in tried.items()}
        return f"{self.needed(worst):.4g} times the noise is enough at {_at(tried, 0)}"

    def verdict(self, tried: Points, count: int, because: str, effort: Effort) -> Evidence:
        kind, where = KIND, self.question.shown()
        top = [{k: float(v[i]) for k, v in tried.items()} for i in _distinct(tried, self.score(tried), self.field, 6)]
        used = [self.high(p) for p in top]
        worst = top[int(np.argmax(used))]
        if max(used) > 1:
            figure = f"true eps at most {max(used):.4f} of stated, at {point_in_words(worst)}: between the bounds"
            return Evidence(kind, Verdict.UNCHECKED, figure, f"{because}; {count} points, {where}")
        spare = 1 / self.needed(worst)
        times = f"noise {spare:.2f} times what is needed at {point_in_words(worst)}"
        figure = f"true eps at most {max(used):.3f} of stated; {times}"
        certificate = CellCertificate(False, 0, 1.0)
        limit = 400_000 if effort.thorough else 12_000
        for factor in ([LOOSE_FROM] if spare > 1.1 * LOOSE_FROM else []) + [1.0] if self.coverable else []:
            if certificate.cells and certificate.left > 0.1:  # too far from done for a little more noise to help
                break
            certificate = self.cells(factor, limit)
            if certificate.certified:
                verdict = Verdict.LOOSE if factor >= LOOSE_FROM else Verdict.CERTIFIED
                detail = f"{because}; moments on {certificate.cells} cells"
                return Evidence(kind, verdict, f"{figure}; on {where}", detail, margin=factor - 1)
        return supported(certificate, count, figure, because, where)


def supported(certificate: CellCertificate, count: int, figure: str, because: str, where: str) -> Evidence:
    left = ""
    if certificate.undecided_cell is not None:
        cell = ", ".join(f"{k} in [{a:.4g}, {b:.4g}]" for k, (a, b) in certificate.undecided_cell.items())
        left = f"; {100 * (1 - certificate.left):.1f}% of the box certified, not yet e.g. {cell}"
    detail = f"{because}; {count} points tried{left}; {where}"
    return Evidence(KIND, Verdict.SUPPORTED, figure, detail)


def _distinct(tried: Points, scores: Array, where: Field, keep: int) -> list[int]:
    """The indices of the worst points, none close to a worse one."""
    if not where.box:
        return [0]
    logs, ends = where.logs(tried), where.ends
    reach = np.maximum((ends[:, 1] - ends[:, 0]) / 20, 1e-9)
    chosen: list[int] = []
    for i in np.argsort(-scores, kind="stable"):
        if all(np.any(np.abs(logs[i] - logs[j]) > reach) for j in chosen):
            chosen.append(int(i))
        if len(chosen) == keep:
            break
    return chosen


def one_of_usual(points: Points, where: Field) -> dict[str, float]:
    """The point nearest to what readers expect."""
    index = most_usual(points, where)
    return {k: float(v[index]) for k, v in points.items()}


def _at(points: Points, index: int) -> str:
    return point_in_words({k: float(v[index]) for k, v in points.items()})
