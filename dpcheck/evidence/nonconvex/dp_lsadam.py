"""What runs of DP-LSAdam show. Claims: bounds/library/nonconvex/dp_lsadam.py."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dpcheck.bounds.library.nonconvex.dp_lssgd_experiments import BATCH
from dpcheck.evidence.nonconvex.dp_lssgd_experiments import (
    SIGMAS,
    STEPS,
    Gained,
    Gains,
    fitted,
    images,
    performed,
)
from dpcheck.problems.losses import Array
from dpcheck.solvers.nonconvex.dp_lsadam import DPLSAdam

STRONG, STEP = 0.1, 0.01


@lru_cache(maxsize=16)
def right(eps: float, sigma: float, rate: float, seed: int, trials: int) -> Array:
    """Test accuracies in percent, the noise of lssgd20's theorem; one seed, the same batches and noise."""
    problem, rows, labels = images()
    w = performed(DPLSAdam(BATCH, STEPS, sigma, rate, document="lssgd20", conditions=False), eps, seed, trials).w
    return np.asarray(100 * (problem.predicted(w, rows) == labels).mean(axis=1))


def accuracy(seed: int, trials: int) -> Gains:
    """Percentage points that smoothing gains at ε = 0.1, where the text says it helps most."""
    plain = right(STRONG, 0.0, STEP, seed, trials)
    return {f"σ = {s:g}": right(STRONG, s, STEP, seed, trials) - plain for s in SIGMAS}


def above_sgd(seed: int, trials: int) -> Gains:
    """Percentage points that DP-Adam is above DP-LSSGD with steps 1/t."""
    adam = right(STRONG, 0.0, STEP, seed, trials)
    return {f"σ = {s:g}": adam - 100 * fitted("lssgd20", STRONG, s, 1.0, seed, trials).accuracy for s in SIGMAS}


INSTEAD = "softmax regression on digits, ε = 0.1, σ = 1 and 3, noise of n = 50000 and 150 steps"


CHECKS = {
    f"{document}.{name}": [check]
    for document, figure in (("lwang21", "figure5.5"), ("lssgd20", "figure5"))
    for name, check in (
        (f"{figure}.adam", Gained(accuracy, f"{INSTEAD}, against 0")),
        (f"{figure}.order", Gained(above_sgd, INSTEAD)),
    )
}
