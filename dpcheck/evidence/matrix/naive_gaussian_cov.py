"""Noisy covariances searched, attacked and measured. Claims: bounds/library/matrix/naive_gaussian_cov.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.matrix import naive_gaussian_cov as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.rate_checks import Within
from dpcheck.families.covariances import CovarianceSolver, mean_triangle, semidefinite
from dpcheck.families.outer_products import stands_for, symmetric
from dpcheck.solvers.matrix.naive_gaussian_cov import NaiveGaussianCov

CLAIMED = ApproxDP(1.0, 1e-2)
SHARE = (0.0, 1.0)
BALL = {"seed": (0, 1 << 30), "n": (1, 6), "d": (1, 12), "dense": SHARE, "orthogonal": (0, 1), "shorter": SHARE}


def replaced(case: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Records of the ball, and the same with one replaced: dense or with few entries, orthogonal ones among them."""
    rng, n, d = np.random.default_rng(case["seed"]), case["n"], case["d"]
    rows = rng.standard_normal((n + 1, d)) * (rng.random((n + 1, d)) < case["dense"])
    rows[range(n + 1), rng.integers(d, size=n + 1)] = 1.0
    if case["orthogonal"]:
        rows[n] -= rows[0] * (rows[0] @ rows[n]) / (rows[0] @ rows[0])
    rows /= np.maximum(np.linalg.norm(rows, axis=1), 1e-12)[:, None]
    rows[n] *= case["shorter"]
    return rows[:n], np.vstack([rows[n:], rows[1:n]])


def packed(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far the isometric triangle moves, whose norm is the whole matrix's."""
    one, other = replaced(case)
    moved = (mean_triangle(one) - mean_triangle(other)) * stands_for(case["d"], True)
    bound = float(theory.sensitivity.evaluate(r_outer=1.0, n=case["n"]))
    return float(np.linalg.norm(moved)), bound


def attacked(solver: CovarianceSolver, calibration: str = "certified") -> Any:
    def setting() -> tuple[Any, tuple[Any, Any], Guarantee]:
        return solver.mechanism(CLAIMED, calibration, transcript=True), solver.worst_pair(), CLAIMED  # type: ignore[arg-type]

    return setting


def errors(case: Mapping[str, float], trials: int, seed: int) -> np.ndarray:
    """‖Σ̃-Σ‖₂ of rows uniform on the sphere, Σ = I/p, noise as certified."""
    n, d = int(case["n"]), int(case["d"])
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((trials, n, d))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    sampled = rows.transpose(0, 2, 1) @ rows / n
    noise = float(theory.corrected.evaluate(**case)) * rng.standard_normal((trials, d * (d + 1) // 2))
    return np.asarray(np.abs(np.linalg.eigvalsh(sampled + symmetric(noise, d) - np.eye(d) / d)).max(axis=1))


def bound(case: Mapping[str, float]) -> float:
    return 16 * float(theory.equation17_anywhere.evaluate(**case))


def repaired(case: Mapping[str, Any]) -> tuple[float, float]:
    """The distance to a covariance after and, twice, before negative eigenvalues become 0."""
    one, _ = replaced(case)
    d = case["d"]
    truth = symmetric(mean_triangle(one)[None], d)
    noisy = truth + symmetric(np.random.default_rng(case["seed"] + 1).standard_normal((1, d * (d + 1) // 2)), d)
    after, before = (np.abs(np.linalg.eigvalsh(m - truth)).max() for m in (semidefinite(noisy), noisy))
    return float(after), float(2 * before)


SETTINGS = [{"n": 30, "d": 40, "eps": 1.0, "delta": 0.01}, {"n": 400, "d": 5, "eps": 0.5, "delta": 1e-4}]
CHECKS = {
    "dwang20.equation6.16.sensitivity": [Property(packed, BALL, "a record of the ball for another")],
    "dwang20.equation6.16": [AuditCheck(attacked(NaiveGaussianCov(), "stated"), "as published", at={"n": 2})],
    "dwang20.equation6.16.corrected": [AuditCheck(attacked(NaiveGaussianCov()), "certified", at={"n": 2})],
    "dwang20.equation6.17.anywhere": [Within(errors, SETTINGS, "rows uniform on the sphere", bound, trials=32)],
}
