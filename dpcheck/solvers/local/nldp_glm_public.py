"""Logistic regression from private moments and public rows. Claims: bounds/library/local/nldp_glm_public.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from dpcheck.families.public_rows import ScaledLeastSquares
from dpcheck.kernels.method import Array


@dataclass(frozen=True)
class LocalGLM(ScaledLeastSquares):
    """The logistic model, Φ = log(1 + e^t); rows of norm at most r in l2, which is more than the printed l1 ball."""

    name: ClassVar[str] = "nldp_glm_public"

    def change(self, margins: Array) -> Array:
        return np.asarray(expit(margins) * expit(-margins))
