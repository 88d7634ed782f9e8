"""Thresholding tried at random. Claims: bounds/library/local/hard_thresholding.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.library.local import hard_thresholding as theory
from dpcheck.evidence.property_checks import Property


def cut(case: Mapping[str, Any]) -> tuple[float, float]:
    """‖Trunc(v, s) - v‖² against its share of ‖θ* - v‖², θ* of v's largest entries or of any, v flat or not."""
    rng, s_star = np.random.default_rng(case["seed"]), case["s_star"]
    s, d = s_star + case["more"], s_star + case["more"] + case["left"]
    v = 1 + case["unequal"] * rng.standard_normal(d)
    sizes = np.sort(np.abs(v))
    truth = np.zeros(d)
    where = np.argsort(-np.abs(v))[:s_star] if case["own"] else rng.choice(d, s_star, replace=False)
    truth[where] = v[where] + case["off"] * rng.standard_normal(s_star)
    bound = theory.lemma3_corrected.evaluate(d=d, kept=s, s_star=s_star, aside2=float(((truth - v) ** 2).sum()))
    return float((sizes[: d - s] ** 2).sum()), float(bound)


CASES = {"s_star": (1, 5), "more": (0, 10), "left": (1, 20), "unequal": (0.0, 2.0), "own": (0, 1), "off": (0.0, 1.0)}
CHECKS = {
    "dwang20.lemma5.3.3.corrected": [
        Property(cut, {**CASES, "seed": (0, 1 << 30)}, "v flat or not, θ* on its largest entries or others")
    ],
}
