"""Steps of DP-SGD: clipping, and what noise is divided by."""

from __future__ import annotations

from typing import Any

import numpy as np

from corpus.case import Case, Run
from dpcheck.audits import add_remove
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ApproxDP, GaussianDP

DELTA, CLIP, MULTIPLIER, BATCH = 1e-5, 0.5, 4.0, 8
CLAIM = ApproxDP(GaussianDP(1 / MULTIPLIER).epsilon(DELTA), DELTA, relation=ADD_REMOVE)


def step(clip: float, deviation: float) -> Run:
    """A sum of clipped gradients with noise, over the size of a batch that is public."""

    def one(data: Any, rng: np.random.Generator) -> Any:
        norms = np.linalg.norm(data, axis=1, keepdims=True)
        clipped = data * np.minimum(1, clip / np.maximum(norms, 1e-12))
        return (clipped.sum(axis=0) + rng.normal(0, deviation, data.shape[1])) / BATCH

    return one


GRADIENTS = np.tile([[0.1, 0.2]], (BATCH - 1, 1))
PAIR = (np.vstack([GRADIENTS, [[3.0, 4.0]]]), GRADIENTS)
NEAR = add_remove(low=-5, high=5, n=BATCH, d=2)
CASES = (
    Case(
        "clipping at another bound",
        "meta-pytorch/opacus#664",
        "Gradients are clipped at 1, whatever bound the noise was scaled by.",
        step(1.0, MULTIPLIER * CLIP),
        step(CLIP, MULTIPLIER * CLIP),
        CLAIM,
        PAIR,
        NEAR,
        GaussianDP(2 / MULTIPLIER).epsilon(DELTA),
    ),
    Case(
        "divided by the batch twice",
        "arXiv 2202.12219",
        "Noise is divided by the size of the batch, and then the noisy sum is, again.",
        step(CLIP, MULTIPLIER * CLIP / BATCH),
        step(CLIP, MULTIPLIER * CLIP),
        CLAIM,
        PAIR,
        NEAR,
        GaussianDP(BATCH / MULTIPLIER).epsilon(DELTA),
    ),
)
