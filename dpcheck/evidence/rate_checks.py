"""Measured errors against a claim's rate (Exponents, Trend) or against the number it states (Within).

Each states its false-alarm rate: a true claim is called refuted with at most that probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy import special

from dpcheck.audits import lower_limit, upper_limit
from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Kind, Verdict, lambdified
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.symbols import LIKELY, MEAN, TABLE
from dpcheck.evidence.false_alarms import FALSE_ALARM, RATE_ALARM, exceeds
from dpcheck.theory import exponents


@dataclass(frozen=True)
class Exponents:
    """Measured exponents against those of the claim's formula, in one symbol or several at once.

    `measure(point, trials, seed)` gives the errors of so many runs, on a problem where the bound should be tight.
    `grid` moves each symbol from `centre` (the middle of the grids unless given), or all of them if `factorial`. An
    upper bound is contradicted by an exponent above the claimed one by more than `slack`; `two_sided` asks for
    equality. Trials double until every interval lies on one side of its tolerance, up to 8 times `trials`; all
    intervals of all looks hold together but for FALSE_ALARM.
    """

    grid: Mapping[str, Sequence[float]]
    measure: Callable[[Mapping[str, float], int, int], np.ndarray]
    because: str
    centre: Mapping[str, float] = field(default_factory=dict)
    factorial: bool = False
    slack: float = 0.1
    two_sided: bool = False
    trials: int = 400
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.judge(claim, effort.seed, 8 * self.trials * (4 if effort.thorough else 1))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge(claim, int(point["seed"]), int(point["trials"]))

    def judge(self, claim: Claim, seed: int, budget: int) -> Evidence:
        points = (exponents.factorial if self.factorial else exponents.one_at_a_time)(self.grid, self.centre)
        claimed = claimed_exponents(claim, points, [*self.grid])
        samples = [np.empty(0)] * len(points)
        for look, more in exponents.looks(max(16, self.trials // 4), budget):
            found = [self.measure(p, more, exponents.seed_of(seed, look, p)) for p in points]
            samples = [np.concatenate(pair) for pair in zip(samples, found, strict=True)]
            miss = exponents.level(FALSE_ALARM, look) / len(self.grid)
            fit = exponents.fitted(points, samples, [*self.grid], miss, seed)
            sides = [self.side(fit.slopes[s], claimed[s]) for s in self.grid]
            if "outside" in sides or "open" not in sides or all(len(f) == 1 for f in found):
                break  # decided, or nothing random to repeat
        figure = "; ".join(
            f"{s}^{middle:.3f} ({low:.3f} to {high:.3f}), claimed {s}^{claimed[s]:.3f}"
            for s, (low, middle, high) in fit.slopes.items()
        )
        detail = f"{self.because}; {self.ranges()}, {len(samples[0])} runs each in {look + 1} looks"
        detail += f"; grid points off the fitted line by up to {np.expm1(fit.misfit):.1%}"
        if "outside" in sides:
            refuted = claim.kind is Kind.EXPERIMENT  # a finite grid refutes a trend, never an asymptotic bound
            seen = {"seed": seed, "trials": budget} if refuted else None
            verdict = Verdict.REFUTED if refuted else Verdict.UNCHECKED
            return Evidence(self.kind, verdict, figure, detail, counterexample=seen, seed=seed)
        if "open" in sides:  # not refuted; the intervals say what would have been
            detail += f"; the budget ended with an interval that leaves the tolerance of {self.slack:g}"
        return Evidence(self.kind, Verdict.SUPPORTED, figure, detail, confidence=1 - FALSE_ALARM, seed=seed)

    def side(self, interval: tuple[float, float, float], claimed: float) -> str:
        """Where an interval lies: inside the tolerance, outside, or open."""
        low, _, high = interval
        if low > claimed + self.slack or (self.two_sided and high < claimed - self.slack):
            return "outside"
        inside = high <= claimed + self.slack and (not self.two_sided or low >= claimed - self.slack)
        return "inside" if inside else "open"

    def ranges(self) -> str:
        return ", ".join(f"{s} in {list(values)}" for s, values in self.grid.items())


@dataclass(frozen=True)
class Trend:
    """The exponent of one symbol over a geometric grid: `measure(value, trials, seed)`; see Exponents.

    `in_log` fits measured = a + b log(symbol), whose correlation must be 1 up to the slack.
    """

    symbol: str
    grid: Sequence[float]
    measure: Callable[[float, int, int], np.ndarray]
    because: str
    slack: float = 0.1
    two_sided: bool = False
    in_log: bool = False
    trials: int = 400
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        if self.in_log:
            return self.correlated(claim, effort.seed, self.trials * (10 if effort.thorough else 1))
        return self.exponents().run(claim, effort)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        if self.in_log:
            return self.correlated(claim, int(point["seed"]), int(point["trials"]))
        return self.exponents().replay(claim, point)

    def exponents(self) -> Exponents:
        def measure(point: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
            return self.measure(point[self.symbol], trials, seed)

        grid = {self.symbol: self.grid}
        return Exponents(grid, measure, self.because, slack=self.slack, two_sided=self.two_sided, trials=self.trials)

    def correlated(self, claim: Claim, seed: int, trials: int) -> Evidence:
        means = [self.measure(x, trials, seed + i).mean() for i, x in enumerate(self.grid)]
        fit = float(np.corrcoef(np.log(self.grid), means)[0, 1])
        figure = f"correlation with log {self.symbol}: {fit:.4f}"
        detail = f"{self.because}; {self.symbol} in {list(self.grid)}"
        if fit > 1 - self.slack:
            return Evidence(self.kind, Verdict.SUPPORTED, figure, detail, seed=seed)
        refuted = claim.kind is Kind.EXPERIMENT
        seen = {"seed": seed, "trials": trials} if refuted else None
        verdict = Verdict.REFUTED if refuted else Verdict.UNCHECKED
        return Evidence(self.kind, verdict, figure, detail, counterexample=seen, seed=seed)


@dataclass(frozen=True)
class Within:
    """An explicit bound on problems where it should be tight: measured / bound <= 1, with confidence.

    `measure(case, trials, seed)` gives the errors of so many runs. What is compared is what the claim promises: the
    mean; the share of runs above the bound, with γ; or every run. The mean's limits are Student's t, which takes
    means near normal, or empirical Bernstein where `largest(case)` bounds a run's error. A true bound is called
    refuted with probability at most 1e-6, and SUPPORTED is meant with 99.9%, over all cases and looks. Data that stand
    in for the document's decide nothing against it.
    """

    measure: Callable[[Mapping[str, float], int, int], np.ndarray]
    cases: Sequence[Mapping[str, float]]
    because: str
    bound: Callable[[Mapping[str, float]], float] | None = None
    largest: Callable[[Mapping[str, float]], float] | None = None
    trials: int = 400
    stand_in: bool = False
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        budget = 16 * self.trials * (4 if effort.thorough else 1)
        found = [self.judge(claim, case, effort.seed, budget) for case in self.cases]
        refuted = [e for e in found if e.verdict is Verdict.REFUTED]
        if refuted:
            worst = max(refuted, key=lambda e: e.margin or 0.0)
            if not self.stand_in:
                return worst
            figure = f"{worst.figure}; above in {len(refuted)} of {len(found)} cases, of data that stand in"
            return Evidence(self.kind, Verdict.UNCHECKED, figure, self.because, worst.margin, seed=effort.seed)
        worst = min(found, key=lambda e: e.margin if e.margin is not None else np.inf)
        open_cases = sum(e.verdict is not Verdict.SUPPORTED for e in found)
        verdict = Verdict.UNCHECKED if open_cases else Verdict.SUPPORTED
        figure = f"{worst.figure}, the worst of {len(found)} cases" + (f"; {open_cases} open" if open_cases else "")
        detail = f"{self.because}; {worst.detail}"
        return Evidence(self.kind, verdict, figure, detail, worst.margin, 1 - RATE_ALARM, seed=effort.seed)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        case = {k: float(v) for k, v in point.items() if k not in ("seed", "trials")}
        return self.judge(claim, case, int(point["seed"]), int(point["trials"]))

    def judge(self, claim: Claim, case: Mapping[str, float], seed: int, budget: int) -> Evidence:
        """One case: trials double until the bound lies outside the limits, or the budget is spent."""
        numbers = {str(s): case[str(s)] for s in claim.symbols if str(s) in case}
        stated = float(self.bound(case) if self.bound is not None else claim.evaluate(**numbers))
        sample = np.empty(0)
        for look, more in exponents.looks(max(16, self.trials // 4), budget):
            sample = np.concatenate([sample, self.measure(case, more, exponents.seed_of(seed, look, case))])
            ends = [exponents.level(a, look) / len(self.cases) for a in (FALSE_ALARM, RATE_ALARM)]
            low, high, how = self.limits(claim, case, sample, stated, ends)
            if low > 1 or high <= 1:
                break
        figure = f"measured / bound is {low:.3g} to {high:.3g}"
        detail = f"{how}; {len(sample)} runs in {look + 1} looks"
        if low > 1:
            seen = {**case, "seed": seed, "trials": budget}
            return Evidence(self.kind, Verdict.REFUTED, figure, detail, low - 1, 1 - FALSE_ALARM, seen, seed)
        verdict = Verdict.SUPPORTED if high <= 1 else Verdict.UNCHECKED
        return Evidence(self.kind, verdict, figure, detail, 1 / high - 1 if high > 0 else None, seed=seed)

    def limits(
        self, claim: Claim, case: Mapping[str, float], sample: np.ndarray, stated: float, misses: Sequence[float]
    ) -> tuple[float, float, str]:
        """Lower limit at the first level and upper at the second, of what must be at most 1; and how they are made."""
        below, above = misses
        if claim.holds == LIKELY:
            allowed, over = case["gamma"], int(np.sum(sample > stated))
            low, high = (limit(over, len(sample), a) for limit, a in ((lower_limit, below), (upper_limit, above)))
            return low / allowed, high / allowed, f"share of runs above the bound, over γ = {allowed:g}; exact binomial"
        if claim.holds != MEAN:
            most = float(np.max(sample)) / stated
            most = most if exceeds(most, 1.0) else min(most, 1.0)
            return most, most, "every run"
        ratio = sample / stated
        if self.largest is not None:
            reach = float(self.largest(case)) / stated
            low, high = (bernstein(ratio, reach, a) for a in (below, above))
            return float(ratio.mean()) - low, float(ratio.mean()) + high, "the mean; empirical Bernstein"
        error = float(ratio.std(ddof=1)) / math.sqrt(len(ratio)) if len(ratio) > 1 else 0.0
        low, high = (error * float(special.stdtrit(max(1, len(ratio) - 1), 1 - a)) for a in (below, above))
        return float(ratio.mean()) - low, float(ratio.mean()) + high, "the mean; Student's t"


def claimed_exponents(claim: Claim, points: Sequence[Mapping[str, float]], symbols: Sequence[str]) -> dict[str, float]:
    """The slopes of the claim's formula over the same points: its exponents, or their mean where it has logarithms."""
    strangers = sorted(set(symbols) - {row.name for row in TABLE.values()})
    if strangers:
        raise InvalidInput("grid", strangers, "about symbols of the table", f"{claim.id} is about {claim.text()}.")
    names, here = sorted(claim.formula.free_symbols, key=str), []
    for symbol in names:
        low, high = TABLE[symbol].box
        middle = math.sqrt(low * high)
        default = float(round(middle)) if TABLE[symbol].integer else middle
        here.append(np.array([p.get(str(symbol), default) for p in points]))
    values = np.broadcast_to(lambdified(claim.formula)(*here), len(points))
    fit = exponents.fitted(points, [np.atleast_1d(v) for v in values], symbols, 0.5, 0)
    return {s: fit.slopes[s][1] for s in symbols}


def bernstein(sample: np.ndarray, largest: float, miss: float) -> float:
    """How far a mean of numbers in [0, largest] may be off, missed with probability `miss` (Maurer and Pontil 2009)."""
    size, log = len(sample), math.log(2 / miss)
    if size < 2:
        return largest
    return float(math.sqrt(2 * sample.var(ddof=1) * log / size) + 7 * largest * log / (3 * (size - 1)))
