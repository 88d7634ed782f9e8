"""What runs of the exponential mechanism show. Claims: bounds/library/mechanisms/exponential.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import special

from dpcheck.bounds.language.claim import lambdified
from dpcheck.bounds.library.mechanisms import exponential as theory
from dpcheck.evidence.property_checks import Property


def log_law(values: np.ndarray, eps: float, change: float) -> np.ndarray:
    """The log-probabilities that Definition 2.1.4 gives to scores that change by at most `change`."""
    return special.log_softmax(values / float(theory.definition4.evaluate(Delta_u=change, eps=eps)))


def shortfall(candidates: int, eps: float, t: float) -> float:
    """How far below the best Lemma 2.1.3 looks, for scores that change by at most 1."""
    return float(lambdified(theory.shortfall)(1.0, candidates, eps, t))


def largest_ratio(case: Mapping[str, Any]) -> tuple[float, float]:
    """The largest log-ratio of a random table of scores and a neighbouring one, against ε."""
    rng = np.random.default_rng(case["seed"])
    before = rng.normal(scale=case["spread"], size=case["candidates"])
    after = before + case["change"] * rng.uniform(-1, 1, size=case["candidates"])
    if case["seed"] % 2:  # one up, all others down: what the proof fears
        after = before + case["change"] * np.where(np.arange(len(before)) == np.argmin(before), 1, -1)
    laws = [log_law(v, case["eps"], case["change"]) for v in (before, after)]
    return float(np.max(np.abs(laws[0] - laws[1]))), case["eps"]


def probability_missed(case: Mapping[str, Any]) -> tuple[float, float]:
    """The exact probability of a shortfall as deep as Lemma 2.1.3 says, against e^-t."""
    rng = np.random.default_rng(case["seed"])
    deep = shortfall(case["candidates"], case["eps"], case["t"])
    below = deep * (1 + 1e-9) if case["seed"] % 2 else deep * rng.uniform(0.5, 2.0, size=case["candidates"])
    values = -np.broadcast_to(below, case["candidates"]).copy()
    values[0] = 0.0
    missed = np.exp(log_law(values, case["eps"], 1.0))[values <= -deep].sum()
    return float(missed), float(theory.lemma3.evaluate(x_tail=case["t"]))


SEEDS = {"seed": (0, 10**6), "candidates": (1, 50)}

CHECKS = {
    "dwang20.definition2.1.4": [
        Property(
            largest_ratio,
            {**SEEDS, "eps": (0.01, 5.0), "change": (0.1, 10.0), "spread": (0.1, 20.0)},
            "exact log-ratios of random tables of scores",
        ),
    ],
    "dwang20.lemma2.1.3": [
        Property(probability_missed, {**SEEDS, "eps": (0.01, 5.0), "t": (0.01, 10.0)}, "exact, on random tables")
    ],
}
