"""Denoising by Laplacian smoothing, measured. Claims: bounds/library/nonconvex/laplacian_smoothing_denoising.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex.dp_lssgd_experiments import BATCH, DELTA, RECORDS
from dpcheck.bounds.library.nonconvex.laplacian_smoothing_denoising import PLANE
from dpcheck.evidence.nonconvex.dp_lssgd_experiments import EPSILONS, SIGMAS, STEPS, Gained, Gains, images
from dpcheck.families.smoothed import Document
from dpcheck.kernels.smoothing import LaplacianSmoothing
from dpcheck.problems.losses import Array
from dpcheck.solvers.nonconvex.dp_lssgd import DPLSSGD

DEVIATION = 0.2


def wave() -> Array:
    """sin(2πi/100)·sin(2πj/100), i and j from 1 to 100, row by row."""
    sine = np.sin(2 * np.pi * np.arange(1, 101) / 100)
    return np.outer(sine, sine).ravel()


def plane(seed: int, trials: int) -> Gains:
    """Mean squared error taken off by smoothing, one draw of the noise a run."""
    signal, operator = wave(), LaplacianSmoothing(PLANE["sigma"], PLANE["points"])
    noise = DEVIATION * np.random.default_rng(seed).standard_normal((trials, PLANE["points"]))
    after = operator.solve(signal + noise) - signal
    return {"σ = 100": np.mean(noise**2, axis=1) - np.mean(after**2, axis=1)}


def bias(seed: int, trials: int) -> Gains:
    """Squared bias less what is left of the noise, by run."""
    signal, operator = wave(), LaplacianSmoothing(PLANE["sigma"], PLANE["points"])
    noise = DEVIATION * np.random.default_rng(seed).standard_normal((trials, PLANE["points"]))
    lost = np.mean((operator.solve(signal) - signal) ** 2)
    return {"σ = 100": lost - np.mean(operator.solve(noise) ** 2, axis=1)}


def gradient(document: Document) -> Callable[[int, int], Gains]:
    """Squared distance to the full gradient taken off, at w = 0: a batch and its noise a run."""

    def measure(seed: int, trials: int) -> Gains:
        problem, _, _ = images()
        rng = np.random.default_rng(seed)
        start = np.zeros((trials, problem.d))
        index = np.stack([rng.choice(problem.n, BATCH, replace=False) for _ in range(trials)])
        batch, unit = problem.gradient_at(start, index), rng.standard_normal(start.shape)
        aim = problem.gradient(start)
        found = {}
        for eps in EPSILONS:
            solver = DPLSSGD(BATCH, STEPS, document=document, conditions=False)
            scale = solver.calibrated(problem, ApproxDP(eps, float(DELTA)), "stated").noise_std
            noisy = batch + scale * problem.n / RECORDS * unit
            for sigma in SIGMAS:
                smooth = LaplacianSmoothing(sigma, problem.d).solve(noisy)
                found[f"ε = {eps:g}, σ = {sigma:g}"] = np.sum((noisy - aim) ** 2 - (smooth - aim) ** 2, axis=1)
        return found

    return measure


def differences(seed: int, trials: int) -> Gains:
    """Half of ‖∇f_i - ∇f_j‖ less ‖A⁻¹(∇f_i - ∇f_j)‖, over pairs of records at w = 0."""
    problem, _, _ = images()
    rng = np.random.default_rng(seed)
    pairs = np.stack([rng.choice(problem.n, 2, replace=False) for _ in range(trials)])
    start = np.zeros((trials, problem.d))
    apart = problem.gradient_at(start, pairs[:, 0]) - problem.gradient_at(start, pairs[:, 1])
    size = np.linalg.norm(apart, axis=1)
    return {
        f"σ = {s:g}": size / 2 - np.linalg.norm(LaplacianSmoothing(s, problem.d).solve(apart), axis=1) for s in SIGMAS
    }


WAVE = "10000 points of sin(x)sin(y), noise 0.2, row by row"
DIGITS = "softmax regression on digits at w = 0"
BATCHES = f"{DIGITS}: batches of 128, noise of n = 50000 records and 150 steps, ε = 0.1 and 0.3"
CHECKS = {
    "lwang21.figure5.2.plane": [Gained(plane, WAVE)],
    "lssgd20.figure2.plane": [Gained(plane, WAVE)],
    "lwang21.figure5.2.plane.signal": [Gained(bias, WAVE)],
    "lssgd20.figure2.plane.signal": [Gained(bias, WAVE)],
    "lwang21.section5.2.2.gradient": [Gained(gradient("lwang21"), BATCHES)],
    "lssgd20.section2.2.gradient": [Gained(gradient("lssgd20"), BATCHES)],
    "lwang21.remark5.5.6.differences": [Gained(differences, f"{DIGITS}, pairs of records", trials=200)],
    "lssgd20.remark3.differences": [Gained(differences, f"{DIGITS}, pairs of records", trials=200)],
}
