"""Sampled mechanisms, their laws computed exactly. Claims: .../mechanisms/subsampling.py."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from scipy import special

from dpcheck.bounds.language.claim import lambdified
from dpcheck.bounds.library.mechanisms import subsampling as theory
from dpcheck.evidence.mechanisms.composition import spent
from dpcheck.evidence.property_checks import Property

Laws = dict[frozenset[int], np.ndarray]


def random_mechanism(rng: np.random.Generator, records: int, size: int, outputs: int, apart: float) -> Laws:
    """A random law for each batch of `size` out of `records`."""
    common = rng.normal(size=outputs)
    batches = map(frozenset, combinations(range(records), size))
    return {batch: special.softmax(common + apart * rng.uniform(-1, 1, size=outputs)) for batch in batches}


def truthful_response(records: int, size: int, eps: float, delta: float) -> Laws:
    """Whether the last record is in the batch: the truth with probability delta, else by randomised response."""
    yes = (1 - delta) * special.expit(eps)
    told = np.array([delta, 0.0, yes, 1 - delta - yes])  # surely yes, surely no, yes, no
    batches = map(frozenset, combinations(range(records), size))
    return {batch: told if records - 1 in batch else told[[1, 0, 3, 2]] for batch in batches}


def least_delta(laws: Laws, eps: float) -> float:
    """Of the mechanism itself: over all batches that differ in one record."""
    near = [(a, b) for a in laws for b in laws if len(a - b) == 1]
    return max(float(spent(laws[a], laws[b], eps)) for a, b in near)


def sampled(laws: Laws, without: int) -> np.ndarray:
    """The law on a random batch from all records but one."""
    return np.mean([law for batch, law in laws.items() if without not in batch], axis=0)


def after_sampling(case: Mapping[str, Any]) -> tuple[float, float]:
    """The exact δ at ε' of a mechanism on random batches, the first record replaced by the last, against αδ."""
    rng = np.random.default_rng(case["seed"])
    n, size, eps = case["n"], 1 + case["seed"] % case["n"], case["eps"]
    if case["seed"] % 4 < 2:
        laws = truthful_response(n + 1, size, eps, case["delta"])
    else:
        laws = random_mechanism(rng, n + 1, size, case["outputs"], 2.0)
    level = float(theory.lemma9_exact.evaluate(q=size / n, eps=eps))
    assert theory.lemma9_exact.guarantee is not None
    allowed = lambdified(theory.lemma9_exact.guarantee.parameters["delta"])(least_delta(laws, eps), size / n)
    return float(spent(sampled(laws, 0), sampled(laws, n), level)), float(allowed) + 1e-12


CHECKS = {
    "zhang17.lemma9.exact": [
        Property(
            after_sampling,
            {"seed": (0, 10**6), "n": (1, 5), "outputs": (2, 5), "eps": (0.05, 4.0), "delta": (0.0, 0.3)},
            "random mechanisms and randomised response on up to five records, exactly",
        )
    ]
}
