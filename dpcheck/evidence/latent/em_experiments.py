"""The experiments on private EM, run again. Claims: bounds/library/latent/em_experiments.py.

As printed: three models at ‖β*‖ = 3σ, T = 22, ε in {0.2, 0.5, 1}, δ = 1/n, random starts, C = 1 for clipping. Ours: d =
10 and n = 2,000 unless varied, τ twice the second moment of a coordinate at β*, η = 1 (1/2 for mixed regressions, whose
steps are longer), starts uniform on the sphere of radius ‖β*‖; the distance is that to the nearer of ±β* where the
model does not tell them apart. Every run draws its records and its start anew.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.evidence.comparison_checks import Lower, MethodsCompared
from dpcheck.families.em_models import LatentRecords, MissingCovariates, Regressions, SignedMixture, gradient_em
from dpcheck.families.em_runs import EMSolver
from dpcheck.solvers.latent.clipped_dp_gradient_em import ClippedDPGradientEM
from dpcheck.solvers.latent.dp_gradient_em import DPGradientEM

MODELS: dict[str, tuple[type[LatentRecords], float]] = {
    "GMM": (SignedMixture, 1.0), "MRM": (Regressions, 0.5), "RMC": (MissingCovariates, 1.0),
}  # fmt: skip
STEPS, TIMES, ROBUST = 22, 3.0, 0.0
EPSILONS, SIZES, WIDTHS = (0.2, 0.5, 1.0), (500, 2_000, 8_000), (5, 10, 20)
Pairs = Mapping[str, tuple[np.ndarray, np.ndarray]]


def solver_of(name: str, clip: float, records: LatentRecords, truth: np.ndarray, start: np.ndarray) -> EMSolver:
    """Algorithm 7.2.55 with this C, or 7.2.56 where it is ROBUST."""
    begin, eta = tuple(map(float, start)), MODELS[name][1]
    if clip != ROBUST:
        return ClippedDPGradientEM(steps=STEPS, start=begin, step_size=eta, clip=clip)
    tau = 2 * float((records.gradients(truth[None]) ** 2).mean())
    return DPGradientEM(steps=STEPS, start=begin, step_size=eta, second_moment=tau)


@lru_cache(maxsize=256)
def errors(name: str, clip: float, n: int, d: int, eps: float, seed: int, trials: int) -> np.ndarray:
    """‖β^T - β*‖ of runs with records, truth and start of their own, the same in all settings of one size; without
    privacy where ε has no end.
    """
    found = []
    for i in range(trials):
        rng = np.random.default_rng([seed, i, d, n])
        truth, start = (v / np.linalg.norm(v) * TIMES for v in rng.standard_normal((2, d)))
        records: LatentRecords = MODELS[name][0].drawn(n, truth, rng)
        if math.isinf(eps):
            w = gradient_em(records, start, STEPS, MODELS[name][1])[-1]
        else:
            w = solver_of(name, clip, records, truth, start).solution(records, ApproxDP(eps, 1 / n), rng).w[0]
        gaps = [np.linalg.norm(w - truth), np.linalg.norm(w + truth)]
        found.append(gaps[0] if name == "RMC" else min(gaps))
    return np.array(found)


def along(values: Sequence[float], seed: int, trials: int, **at: float) -> Pairs:
    """The error at each value against that at the one before, in each model."""
    (what,) = (name for name, given in at.items() if given == 0)

    def run(name: str, value: float) -> np.ndarray:
        here = {**at, what: value}
        return errors(name, ROBUST, int(here["n"]), int(here["d"]), here["eps"], seed, trials)

    return {
        f"{name}, {what} = {later:g}": (run(name, later), run(name, before))
        for name in MODELS
        for before, later in itertools.pairwise(values)
    }


def by_eps(seed: int, trials: int, thorough: bool) -> Pairs:
    return along(EPSILONS, seed, trials, n=2_000, d=10, eps=0)


def by_n(seed: int, trials: int, thorough: bool) -> Pairs:
    return along(SIZES, seed, trials, n=0, d=10, eps=1.0)


def by_d(seed: int, trials: int, thorough: bool) -> Pairs:
    return {name: (b, a) for name, (a, b) in along(WIDTHS, seed, trials, n=2_000, d=0, eps=1.0).items()}


def beside_clipping(seed: int, trials: int) -> Mapping[str, tuple[np.ndarray, np.ndarray, float]]:
    """Algorithm 7.2.56, then 7.2.55, with as many gradients."""
    return {
        f"{name}, ε = {eps:g}": (
            errors(name, ROBUST, 2_000, 10, eps, seed, trials), errors(name, 1.0, 2_000, 10, eps, seed, trials), 1.0,
        )
        for name in MODELS
        for eps in EPSILONS
    }


def by_clip(seed: int, trials: int, thorough: bool) -> Pairs:
    """C = 1, then the others of Figure 7.1."""
    return {
        f"{name}, C = {clip:g}": (
            errors(name, 1.0, 2_000, 10, 1.0, seed, trials), errors(name, clip, 2_000, 10, 1.0, seed, trials),
        )
        for name in MODELS
        for clip in (0.1, 5.0, 10.0)
    }  # fmt: skip


def beside_em(seed: int, trials: int, thorough: bool) -> Pairs:
    """Algorithm 7.2.56, then twice the error of gradient EM on the same records."""
    return {
        f"{name}, n = {n:,}": (
            errors(name, ROBUST, n, 10, 1.0, seed, trials), 2 * errors(name, ROBUST, n, 10, math.inf, seed, trials),
        )
        for name in MODELS
        for n in SIZES
    }  # fmt: skip


OURS = "‖β*‖ = 3σ, T = 22, δ = 1/n, random starts; n, d, τ and η are ours"
RUNS = 40
CHECKS = {
    "dwang20.section7.2.7.eps": [Lower(by_eps, f"n = 2,000, d = 10, {OURS}", trials=RUNS, stand_in=True)],
    "dwang20.section7.2.7.n": [Lower(by_n, f"d = 10, ε = 1, {OURS}", trials=RUNS, stand_in=True)],
    "dwang20.section7.2.7.d": [Lower(by_d, f"n = 2,000, ε = 1, {OURS}", trials=RUNS, stand_in=True)],
    "dwang20.section7.2.7.clip": [Lower(by_clip, f"n = 2,000, d = 10, ε = 1, {OURS}", trials=RUNS, stand_in=True)],
    "dwang20.section7.2.7.em": [Lower(beside_em, f"d = 10, ε = 1, {OURS}", trials=RUNS, stand_in=True)],
    "dwang20.section7.2.7.clipped": [
        MethodsCompared(beside_clipping, "three models, n = 2,000, d = 10", OURS, trials=10, stand_in=True)
    ],
}
