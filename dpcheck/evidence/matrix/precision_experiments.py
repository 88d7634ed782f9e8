"""Whether the experiments' problems have a minimiser. Claims: bounds/library/matrix/precision_experiments.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from dpcheck.bounds.library.matrix import precision_experiments as theory
from dpcheck.bounds.library.matrix import sicov_cov_gaussian, sicov_cov_laplace
from dpcheck.evidence.comparison_checks import Lower

Pairs = Mapping[str, tuple[np.ndarray, np.ndarray]]
D, RATIOS, EPSILONS = 400, (0.5, 1.0, 1.5), (0.5, 1.0, 1.5)


def diagonal(n: int, rng: np.random.Generator) -> np.ndarray:
    """Of S: n rows of N(0, (UUᵀ)⁻¹), U sparse with entries ±1, and 1 on the diagonal for an inverse; of norm 1."""
    U = np.zeros((D, D))
    while np.linalg.slogdet(U)[0] == 0:  # drawn until it has one
        U = np.where(rng.random((D, D)) < 0.01, rng.choice([-1.0, 1.0], (D, D)), 0.0)
        np.fill_diagonal(U, 1.0)
    rows = np.linalg.solve(U.T, rng.standard_normal((D, n))).T
    return np.asarray((rows**2 / (rows**2).sum(axis=1, keepdims=True)).mean(axis=0))


def least_entries(noise: Callable[[np.random.Generator, int, float], np.ndarray]) -> Callable[[int, int, bool], Pairs]:
    """-min S̃_ii of each run, which must be below ρ: the diagonal is all that is drawn."""

    def measure(seed: int, trials: int, thorough: bool) -> Pairs:
        found = {}
        for i, r in enumerate(RATIOS):
            n, rng = round(r * D), np.random.default_rng([seed, i])
            bases = [diagonal(n, rng) for _ in range(trials)]
            for eps in EPSILONS:
                runs = np.array([-(base + noise(rng, n, eps)).min() for base in bases])
                found[f"r = {r:g}, ε = {eps:g}"] = (runs, np.full(trials, float(theory.PENALTY)))
        return found

    return measure


def laplace(rng: np.random.Generator, n: int, eps: float) -> np.ndarray:
    return rng.laplace(scale=float(sicov_cov_laplace.privacy.evaluate(n=n, d=D, eps=eps)), size=D)


def gaussian(rng: np.random.Generator, n: int, eps: float) -> np.ndarray:
    scale = sicov_cov_gaussian.privacy.evaluate(n=n, eps=eps, delta=float(theory.DELTA))
    return float(scale) * rng.standard_normal(D)


WHERE = "synthetic data of d = 400, n = rd, one entry of U in a hundred"
CHECKS = {
    "dwang20.table6.4.minimiser": [Lower(least_entries(laplace), WHERE, trials=10)],
    "dwang20.table6.5.minimiser": [Lower(least_entries(gaussian), WHERE, trials=10)],
}
