"""Laplacian smoothing, measured. Claims: bounds/library/nonconvex/laplacian_smoothing.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.evidence.nonconvex.dp_lssgd_experiments import Gained, Gains
from dpcheck.evidence.property_checks import Property
from dpcheck.kernels.smoothing import LaplacianSmoothing
from dpcheck.problems.extreme_pairs import linear_pair
from dpcheck.problems.losses import Array
from dpcheck.solvers.nonconvex.dp_lssgd import DPLSSGD

SINE = np.sin(2 * np.pi * np.arange(1, 101) / 100)
SIGNALS = {  # as printed: the signal, the noise's deviation and σ
    "1D": (SINE, 0.1, 10.0),
    "2D": (np.outer(SINE, SINE).ravel(), 0.2, 100.0),
}


def denoised(seed: int, trials: int) -> Gains:
    """Mean squared error that smoothing takes off, one draw of the noise a run."""
    rng, found = np.random.default_rng(seed), {}
    for name, (signal, deviation, sigma) in SIGNALS.items():
        noise = deviation * rng.standard_normal((trials, len(signal)))
        after = LaplacianSmoothing(sigma, len(signal)).solve(signal + noise) - signal
        found[f"{name}, σ = {sigma:g}"] = np.mean(noise**2, axis=1) - np.mean(after**2, axis=1)
    return found


def likelihood_ratios(sigma: float, direction: tuple[float, ...], seed: int) -> Array:
    """Of two datasets, by run: the iterates of DP-LSSGD tell the noisy gradients, and these a likelihood ratio."""
    pair, solver, budget = linear_pair(10, direction), DPLSSGD(batch=3, steps=4, smoothing=sigma), ApproxDP(1.0, 1e-2)
    found = solver.solve(pair[0], budget, seed, trials=20, trace=True).trace
    assert found is not None
    moved = -np.diff(found.points, axis=0) / solver.step_sizes(4)[:, None, None]
    told = LaplacianSmoothing(sigma, pair[0].d).apply(moved).transpose(1, 0, 2)
    seen: Any = solver.mechanism(budget, transcript=True)
    return np.asarray(seen.log_density(told, pair[0]) - seen.log_density(told, pair[1]))


def unchanged(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far the ratios with smoothing are from those of DP-SGD, the same noise; rounding is allowed."""
    direction = ((1.0, -1.0) if case["alternating"] else (1.0, 1.0)) * int(case["half"])
    smooth, plain = (likelihood_ratios(s, direction, int(case["seed"])) for s in (float(case["sigma"]), 0.0))
    return float(np.max(np.abs(smooth - plain))), 1e-6


WAVES = "the documents' own signals, 100 and 10000 points"
SAME = Property(
    unchanged, {"sigma": (0.1, 20.0), "half": (1, 6), "alternating": (0, 1), "seed": (0, 10**6)},
    "log-likelihood ratios of the iterates with σ and without, on linear losses, differ by rounding only", examples=20,
)
CHECKS = {
    "lwang21.figure5.2": [Gained(denoised, WAVES)],
    "lssgd20.figure2": [Gained(denoised, WAVES)],
    "lwang21.remark5.5.6.privacy.corrected": [SAME],
    "lssgd20.remark3.privacy.corrected": [SAME],
}
