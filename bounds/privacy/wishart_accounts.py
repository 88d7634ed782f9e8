"""Wishart noise over the box of a claim's hypotheses: the exact loss of one way from below, of both ways from above."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy

from dpcheck.bounds.language.claim import Effort, Evidence, Verdict
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.symbols import point_in_words
from dpcheck.bounds.privacy.box_accounts import CLEARLY, KIND, LOOSE_FROM, Account, one_of_usual, supported
from dpcheck.bounds.privacy.exact import SLACK
from dpcheck.bounds.privacy.release_values import Values
from dpcheck.bounds.privacy.wishart_noise import one_way_delta, outside, split_delta
from dpcheck.bounds.privacy.worst_points import Points, roundest, stacked

Array = np.ndarray
LESS_NOISE = (4.0, 2.0, 1.2)  # tried where the stated noise is enough
CELLS = 20_000
SOME = 64  # of the points tried, at which less noise must be enough before cells are looked at


@dataclass(frozen=True, eq=False)
class Cones(Account):
    """Wishart noise on one matrix of all records, for (eps, delta)-DP; for pure DP, how often it tells of a record."""

    @property
    def pure(self) -> bool:
        return isinstance(self.question.guarantee, PureDP)

    @cached_property
    def constant(self) -> float | None:
        """With m = d + 1, delta = 1 - exp(-s/(2c)) at every epsilon: the factor that the noise lacks, if it is one."""
        ratio, steps, _, excess = self.question.expressions[0]
        if self.pure or excess != 2 or steps != 1:
            return None
        simple = sympy.simplify(ratio / 2 / sympy.log(1 / (1 - self.question.promised["delta"])))
        return float(simple) if simple.is_number else None

    def seen(self, values: Values, factor: float = 1.0) -> Array:
        """A delta that is attained; for pure DP at every epsilon."""
        step = values.steps[0]
        move = step.ratio * factor / 2
        return outside(move, step.sizes[0]) if self.pure else one_way_delta(values.promise["eps"], move, step.sizes[0])

    def score(self, points: Points) -> Array:
        """Logarithm of the delta that is attained over the one stated; -inf outside the hypotheses."""
        values = self.question.values(points)
        stated = 1e-300 if self.pure else values.promise["delta"]
        with np.errstate(all="ignore"):
            found = np.log(np.maximum(self.seen(values), 1e-300) / stated)
        return np.where(self.question.inside(points) & np.isfinite(found), found, -np.inf)

    def excess(self, values: Values, factor: float) -> Array:
        """An upper bound on the violation on cells: delta falls with noise, degrees of freedom and epsilon."""
        step, stated = values.steps[0], values.promise
        with np.errstate(all="ignore"):
            found = split_delta(stated["eps"], step.ratio * factor / 2, step.sizes[0]) / stated["delta"] - 1
        return np.where(np.isnan(found), np.inf, found)

    def guide(self, values: Values) -> Array:
        return values.steps[0].ratio

    def violation(self, tried: Points) -> dict[str, float] | None:
        if self.constant is not None and self.constant <= 1 + CLEARLY:
            return None
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
        values = self.question.values({k: np.asarray(v, float) for k, v in point.items()})
        seen = float(self.seen(values)) * (1 - SLACK)
        if self.pure:
            figure = f"with probability {seen:.3g} the answer lies outside a neighbour's cone: no ε is kept"
            verdict, margin = Verdict.REFUTED if seen > 0 else Verdict.UNCHECKED, seen
        else:
            eps, delta = float(values.promise["eps"]), float(values.promise["delta"])
            figure, margin = f"ε = {eps:g}: delta is at least {seen:.3g}, stated {delta:g}", seen / delta - 1
            verdict = Verdict.REFUTED if margin > CLEARLY else Verdict.UNCHECKED
        return Evidence(KIND, verdict, figure, because, margin, counterexample=self.question.completed(point))

    def most_needed(self, tried: Points) -> str:
        scores = self.score(tried)
        if self.pure:
            return "no scale of the noise helps"
        worst = int(np.argmax(scores))
        at = point_in_words({k: float(v[worst]) for k, v in tried.items()})
        return f"delta is {math.exp(scores[worst]):.3g} times the stated one at most wherever tried, at {at}"

    def verdict(self, tried: Points, count: int, because: str, effort: Effort) -> Evidence:
        """The closed form, or a cover of the box, with less noise first."""
        where = self.question.shown()
        if self.constant is not None:
            verdict = Verdict.LOOSE if 1 / self.constant > LOOSE_FROM else Verdict.CERTIFIED
            figure = f"noise {1 / self.constant:.4g} times what is needed, everywhere on {where}"
            return Evidence(KIND, verdict, figure, f"{because}; closed form", margin=1 / self.constant - 1)
        most = math.exp(float(self.score(tried).max()))
        some = self.question.values({k: v[:SOME] for k, v in tried.items()})
        for factor in (*(f for f in LESS_NOISE if np.all(self.excess(some, f) <= 0)), 1.0):
            certificate = self.cells(factor, CELLS * (10 if effort.thorough else 1))
            if certificate.certified:
                verdict = Verdict.LOOSE if factor > LOOSE_FROM else Verdict.CERTIFIED
                figure = f"delta at most {most:.3g} of the stated one wherever tried; "
                figure += f"noise {factor:g} times smaller is enough on {where}" if factor > 1 else f"enough on {where}"
                detail = f"{because}; one record taken and one added, on {certificate.cells} cells"
                return Evidence(KIND, verdict, figure, detail, margin=factor - 1)
        return supported(certificate, count, f"delta at most {most:.3g} of the stated one", because, where)
