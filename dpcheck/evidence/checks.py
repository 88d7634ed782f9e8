"""The checks that run code: audit, property, rate. Solver files attach them to claims by id.

Each states its false-alarm rate: a true claim is called refuted with at most that probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy import special

from dpcheck.audits import audit, lower_limit, upper_limit
from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Kind, Rate, Verdict, lambdified, pretty
from dpcheck.bounds.language.errors import InvalidInput, MissingDependency
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.language.symbols import LIKELY, MEAN, TABLE
from dpcheck.theory import exponents

FALSE_ALARM = 1e-6
RATE_ALARM = 1e-3  # of all intervals of a rate check together; its slack comes on top


@dataclass(frozen=True)
class AuditCheck:
    """Attack the implementation on a pair: `setting()` gives (mechanism, pair, guarantee).

    `at` says where that is: numbers for the claim's symbols, those of the guarantee apart. What an audit finds outside
    the claim's hypotheses, or where it cannot be told, refutes nothing; nor does it where the claim says only that
    constants exist, unless `any_constants` says why no choice of them would help.
    """

    setting: Callable[[], tuple[Any, tuple[Any, Any], Guarantee]]
    because: str
    trials: int = 100_000
    assume: str | None = None
    at: Mapping[str, float] = field(default_factory=dict)
    any_constants: str = ""
    kind: ClassVar[str] = "audit"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.fairly(claim, self.attack(effort.seed, self.trials * (10 if effort.thorough else 1)))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.fairly(claim, self.attack(int(point["seed"]), int(point["trials"])))

    def fairly(self, claim: Claim, found: Evidence) -> Evidence:
        """The evidence, unless the claim says nothing of this setting."""
        why = self.says_nothing(claim, found.verdict is Verdict.REFUTED)
        if not why:
            return found
        return Evidence(self.kind, Verdict.UNCHECKED, f"{found.figure}; but {why}", found.detail, seed=found.seed)

    def says_nothing(self, claim: Claim, violated: bool) -> str:
        """Why the audit decides nothing about the claim; "" if it does."""
        promised = {k: v for k, v in self.setting()[2].parameters.items() if isinstance(v, int | float)}
        point = {**promised, **self.at}
        broken = claim.violated_by(point)
        if broken is not None:
            return f"the claim assumes {pretty(broken)}, which does not hold here"
        if not violated:
            return ""
        open_ = sorted({str(s) for c in claim.conditions for s in c.free_symbols - {*claim.hidden}} - point.keys())
        if open_:
            return f"the audit does not say what {', '.join(open_)} is, so the hypotheses are undecided"
        exist = [pretty(s) for s in claim.hidden] or (["a constant"] if isinstance(claim.states, Rate) else [])
        if exist and not self.any_constants:
            return f"the claim says only that {', '.join(exist)} exist: one choice that fails refutes nothing"
        return ""

    def attack(self, seed: int, trials: int) -> Evidence:
        mechanism, pair, guarantee = self.setting()
        result = audit(
            mechanism,
            pair=pair,
            guarantee=guarantee,
            max_trials=trials,
            alpha=FALSE_ALARM,
            seed=seed,
            assume=self.assume,
        )
        claimed = guarantee.epsilon(result.delta)
        if result.violated:
            figure = f"audited eps >= {result.epsilon_lower:.4g} at delta {result.delta:g}{result.condition}"
            figure += f", claimed {claimed:.4g}"
            seen = {"seed": seed, "trials": trials, "event": str(result.event)}
            margin = result.epsilon_lower / claimed - 1
            return Evidence(self.kind, Verdict.REFUTED, figure, self.because, margin, 1 - FALSE_ALARM, seen, seed)
        catch = result.detectable_epsilon
        caught = f"would catch {catch:.3g}" if math.isfinite(catch) else "what it would catch is not known"
        figure = f"audited eps >= {result.epsilon_lower:.3g}{result.condition}, claimed {claimed:.3g}; {caught}"
        detail = f"{self.because}; {trials} runs per dataset, false alarms at most {FALSE_ALARM:g}"
        return Evidence(self.kind, Verdict.SUPPORTED, figure, detail, confidence=1 - FALSE_ALARM, seed=seed)


@dataclass(frozen=True)
class Property:
    """A bound that an implementation must keep in every case; hypothesis searches for one that does not.

    `measure(case)` gives (measured, bound); `cases` gives each name a range, whole numbers or reals.
    """

    measure: Callable[[Mapping[str, Any]], tuple[float, float]]
    cases: Mapping[str, tuple[float, float]]
    because: str
    examples: int = 100
    kind: ClassVar[str] = "property"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        given, seed, settings, st = hypothesis_parts()
        shares: list[float] = []
        failed: list[Mapping[str, Any]] = []

        @settings(
            max_examples=self.examples * (10 if effort.thorough else 1),
            database=None, deadline=None, print_blob=False, suppress_health_check=list(hypothesis_health()),
        )  # fmt: skip
        @seed(effort.seed)
        @given(st.fixed_dictionaries({k: number(st, *ends) for k, ends in self.cases.items()}))
        def holds(case: Mapping[str, Any]) -> None:
            measured, bound = self.measure(case)
            shares.append(measured / bound if bound else 0.0)
            if exceeds(measured, bound):
                failed.append(case)
                raise AssertionError

        try:
            holds()
        except AssertionError:
            return self.replay(claim, failed[-1])  # the last failure is the shrunk one
        figure = f"at most {max(shares):.3f} of the bound in {len(shares)} cases"
        margin = 1 / max(shares) - 1 if max(shares) > 0 else None
        return Evidence(self.kind, Verdict.SUPPORTED, figure, self.because, margin, seed=effort.seed)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        measured, bound = self.measure(point)
        verdict = Verdict.REFUTED if exceeds(measured, bound) else Verdict.UNCHECKED
        figure = f"measured {measured:.6g}, bound {bound:.6g}"
        margin = measured / bound - 1 if bound else None
        return Evidence(self.kind, verdict, figure, self.because, margin, counterexample=dict(point))


@dataclass(frozen=True)
class Exponents:
    """Measured exponents against those of the claim's formula, in one symbol or several at once.

    `measure(point, trials, seed)` gives the errors of so many runs, on a problem where the bound should be tight.
    `grid` moves each symbol from `centre` (the middle of the grids unless given), or all of them if `factorial`. An
    upper bound is contradicted by an exponent above the claimed one by more than `slack`; `two_sided` asks for
    equality. Trials double until every interval lies on one side of its tolerance, up to 8 times `trials`; all
    intervals of all looks hold together with probability 99.9%.
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
            miss = exponents.level(RATE_ALARM, look) / len(self.grid)
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
        return Evidence(self.kind, Verdict.SUPPORTED, figure, detail, confidence=1 - RATE_ALARM, seed=seed)

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

        return Exponents(
            {self.symbol: self.grid}, measure, self.because,
            slack=self.slack, two_sided=self.two_sided, trials=self.trials,
        )  # fmt: skip

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
    refuted with probability at most 1e-6, and SUPPORTED is meant with 99.9%, over all cases and looks.
    """

    measure: Callable[[Mapping[str, float], int, int], np.ndarray]
    cases: Sequence[Mapping[str, float]]
    because: str
    bound: Callable[[Mapping[str, float]], float] | None = None
    largest: Callable[[Mapping[str, float]], float] | None = None
    trials: int = 400
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        budget = 16 * self.trials * (4 if effort.thorough else 1)
        found = [self.judge(claim, case, effort.seed, budget) for case in self.cases]
        refuted = [e for e in found if e.verdict is Verdict.REFUTED]
        if refuted:
            return max(refuted, key=lambda e: e.margin or 0.0)
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


@dataclass(frozen=True)
class Comparison:
    """One method against another over many settings: `measure(seed, trials)` gives, by setting, the errors of both
    methods' runs and the work of the first over that of the second. `on` names the data, in the figure.

    An error is less where Welch's interval for the difference of the means says so, all intervals together at 99.9%.
    "Almost all" is taken as nine settings in ten, in error and work.
    """

    measure: Callable[[int, int], Mapping[str, tuple[np.ndarray, np.ndarray, float]]]
    on: str
    because: str
    share: float = 0.9
    trials: int = 20
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.judge(effort.seed, self.trials * (5 if effort.thorough else 1))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge(int(point["seed"]), int(point["trials"]))

    def judge(self, seed: int, trials: int) -> Evidence:
        found = self.measure(seed, trials)
        miss = RATE_ALARM / len(found)
        won = {name for name, (ours, theirs, work) in found.items() if surely_less(ours, theirs, miss) and work <= 1}
        lost = {name for name, (ours, theirs, work) in found.items() if surely_less(theirs, ours, miss) or work > 1}
        figure = f"on {self.on}: less error and no more work in {len(won)} of {len(found)} settings, "
        figure += f"more of either in {len(lost)}"
        detail = (
            f"{self.because}; {trials} runs each, intervals at {1 - RATE_ALARM:.1%}; lost: {', '.join(sorted(lost))}"
        )
        if len(won) >= self.share * len(found) - 1e-9:
            return Evidence(self.kind, Verdict.SUPPORTED, figure, detail, confidence=1 - RATE_ALARM, seed=seed)
        if len(found) - len(lost) >= self.share * len(found) - 1e-9:
            return Evidence(self.kind, Verdict.UNCHECKED, figure, detail, seed=seed)
        seen = {"seed": seed, "trials": trials}
        return Evidence(self.kind, Verdict.REFUTED, figure, detail, counterexample=seen, seed=seed)


def surely_less(first: np.ndarray, second: np.ndarray, miss: float) -> bool:
    """Whether the first mean is below the second: Welch's t, wrong with probability `miss` / 2; counts are compared."""
    if len(first) == len(second) == 1:
        return bool(first[0] < second[0])
    parts = [sample.var(ddof=1) / len(sample) for sample in (first, second)]
    gap, spread = second.mean() - first.mean(), math.sqrt(sum(parts))
    if spread == 0:
        return bool(gap > 0)
    freedom = sum(parts) ** 2 / sum(x**2 / (len(s) - 1) for x, s in zip(parts, (first, second), strict=True))
    return bool(gap > spread * float(special.stdtrit(freedom, 1 - miss / 2)))


@dataclass(frozen=True)
class Ratios:
    """`measure(seed, trials)` gives ratios by name, all of which the claim says are at most 1."""

    measure: Callable[[int, int], Mapping[str, float]]
    because: str
    trials: int = 20
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.judge(effort.seed, self.trials * (5 if effort.thorough else 1))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge(int(point["seed"]), int(point["trials"]))

    def judge(self, seed: int, trials: int) -> Evidence:
        ratios = self.measure(seed, trials)
        above = [name for name, value in ratios.items() if value > 1]
        worst = max(ratios, key=lambda name: ratios[name])
        kept = f"ratio at most 1 in {len(ratios) - len(above)} of {len(ratios)} settings"
        figure = f"{kept}; largest {ratios[worst]:.3g}, {worst}"
        detail = f"{self.because}; {trials} runs each"
        if not above:
            return Evidence(self.kind, Verdict.SUPPORTED, figure, detail, seed=seed)
        seen = {"seed": seed, "trials": trials, "worst": worst}
        return Evidence(self.kind, Verdict.REFUTED, figure, detail, counterexample=seen, seed=seed)


@dataclass(frozen=True)
class Lower:
    """What the claim says is lower, and what it is lower than: `measure(seed, trials, thorough)` gives both by setting.

    Each is an array of runs, whose means are compared by Welch's t; limits of all settings hold together with 99.9%.
    Arrays of one number are counted, not run, and compared as they are. `where` says data and settings.
    """

    measure: Callable[[int, int, bool], Mapping[str, tuple[np.ndarray, np.ndarray]]]
    where: str
    trials: int = 60
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.judge(effort.seed, self.trials, effort.thorough)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge(int(point["seed"]), int(point["trials"]), bool(point["thorough"]))

    def judge(self, seed: int, trials: int, thorough: bool) -> Evidence:
        pairs = self.measure(seed, trials, thorough)
        miss = RATE_ALARM / len(pairs)
        below = [name for name, (ours, theirs) in pairs.items() if surely_less(ours, theirs, miss)]
        above = [name for name, (ours, theirs) in pairs.items() if surely_less(theirs, ours, miss)]
        means = {name: (float(np.mean(ours)), float(np.mean(theirs))) for name, (ours, theirs) in pairs.items()}
        worst = max(means, key=lambda name: (means[name][0] - means[name][1]) / max(map(abs, means[name])))
        ours, theirs = means[worst]
        figure = f"lower in {len(below)} of {len(pairs)} settings; closest {ours:.3g} against {theirs:.3g}, {worst}"
        most = max(len(runs) for pair in pairs.values() for runs in pair)
        counted = "counted" if most == 1 else f"{most} runs each, seed {seed}, 99.9%"
        figure += f"; {self.where}; {counted}"
        if above:
            seen = {"seed": seed, "trials": trials, "thorough": thorough, "worst": worst}
            return Evidence(self.kind, Verdict.NOT_REPRODUCED, figure, counterexample=seen, seed=seed)
        verdict = Verdict.SUPPORTED if len(below) == len(pairs) else Verdict.UNCHECKED
        return Evidence(self.kind, verdict, figure, confidence=1 - RATE_ALARM, seed=seed)


def exceeds(measured: float, bound: float) -> bool:
    """Above the bound by more than rounding."""
    return not measured <= bound * (1 + 1e-9) + 1e-12


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


def number(st: Any, low: float, high: float) -> Any:
    """Whole numbers for whole ends, reals otherwise."""
    if isinstance(low, int) and isinstance(high, int):
        return st.integers(low, high)
    return st.floats(low, high, allow_nan=False)


def hypothesis_parts() -> tuple[Any, Any, Any, Any]:
    """hypothesis, which only the verify extra brings."""
    try:
        from hypothesis import given, seed, settings
        from hypothesis import strategies as st
    except ImportError as error:
        raise MissingDependency("hypothesis", "the property check", "verify") from error
    return given, seed, settings, st


def hypothesis_health() -> Any:
    """All of hypothesis's health checks: a claim's case may be slow to measure."""
    from hypothesis import HealthCheck

    return HealthCheck
