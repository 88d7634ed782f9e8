"""The gradients of noisy SGD, seen by an attacker who adds them up. Claims: bounds/library/mechanisms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.mechanisms import moments_accountant as theory
from dpcheck.evidence.checks import AuditCheck


@dataclass(frozen=True)
class SummedGradients:
    """The sum of `steps` noisy mean gradients of `batch` out of `n` records, all but one of whose losses are constant.

    The last record's loss is linear, with the gradient that is given as data: it enters in the steps that draw it,
    a binomial number of them.
    """

    n: int
    batch: int
    steps: int
    deviation: float

    def __call__(self, data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        drawn = rng.binomial(self.steps, self.batch / self.n, size=trials)
        noise = rng.standard_normal(trials) * (self.deviation * math.sqrt(self.steps))
        return (data * drawn / self.batch + noise)[:, None]


PROMISED = ApproxDP(1.0, 1e-2)
SIZES = {"n": 1000, "batch": 10, "steps": 20_000}  # ε < q²T: Lemma 2.1.7 is meant for it
AT = {"n": 1000, "m": 10, "T": 20_000}


def attacked(claim: Claim, **constants: float) -> tuple[Any, tuple[Any, Any], Guarantee]:
    """A gradient that turns round, under the claim's own noise."""
    deviation = float(claim.evaluate(G=1.0, **AT, eps=PROMISED.eps, delta=PROMISED.delta, **constants))
    return SummedGradients(**SIZES, deviation=deviation), (1.0, -1.0), PROMISED


CHECKS = {
    "dwang20.lemma2.1.7.corrected": [
        AuditCheck(
            lambda: attacked(theory.lemma7_corrected), "10 of 1000 records in each of 20000 steps, summed", at=AT
        )
    ]
}
