"""What runs of MPC Out P show. Claims: bounds/library/distributed/mpc_out_p.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.library.distributed import mpc_out_p as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.problems.losses import Logistic, SmoothedHinge
from dpcheck.problems.parties import Parties
from dpcheck.solver import Calibration
from dpcheck.solvers.distributed.mpc_out_p import MPCOutP


def attacked(calibration: Calibration, because: str) -> AuditCheck:
    """Two parties of 2 and 3 records in three dimensions, one of which turns round along (1, 1, 1)."""
    guarantee, solver = PureDP(1.0), MPCOutP()
    setting = solver.mechanism(guarantee, calibration, transcript=True), solver.worst_pair(), guarantee
    here = {"parties": 2, "n_least": 2, "G": 1.0, "lam_parties": 0.5, "d": 3}
    return AuditCheck(lambda: setting, f"{because}, on its worst pair", at=here)


CASES = {
    "parties": (2, 4), "most": (1, 6), "d": (1, 3), "l2": (0.05, 2.0), "steep": (0, 1), "seed": (0, 10**6),
    "unlike": (0, 1),
}


def drawn(case: Mapping[str, Any]) -> tuple[Parties, np.random.Generator]:
    """Parties of different sizes, of records in the unit ball; unlike ones pull in a direction each."""
    rng = np.random.default_rng(int(case["seed"]))
    sizes = tuple(int(k) for k in rng.integers(1, case["most"] + 1, case["parties"]))
    total, d = sum(sizes), int(case["d"])
    X = rng.standard_normal((total, d))
    if case["unlike"]:
        X = np.repeat(rng.standard_normal((len(sizes), d)), sizes, axis=0) + 0.1 * X
    X *= (1 - 1e-12) * rng.choice([1.0, 0.3], (total, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    y = np.repeat(rng.choice([-1.0, 1.0], len(sizes)), sizes) if case["unlike"] else rng.choice([-1.0, 1.0], total)
    loss = SmoothedHinge(0.05) if case["steep"] else Logistic()
    return Parties(X, y, loss, l2=case["l2"], sizes=sizes), rng


def bound(claim: Claim, data: Parties) -> float:
    """The claim's own, for these parties."""
    here = {"G": data.data_lipschitz, "parties": data.count, "n_least": data.smallest, "lam_parties": data.l2}
    return float(claim.evaluate(**here))


def moved(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far a record moves the average of the minimisers: any record of any party, turned round or drawn anew."""
    first, rng = drawn(case)
    i = int(rng.integers(first.n))
    row = first.X[i] if rng.random() < 0.5 else (1 - 1e-12) * np.eye(first.d)[0]
    averages = [p.minimisers().mean(axis=0) for p in (first, first.replace(i, row, -first.y[i]))]
    return float(np.linalg.norm(averages[0] - averages[1])), bound(theory.sensitivity, first)


CHECKS = {
    "lwang21.theorem6.3.1": [attacked("stated", "noise as printed")],
    "lwang21.theorem6.3.1.coordinates": [attacked("certified", "√d times the noise")],
    "lwang21.theorem6.3.1.sensitivity": [Property(moved, CASES, "one record of random parties replaced")],
}
