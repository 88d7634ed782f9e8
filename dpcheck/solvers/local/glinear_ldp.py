"""Any 1-Lipschitz convex loss of y⟨w,x⟩ from noisy copies. Claims: bounds/library/local/glinear_ldp.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.library.local import glinear_ldp as theory
from dpcheck.families.noisy_copies import NoisyCopies
from dpcheck.kernels.method import Array
from dpcheck.settings import one_of

KINKS = np.linspace(-1, 1, 2001)
SLOPES: dict[str, Callable[[Array], Array]] = {
    "logistic": lambda t: -1 / (1 + np.exp(t)),
    "hinge": lambda t: np.where(t < 0.5, -1.0, 0.0),
    "absolute": lambda t: np.where(t < 0.5, -1.0, 1.0),
    "square": lambda t: (t - 1) / 2,
}


@dataclass(frozen=True)
class GLinearLdp(NoisyCopies):
    """Minimises the mean of a convex loss of t = y⟨w,x⟩ over the unit ball: log(1+e^-t), max(0, ½-t), |t-½|, (t-1)²/4.

    The loss is a mean of |t-s| over kinks s (Lemma 5.1.9), each smoothed; the server takes that mean at once, where
    the document draws kinks.
    """

    name: ClassVar[str] = "glinear_ldp"
    loss: str = one_of("logistic", "hinge", "absolute", "square")

    def slope(self, margins: Array) -> Array:
        """f'(-1) + ∫ h'((t-s)/2) df'(s), h(x) = (x+√(x²+β²))/2."""
        raw = SLOPES[self.loss](KINKS)
        half = (margins[:, None] - (KINKS[1:] + KINKS[:-1]) / 2) / 2
        return np.asarray(raw[0] + (1 + half / np.hypot(half, self.smoothing)) / 2 @ np.diff(raw))

    def published(self) -> Claim:
        return theory.theorem9_privacy
