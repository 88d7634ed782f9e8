"""Players' messages and their sum, attacked. Claims: bounds/library/matrix/sicov_distributed.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.kernels.wishart import unpacked
from dpcheck.solvers.matrix.sicov_distributed import SicovDistributed

CLAIMED = ApproxDP(0.9, 1e-2)
FLAT = 1e-9  # a determinant this small, over the squared trace, is 0
ADDED = np.zeros((2, 2)), np.array([[1.0, 0.0], [0.0, 0.0]])


def of_rank_one(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Whether the first player's message, less e₁e₁ᵀ/n, has rank one: what the server can look at."""
    seen = SicovDistributed(seen="messages").mechanism(CLAIMED, "stated", transcript=True)(data, rng, trials)
    message = unpacked(seen.reshape(trials, len(data), -1)[:, 0], data.shape[1])
    message[:, 0, 0] -= 1 / len(data)
    sizes = np.abs(np.linalg.det(message)) / np.maximum(np.trace(message, axis1=1, axis2=2) ** 2, 1e-300)
    return (sizes < FLAT)[:, None].astype(float)


def messages() -> tuple[Any, Any, Guarantee]:
    return of_rank_one, SicovDistributed().worst_pair(), CLAIMED


def summed() -> tuple[Any, Any, Guarantee]:
    solver = SicovDistributed()
    return solver.mechanism(CLAIMED, "stated", transcript=True), solver.worst_pair(), CLAIMED


def summed_pure() -> tuple[Any, Any, Guarantee]:
    return SicovDistributed().mechanism(PureDP(1.0), "stated", transcript=True), ADDED, PureDP(1.0)


CHECKS = {
    "dwang20.algorithm6.3.52.approx": [AuditCheck(summed, "as published; from e₁ to e₂", at={"n": 2})],
    "dwang20.algorithm6.3.52.pure": [AuditCheck(summed_pure, "as published; a record at 0 or e₁", at={"n": 2})],
    "dwang20.algorithm6.3.52.server": [
        AuditCheck(messages, "whether a message less e₁e₁ᵀ/n has rank one", at={"n": 2, "d": 2}, trials=20_000)
    ],
}
