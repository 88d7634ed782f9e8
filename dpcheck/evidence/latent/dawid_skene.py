"""Dawid and Skene's steps in code against their formulas. Claims: bounds/library/latent/dawid_skene.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.evidence.property_checks import Property
from dpcheck.families.truth_inference import agreement, posterior

CASES = {"seed": (0, 10_000), "n": (1, 12), "m": (1, 12)}
ROOM = 1e-9


def drawn(case: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Answers 0 and 1, soft labels and abilities."""
    rng = np.random.default_rng(case["seed"])
    n, m = case["n"], case["m"]
    return rng.integers(0, 2, (n, m)), rng.random(m), rng.uniform(0.01, 0.99, n)


def abilities_off(case: Mapping[str, Any]) -> tuple[float, float]:
    """From (7.6), summed as printed."""
    X, y, _ = drawn(case)
    printed = ((1 - X) * (1 - y) + X * y).mean(axis=1)
    return float(abs(agreement((2.0 * X - 1)[None], y[None])[0] - printed).max()), ROOM


def labels_off(case: Mapping[str, Any]) -> tuple[float, float]:
    """From (7.7) and (7.8), multiplied as printed."""
    X, _, p = drawn(case)
    one = np.prod(np.where(X == 1, p[:, None], 1 - p[:, None]), axis=0)
    zero = np.prod(np.where(X == 1, 1 - p[:, None], p[:, None]), axis=0)
    return float(abs(posterior((2.0 * X - 1)[None], p[None])[0] - one / (one + zero)).max()), ROOM


CHECKS = {
    "dwang20.equation7.6": [Property(abilities_off, CASES, "the code's abilities against the printed sum")],
    "dwang20.equation7.7": [Property(labels_off, CASES, "the code's labels against the printed products")],
}
