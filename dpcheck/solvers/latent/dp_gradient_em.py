"""Gradient EM by private robust means. Claims: bounds/library/latent/dp_gradient_em.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.latent import dp_gradient_em as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.em_models import LatentRecords, turned_line
from dpcheck.families.em_runs import EMSolver, EMSteps
from dpcheck.families.robust_means import printed_truncation, robust_average
from dpcheck.settings import fraction, positive
from dpcheck.solver import approximate, must_meet


@dataclass(frozen=True)
class DPGradientEM(EMSolver):
    """`steps` steps of size `step_size`, each by the private robust mean of every coordinate of EM's gradient.

    `second_moment` is τ, a public guess at E (∇_jq)², whose error costs accuracy alone; `failure` is γ (printed ζ).
    """

    second_moment: float = positive(1.0)
    failure: float = fraction(0.05)
    step_size: float = positive(1.0)
    name: ClassVar[str] = "dp_gradient_em"

    def plan(self, data: LatentRecords, guarantee: Guarantee) -> float:
        return printed_truncation(data.n, self.second_moment, self.failure / data.d)

    def release(self, data: LatentRecords, plan: float) -> Release:
        # privacy: dwang20.theorem7.2.2.sensitivity
        return theory.released.at(s_grad=plan, n=data.n, d=data.d, T=self.steps)

    def method(self, data: LatentRecords, plan: float, released: Released) -> EMSteps:
        kappa = math.log(data.d / self.failure)
        return EMSteps(
            lambda rows, W: robust_average(rows.gradients(W), plan, kappa), self.begin(data), self.steps, self.step_size
        )

    def stated(self, data: LatentRecords, guarantee: Guarantee, plan: float) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.privacy
        values = {"n": data.n, "d": data.d, "T": self.steps, "tau_em": self.second_moment, "gamma": self.failure}
        values |= aim.parameters
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: LatentRecords, plan: float) -> Sequence[Claim]:
        return [theory.sensitivity]

    def worst_pair(self) -> tuple[LatentRecords, LatentRecords]:
        """A record's gradient turns from far below to far above in every coordinate."""
        return turned_line(4, 2)
