"""Noisy outer products searched, attacked, measured. Claims: bounds/library/local/ldp_pca_gauss.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP, Guarantee
from dpcheck.bounds.library.local import ldp_pca_gauss as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.rate_checks import Trend
from dpcheck.families.outer_products import leading, subspace_distance2, symmetric
from dpcheck.solvers.local.ldp_pca_gauss import LdpPcaGauss

CLAIMED = ApproxDP(1.0, 1e-2, relation=LOCAL)
D, K = 20, 2
SPECTRUM = np.r_[0.4, 0.4, np.full(D - K, 0.2 / (D - K))]


def apart(case: Mapping[str, Any]) -> tuple[float, float]:
    """Outer products of two vectors of the ball, dense or with few entries, orthogonal ones among them."""
    rng, d = np.random.default_rng(case["seed"]), case["d"]
    rows = rng.standard_normal((2, d)) * (rng.random((2, d)) < case["dense"])
    rows[range(2), rng.integers(d, size=2)] = 1.0
    if case["orthogonal"]:
        rows[1] -= rows[0] * (rows[0] @ rows[1]) / (rows[0] @ rows[0])
    rows *= (np.array([1.0, case["shorter"]]) / np.maximum(np.linalg.norm(rows, axis=1), 1e-12))[:, None]
    one, other = (np.outer(row, row) for row in rows)
    return float(((one - other) ** 2).sum()), float(theory.sensitivity.evaluate(r_outer=1.0))


def attacked() -> tuple[Any, tuple[Any, Any], Guarantee]:
    return LdpPcaGauss().mechanism(CLAIMED, transcript=True), LdpPcaGauss().worst_pair(), CLAIMED


def stated() -> tuple[Any, tuple[Any, Any], Guarantee]:
    return LdpPcaGauss().mechanism(CLAIMED, "stated", transcript=True), LdpPcaGauss().worst_pair(), CLAIMED


def distances(n: float, trials: int, seed: int) -> np.ndarray:
    """‖sin Θ‖² with ε = 1 and δ = 1e-4: the mean noise of n users is normal, so one matrix stands for any n."""
    rng = np.random.default_rng(seed)
    noise = float(theory.theorem2_privacy_corrected.evaluate(eps=1.0, delta=1e-4)) / np.sqrt(n)
    drawn = np.diag(SPECTRUM) + symmetric(noise * rng.standard_normal((trials, D * (D + 1) // 2)), D)
    return subspace_distance2(leading(drawn, K), np.eye(D)[:, :K])


def packed(case: Mapping[str, Any]) -> tuple[float, float]:
    """t²‖B-B'‖²/4 against ‖sin Θ‖² of the subspaces of (I, tB) and (I, tB') of signs, t‖B‖ and t‖B'‖ at most 1."""
    rng, k, m = np.random.default_rng(case["seed"]), case["k"], case["m"]
    signs = rng.choice([-1.0, 1.0], (2, m, k))
    t = case["share"] / np.linalg.norm(signs, 2, axis=(1, 2)).max()
    one, other = np.linalg.qr(np.concatenate([np.broadcast_to(np.eye(k), (2, k, k)), t * signs], axis=1))[0]
    return float(t**2 * ((signs[0] - signs[1]) ** 2).sum() / 4), float(subspace_distance2(one[None], other)[0])


ball = {"seed": (0, 1 << 30), "d": (2, 12), "dense": (0.0, 1.0), "orthogonal": (0, 1), "shorter": (0.0, 1.0)}
CHECKS = {
    "dwang20.algorithm6.1.46.sensitivity": [Property(apart, ball, "two vectors of the ball, with few entries or many")],
    "dwang20.theorem6.1.2.privacy": [AuditCheck(stated, "as published; a user at e₁ or at e₂")],
    "dwang20.theorem6.1.2.privacy.corrected": [AuditCheck(attacked, "certified noise; a user at e₁ or at e₂")],
    "dwang20.theorem6.1.2.corrected": [
        Trend("n", (1e5, 1e6, 1e7), distances, "d = 20, k = 2, eigenvalues 0.4 and 0.2/18", trials=40)
    ],
    "dwang20.theorem6.1.1": [
        Property(
            packed,
            {"seed": (0, 1 << 30), "k": (1, 8), "m": (1, 8), "share": (0.01, 1.0)},
            "the packing's distances: t²‖B-B'‖²/4 over ‖sin Θ‖² of random signs",
        )
    ],
}
