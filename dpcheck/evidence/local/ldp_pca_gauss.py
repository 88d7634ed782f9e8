"""Noisy outer products searched, attacked, measured. Claims: bounds/library/local/ldp_pca_gauss.py.

The mean of n users' noise is normal: the rate is measured on Σ and that mean, for any n at the cost of one matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP, Guarantee
from dpcheck.bounds.library.local import ldp_pca_gauss as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.rate_checks import Trend
from dpcheck.families.outer_products import leading, subspace_distance2, symmetric, upper_triangles
from dpcheck.solvers.local.ldp_pca_gauss import LocalPCA

D, K = 20, 2
SPECTRUM = np.r_[0.4, 0.4, np.full(D - K, 0.2 / (D - K))]


def apart(case: Mapping[str, Any]) -> tuple[float, float]:
    """Upper triangles of two records of the ball: random, sparse or coordinate vectors, opposite ones among them."""
    rng, d = np.random.default_rng(case["seed"]), case["d"]
    rows = rng.standard_normal((2, d)) * (rng.random((2, d)) < case["dense"])
    rows[:, 0] += 1e-12
    rows *= np.array([1.0, rng.choice([-1.0, 1.0])])[:, None] / np.linalg.norm(rows, axis=1, keepdims=True)
    one, other = upper_triangles(rows)
    return float(((one - other) ** 2).sum()), float(theory.sensitivity_corrected.evaluate())


def attacked() -> tuple[Any, tuple[Any, Any], Guarantee]:
    """A user at e₁ or at e₂."""
    claimed = ApproxDP(1.0, 1e-2, relation=LOCAL)
    return LocalPCA().mechanism(claimed, transcript=True), LocalPCA().worst_pair(), claimed


def distances(n: float, trials: int, seed: int) -> np.ndarray:
    """‖sin Θ‖² of two leading directions from Σ and the mean noise of n users, ε = 1 and δ = 1e-4."""
    rng = np.random.default_rng(seed)
    noise = float(theory.theorem2_privacy_corrected.evaluate(eps=1.0, delta=1e-4)) / np.sqrt(n)
    drawn = np.diag(SPECTRUM) + symmetric(noise * rng.standard_normal((trials, D * (D + 1) // 2)), D)
    return subspace_distance2(leading(drawn, K), np.eye(D)[:, :K])


CHECKS = {
    "dwang20.algorithm6.1.46.sensitivity.corrected": [
        Property(
            apart, {"seed": (0, 1 << 30), "d": (1, 12), "dense": (0.0, 1.0)}, "two records of the ball, dense or sparse"
        )
    ],
    "dwang20.theorem6.1.2.privacy.corrected": [AuditCheck(attacked, "certified noise, a user at e₁ or at e₂")],
    "dwang20.theorem6.1.2.corrected": [
        Trend("n", (1e5, 1e6, 1e7), distances, "d = 20, k = 2, eigenvalues 0.4 and 0.2/18", trials=40)
    ],
}
