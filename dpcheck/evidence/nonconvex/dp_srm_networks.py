"""The trend of lwang21, Figure 4.2, on a small network. Claims: bounds/library/nonconvex/dp_srm_networks.py.

Digits (1437 images to train on, 360 to test) in place of MNIST, one hidden layer of 32 units in place of a CNN. Noise,
delta = 1e-5, batches of 256 and C1 = 1.5 are as for the 60000 images of MNIST, gamma = C2 as in the source. Each method
takes its step size, and DP-SRM its gamma, from a grid, by the mean test error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from dpcheck.bounds.privacy.sampled_gaussian import least_factor, without_replacement
from dpcheck.datasets.embedded import sklearn_data
from dpcheck.evidence.convex.variance_reduction_experiments import Ratios
from dpcheck.kernels.blocks import child, seed_of
from dpcheck.kernels.drawn import records
from dpcheck.problems.losses import Array

RECORDS, BATCH, DELTA, EPS, CLIP = 60_000, 256, 1e-5, 3.0, 1.5
HIDDEN, CLASSES, TRAINED = 32, 10, 1437
STEPS, SHORTER = 150, 45  # DP-SGD's iterations, and 0.3 of them
STEP_SIZES, MOMENTA = (1.0, 4.0, 16.0), (0.1, 0.5, 0.9)


@lru_cache(maxsize=1)
def images() -> tuple[Array, Array]:
    """Pixels from 0 to 1 with a constant beside them, and the digits, in one fixed random order."""
    raw = sklearn_data("load_digits")
    order = np.random.default_rng(0).permutation(len(raw.data))
    return np.hstack([raw.data / 16, np.ones((len(order), 1))])[order], raw.target[order]


@dataclass(frozen=True, eq=False)
class Signals:
    """What back-propagation leaves of each record, whose gradient is x times hidden, then unit times out."""

    x: Array
    unit: Array
    hidden: Array
    out: Array

    def norms(self) -> Array:
        """Of the records' gradients, (k, b)."""
        return np.sqrt(square(self.x) * square(self.hidden) + square(self.unit) * square(self.out))

    def change(self, before: Signals) -> Array:
        """Norms of their gradients less those at another place."""
        crossed = np.sum(self.unit * before.unit, axis=2) * np.sum(self.out * before.out, axis=2)
        own, other = square(self.unit) * square(self.out), square(before.unit) * square(before.out)
        first = square(self.x) * square(self.hidden - before.hidden)
        return np.sqrt(np.maximum(first + own - 2 * crossed + other, 0.0))

    def sums(self, weights: Array) -> tuple[Array, Array]:
        """Gradients of both layers, summed over the records with these weights."""
        w = weights[:, :, None]
        return self.x.transpose(0, 2, 1) @ (w * self.hidden), self.unit.transpose(0, 2, 1) @ (w * self.out)


def square(rows: Array) -> Array:
    return np.sum(rows**2, axis=2)


Layers = tuple[Array, Array]


def forward(layers: Layers, x: Array) -> tuple[Array, Array]:
    """Hidden units with a constant beside them, and scores."""
    hidden = np.tanh(x @ layers[0])
    unit = np.concatenate([hidden, np.ones((*hidden.shape[:2], 1))], axis=2)
    return unit, unit @ layers[1]


def signals(layers: Layers, x: Array, y: Array) -> Signals:
    unit, scores = forward(layers, x)
    out = np.exp(scores - scores.max(axis=2, keepdims=True))
    out /= out.sum(axis=2, keepdims=True)
    out -= y[:, :, None] == np.arange(CLASSES)
    back = out @ layers[1][:, :HIDDEN].transpose(0, 2, 1)
    return Signals(x, unit, back * (1 - unit[:, :, :HIDDEN] ** 2), out)


def limited(norms: Array, limit: float) -> Array:
    """What clips vectors of these norms."""
    return limit / np.maximum(norms, limit)


def trained(steps: int, eta: float, gamma: float, noise: tuple[float, float], seed: int, trials: int) -> float:
    """The mean test error after DP-SRM with C1 = CLIP and C2 = gamma; with gamma = 1 it is DP-SGD."""
    X, Y = images()
    start, drawn, rng = (np.random.default_rng(child(seed_of(seed), i)) for i in range(3))
    shapes = ((trials, X.shape[1], HIDDEN), (trials, HIDDEN + 1, CLASSES))
    layers: Layers = tuple(start.standard_normal(s) / np.sqrt(s[1]) for s in shapes)
    before, v = layers, tuple(np.zeros(s) for s in shapes)
    for t in range(steps):
        index = records(drawn, trials, TRAINED, BATCH)
        now = signals(layers, X[index], Y[index])
        own = gamma if t else 1.0
        found = list(now.sums(own * limited(now.norms(), CLIP)))
        if own < 1:
            last = signals(before, X[index], Y[index])
            weights = (1 - gamma) * limited(now.change(last), gamma)
            parts = zip(found, now.sums(weights), last.sums(weights), strict=True)
            found = [f + a - b for f, a, b in parts]
        sigma = noise[min(t, 1)]
        v = tuple(
            f / BATCH + (1 - own) * u + sigma * rng.standard_normal(u.shape) for f, u in zip(found, v, strict=True)
        )
        before, layers = layers, tuple(w - eta * u for w, u in zip(layers, v, strict=True))  # type: ignore[assignment]
    _, scores = forward(layers, np.broadcast_to(X[TRAINED:], (trials, *X[TRAINED:].shape)))
    return float(np.mean(scores.argmax(axis=2) != Y[TRAINED:]))


def noises(steps: int, gamma: float) -> tuple[float, float]:
    """On the first estimator and on later ones: twice their reach, times what (EPS, DELTA) takes."""
    factor = least_factor((without_replacement(1 / BATCH, steps, BATCH, RECORDS),), EPS, DELTA)
    return 2 * CLIP * factor, 2 * ((1 - gamma) * gamma + gamma * CLIP) * factor  # privacy: lwang21.section4.5.clipping


def plain(seed: int, trials: int) -> float:
    """DP-SGD's test error at its best step size."""
    noise = noises(STEPS, 1.0)
    return min(trained(STEPS, eta, 1.0, noise, seed, trials) for eta in STEP_SIZES)


def recursive(steps: int, seed: int, trials: int) -> float:
    """DP-SRM's, at its best step size and gamma."""
    grid = product(STEP_SIZES, MOMENTA)
    return min(trained(steps, eta, gamma, noises(steps, gamma), seed, trials) for eta, gamma in grid)


def shorter(seed: int, trials: int) -> dict[str, float]:
    """DP-SRM's test error in 0.3 of the iterations, over 1.1 times DP-SGD's."""
    return {f"{SHORTER} iterations against {STEPS}": recursive(SHORTER, seed, trials) / (1.1 * plain(seed, trials))}


DATA = "a network of 32 hidden units on digits, noise of MNIST's size at ε = 3, tuned step sizes and γ"

CHECKS = {"lwang21.section4.7.networks.speed": [Ratios(shorter, DATA, trials=3)]}
