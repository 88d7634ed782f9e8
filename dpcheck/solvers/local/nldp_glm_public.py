"""Private GLM regression from one report of each user, and public features (dwang20, Algorithm 5.2.39).

Claims: bounds/library/local/nldp_glm_public.py and scaled_least_squares.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy import special

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, Relation
from dpcheck.bounds.library.local import nldp_glm_public as theory
from dpcheck.bounds.library.local.scaled_least_squares import released, report_shift
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport
from dpcheck.families.scaled_least_squares import (
    BELOW_ONE,
    LabelledUsers,
    Slope,
    another_user,
    must_be_labelled,
    protocol,
    worst_users,
)
from dpcheck.settings import one_of
from dpcheck.solver import Calibration, Example, Solver, approximate

LABEL_BOUND = 1.0


def logistic(t: np.ndarray) -> np.ndarray:
    """Φ'' of Φ(t) = log(1 + e^t)."""
    return special.expit(t) * special.expit(-t)


SLOPES = {"logistic": Slope(logistic, 4.0), "poisson": Slope(np.exp), "linear": Slope(np.ones_like, degree=0)}


@dataclass(frozen=True)
class PublicGLM(Solver):
    """Least squares from users' noisy reports, scaled to the GLM's w* with the help of public features.

    Where no scale fits, as happens when noise drowns x xᵀ, the one that comes nearest is taken.
    """

    name: ClassVar[str] = "nldp_glm_public"
    relations: ClassVar[tuple[Relation, ...]] = (LOCAL,)
    minimises: ClassVar[bool] = False
    loss: str = one_of("logistic", "poisson", "linear")

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), BELOW_ONE, neighbour=partial(another_user, label_bound=LABEL_BOUND))

    def must_suit(self, data: LabelledUsers, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_labelled(data, LABEL_BOUND)

    def release(self, data: LabelledUsers, plan: None) -> Release:
        return released  # privacy: dwang20.algorithm5.2.39.sensitivity

    def method(self, data: LabelledUsers, plan: None, released: Released) -> OneReport:
        return protocol(data, SLOPES[self.loss], LABEL_BOUND)

    def stated(self, data: LabelledUsers, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        noise = theory.theorem1.evaluate(**approximate(guarantee).parameters)
        return released.with_noise(float(noise)), [theory.theorem1]

    def certifying(self, data: LabelledUsers, plan: None) -> Sequence[Claim]:
        return [report_shift]

    def worst_pair(self) -> tuple[LabelledUsers, LabelledUsers]:
        """Two users 60 degrees apart with opposite labels."""
        return worst_users(LABEL_BOUND)
