"""The checks that run code: audit, property, rate. Solver files attach them to claims by id.

Each states its false-alarm rate: a true claim is called refuted with at most that probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sympy

from audits import audit
from bounds.claim import Claim, Effort, Evidence, Kind, Verdict
from bounds.errors import MissingDependency
from bounds.guarantees import Guarantee

FALSE_ALARM = 1e-6


@dataclass(frozen=True)
class AuditCheck:
    """Attack the implementation on a pair: `setting()` gives (mechanism, pair, guarantee)."""

    setting: Callable[[], tuple[Any, tuple[Any, Any], Guarantee]]
    because: str
    trials: int = 100_000
    assume: str | None = None
    kind: ClassVar[str] = "audit"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.attack(effort.seed, self.trials * (10 if effort.thorough else 1))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.attack(int(point["seed"]), int(point["trials"]))

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
            figure = f"audited eps >= {result.epsilon_lower:.4g} at delta {result.delta:g}, claimed {claimed:.4g}"
            seen = {"seed": seed, "trials": trials, "event": str(result.event)}
            margin = result.epsilon_lower / claimed - 1
            return Evidence(self.kind, Verdict.REFUTED, figure, self.because, margin, 1 - FALSE_ALARM, seen, seed)
        catch = result.detectable_epsilon
        figure = f"audited eps >= {result.epsilon_lower:.3g}, claimed {claimed:.3g}; would catch {catch:.3g}"
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
class Trend:
    """A measured exponent against the claimed one, over a geometric grid of one symbol.

    The exponent is that of the claim's formula. An upper bound is contradicted only by a measured exponent above
    the claimed one by more than `slack` plus its confidence interval; `two_sided` asks for equality. `in_log`
    fits measured = a + b log(symbol), whose correlation must be 1 up to the slack.
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
        return self.judge(claim, effort.seed, self.trials * (10 if effort.thorough else 1))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge(claim, int(point["seed"]), int(point["trials"]))

    def judge(self, claim: Claim, seed: int, trials: int) -> Evidence:
        samples = [self.measure(x, trials, seed + i) for i, x in enumerate(self.grid)]
        means = np.array([s.mean() for s in samples])
        detail = f"{self.because}; {self.symbol} in {list(self.grid)}, {len(samples[0])} runs each"
        if self.in_log:
            fit = float(np.corrcoef(np.log(self.grid), means)[0, 1])
            shows = fit > 1 - self.slack
            figure = f"correlation with log {self.symbol}: {fit:.4f}"
        else:
            claimed = exponent(claim.formula, self.symbol)
            slope, half = fitted(np.log(self.grid), samples)
            above, below = slope - half > claimed + self.slack, slope + half < claimed - self.slack
            shows = not above and not (self.two_sided and below)
            figure = f"{self.symbol}^{slope:.3f} ± {half:.3f}, claimed {self.symbol}^{claimed:.3f}"
        if shows:
            return Evidence(self.kind, Verdict.SUPPORTED, figure, detail, confidence=0.999, seed=seed)
        refuted = claim.kind is Kind.EXPERIMENT  # a finite grid refutes a trend, never an asymptotic bound
        seen = {"seed": seed, "trials": trials} if refuted else None
        verdict = Verdict.REFUTED if refuted else Verdict.UNCHECKED
        return Evidence(self.kind, verdict, figure, detail, counterexample=seen, seed=seed)


@dataclass(frozen=True)
class Comparison:
    """One method against another over many settings: `measure(seed, trials)` gives (error, work) ratios by name.

    "Almost all" is taken as nine settings in ten, in both.
    """

    measure: Callable[[int, int], Mapping[str, tuple[float, float]]]
    because: str
    share: float = 0.9
    trials: int = 20
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.judge(effort.seed, self.trials * (5 if effort.thorough else 1))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge(int(point["seed"]), int(point["trials"]))

    def judge(self, seed: int, trials: int) -> Evidence:
        ratios = self.measure(seed, trials)
        lost = {name: r for name, r in ratios.items() if max(r) > 1}
        errors, works = (sum(r[i] <= 1 for r in ratios.values()) for i in (0, 1))
        figure = f"better error in {errors} of {len(ratios)} settings, less work in {works}"
        if len(ratios) - len(lost) >= self.share * len(ratios) - 1e-9:
            return Evidence(self.kind, Verdict.SUPPORTED, figure, self.because, seed=seed)
        worst = max(lost, key=lambda name: max(lost[name]))
        seen = {"seed": seed, "trials": trials, "worst": {"setting": worst, "error and work ratios": lost[worst]}}
        return Evidence(self.kind, Verdict.REFUTED, figure, self.because, counterexample=seen, seed=seed)


def exceeds(measured: float, bound: float) -> bool:
    """Above the bound by more than rounding."""
    return not measured <= bound * (1 + 1e-9) + 1e-12


def exponent(formula: sympy.Expr, symbol: str) -> float:
    """The power of a symbol in a product of powers."""
    found = next(s for s in formula.free_symbols if str(s) == symbol)
    power = sympy.simplify(sympy.diff(formula, found) * found / formula)
    return float(power)


def fitted(logs: np.ndarray, samples: Sequence[np.ndarray], confidence_z: float = 3.29) -> tuple[float, float]:
    """Slope of log mean against log x, and the half-width of its 99.9% interval."""
    means = np.array([s.mean() for s in samples])
    errors = np.array([s.std(ddof=1) / math.sqrt(len(s)) if len(s) > 1 else 0.0 for s in samples]) / means
    centred = logs - logs.mean()
    weights = centred / (centred @ centred)
    return float(weights @ np.log(means)), float(confidence_z * math.sqrt(weights**2 @ errors**2))


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
