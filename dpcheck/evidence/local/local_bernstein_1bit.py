"""The published bit of a user, attacked at losses 0 and 1. Claims: bounds/library/local/local_bernstein_1bit.py.

The pair is two losses, as v enters the bit by itself; certified bits are attacked with every solver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.library.local import local_bernstein_1bit as theory
from dpcheck.evidence.audit_checks import AuditCheck

Bits = Callable[[Any, np.random.Generator, int], np.ndarray]
PAIR = (np.zeros(1), np.ones(1))


def kept_bits(scale: float) -> Bits:
    """What everybody sees of a user with loss v: y ~ Laplace(scale), and whether she kept it."""

    def bits(v: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        y = rng.laplace(scale=scale, size=trials)
        kept = rng.random(trials) < 0.5 * np.exp((np.abs(y) - np.abs(y - v[0])) / scale)
        return np.column_stack([y, kept])

    return bits


def attacked(claim: Any, eps: float) -> tuple[Bits, tuple[np.ndarray, np.ndarray], PureDP]:
    """With the scale that the claim states."""
    return kept_bits(float(claim.evaluate(eps=eps))), PAIR, PureDP(eps, relation=LOCAL)


CHECKS = {
    "dwang20.theorem5.1.4.privacy": [
        AuditCheck(lambda: attacked(theory.theorem4_privacy, 0.5), "the bit of a user at v = 0 and v = 1, as printed")
    ],
    "dwang20.theorem5.1.4.privacy.corrected": [
        AuditCheck(lambda: attacked(theory.theorem4_privacy_corrected, 0.5), "the same with more spread y")
    ],
}
