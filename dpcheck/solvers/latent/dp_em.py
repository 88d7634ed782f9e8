"""EM for signed mixtures by private robust means. Claims: bounds/library/latent/dp_em.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.latent import dp_em as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.em_models import LatentRecords, SignedMixture, turned_mixture
from dpcheck.families.em_runs import EMSolver, EMSteps
from dpcheck.families.robust_means import printed_truncation, robust_average, smoothed_phi
from dpcheck.kernels.method import Array
from dpcheck.settings import fraction, positive
from dpcheck.solver import approximate, must_meet


def as_printed(values: Array, scale: float, kappa: float) -> Array:
    """(7.68): the polynomial in units of the values, and C without the factor s: nothing holds it."""
    a = values / scale
    polynomial = a * (1 - a**2 / (2 * kappa)) - a**3 / 6
    return np.asarray((scale * polynomial + smoothed_phi(a, kappa) - polynomial).mean(axis=0))


@dataclass(frozen=True)
class DPEM(EMSolver):
    """`steps` M-steps of a signed mixture, each the private robust mean of every coordinate of (2w - 1)y.

    `second_moment` is τ, a public guess at E y_j²; `failure` is γ (printed ζ). "stated" is Algorithm 7.2.57 with (7.68)
    as printed, which one record moves as far as it likes; "certified" has the s that it has lost.
    """

    second_moment: float = positive(1.0)
    failure: float = fraction(0.05)
    name: ClassVar[str] = "dp_em"
    model: ClassVar[type[LatentRecords]] = SignedMixture

    def plan(self, data: SignedMixture, guarantee: Guarantee) -> float:
        return printed_truncation(data.n, self.second_moment, self.failure / data.d)

    def release(self, data: SignedMixture, plan: float) -> Release:
        # privacy: dwang20.theorem7.2.7.sensitivity
        return theory.released.at(s_trunc=plan, n=data.n, d=data.d, T=self.steps)

    def method(self, data: SignedMixture, plan: float, released: Released) -> EMSteps:
        kappa = math.log(data.d / self.failure)
        mean = as_printed if math.isinf(float(released.parts[0].sensitivity)) else robust_average
        return EMSteps(lambda rows, W: mean(rows.terms(W), plan, kappa), self.begin(data), self.steps, None)

    def stated(self, data: SignedMixture, guarantee: Guarantee, plan: float) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.privacy
        values = {"n": data.n, "d": data.d, "T": self.steps, "tau_dp_em": self.second_moment, "gamma": self.failure}
        values |= aim.parameters
        must_meet(claim, data, **values)
        noisy = self.release(data, plan).with_noise(float(claim.evaluate(**values)))
        return replace(noisy, sensitivity=math.inf), [claim]

    def certifying(self, data: SignedMixture, plan: float) -> Sequence[Claim]:
        return [theory.sensitivity]

    def worst_pair(self) -> tuple[SignedMixture, SignedMixture]:
        """A record whose f has the signs (-, +), then (+, -)."""
        return turned_mixture(4)
