"""A claim's guarantee attacked: its implementation is audited on a pair, with at most FALSE_ALARM of false alarms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dpcheck.audits import audit
from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Rate, Verdict, pretty
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.evidence.false_alarms import FALSE_ALARM


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
