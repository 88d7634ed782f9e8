"""Composition on small laws, computed exactly. Claims: bounds/library/mechanisms/composition.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import softmax

from dpcheck.evidence.property_checks import Property

Laws = tuple[np.ndarray, np.ndarray]


def near_laws(rng: np.random.Generator, shape: int | tuple[int, ...], apart: float) -> Laws:
    """Two random laws over the last axis, whose log-ratios are about `apart`."""
    logits = rng.normal(size=shape)
    other = logits + apart * rng.uniform(-1, 1, size=shape)
    return softmax(logits, axis=-1), softmax(other, axis=-1)


def spent(first: np.ndarray, second: np.ndarray, eps: float) -> np.ndarray:
    """The least delta at eps, over the last axis: Σ (P - e^ε·Q)⁺."""
    return np.maximum(first - np.exp(eps) * second, 0.0).sum(axis=-1)


def after_processing(case: Mapping[str, Any]) -> tuple[float, float]:
    """Delta after a random kernel, against delta before it."""
    rng = np.random.default_rng(case["seed"])
    first, second = near_laws(rng, case["outputs"], 4.0)
    kernel = rng.dirichlet(np.full(case["answers"], 0.3), size=case["outputs"])
    return float(spent(first @ kernel, second @ kernel, case["eps"])), float(spent(first, second, case["eps"]))


def of_two(case: Mapping[str, Any]) -> tuple[float, float]:
    """Delta of two mechanisms at ε₁ + ε₂, the second chosen by the first's output, against δ₁ + δ₂."""
    rng = np.random.default_rng(case["seed"])
    first = near_laws(rng, case["outputs"], 2.0)
    second = near_laws(rng, (case["outputs"], case["answers"]), case["apart"])
    joint = [(a[:, None] * b).ravel() for a, b in zip(first, second, strict=True)]
    own = spent(*first, case["eps_a"]) + spent(*second, case["eps_b"]).max()
    return float(spent(joint[0], joint[1], case["eps_a"] + case["eps_b"])), float(own)


SEEDS = {"seed": (0, 10**6), "outputs": (2, 6)}

CHECKS = {
    "dwang20.lemma2.1.1": [
        Property(after_processing, {**SEEDS, "answers": (2, 6), "eps": (0.0, 3.0)}, "random laws and kernels, exactly")
    ],
    "dwang20.lemma2.1.4": [
        Property(
            of_two,
            {**SEEDS, "answers": (2, 6), "apart": (0.01, 3.0), "eps_a": (0.0, 2.0), "eps_b": (0.0, 2.0)},
            "random laws, the second chosen by the first, exactly",
        )
    ],
}
