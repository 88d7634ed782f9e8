"""What runs of DP-STR show. Claims: bounds/library/nonconvex/dp_str.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_str as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.rate_checks import Within
from dpcheck.kernels.drawn import records
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.losses import Array
from dpcheck.solvers.nonconvex.dp_str import DPSTR

CLAIMED, LARGE = ApproxDP(0.9, 2e-3), 300
SMALL_BATCHES = DPSTR(steps=4, radius=0.5, batch=1, large_delta=True)
QUOTED = 4 * math.sqrt(2)  # the constant of the cited theorems (Kohler and Lucchi 2017)


def attacked(calibration: Any) -> Any:
    """Batches of one record out of 300, all answers seen."""
    mechanism = SMALL_BATCHES.mechanism(CLAIMED, calibration, transcript=True)
    return mechanism, opposite_pair(LARGE), CLAIMED


# Batches -------------------------------------------------------------------------------------------
def directions(case: Mapping[str, float]) -> Array:
    """Records' gradients of length 1: an axis each, half of them turned round."""
    d = int(case["d"])
    return np.eye(d)[np.arange(4000) % d] * np.where(np.arange(4000) % (2 * d) < d, 1.0, -1.0)[:, None]


def off_gradients(case: Mapping[str, float], trials: int, seed: int) -> Array:
    rows, rng = directions(case), np.random.default_rng(seed)
    drawn = records(rng, trials, len(rows), int(case["m"]))
    return np.linalg.norm(rows[drawn].mean(axis=1) - rows.mean(axis=0), axis=1)


def off_hessians(case: Mapping[str, float], trials: int, seed: int) -> Array:
    """Hessians ±xxᵀ: along the axes, so that their means are diagonal."""
    rows, rng = directions(case), np.random.default_rng(seed)
    drawn = records(rng, trials, len(rows), int(case["batch"]))
    bends = np.where(np.arange(len(rows)) // int(case["d"]) % 4 < 2, 1.0, -1.0)[:, None] * rows**2
    return np.abs(bends[drawn].mean(axis=1) - bends.mean(axis=0)).max(axis=1)


SIZES = [
    {"d": d, "m": m, "batch": m, "G": 1.0, "M_second": 1.0, "gamma": gamma}
    for d in (1.0, 4.0) for m in (10.0, 200.0) for gamma in (0.1, 0.01)
]
AIMS = [{**case, "alpha_sosp": math.sqrt(math.log(case["d"] / case["gamma"]) / case["m"])} for case in SIZES[4:]]
ABOVE = [{**case, "rho_h": case["alpha_sosp"]} for case in AIMS]  # so that √(αρ) is that size too
TURNED = "gradients of length G along the axes, half turned round"

CHECKS = {
    "dwang20.theorem4.3.6": [AuditCheck(
        lambda: attacked("stated"), "as published, batches of 1 out of 300, all answers seen", 20_000,
        at={"n": 300.0, "m": 1.0, "T": 4.0, "G": 1.0},
    )],
    "dwang20.lemma4.3.12.gradient": [Within(
        off_gradients, SIZES, f"{TURNED}; constant 4√2, that of the cited theorem",
        bound=lambda case: QUOTED * float(theory.lemma12.evaluate(**numbers(case))),
    )],
    "dwang20.lemma4.3.12.hessian": [Within(
        off_hessians, SIZES, "Hessians ±M·xxᵀ along the axes; constant 4√2, that of the cited theorem",
        bound=lambda case: QUOTED * float(theory.lemma12_hessian.evaluate(**numbers(case))),
    )],
    "dwang20.theorem4.3.7.batches": [Within(
        off_gradients, AIMS, f"{TURNED}, batches of the printed size; constant 4√2",
        bound=lambda case: QUOTED * float(theory.batches.evaluate(alpha_sosp=case["alpha_sosp"])),
    )],
    "dwang20.theorem4.3.7.hessian_batches": [Within(
        off_hessians, ABOVE, "Hessians ±M·xxᵀ along the axes, batches of the printed size; constant 4√2",
        bound=lambda case: QUOTED * float(
            theory.hessian_batches.evaluate(alpha_sosp=case["alpha_sosp"], rho_h=case["rho_h"])),
    )],
}


def numbers(case: Mapping[str, float]) -> dict[str, float]:
    """Those of the lemma."""
    return {name: case[name] for name in ("d", "m", "batch", "G", "M_second", "gamma")}
