"""The lasso on private labels. Claims: bounds/library/local/label_ldp_lasso.py, and of privacy label_ldp_iht.py."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.library.local import label_ldp_iht as library
from dpcheck.families.hard_thresholding import LabelPrivate, SparseRecords
from dpcheck.settings import count, positive
from dpcheck.solver import Example


@dataclass(frozen=True)
class LabelLDPLasso(LabelPrivate):
    """min ‖y-Xθ‖²/(2n) + penalty·‖θ‖₁ by proximal steps; the penalty is twice what noise reaches by default."""

    steps: int = count(200)
    penalty: float | None = positive(None)

    name: ClassVar[str] = "label_ldp_lasso"
    theory: ClassVar[Any] = library

    @classmethod
    def example(cls) -> Example:
        """With a penalty that leaves something of one user's label."""
        return replace(super().example(), solver=cls(steps=20, penalty=0.01))

    def fitted(self, data: SparseRecords, deviation: float, labels: np.ndarray) -> np.ndarray:
        spread = math.hypot(deviation, data.noise)
        penalty = self.penalty or 2 * spread * math.sqrt(2 * math.log(2 * data.d) / data.n)
        eta = data.n / max(float(np.linalg.norm(data.X, 2)) ** 2, np.finfo(float).tiny)
        theta = ahead = np.zeros((len(labels), data.d))
        for t in range(self.steps):
            moved = ahead - eta / data.n * (ahead @ data.X.T - labels) @ data.X
            now = np.sign(moved) * np.maximum(np.abs(moved) - eta * penalty, 0)
            ahead, theta = now + t / (t + 3) * (now - theta), now
        return theta
