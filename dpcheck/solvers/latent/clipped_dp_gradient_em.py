"""Gradient EM with clipped gradients. Claims: bounds/library/latent/clipped_dp_gradient_em.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.latent import clipped_dp_gradient_em as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.em_models import LatentRecords, turned_line
from dpcheck.families.em_runs import EMSolver, EMSteps
from dpcheck.kernels.method import Array
from dpcheck.settings import positive
from dpcheck.solver import approximate, must_meet


def clipped_mean(data: LatentRecords, W: Array, clip: float) -> Array:
    """The mean of records' gradients, none of them longer than `clip`, (k, d)."""
    gradients = data.gradients(W)
    norms = np.linalg.norm(gradients, axis=2)
    return np.asarray(np.einsum("nk,nkd->kd", clip / np.maximum(norms, clip), gradients) / data.n)


@dataclass(frozen=True)
class ClippedDPGradientEM(EMSolver):
    """`steps` steps of size `step_size` on gradients clipped to norm `clip`. "stated" has the constant `c` for its."""

    clip: float = positive(1.0)
    step_size: float = positive(1.0)
    c: float = positive(12.0, kw_only=True)
    name: ClassVar[str] = "clipped_dp_gradient_em"

    def release(self, data: LatentRecords, plan: None) -> Release:
        # privacy: dwang20.algorithm7.2.55.sensitivity
        return theory.released.at(clip_em=self.clip, n=data.n, T=self.steps)

    def method(self, data: LatentRecords, plan: None, released: Released) -> EMSteps:
        return EMSteps(lambda rows, W: clipped_mean(rows, W, self.clip), self.begin(data), self.steps, self.step_size)

    def stated(self, data: LatentRecords, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.privacy
        values = {"n": data.n, "T": self.steps, "clip_em": self.clip, "c": self.c, **aim.parameters}
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: LatentRecords, plan: None) -> Sequence[Claim]:
        return [theory.sensitivity]

    def worst_pair(self) -> tuple[LatentRecords, LatentRecords]:
        """A record's gradient turns round."""
        return turned_line(4, 2)
