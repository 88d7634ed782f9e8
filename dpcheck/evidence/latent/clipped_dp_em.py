"""Clipped statistics searched and attacked. Claims: bounds/library/latent/clipped_dp_em.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.latent import clipped_dp_em as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.families.mixtures import SHAPES, Mixture, statistics
from dpcheck.solvers.latent.clipped_dp_em import ClippedDPEM, another_row

CLAIMED = ApproxDP(0.9, 1e-2)



def drawn_mixture(k: int, d: int, size: float, rng: np.random.Generator) -> Mixture:
    """Any parameters: weights that may vanish, covariances of any form."""
    weights = rng.dirichlet(np.full(k, 0.3)) + 1e-12
    roots = rng.standard_normal((k, d, d)) * 10 ** rng.uniform(-2, 2, (k, d, 1))
    covariances = roots @ roots.swapaxes(1, 2) + 1e-3 * np.eye(d)
    return Mixture((weights / weights.sum())[None], size * rng.standard_normal((1, k, d)), covariances[None])


def moved(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far a record of any size and direction moves the statistics, under parameters of any size."""
    rng, n, d = np.random.default_rng(case["seed"]), case["n"], case["d"]
    now = drawn_mixture(case["k"], d, 10.0 ** case["size"], rng)
    rows = rng.standard_t(1.5, size=(n, d))
    other = another_row(rows, rng)
    if case["mirrored"]:  # the sharpest angle: one component, on opposite sides of it
        rows[0] = now.means[0, 0] + (rows[0] - now.means[0, 0]) * 1e3
        other = rows.copy()
        other[0] = 2 * now.means[0, 0] - rows[0]
    reach, shape = 10.0 ** case["reach"], SHAPES[case["shape"]]
    gap = statistics(rows, now, reach, shape) - statistics(other, now, reach, shape)
    return float(np.linalg.norm(gap)), math.sqrt(float(theory.sensitivity.evaluate(n=n)))


def attacked() -> tuple[Any, Any, Guarantee]:
    """The noise of zCDP, every round seen."""
    solver = ClippedDPEM.example().solver
    assert isinstance(solver, ClippedDPEM)
    solver = replace(solver, covariances="full")
    return solver.mechanism(CLAIMED, "stated", transcript=True), solver.worst_pair(), CLAIMED


CHECKS = {
    "dwang20.section7.2.6.clipped": [
        Property(
            moved,
            {"seed": (0, 10**6), "n": (1, 8), "d": (1, 4), "k": (1, 4), "size": (-2.0, 4.0), "reach": (-1.0, 2.0),
             "shape": (0, 2), "mirrored": (0, 1)},
            "records of any size and direction, weights, means and covariances of any",
        )
    ],
    "dwang20.section7.2.6.clipped.privacy": [
        AuditCheck(attacked, "a record from one side to the other, every round seen", trials=20_000,
                   at={"n": 4, "T": 4})
    ],
}  # fmt: skip
