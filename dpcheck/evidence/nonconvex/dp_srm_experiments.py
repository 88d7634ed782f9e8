"""The trends of lwang21, Figures 4.1 and 4.4, measured again. Claims: bounds/library/nonconvex/dp_srm_experiments.py.

Logistic losses without the source's regulariser (0.001 times a sum of numbers below 1) on breast cancer and digits,
delta = 1e-5 and the certified noise for all methods. With fewer records than a9a the same eps would leave noise alone:
eps is such that n eps / sqrt(d) is as on a9a at 0.2 and 0.5. As in the source C1 = 1, gamma = C2 (0.01 there; here 0.1
and 0.5 of its grid for networks are tried too), batches of 50 or 200 in four data passes, 20 full gradients for DP-GD,
and each method takes its step size (DP-SRM its batch and gamma too) from a grid, by the mean objective.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.privacy.exact import least_noise
from dpcheck.bounds.privacy.sampled_gaussian import subsampled_gaussian_noise
from dpcheck.datasets.embedded import breast_cancer, digits
from dpcheck.evidence.convex.variance_reduction_experiments import Ratios
from dpcheck.kernels.gradient_steps import noisy_descent
from dpcheck.problems.losses import Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_srm import DPSRM

DELTA = 1e-5
LEVELS = (0.2, 0.5)  # epsilon of the source, on a9a
PASSES, FULL_GRADIENTS = 4, 20
BATCHES, MOMENTA, STEP_SIZES = (50, 200), (0.01, 0.1, 0.5), (1.0, 4.0, 16.0, 64.0)
Outcome = tuple[float, float]  # mean objective, by which methods are tuned, and mean gradient norm
OBJECTIVE, GRADIENT = 0, 1


def matched(problem: Problem, level: float) -> ApproxDP:
    """The guarantee with the n eps / sqrt(d) of a9a (32561 records, 123 features) at this level."""
    return ApproxDP(level * 32561 / math.sqrt(123) * math.sqrt(problem.d) / problem.n, DELTA)


def problems() -> Iterator[tuple[str, Problem]]:
    for data in (breast_cancer(), digits()):
        yield data.name, data.problem(Logistic())


def outcome(problem: Problem, w: np.ndarray) -> Outcome:
    return float(problem.value(w).mean()), float(np.linalg.norm(problem.gradient(w), axis=1).mean())


# Methods, each at its best step size -----------------------------------------------------------------
def recursive_solver(problem: Problem, batch: int, gamma: float) -> DPSRM:
    """DP-SRM with clipping; two gradients a record drawn."""
    steps = max(1, PASSES * problem.n // (2 * batch))
    return DPSRM(steps, batch, batch, gamma, aim=1.0, slowing=1.0, clips=(1.0, gamma), last=True)


def recursive(problem: Problem, guarantee: ApproxDP, seed: int, trials: int) -> Outcome:
    """DP-SRM at its best batch and gamma too."""
    found = []
    for batch, gamma, eta in product(BATCHES, MOMENTA, STEP_SIZES):
        tuned = replace(recursive_solver(problem, batch, gamma), step_size=eta)
        found.append(outcome(problem, tuned.solve(problem, guarantee, seed, trials=trials).w))
    return min(found)


def full_gradients(problem: Problem, guarantee: ApproxDP, seed: int, trials: int) -> Outcome:
    """DP-GD."""
    noise = least_noise(guarantee, steps=FULL_GRADIENTS) * 2 * problem.data_lipschitz / problem.n
    return best_descent(problem, FULL_GRADIENTS, noise, None, seed, trials)


def single_gradients(problem: Problem, guarantee: ApproxDP, seed: int, trials: int) -> Outcome:
    """Noisy SGD on batches of 50, in as many passes as DP-SRM."""
    batch, steps = BATCHES[0], PASSES * problem.n // BATCHES[0]
    noise = subsampled_gaussian_noise(guarantee.eps, DELTA, problem.n, batch, steps) * problem.data_lipschitz / batch
    return best_descent(problem, steps, noise, batch, seed, trials)


def best_descent(problem: Problem, steps: int, noise: float, batch: int | None, seed: int, trials: int) -> Outcome:
    runs = (
        noisy_descent(problem, steps=steps, step_size=eta, noise_std=noise, seed=seed, trials=trials, batch=batch).w
        for eta in STEP_SIZES
    )
    return min(outcome(problem, w) for w in runs)


# Trends ----------------------------------------------------------------------------------------------
@lru_cache(maxsize=8)
def outcomes(seed: int, trials: int) -> dict[str, dict[str, Outcome]]:
    """Of the three methods, by data and level."""
    found = {}
    for name, problem in problems():
        for level in LEVELS:
            here = (problem, matched(problem, level), seed, trials)
            methods = {"DP-SRM": recursive, "DP-GD": full_gradients, "SGD": single_gradients}
            found[f"{name}, as a9a at eps={level:g}"] = {k: method(*here) for k, method in methods.items()}
    return found


def against_baselines(which: int) -> Callable[[int, int], dict[str, float]]:
    """The objective or the gradient norm of DP-SRM over those of DP-GD and noisy SGD."""

    def measure(seed: int, trials: int) -> dict[str, float]:
        ratios = {}
        for setting, found in outcomes(seed, trials).items():
            for baseline in ("DP-GD", "SGD"):
                ratios[f"{baseline}, {setting}"] = found["DP-SRM"][which] / found[baseline][which]
        return ratios

    return measure


def cost(seed: int, trials: int) -> dict[str, float]:
    """Record gradients of DP-SRM over those of DP-GD here, and over RRPSGD's n^2 (mean rounds: half of that)."""
    ratios = {}
    for name, problem in problems():
        ours = max(recursive_solver(problem, b, 0.01).gradients(problem, matched(problem, 0.2)) for b in BATCHES)
        ratios[f"DP-GD, {name}"] = ours / (FULL_GRADIENTS * problem.n)
        ratios[f"RRPSGD, {name}"] = ours / (problem.n**2 / 2)
    return ratios


def falls_with_eps(seed: int, trials: int) -> dict[str, float]:
    """The objective of DP-SRM at the second level over that at the first, by data."""
    reached = [found["DP-SRM"][OBJECTIVE] for found in outcomes(seed, trials).values()]
    return {name: high / low for (name, _), low, high in zip(problems(), reached[::2], reached[1::2], strict=True)}


DATA = "logistic losses, breast cancer and digits, certified noise, tuned step sizes"

CHECKS = {
    "lwang21.section4.7.trend.gradient": [Ratios(against_baselines(GRADIENT), DATA, trials=10)],
    "lwang21.section4.7.trend.objective": [Ratios(against_baselines(OBJECTIVE), DATA, trials=10)],
    "lwang21.section4.7.trend.cost": [Ratios(cost, "counted from the settings")],
    "lwang21.section4.7.trend.eps": [Ratios(falls_with_eps, DATA, trials=10)],
}
