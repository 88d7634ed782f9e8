"""Private GLM regression with public data, attacked and measured. Claims: bounds/library/local/nldp_glm_public.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcheck.audits import lower_limit
from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.false_alarms import FALSE_ALARM
from dpcheck.evidence.local.scaled_least_squares import LOGISTIC, Signs, by_chance, rate_at_zero
from dpcheck.families.scaled_least_squares import LabelledUsers
from dpcheck.solvers.local.nldp_glm_public import PublicGLM

PRINTED = ApproxDP(0.9, 1e-2, relation=LOCAL)
AVERAGED = 1000  # runs of which the document takes the mean


@dataclass(frozen=True)
class EveryRunEnds:
    """Whether a mean over AVERAGED runs exists: `ended(setting, trials, seed)` says which runs have an output.

    It does not where so large a share of them has none, but for FALSE_ALARM over all settings, that AVERAGED runs
    which all have one are as rare.
    """

    ended: Callable[[Mapping[str, float], int, int], np.ndarray]
    settings: Sequence[Mapping[str, float]]
    because: str
    trials: int = 100
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.judge(effort.seed, self.trials * (10 if effort.thorough else 1))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge(int(point["seed"]), int(point["trials"]))

    def judge(self, seed: int, trials: int) -> Evidence:
        missed = [int(np.sum(~self.ended(s, trials, seed + i))) for i, s in enumerate(self.settings)]
        least = [lower_limit(count, trials, FALSE_ALARM / len(missed)) for count in missed]
        lost = [(1 - share) ** AVERAGED < FALSE_ALARM for share in least]
        words = [", ".join(f"{k} = {v:g}" for k, v in s.items()) for s in self.settings]
        shares = "; ".join(f"{count / trials:.0%} at {word}" for count, word in zip(missed, words, strict=True))
        figure = f"runs without an output: {shares}"
        if any(lost):
            figure += f"; a mean over {AVERAGED} runs exists in {len(lost) - sum(lost)} of {len(lost)} settings"
            seen = {"seed": seed, "trials": trials}
            verdict = Verdict.NOT_REPRODUCED
            return Evidence(self.kind, verdict, figure, self.because, None, 1 - FALSE_ALARM, seen, seed)
        return Evidence(self.kind, Verdict.UNCHECKED, f"{figure}; the trend is not measured", self.because, seed=seed)


def has_root(setting: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
    """Whether 1 = ĉ/m ΣΦ''(ĉỹ_j) can be solved, in the experiment as printed with p = 10."""
    design, n = Signs(10, 0.1, 10**-0.5, LOGISTIC, by_chance), int(setting["n"])
    return design.errors(n, n, setting["eps"], 1 / n, trials, seed)[1]


def attacked() -> tuple[Any, Any, ApproxDP]:
    """As published: one user, of ‖x‖₁ = 1, who turns round."""
    first = LabelledUsers(np.eye(1, 2), np.ones(1), np.eye(2) / 2)
    pair = first, first.with_user(0, -np.eye(1, 2), 1.0)
    return PublicGLM().mechanism(PRINTED, "stated", transcript=True), pair, PRINTED


ENDS = [{"n": n, "eps": eps} for n in (1e4, 2.9e5) for eps in (2.0, 10.0)]
CHECKS = {
    "dwang20.theorem5.2.1": [AuditCheck(attacked, "one user's report as published, x against -x")],
    "dwang20.theorem5.2.2.corrected": [rate_at_zero()],
    "dwang20.theorem5.2.3.corrected": [rate_at_zero()],
    "dwang20.figure5.1": [EveryRunEnds(has_root, ENDS, "as printed, at the ends of the printed n and ε")],
}
