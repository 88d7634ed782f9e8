"""DP EM attacked as printed and as corrected. Claims: bounds/library/latent/dp_em.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.latent import dp_em as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.latent.clipped_dp_gradient_em import searched
from dpcheck.evidence.property_checks import Property
from dpcheck.families.em_models import SignedMixture
from dpcheck.families.robust_means import robust_average
from dpcheck.solvers.latent.dp_em import DPEM

CLAIMED, FAILURE = ApproxDP(0.9, 1e-2), 0.05


def one_step() -> tuple[Any, Any, Guarantee]:
    """One number a record, 0 but for one, which is 0 or 1,000; a step of the algorithm as printed."""
    Y = np.zeros((4, 1))
    far = Y.copy()
    far[0] = 1000.0
    solver = DPEM(steps=1, failure=FAILURE, second_moment=4.0)
    return solver.mechanism(CLAIMED, "stated"), (SignedMixture(Y=Y), SignedMixture(Y=far)), CLAIMED


def certified() -> tuple[Any, Any, Guarantee]:
    """With s before C, certified, every noisy M-step seen."""
    solver = DPEM(steps=3)
    return solver.mechanism(CLAIMED, transcript=True), solver.worst_pair(), CLAIMED


def moved(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far a record of any size moves the robust M-step at a β of any size; and what is claimed."""
    one, other, at = searched({**case, "model": 0})
    assert isinstance(one, SignedMixture)
    assert isinstance(other, SignedMixture)
    scale, kappa = 10.0 ** case["scale"], math.log(one.d / FAILURE)
    gap = robust_average(one.terms(at), scale, kappa) - robust_average(other.terms(at), scale, kappa)
    return float(np.linalg.norm(gap)), float(theory.sensitivity.evaluate(s_trunc=scale, n=one.n, d=one.d))


AT = {"n": 4, "d": 1, "T": 1, "gamma": FAILURE}
CHECKS = {
    "dwang20.theorem7.2.7": [AuditCheck(one_step, "(7.68) as printed; a record at 0 or at 1,000", at=AT)],
    "dwang20.theorem7.2.7.corrected": [
        AuditCheck(certified, "(7.68) with s; f turns round", at={**AT, "d": 2, "T": 3})
    ],
    "dwang20.theorem7.2.7.sensitivity": [
        Property(
            moved,
            {"n": (2, 12), "d": (1, 4), "seed": (0, 10**6), "point": (-3.0, 6.0), "scale": (-3.0, 3.0)},
            "a record of any size and direction, β of any size",
        )
    ],
}
