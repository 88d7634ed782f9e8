"""DP gradient EM searched and attacked. Claims: bounds/library/latent/dp_gradient_em.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.latent import dp_gradient_em as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.latent.clipped_dp_gradient_em import SEARCHED, searched
from dpcheck.evidence.property_checks import Property
from dpcheck.families.robust_means import robust_average
from dpcheck.solvers.latent.dp_gradient_em import DPGradientEM

CLAIMED = ApproxDP(0.9, 1e-2)


def moved(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far a record of any size moves the robust gradient at a β of any size; and what is claimed."""
    one, other, at = searched(case)
    scale, kappa = 10.0 ** case["scale"], math.log(one.d / case["gamma"])
    gap = robust_average(one.gradients(at), scale, kappa) - robust_average(other.gradients(at), scale, kappa)
    return float(np.linalg.norm(gap)), float(theory.sensitivity.evaluate(s_grad=scale, n=one.n, d=one.d))


def attacked() -> tuple[Any, Any, Guarantee]:
    """As Algorithm 7.2.56 has its noise; every noisy gradient is seen."""
    solver = DPGradientEM(steps=5)
    return solver.mechanism(CLAIMED, "stated", transcript=True), solver.worst_pair(), CLAIMED


CHECKS = {
    "dwang20.theorem7.2.2": [
        AuditCheck(attacked, "a gradient that turns round, every answer seen",
                   at={"n": 4, "d": 2, "T": 5, "gamma": 0.05})
    ],
    "dwang20.theorem7.2.2.sensitivity": [
        Property(moved, {**SEARCHED, "gamma": (1e-6, 0.5)}, "three models, a record of any size, β of any size")
    ],
}  # fmt: skip
