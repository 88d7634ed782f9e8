"""Sparse linear regressions of lwang21's experiments, and how far off an estimate is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.sparse import dp_ight as theory
from dpcheck.families.thresholded_descent import keep_largest

Array = np.ndarray
LABEL_NOISE = np.sqrt(0.1)
CHOICES = 0.5 ** np.arange(7)  # step sizes that the document tries


@dataclass(frozen=True, eq=False)
class SparseRegression:
    """y = Xθ* + N(0, 0.1), for which gradients at many points cost a product with X^TX."""

    X: Array
    y: Array
    truth: Array

    @cached_property
    def curvature(self) -> Array:
        return np.asarray(self.X.T @ self.X / len(self.X))

    @cached_property
    def pull(self) -> Array:
        return np.asarray(self.X.T @ self.y / len(self.X))

    def gradient(self, w: Array) -> Array:
        """Of the mean of (y - ⟨x, w⟩)²/2, (k, d)."""
        return np.asarray(w @ self.curvature - self.pull)

    def off(self, w: Array) -> Array:
        """‖w-θ*‖/‖θ*‖ of each row."""
        return np.asarray(np.linalg.norm(w - self.truth, axis=-1) / np.linalg.norm(self.truth))


def generated(n: int, d: int, nonzeros: int, entry: float, longest: float, seed: int) -> SparseRegression:
    """Entries of rows uniform on ±`entry`, rows scaled down to `longest`; nonzeros of θ* uniform on ±1."""
    rng = np.random.default_rng(seed)
    truth = np.zeros(d)
    truth[rng.choice(d, nonzeros, replace=False)] = rng.uniform(-1, 1, nonzeros)
    X = rng.uniform(-entry, entry, (n, d))
    X *= np.minimum(1.0, longest / np.linalg.norm(X, axis=1))[:, None]
    return SparseRegression(X, X @ truth + LABEL_NOISE * rng.standard_normal(n), truth)


def slope_of(data: SparseRegression, kept: int, longest: float) -> float:
    """G of Corollary 2.5.6: K(√(2s)‖θ*‖ + ν·log n)."""
    n = len(data.y)
    return float(longest * (np.sqrt(2 * kept) * np.linalg.norm(data.truth) + LABEL_NOISE * np.log(n)))


def private_errors(data: SparseRegression, kept: int, longest: float, aim: ApproxDP, seed: int) -> np.ndarray:
    """Relative errors of DP-IGHT by the noise of Remark 2.5.3, for each number of steps and step size that is tried."""
    rng, found = np.random.default_rng(seed), []
    G, (n, d) = slope_of(data, kept, longest), data.X.shape
    for steps in (1, 2, 4, 8):
        noise = float(theory.remark3.evaluate(n=n, G=G, T=steps, **aim.parameters))
        w, etas = np.zeros((len(CHOICES) + 1, d)), np.r_[2.0, CHOICES][:, None]
        for _ in range(steps):
            w = keep_largest(w - etas * (data.gradient(w) + noise * rng.standard_normal(w.shape)), kept)
        found.append(data.off(w))
    return np.concatenate(found)


def best_on_average(errors: Array) -> Array:
    """Of errors (runs, choices) those of the choice with the least mean: no validation finds a better."""
    return np.asarray(errors[:, errors.mean(axis=0).argmin()])
