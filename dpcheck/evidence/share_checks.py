"""How many runs reach what a claim promises with a number of records, the claim's formula times a constant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from dpcheck.audits import upper_limit
from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.evidence.false_alarms import RATE_ALARM


@dataclass(frozen=True)
class EnoughRecords:
    """`reached(case, n, trials, seed)` counts the runs on n records that reach the aim, n by the claim's own formula.

    `constant(case)` stands for what Ω() hides, by a rule that `because` states. SUPPORTED where at most a share γ of
    the runs fails, by an exact binomial limit at 99.9% over all cases; as the constant is ours, nothing is refuted.
    """

    reached: Callable[[Mapping[str, Any], int, int, int], int]
    cases: Sequence[Mapping[str, Any]]
    constant: Callable[[Mapping[str, Any]], float]
    because: str
    trials: int = 128
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        trials, worst, names = self.trials * (4 if effort.thorough else 1), 0.0, {str(s) for s in claim.symbols}
        figures = []
        for case in self.cases:
            numbers = {name: value for name, value in case.items() if name in names}
            n = int(float(claim.evaluate(**numbers)) * self.constant(case)) + 1
            failed = trials - self.reached(case, n, trials, effort.seed)
            share = float(upper_limit(failed, trials, RATE_ALARM / len(self.cases)))
            worst = max(worst, share / float(case["gamma"]))
            figures.append(f"{case['name']}: {trials - failed} of {trials} runs with n = {n:.3g}")
        verdict = Verdict.SUPPORTED if worst <= 1 else Verdict.UNCHECKED
        figure = f"{'; '.join(figures)}; allowed to fail: {self.cases[0]['gamma']:g}"
        return Evidence(self.kind, verdict, figure, self.because, confidence=1 - RATE_ALARM, seed=effort.seed)
