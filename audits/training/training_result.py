"""TrainingAudit: what one training run showed of its canaries, under which assumption, and how to see it again."""

from __future__ import annotations

import html
import json
import math
from dataclasses import dataclass, field

import numpy as np

from dpcheck.audits.result import SURE, shown_delta
from dpcheck.audits.training.canary_bounds import CanaryBound
from dpcheck.bounds.language.guarantees import Guarantee


@dataclass(frozen=True, eq=False)
class TrainingAudit:
    """The outcome of `audit_training`.

    `epsilon_lower` exceeds the true epsilon (at `delta`) with probability at most `alpha`, if what `bound` assumes
    holds; `without` is then the bound that assumes nothing but fair coins, at the same alpha. Both are about the
    relation that `neighbours` says in words. `detectable_epsilon` is the least that would have been flagged with
    probability 0.99 by the best of attacks; infinite where so few coins flag nothing, or something was flagged.
    `scores` and `coins` have a row for each run.
    """

    violated: bool
    epsilon_lower: float
    delta: float
    alpha: float
    bound: CanaryBound
    without: CanaryBound | None
    detectable_epsilon: float
    neighbours: str
    seconds: float
    seed: int
    guarantee: Guarantee | None
    claimed: float
    scores: np.ndarray = field(repr=False)
    coins: np.ndarray = field(repr=False)
    health: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n".join(f"{name:<11}{text}" for name, text in self.lines())

    def lines(self) -> list[tuple[str, str]]:
        """The result in named lines, the verdict first."""
        runs, canaries = self.coins.shape
        lines = [
            ("verdict", f"{self.verdict}: {'no claim' if self.guarantee is None else self.guarantee}"),
            ("epsilon", f"{self.finding}  (false-alarm rate {self.alpha:g})"),
            *([] if self.without is None else [("anyway", f"{self.without}, whatever the mechanism")]),
            ("seen", f"{self.bound.counted or 'nothing'}, of {runs * canaries} coins; {self.neighbours}"),
            *([] if self.violated or self.guarantee is None else [("power", self.would_catch)]),
            ("cost", f"{runs} training run{'s' if runs > 1 else ''} with {canaries} canaries, {self.seconds:.2f} s"),
            ("replay", f"seed={self.seed}"),
        ]
        surely = SURE if self.assumes else max(SURE, 100 * self.delta)  # alpha must stay above delta
        if self.violated and self.alpha > surely:
            text = f"up to {100 * self.alpha:g}% of the audits of training that just keeps its promise say this"
            lines.append(("confirm", f"{text}: run again with another seed and alpha={surely:g}"))
        return lines + [("health", message) for message in self.health]

    @property
    def assumes(self) -> str:
        """What the bound rests on beside fair coins ("" for nothing)."""
        return self.bound.assumes

    @property
    def verdict(self) -> str:
        """In a word or two; a violation that rests on an assumption says so."""
        if self.guarantee is None:
            return "measured"
        proved = self.without is not None and self.without.refutes(self.guarantee, self.claimed)
        condition = f", if {self.assumes}" if self.assumes and not proved else ""
        return f"VIOLATED{condition}" if self.violated else "not violated"

    @property
    def finding(self) -> str:
        """The bound, where it holds and what was claimed there."""
        sign = ">" if self.violated and self.epsilon_lower <= self.claimed else ">="
        condition = f", if {self.assumes}" if self.assumes else ""
        claimed = "" if self.guarantee is None else f", claimed {self.claimed:.4g}"
        return f"{sign} {self.epsilon_lower:.4g} at delta = {shown_delta(self.delta)}{condition}{claimed}"

    @property
    def would_catch(self) -> str:
        """What a pass is worth, if the attack is as good as can be."""
        if math.isinf(self.detectable_epsilon):
            return "no number: so few coins refute nothing, even if every guess is right"
        caught = f"epsilon >= {self.detectable_epsilon:.4g} would have been flagged with probability 0.99"
        best = (
            "gradients at right angles do under Gaussian noise" if self.delta > 0 else "coins do by randomised response"
        )
        return f"{caught}, if canaries show as {best}"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{html.escape(n)}</th><td>{html.escape(t)}</td></tr>" for n, t in self.lines())
        return f"<table class='dpcheck-audit'>{rows}</table>"

    def to_json(self) -> str:
        """Every field, as a JSON object."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["guarantee"] = None if self.guarantee is None else str(self.guarantee)
        values["bound"], values["without"] = vars(self.bound), None if self.without is None else vars(self.without)
        values["scores"], values["coins"] = self.scores.tolist(), self.coins.tolist()
        values["detectable_epsilon"] = self.detectable_epsilon if math.isfinite(self.detectable_epsilon) else None
        return json.dumps(values)
