"""Symmetrisation by enumeration, second moments by runs. Claims: bounds/library/latent/em_moments.py."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.library.latent import em_moments as theory
from dpcheck.evidence.property_checks import Property


def symmetrised(case: Mapping[str, Any]) -> tuple[float, float]:
    """E|Σ f(y_i) - E f| and the claim's bound of it, by E|Σ ε_i f(y_i)|, of independent numbers of two values."""
    rng, n = np.random.default_rng(case["seed"]), case["n"]
    values, odds = rng.standard_normal((n, 2)) + case["shift"], rng.uniform(0.02, 0.98, n)
    means = odds * values[:, 0] + (1 - odds) * values[:, 1]
    apart = signed = 0.0
    for which in itertools.product((0, 1), repeat=n):
        chance = np.prod(np.where(which, 1 - odds, odds))
        drawn = values[np.arange(n), which]
        apart += chance * abs(float((drawn - means).sum()))
        signed += chance * float(np.mean([abs(np.dot(e, drawn)) for e in itertools.product((-1, 1), repeat=n)]))
    return apart, float(theory.lemma16_corrected.evaluate(signed_sup=signed))


CHECKS = {
    "dwang20.lemma7.2.16.corrected": [
        Property(symmetrised, {"seed": (0, 10**6), "n": (1, 4), "shift": (-2.0, 2.0)},
                 "up to four numbers with two values each, every outcome listed")
    ]
}  # fmt: skip
