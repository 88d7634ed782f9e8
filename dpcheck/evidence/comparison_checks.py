"""One method's runs against another's: which errs less, over all settings that a claim names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.evidence.false_alarms import FALSE_ALARM, MORE, RATE_ALARM
from dpcheck.theory import exponents


@dataclass(frozen=True)
class MethodsCompared:
    """One method against another over many settings: `measure(seed, trials)` gives, by setting, the errors of both
    methods' runs and the work of the first over that of the second. `on` names the data, in the figure.

    An error is less where Welch's interval for the difference of the means says so, all intervals together at 99.9%,
    and more where all intervals together miss with probability 1e-6. "Almost all" is nine settings in ten. Data that
    stand in for the document's decide nothing against it: a loss there is told, and leaves the claim open.
    """

    measure: Callable[[int, int], Mapping[str, tuple[np.ndarray, np.ndarray, float]]]
    on: str
    because: str
    share: float = 0.9
    trials: int = 40
    stand_in: bool = False
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.judge(effort.seed, self.trials * (5 if effort.thorough else 1))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge(int(point["seed"]), int(point["trials"]))

    def judge(self, seed: int, trials: int) -> Evidence:
        found = self.measure(seed, trials)
        miss, rarely = RATE_ALARM / len(found), FALSE_ALARM / len(found)
        won = {name for name, (ours, theirs, work) in found.items() if surely_less(ours, theirs, miss) and work <= 1}
        lost = {name for name, (ours, theirs, work) in found.items() if surely_less(theirs, ours, rarely) or work > 1}
        figure = f"on {self.on}: less error and no more work in {len(won)} of {len(found)} settings, "
        figure += f"more of either in {len(lost)}"
        detail = (
            f"{self.because}; {trials} runs each, intervals at {1 - RATE_ALARM:.1%}; lost: {', '.join(sorted(lost))}"
        )
        if len(won) >= self.share * len(found) - 1e-9:
            return Evidence(self.kind, Verdict.SUPPORTED, figure, detail, confidence=1 - RATE_ALARM, seed=seed)
        if self.stand_in or len(found) - len(lost) >= self.share * len(found) - 1e-9:
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
class Lower:
    """What the claim says is lower, and what it is lower than: `measure(seed, trials, thorough)` gives both by setting.

    Each is an array of runs, whose means are compared by Welch's t. The limits that support hold together with 99.9%,
    those that speak against but for 1e-6; runs are added once where all means are lower and some not clearly. Arrays of
    one number are counted, not run, and compared as they are. `where` says data and settings. Data that stand in for
    the document's decide nothing against it, and are looked at once.
    """

    measure: Callable[[int, int, bool], Mapping[str, tuple[np.ndarray, np.ndarray]]]
    where: str
    trials: int = 60
    stand_in: bool = False
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.judge(effort.seed, self.trials, effort.thorough)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge(int(point["seed"]), int(point["trials"]), bool(point["thorough"]))

    def judge(self, seed: int, trials: int, thorough: bool) -> Evidence:
        pairs = self.measure(seed, trials, thorough)
        below = self.lower(pairs, 0)
        leans = not self.stand_in and len(below) < len(pairs)
        if leans and all(np.mean(ours) < np.mean(theirs) for ours, theirs in pairs.values()):
            again = self.measure(exponents.seed_of(seed, 1, {}), MORE * trials, thorough)
            pairs = {name: joined(pair, again[name]) for name, pair in pairs.items()}
            below = self.lower(pairs, 1)
        rarely = FALSE_ALARM / (2 * len(pairs))
        above = [name for name, (ours, theirs) in pairs.items() if surely_less(theirs, ours, rarely)]
        means = {name: (float(np.mean(ours)), float(np.mean(theirs))) for name, (ours, theirs) in pairs.items()}
        worst = max(means, key=lambda name: (means[name][0] - means[name][1]) / max(map(abs, means[name])))
        ours, theirs = means[worst]
        figure = f"lower in {len(below)} of {len(pairs)} settings; closest {ours:.3g} against {theirs:.3g}, {worst}"
        most = max(len(runs) for pair in pairs.values() for runs in pair)
        counted = "counted" if most == 1 else f"{most} runs each, seed {seed}, 99.9%"
        figure += f"; {self.where}; {counted}"
        if above and self.stand_in:
            return Evidence(
                self.kind, Verdict.UNCHECKED, f"{figure}; higher in {len(above)}", ", ".join(above), seed=seed
            )
        if above:
            seen = {"seed": seed, "trials": trials, "thorough": thorough, "worst": worst}
            return Evidence(self.kind, Verdict.NOT_REPRODUCED, figure, counterexample=seen, seed=seed)
        verdict = Verdict.SUPPORTED if len(below) == len(pairs) else Verdict.UNCHECKED
        return Evidence(self.kind, verdict, figure, confidence=1 - RATE_ALARM, seed=seed)

    def lower(self, pairs: Mapping[str, tuple[np.ndarray, np.ndarray]], look: int) -> list[str]:
        """The settings in which it is clearly lower."""
        miss = exponents.level(RATE_ALARM, look) / len(pairs)
        return [name for name, (ours, theirs) in pairs.items() if surely_less(ours, theirs, miss)]


def joined(pair: tuple[np.ndarray, np.ndarray], again: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Both runs together; what is counted stays one number."""
    first, second = (a if len(a) == 1 else np.concatenate([a, b]) for a, b in zip(pair, again, strict=True))
    return first, second
