"""Renyi divergences of small laws and of Gaussians. Claims: bounds/library/mechanisms/zcdp.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.library.mechanisms import zcdp as theory
from dpcheck.bounds.privacy.exact import gaussian_epsilon
from dpcheck.evidence.mechanisms.composition import near_laws
from dpcheck.evidence.property_checks import Property


def divergence(first: np.ndarray, second: np.ndarray, order: float) -> np.ndarray:
    """Of this order, over the last axis."""
    return np.log(np.sum(first**order * second ** (1 - order), axis=-1)) / (order - 1)


def of_two(case: Mapping[str, Any]) -> tuple[float, float]:
    """The divergence of two mechanisms, the second chosen by the first, against the sum of theirs at that order."""
    rng = np.random.default_rng(case["seed"])
    first = near_laws(rng, case["outputs"], 2.0)
    second = near_laws(rng, (case["outputs"], case["answers"]), 2.0)
    joint = [(a[:, None] * b).ravel() for a, b in zip(first, second, strict=True)]
    own = divergence(*first, case["order"]) + divergence(*second, case["order"]).max()
    return float(divergence(joint[0], joint[1], case["order"])), float(own)


def converted(case: Mapping[str, Any]) -> tuple[float, float]:
    """The exact epsilon of a Gaussian of ρ = μ²/2, against the conversion."""
    delta = 10.0 ** case["log_delta"]
    exact = gaussian_epsilon(delta, math.sqrt(2 * case["rho"]))
    return float(exact), float(theory.lemma10.evaluate(rho=case["rho"], delta=delta))


CHECKS = {
    "dwang20.lemma2.1.8": [
        Property(
            of_two,
            {"seed": (0, 10**6), "outputs": (2, 6), "answers": (2, 6), "order": (1.01, 50.0)},
            "random laws, the second chosen by the first, exactly",
        )
    ],
    "dwang20.lemma2.1.10": [
        Property(converted, {"rho": (1e-4, 50.0), "log_delta": (-10.0, -0.5)}, "Gaussians, whose ε(δ) is exact")
    ],
}
