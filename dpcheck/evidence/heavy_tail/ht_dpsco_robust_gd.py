"""Descent by robust gradients, attacked and measured. Claims: bounds/library/heavy_tail/ht_dpsco_robust_gd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.heavy_tail import ht_dpsco_robust_gd as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.families.robust_means import robust_average
from dpcheck.families.unbounded_records import UnboundedRecords, another_record
from dpcheck.solvers.heavy_tail.ht_dpsco_robust_gd import HtDpscoRobustGD

CLAIMED = ApproxDP(0.9, 1e-2)


def attacked() -> tuple[Any, Any, Guarantee]:
    """As Algorithm 3.2.8 has its noise; every noisy gradient is seen."""
    solver = HtDpscoRobustGD(steps=5)
    return solver.mechanism(CLAIMED, "stated", transcript=True), solver.worst_pair(), CLAIMED


def moved(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far another record of any size moves the robust gradient at a point of any size; and what is claimed."""
    n, d, rng = case["n"], case["d"], np.random.default_rng(case["seed"])
    records = UnboundedRecords(rng.standard_t(1.5, size=(n, d)), rng.standard_t(1.5, size=n))
    at, scale = 10.0 ** case["point"] * rng.standard_normal((1, d)), 10.0 ** case["scale"]
    kappa = math.log(1 / case["gamma"])
    both = [robust_average(data.record_gradients(at), scale, kappa) for data in (records, another_record(records, rng))]
    bound = float(theory.sensitivity.evaluate(s_grad=scale, n=n, d=d))
    return float(np.linalg.norm(both[0] - both[1])), bound


CHECKS = {
    "dwang20.theorem3.2.7.privacy": [
        AuditCheck(attacked, "a record whose gradient turns round, every gradient seen", at={"n": 4, "d": 2, "T": 5})
    ],
    "dwang20.theorem3.2.7.sensitivity": [
        Property(
            moved,
            {"n": (2, 20), "d": (1, 4), "seed": (0, 10**6), "point": (-3.0, 3.0), "scale": (-3.0, 3.0),
             "gamma": (1e-6, 0.5)},
            "squared losses of records without a second moment",
        )
    ],
}  # fmt: skip
