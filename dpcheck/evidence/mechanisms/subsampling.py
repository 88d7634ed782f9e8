"""A sampled randomised response, on which Lemma 2.1.2 fails. Claims: bounds/library/mechanisms/subsampling.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from dpcheck.bounds.language.guarantees import Guarantee, PureDP
from dpcheck.bounds.library.mechanisms import subsampling as theory
from dpcheck.evidence.checks import AuditCheck


@dataclass(frozen=True)
class SampledResponse:
    """Whether a 1 is among `size` records drawn without replacement, by randomised response that is eps-private."""

    eps: float
    size: int

    def __call__(self, data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        ones = int(np.sum(data))
        drawn = rng.hypergeometric(ones, len(data) - ones, self.size, size=trials) > 0
        honest = rng.random(trials) < special.expit(self.eps)
        return np.where(honest, drawn, ~drawn).astype(float)[:, None]


ONE, NONE = np.eye(10)[0], np.zeros(10)


def attacked(claim_name: str, eps: float = 3.0, size: int = 1) -> tuple[Any, tuple[Any, Any], Guarantee]:
    """Ten records, one of which is 1 or 0; the guarantee is what the claim says."""
    stated = getattr(theory, claim_name).evaluate(q=size / 10, eps=eps)
    return SampledResponse(eps, size), (ONE, NONE), PureDP(float(stated))


CHECKS = {
    "dwang20.lemma2.1.2": [AuditCheck(lambda: attacked("lemma2"), "one of ten records drawn, ε = 3")],
    "dwang20.lemma2.1.2.corrected": [
        AuditCheck(lambda: attacked("lemma2_corrected", eps=1.25), "one of ten records drawn, ε = 1.25")
    ],
    "dwang20.lemma2.1.2.exact": [AuditCheck(lambda: attacked("lemma2_exact"), "one of ten records drawn, ε = 3")],
}
