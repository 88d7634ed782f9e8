"""Lemma 5.3.10 by trying every vertex. Claims: bounds/library/local/ldp_minimax_lower.py."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from dpcheck.bounds.library.local import ldp_minimax_lower as theory
from dpcheck.evidence.property_checks import Property


def told_apart(case: Mapping[str, Any]) -> tuple[float, float]:
    """The largest mean of ψ_v(γ)² over |γ| ≤ 1: it is convex in γ, so that a vertex of the cube attains it."""
    d, h = case["d"], case["h"]
    points = np.array(list(product([-1.0, 1.0], repeat=d + 1)))  # x and y
    signed = points[:, :d] * points[:, d:] / len(points)  # yx_j, each with its chance
    gammas = np.array(list(product([-1.0, 1.0], repeat=len(points))))
    most = float(((gammas @ signed) ** 2).sum(axis=1).max())
    return h**2 / d * most, float(theory.lemma10.evaluate(shift_h=h, d=d))


CHECKS = {
    "dwang20.lemma5.3.10": [
        Property(
            told_apart, {"d": (1, 3), "h": (0.01, 0.99)}, "every vertex of the cube of γ, for p up to 3", examples=20
        )
    ],
}
