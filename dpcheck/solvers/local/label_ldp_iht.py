"""Label-LDP-IHT: noisy labels, then hard thresholding. Claims: bounds/library/local/label_ldp_iht.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.library.local import label_ldp_iht as theory
from dpcheck.families.hard_thresholding import LabelPrivate, SparseRecords, hard_thresholding, step_size
from dpcheck.settings import count, positive


@dataclass(frozen=True)
class LabelLDPIHT(LabelPrivate):
    """Sparse linear regression from private labels: 8·nonzeros entries are kept, the step size is 1, as in the theorem."""

    steps: int = count(20)
    kept: int | None = count(None)
    step_size: float | None = positive(None)

    name: ClassVar[str] = "label_ldp_iht"
    theory: ClassVar = theory

    def fitted(self, data: SparseRecords, deviation: float, labels: np.ndarray) -> np.ndarray:
        eta = step_size(data.link) if self.step_size is None else self.step_size
        return hard_thresholding(data, labels, min(self.kept or 8 * data.nonzeros, data.d), eta, self.steps)
