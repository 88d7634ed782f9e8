"""Accountants of x_R, one iterate out of many: Gaussian noise on full gradients, and private selections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sympy import Rational

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, delta
from dpcheck.bounds.privacy.accountant import Accountant
from dpcheck.bounds.privacy.question import Question
from dpcheck.bounds.privacy.selections import reached_delta


@dataclass(frozen=True)
class IterateAccountant(Accountant):
    """Refutes noise for x_R: `releases` are (T - 1)/2 steps, rounded up, which x_R shows with probability 1/2, T >= 2.

    So x_R misses (eps, delta) wherever those releases miss (eps, 2 delta). Other records tell R: they may all have
    gradients orthogonal to the differing record's, which move x_R by a fixed amount each step, and by more than the
    noise if n is large. It refutes only: what passes here is not shown to be private.
    """

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        found = super().run(claim, effort)
        return found if found.verdict is Verdict.REFUTED else replace(found, verdict=Verdict.UNCHECKED)

    def question(self, claim: Claim) -> Question:
        if not isinstance(claim.guarantee, ApproxDP):
            raise InvalidInput("guarantee", str(claim.guarantee), "ApproxDP", "Use Accountant for the transcript.")
        twice = replace(claim.guarantee, delta=2 * claim.guarantee.delta)
        part = [*claim.assumes, T >= 2, delta <= Rational(1, 4)]  # where one half of delta leaves something to show
        return super().question(replace(claim, guarantee=twice, assumes=part))


@dataclass(frozen=True)
class SelectionAccountant:
    """Judges a claim that states eps0 of each of T exponential mechanisms for an x_R that is (eps, delta)-private.

    A sound lower bound refutes at a point; elsewhere it says how much of the stated delta is used.
    """

    because: str
    largest_eps: float = 1e3
    kind: ClassVar[str] = "accountant"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        points = [
            {"eps": float(e), "delta": d, "T": float(T)}
            for d in ((1e-5, 1e-2, 0.1, 0.5) if effort.thorough else (1e-2, 0.5))
            for e in np.geomspace(1e-2, self.largest_eps, 31 if effort.thorough else 11)
            for T in ((2, 10, 100, 1000) if effort.thorough else (100, 1000))
        ]
        inside = [p for p in points if claim.violated_by(p) is None]
        if not inside:
            return Evidence(self.kind, Verdict.UNCHECKED, "no point tried meets the hypotheses", self.because)
        used = [self.reached(claim, p) / p["delta"] for p in inside]
        broken = [p for p, share in zip(inside, used, strict=True) if share > 1 + 1e-6]
        if broken:  # the least eps at the least delta: the plainest
            return self.replay(claim, min(broken, key=lambda p: (p["delta"] > 1e-2, p["eps"], p["T"])))
        figure = f"reaches at most {max(used):.3g} of the stated delta at {len(inside)} points"
        return Evidence(self.kind, Verdict.SUPPORTED, figure, self.because)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        here = {k: float(point[k]) for k in ("eps", "delta", "T")}
        true = self.reached(claim, here)
        broken = true > here["delta"] * (1 + 1e-6) and claim.violated_by(here) is None
        figure = f"ε = {here['eps']:.4g}, T = {here['T']:g}: delta is at least {true:.3g}, stated {here['delta']:g}"
        verdict = Verdict.REFUTED if broken else Verdict.UNCHECKED
        return Evidence(self.kind, verdict, figure, self.because, true / here["delta"] - 1, counterexample=here)

    def reached(self, claim: Claim, point: Mapping[str, float]) -> float:
        """The delta that linear losses reach with the stated eps0."""
        eps0 = float(claim.evaluate(**point))
        return reached_delta(eps0, int(point["T"]), point["eps"])
