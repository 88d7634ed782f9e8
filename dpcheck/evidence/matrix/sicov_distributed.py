"""Players' messages and their sum, attacked. Claims: bounds/library/matrix/sicov_distributed.py."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.kernels.wishart import unpacked
from dpcheck.solvers.matrix.sicov_distributed import SicovDistributed

CLAIMED = ApproxDP(0.9, 1e-2)
FLAT = 1e-9  # a determinant this small, over the squared trace, is 0
FIRST, SECOND = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
ADDED, MOVED = (np.zeros((2, 3)), FIRST), (FIRST, SECOND)  # fewer players than dimensions, as the text has it


def of_rank_one(data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Whether the first player's message, less e₁e₁ᵀ/n, has rank one: what the server can look at."""
    seen = SicovDistributed(rho=1e3, seen="messages").mechanism(CLAIMED, "stated", transcript=True)(data, rng, trials)
    message = unpacked(seen.reshape(trials, len(data), -1)[:, 0], data.shape[1])
    message[:, 0, 0] -= 1 / len(data)
    sizes = np.abs(np.linalg.det(message)) / np.maximum(np.trace(message, axis1=1, axis2=2) ** 2, 1e-300)
    return (sizes < FLAT)[:, None].astype(float)


def messages() -> tuple[Any, Any, Guarantee]:
    return of_rank_one, SicovDistributed(rho=1e3).worst_pair(), CLAIMED


def summed() -> tuple[Any, Any, Guarantee]:
    solver = SicovDistributed(rho=1e3)
    return solver.mechanism(CLAIMED, "stated", transcript=True), MOVED, CLAIMED


def summed_pure() -> tuple[Any, Any, Guarantee]:
    return SicovDistributed(rho=1e3).mechanism(PureDP(1.0), "stated", transcript=True), ADDED, PureDP(1.0)


attack = partial(AuditCheck, trials=20_000)
CHECKS = {
    "dwang20.algorithm6.3.52.approx": [attack(summed, "as published; from e₁ to e₂", at={"n": 2, "d": 3})],
    "dwang20.algorithm6.3.52.pure": [
        attack(summed_pure, "as published; a record at 0 or e₁", at={"n": 2, "d": 3, "m_wishart": 4})
    ],
    "dwang20.algorithm6.3.52.server": [
        attack(messages, "whether a message less e₁e₁ᵀ/n has rank one", at={"n": 2, "d": 2})
    ],
}
