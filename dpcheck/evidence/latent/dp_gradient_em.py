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
from dpcheck.evidence.rate_checks import Exponents
from dpcheck.families.em_models import SignedMixture
from dpcheck.families.robust_means import robust_average
from dpcheck.solvers.latent.dp_gradient_em import DPGradientEM

CLAIMED, DELTA = ApproxDP(0.9, 1e-2), 1e-6


def moved(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far a record of any size moves the robust gradient at a β of any size; and what is claimed."""
    one, other, at = searched(case)
    scale, kappa = 10.0 ** case["scale"], math.log(one.d / case["gamma"])
    gap = robust_average(one.gradients(at), scale, kappa) - robust_average(other.gradients(at), scale, kappa)
    return float(np.linalg.norm(gap)), float(theory.sensitivity.evaluate(s_grad=scale, n=one.n, d=one.d))


def astray(point: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
    """How far one step of the code leads from β*, where the gradient is 0: what one noisy robust gradient errs by."""
    n, d = int(point["n"]), int(point["d"])
    eps = point["rho"] + 2 * math.sqrt(point["rho"] * math.log(1 / DELTA))
    found = []
    for i in range(trials):
        rng = np.random.default_rng([seed, i])
        truth = np.full(d, 3 / math.sqrt(d))
        solver = DPGradientEM(steps=1, start=tuple(truth.tolist()), second_moment=2.0)
        w = solver.solution(SignedMixture.drawn(n, truth, rng), ApproxDP(eps, DELTA), rng, calibration="stated").w[0]
        found.append(np.linalg.norm(w - truth))
    return np.array(found)


def attacked() -> tuple[Any, Any, Guarantee]:
    """As Algorithm 7.2.56 has its noise; every noisy gradient is seen."""
    solver = DPGradientEM(steps=5)
    return solver.mechanism(CLAIMED, "stated", transcript=True), solver.worst_pair(), CLAIMED


CHECKS = {
    "dwang20.theorem7.2.2": [
        AuditCheck(attacked, "a gradient that turns round, every answer seen",
                   at={"n": 4, "d": 2, "T": 5, "gamma": 0.05})
    ],
    "dwang20.equation7.78": [
        Exponents(
            {"n": [1e3, 4e3, 1.6e4], "d": [2.0, 4.0, 8.0, 16.0], "rho": [1e-3, 4e-3, 1.6e-2]}, astray,
            "one step from β* on mixtures at ‖β*‖ = 3σ, T = 1, τ = 2", trials=40, two_sided=True,
        )
    ],
    "dwang20.theorem7.2.2.sensitivity": [
        Property(moved, {**SEARCHED, "gamma": (1e-6, 0.5)}, "three models, a record of any size, β of any size")
    ],
}  # fmt: skip
