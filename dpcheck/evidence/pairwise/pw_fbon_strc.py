"""A buffer that nobody sees, attacked as its proof reads it, and as is. Claims: bounds/library/pairwise/pw_fbon_*.

One place (s = 1), one dimension: W in [0, 1], loss 4y_iW + α/2·(W-1/2)² of a pair with the record z_i, and of other
pairs the regulariser alone. With α = 8 the two labels have their minima at the ends, and G = α = L = 8, T₁ = 16.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.pairwise import pw_fbon_strc as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.pairwise.pw_on_strc import attacked
from dpcheck.evidence.property_checks import Property
from dpcheck.families.pairwise import step_size
from dpcheck.solvers.pairwise.pw_fbon_c import FBOnPairC
from dpcheck.solvers.pairwise.pw_fbon_strc import FBOnPairStrC

PULL, ALPHA, FIRST = 4.0, 8.0, 16
CLAIMED = ApproxDP(1.0, 1e-5)
HERE = {"G": 2 * PULL, "alpha_pair": ALPHA, "L_pair": ALPHA, "T1": FIRST}
BLOCK = 20_000


def stepped(w: Any, time: int, label: float, paired: Any) -> Any:
    """One step without noise; `paired` says in which trials z_i is in the pair."""
    gradient = ALPHA * (w - 0.5) + PULL * label * paired
    return np.clip(w - step_size(ALPHA, time) * gradient, 0.0, 1.0)


@dataclass(frozen=True)
class HiddenBuffer:
    """Of all outputs, those after z_i came at time `at`: Σ t·w_t, which is what tells most.

    Data are y_1, ..., y_n, of which that of z_i alone matters.
    """

    n: int
    at: int

    def __call__(self, data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        return np.concatenate(
            [self.block(float(data[self.at - 1]), rng, min(BLOCK, trials - done)) for done in range(0, trials, BLOCK)]
        )

    def block(self, label: float, rng: np.random.Generator, k: int) -> np.ndarray:
        """Trials in which z_i takes the place come first; the others share a path. It stays up to t with chance i/t."""
        scaled = theory.theorem4_clean.evaluate(eps=1.0, delta=1e-5, rounds=self.n - FIRST, n=self.n, **HERE)
        taken = int(rng.binomial(k, 1 / self.at))
        last = self.at / rng.random(taken)  # it was replaced after that time
        w, total, shared = np.full(taken, 0.5), np.zeros(k, np.float32), 0.5
        for time in range(self.at, self.n + 1):
            own = time == self.at
            w, shared = stepped(w, time, label, own | (time <= last)), float(stepped(shared, time, label, own))
            noisy = rng.standard_normal(k, dtype=np.float32)
            noisy *= np.float32(scaled / time)
            noisy[:taken] += w
            noisy[taken:] += np.float32(shared)
            total += time * (np.clip(noisy, 0, 1, out=noisy) - np.float32(0.5))
        return total[:, None].astype(float)


def clean(n: int = 1000, at: int = 250) -> AuditCheck:
    """Streams that differ in one label. That record ends in the buffer with chance 1/n: hence so many runs."""
    pair = np.ones(n), np.where(np.arange(1, n + 1) == at, -1.0, 1.0)
    because = "a buffer of one place; Σ t·w_t over the outputs after the record came"
    return AuditCheck(lambda: (HiddenBuffer(n, at), pair, CLAIMED), because, trials=300_000, at={**HERE, "n": n})


def stays(case: Mapping[str, Any]) -> tuple[float, float]:
    """The record right after T₁ takes the one place and is not replaced, which may happen."""
    ends = []
    for label in (1.0, -1.0):
        w = 0.5
        for time in range(FIRST + 1, FIRST + 1 + int(case["later"])):
            w = float(stepped(w, time, label, 1.0))
        ends.append(w)
    return abs(ends[0] - ends[1]), float(theory.lemma1_buffer.evaluate(later=case["later"], **HERE))


CHECKS = {
    "dwang20.theorem3.3.4.privacy": [attacked(FBOnPairStrC, "stated")],
    "dwang20.theorem3.3.4.convex.privacy": [attacked(FBOnPairC, "stated")],
    "dwang20.theorem3.3.4.privacy.clean": [clean()],
    "dwang20.lemma3.3.1.buffer": [Property(stays, {"later": (1, 200)}, "a buffer of one place that keeps the record")],
}
