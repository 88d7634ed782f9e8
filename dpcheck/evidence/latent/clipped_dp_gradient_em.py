"""Clipped gradients searched and attacked. Claims: bounds/library/latent/clipped_dp_gradient_em.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.latent import clipped_dp_gradient_em as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.families.em_models import LatentRecords, MissingCovariates, Regressions, SignedMixture, another_record
from dpcheck.solvers.latent.clipped_dp_gradient_em import ClippedDPGradientEM, clipped_mean

CLAIMED = ApproxDP(1.0, 1e-2)
SEARCHED: dict[str, tuple[float, float]] = {
    "n": (2, 12), "d": (1, 4), "seed": (0, 10**6), "model": (0, 2), "point": (-3.0, 6.0), "scale": (-3.0, 3.0),
}  # fmt: skip


def searched(case: Mapping[str, Any]) -> tuple[LatentRecords, LatentRecords, np.ndarray]:
    """Records of a model, the same with one of any size and direction, and a β of any size."""
    rng, d = np.random.default_rng(case["seed"]), case["d"]
    kind = (SignedMixture, Regressions, MissingCovariates)[case["model"]]
    records: LatentRecords = kind.drawn(case["n"], 3 * rng.standard_normal(d), rng)
    return records, another_record(records, rng), 10.0 ** case["point"] * rng.standard_normal((1, d))


def moved(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far the record moves the clipped mean, and what is claimed of it."""
    one, other, at = searched(case)
    clip = 10.0 ** case["scale"]
    gap = clipped_mean(one, at, clip) - clipped_mean(other, at, clip)
    return float(np.linalg.norm(gap)), float(theory.sensitivity.evaluate(clip_em=clip, n=one.n))


def attacked() -> tuple[Any, Any, Guarantee]:
    """With the constant 12, every noisy gradient seen."""
    solver = ClippedDPGradientEM(steps=5)
    return solver.mechanism(CLAIMED, "stated", transcript=True), solver.worst_pair(), CLAIMED


CHECKS = {
    "dwang20.algorithm7.2.55.sensitivity": [
        Property(moved, SEARCHED, "three models, a record of any size and direction, β of any size")
    ],
    "dwang20.algorithm7.2.55.explicit": [
        AuditCheck(attacked, "a gradient that turns round, every answer seen", at={"n": 4, "T": 5})
    ],
}
