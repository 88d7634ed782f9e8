"""Hinge losses from noisy copies of each record. Claims: bounds/library/local/hinge_ldp.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.families.noisy_copies import NoisyCopies
from dpcheck.kernels.method import Array


@dataclass(frozen=True)
class HingeLdp(NoisyCopies):
    """Minimises the mean of max(0, 1/2 - y⟨w,x⟩) over the unit ball, smoothed."""

    name: ClassVar[str] = "hinge_ldp"

    def slope(self, margins: Array) -> Array:
        off = margins - 0.5
        return np.asarray((off / np.hypot(off, self.smoothing) - 1) / 2)
