"""Steps of DP-SGD: clipping, what noise is divided by, and the gradient that is applied."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from corpus.case import Case, Run, Trained
from dpcheck.audits import Canaries, add_remove, replace_one
from dpcheck.bounds.language.guarantees import ADD_REMOVE, ApproxDP, GaussianDP, smallest_epsilon
from dpcheck.theory.account import NoisyRelease

DELTA, CLIP, MULTIPLIER, BATCH = 1e-5, 0.5, 4.0, 8
CLAIM = ApproxDP(GaussianDP(1 / MULTIPLIER).epsilon(DELTA), DELTA, relation=ADD_REMOVE)
TOLD = NoisyRelease(noise=MULTIPLIER)


def clipped(data: Any, clip: float) -> np.ndarray:
    norms = np.linalg.norm(data, axis=1, keepdims=True)
    return np.asarray(data * np.minimum(1, clip / np.maximum(norms, 1e-12)))


def step(clip: float, deviation: float, public: bool = True) -> Run:
    """A sum of clipped gradients with noise, over the size of a batch that is public, or over the data's own."""

    def one(data: Any, rng: np.random.Generator) -> Any:
        noisy = clipped(data, clip).sum(axis=0) + rng.normal(0, deviation, data.shape[1])
        return noisy / (BATCH if public else len(data))

    return one


def gradient_of_the_loss(data: Any, rng: np.random.Generator) -> Any:
    """The framework asks the loss for its gradient, and never the private optimiser."""
    return data.sum(axis=0) / BATCH


def gradient_of_a_tape(data: Any, rng: np.random.Generator) -> Any:
    """The private gradient is made, and another one is applied."""
    private = clipped(data, CLIP).sum(axis=0) + rng.normal(0, MULTIPLIER * CLIP, data.shape[1])
    mine = data.sum(axis=0)
    assert private.shape == mine.shape
    return mine / BATCH


def accumulated(carried: bool) -> Run:
    """Two passes, forwards and back, with a step after every two records; a last one alone is carried over, or stepped.

    Each record is meant to take part in one step of a pass.
    """

    def passes(data: Any, rng: np.random.Generator) -> Any:
        rows, held, steps = clipped(data, CLIP), np.zeros(data.shape[1]), []
        for order in (rows, rows[::-1]):
            for i, row in enumerate(order):
                held = held + row
                if i % 2 == 1 or (i == len(order) - 1 and not carried):
                    steps.append(held + rng.normal(0, MULTIPLIER * CLIP, data.shape[1]))
                    held = np.zeros(data.shape[1])
        return np.array(steps)

    return passes


def heard(steps: Any, canaries: Any) -> Any:
    """How much of each canary's gradient is in all steps together."""
    return np.asarray(canaries) @ np.asarray(steps).reshape(-1, np.asarray(canaries).shape[1]).sum(axis=0)


def canaries(width: int, **more: Any) -> Trained:
    """Gradients at right angles, beside none."""
    return Trained(np.zeros((0, width)), Canaries.orthogonal(width, width, norm=4.0), heard, **more)


CURVE = {"claim": GaussianDP(1 / MULTIPLIER, relation=ADD_REMOVE), "assume": "separate"}
WIDE = canaries(1000, **CURVE)
GRADIENTS = np.tile([[0.1, 0.2]], (BATCH - 1, 1))
PAIR = (np.vstack([GRADIENTS, [[3.0, 4.0]]]), GRADIENTS)
NEAR = add_remove(low=-5, high=5, n=BATCH, d=2)
ODD = np.tile([[0.1, 0.2]], (5, 1))
TWICE = (np.vstack([ODD[1:], [[3.0, 4.0]]]), np.vstack([ODD[1:], [[-3.0, -4.0]]]))
LAYER, FEWEST = 20, 4
NOTHING = (np.zeros((FEWEST, LAYER)), np.zeros((FEWEST - 1, LAYER)))


def loss_of_a_scale(larger: float, width: int) -> float:
    """Of Gaussian noise in so many places, once `larger` times as large: by the length of what comes out."""
    ways = []
    for sign in (1, -1):

        def profile(eps: float, sign: int = sign) -> float:
            # The loss is sign * (width log(larger) - r (1 - 1/larger^2) / 2) at squared length r, in smaller units.
            edge = 2 * (width * math.log(larger) - sign * eps) / (1 - larger**-2)
            tails = [stats.chi2(width, scale=s).cdf(edge) for s in (1.0, larger**2)]
            small, large = tails if sign == 1 else [1 - tail for tail in tails]
            return float(small - math.exp(eps) * large if sign == 1 else large - math.exp(eps) * small)

        ways.append(smallest_epsilon(profile, DELTA))
    return max(ways)


def gaussian(mu: float) -> float:
    return GaussianDP(mu).epsilon(DELTA)


RIGHT = step(CLIP, MULTIPLIER * CLIP)
CASES = (
    Case(
        "clipping at another bound",
        "meta-pytorch/opacus#664",
        "Gradients are clipped at 1, whatever bound the noise was scaled by.",
        step(1.0, MULTIPLIER * CLIP),
        RIGHT,
        CLAIM,
        PAIR,
        NEAR,
        gaussian(2 / MULTIPLIER),
        subtle=True,
        leaks="clipping",
        told=TOLD,
        trained=WIDE,
    ),
    Case(
        "divided by the batch twice",
        "arXiv 2202.12219",
        "Noise is divided by the size of the batch, and then the noisy sum is, again.",
        step(CLIP, MULTIPLIER * CLIP / BATCH),
        RIGHT,
        CLAIM,
        PAIR,
        NEAR,
        gaussian(BATCH / MULTIPLIER),
        leaks="wrong quantity",
        told=TOLD,
        trained=WIDE,
    ),
    Case(
        "a framework's own gradient",
        "tensorflow/privacy#72",
        "Training takes the gradient of the loss itself: nothing is clipped, and no noise is drawn.",
        gradient_of_the_loss,
        RIGHT,
        CLAIM,
        PAIR,
        NEAR,
        math.inf,
        leaks="clipping",
        told=TOLD,
        trained=WIDE,
    ),
    Case(
        "a gradient from elsewhere",
        "tensorflow/privacy#134",
        "Gradients of a tape are applied; the private ones, if they are made, are left lying.",
        gradient_of_a_tape,
        RIGHT,
        CLAIM,
        PAIR,
        NEAR,
        math.inf,
        leaks="clipping",
        told=TOLD,
        trained=WIDE,
    ),
    Case(
        "divided by the data's own size",
        "meta-pytorch/opacus#571",
        "The expected size of a batch is computed from the number of records, and the noise divided by it.",
        step(CLIP, MULTIPLIER * CLIP, public=False),
        RIGHT,
        CLAIM,
        NOTHING,
        add_remove(low=-1, high=1, n=FEWEST, d=LAYER),
        loss_of_a_scale(FEWEST / (FEWEST - 1), LAYER),
        leaks="relation",
        told=TOLD,
        loop=(np.ones((FEWEST, LAYER)), np.ones((FEWEST - 1, LAYER))),
        trained=canaries(200, **CURVE),
    ),
    Case(
        "leftovers of the last pass",
        "meta-pytorch/opacus#16",
        "Gradients that were gathered when a pass ends go into the first step of the next, beside the same records'.",
        accumulated(carried=True),
        accumulated(carried=False),
        ApproxDP(gaussian(2 * math.sqrt(2) / MULTIPLIER), DELTA),
        TWICE,
        replace_one(low=-5, high=5, n=5, d=2),
        gaussian(4 / MULTIPLIER),
        leaks="composition",
        told=NoisyRelease(noise=MULTIPLIER, steps=6),
    ),
)
