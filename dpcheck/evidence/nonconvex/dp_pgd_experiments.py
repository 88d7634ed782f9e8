"""The experiments on DP-PGD, measured again. Claims: bounds/library/nonconvex/dp_pgd_experiments.py.

Sigmoid losses with an l1 term; lambda and delta as either document prints them; breast cancer and digits for their
data, and the synthetic rule (labels that a hyperplane decides), at smaller n. Noise by zCDP with G = 1/4 and rho, not
rho^2; the fixed step size of Theorem 2, as a line search is not private; a random start, the same for all runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from dpcheck.bounds.language.claim import lambdified
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_pgd_zcdp as zcdp
from dpcheck.bounds.library.nonconvex.stationarity import by_composition
from dpcheck.datasets.embedded import Dataset, breast_cancer, digits
from dpcheck.evidence.checks import AuditCheck, Trend
from dpcheck.evidence.convex.variance_reduction_experiments import Ratios, separable
from dpcheck.evidence.nonconvex.dp_pgd import Maps, maps_of
from dpcheck.problems.losses import Array, Huber, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_pgd import DPPGD

Measure = Literal["noisy", "exact"]
Noise = Literal["zcdp", "moments", "advanced"]
Measured = Callable[[int, int], Mapping[str, float]]
EPSILONS = (0.1, 0.5, 2.0, 5.0)
COMPOSED = lambdified(by_composition)  # of T and delta
ORDERS = np.arange(1, 33)  # of the moments accountant's usual grid
G = 0.25


@dataclass(frozen=True)
class Printed:
    """What a document prints: lambda and delta."""

    strength: float
    delta: float


PAPER, CHAPTER = Printed(0.01, 1e-3), Printed(1e-4, 1e-4)


def deviation(noise: Noise, n: int, eps: float, delta: float, T: int) -> float:
    """Of the noise on each coordinate of the mean gradient, by three ways of accounting."""
    if noise == "zcdp":
        return float(zcdp.box_corrected.evaluate(n=n, eps=eps, delta=delta, T=T, G=G))
    if noise == "advanced":
        return G * float(COMPOSED(T, delta)) / (n * eps)
    # The least noise for which some whole order λ has λ(λ+1)μ²/2 - λε ≤ -log(1/δ), μ being all steps' shift over it.
    most = np.max(2 * (ORDERS * eps - math.log(1 / delta)) / (ORDERS * (ORDERS + 1)))
    return 2 * G * math.sqrt(T) / (n * math.sqrt(most)) if most > 0 else math.inf


@lru_cache(maxsize=16)
def problem_of(name: str, n: int, d: int) -> Problem:
    """Sigmoid losses on the data of that name; n and d are those of the synthetic rule, n that of digits."""
    data = {"synthetic": lambda: separable(n, d), "breast cancer": breast_cancer, "digits": lambda: some(digits(), n)}
    return data[name]().problem(Sigmoid())


def some(data: Dataset, n: int) -> Dataset:
    """Its first n records."""
    return Dataset(data.name, data.X[:n], data.y[:n])


def path_of(
    problem: Problem, printed: Printed, eps: float, T: int, seed: int, trials: int, noise: Noise = "zcdp"
) -> Maps:
    """The runs with all their norms."""
    start = np.random.default_rng(9).standard_normal(problem.d)
    sigma = deviation(noise, problem.n, eps, printed.delta, T)
    return maps_of(problem, T, sigma, printed.strength / 2, seed, trials, start)


def norms(
    problem: Problem, printed: Printed, eps: float, T: int, seed: int, trials: int, measure: Measure = "noisy",
    noise: Noise = "zcdp",
) -> Array:  # fmt: skip
    """The norm of the map at x_R for each run, averaged over R."""
    return np.mean(getattr(path_of(problem, printed, eps, T, seed, trials, noise), measure), axis=0)


def mean_norm(problem: Problem, printed: Printed, eps: float, T: int, *rest: Any) -> float:
    return float(norms(problem, printed, eps, T, *rest).mean())


DATA = (("synthetic", 2000, 20), ("breast cancer", 569, 30), ("digits", 1797, 64))


def falling_with_eps(printed: Printed, measure: Measure = "noisy") -> Measured:
    """The norm at each ε over that at the one before, T = 50."""

    def measured(seed: int, trials: int) -> dict[str, float]:
        ratios: dict[str, float] = {}
        for name, n, d in DATA:
            found = [mean_norm(problem_of(name, n, d), printed, e, 50, seed, trials, measure) for e in EPSILONS]
            ratios |= {f"{name}, eps={e:g}": b / a for e, a, b in zip(EPSILONS[1:], found, found[1:], strict=False)}
        return ratios

    return measured


def steps_against_eps(printed: Printed) -> Measured:
    """Largest over least norm for T from 25 to 200 at ε = 2, over the same for the four ε at T = 50."""

    def measured(seed: int, trials: int) -> dict[str, float]:
        ratios = {}
        for name, n, d in DATA:
            problem = problem_of(name, n, d)
            by_T = [mean_norm(problem, printed, 2.0, T, seed, trials) for T in (25, 50, 100, 200)]
            by_eps = [mean_norm(problem, printed, e, 50, seed, trials) for e in EPSILONS]
            ratios[name] = max(by_T) / min(by_T) / (max(by_eps) / min(by_eps))
        return ratios

    return measured


def falling_with_size(printed: Printed) -> Measured:
    """The norm on a data set over that on the next smaller one, T = 50."""

    def measured(seed: int, trials: int) -> dict[str, float]:
        ratios: dict[str, float] = {}
        ordered = sorted(DATA, key=lambda data: data[1])
        for eps in EPSILONS:
            found = [mean_norm(problem_of(*data), printed, eps, 50, seed, trials) for data in ordered]
            names = [f"{name}, eps={eps:g}" for name, _, _ in ordered[1:]]
            ratios |= {name: b / a for name, a, b in zip(names, found, found[1:], strict=False)}
        return ratios

    return measured


def settling(printed: Printed, measure: Measure = "noisy") -> Measured:
    """The change from the third quarter of 400 steps to the last, over that from the first to the second, ε = 2."""

    def measured(seed: int, trials: int) -> dict[str, float]:
        ratios = {}
        for name, n, d in DATA:
            norms = getattr(path_of(problem_of(name, n, d), printed, 2.0, 400, seed, trials), measure)
            first, second, third, last = norms.mean(axis=1).reshape(4, -1).mean(axis=1)
            ratios[name] = abs(last - third) / abs(second - first)
        return ratios

    return measured


def falling_with_n(printed: Printed, measure: Measure = "noisy") -> Measured:
    """The norm at four times the records over that before, ε = 2, T = 50."""

    def measured(seed: int, trials: int) -> dict[str, float]:
        ratios: dict[str, float] = {}
        for name, sizes, d in (("synthetic", (500, 2000, 8000), 20), ("digits", (449, 1797), 64)):
            found = [mean_norm(problem_of(name, n, d), printed, 2.0, 50, seed, trials, measure) for n in sizes]
            ratios |= {f"{name}, n={n}": b / a for n, a, b in zip(sizes[1:], found, found[1:], strict=False)}
        return ratios

    return measured


def growing_with_d(printed: Printed, measure: Measure = "noisy") -> Measured:
    """The norm at a smaller dimension over that at a larger one, n = 2000, ε = 2, T = 50."""

    def measured(seed: int, trials: int) -> dict[str, float]:
        sizes = (5, 20, 80)
        found = [mean_norm(problem_of("synthetic", 2000, d), printed, 2.0, 50, seed, trials, measure) for d in sizes]
        return {f"d={d}": a / b for d, a, b in zip(sizes[1:], found, found[1:], strict=False)}

    return measured


def against(noise: Noise, printed: Printed, epsilons: Sequence[float], by: float = 1.0) -> Measured:
    """The norm with noise by zCDP over `by` times that with the other noise, T = 50, the same normals in both."""

    def measured(seed: int, trials: int) -> dict[str, float]:
        ratios = {}
        for name, n, d in DATA:
            for eps in epsilons:
                ours, theirs = (
                    mean_norm(problem_of(name, n, d), printed, eps, 50, seed, trials, "noisy", way)
                    for way in ("zcdp", noise)
                )
                ratios[f"{name}, eps={eps:g}"] = ours / (by * theirs)
        return ratios

    return measured


def norm_by_n(best_T: bool) -> Any:
    """The norm over a grid of n, ε = 2: at T = 50, or at a T that grows with n."""

    def measure(n: float, trials: int, seed: int) -> Array:
        steps = round(50 * n / 1000) if best_T else 50
        return norms(problem_of("synthetic", int(n), 10), CHAPTER, 2.0, steps, seed, trials)

    return measure


def backtracking(adaptive: bool = True) -> Any:
    """Two hundred parabolas, or one less, and a first step between the inverses of their curvatures: one is halved."""
    guarantee = ApproxDP(1.0, 1e-2)
    first = Problem(np.ones((200, 1)), np.zeros(200), Huber(1.0))
    solver = DPPGD(steps=2, step_size=1 + 1 / 400, adaptive=adaptive)
    return solver.mechanism(guarantee, "stated"), (first, first.replace(0, [0.0], 0.0)), guarantee


DATASETS = "breast cancer, digits and synthetic data (2000, 20)"
SIZES = f"{DATASETS}, T = 50"
SEARCH = "noise of Theorem 1, c = 8"

BY_N, ORDERED = "synthetic data, 500 to 8000, and digits, T = 50, ε = 2", f"{SIZES}, orders 1 to 32"
BY_D, LENGTHS = "synthetic data, n = 2000, d from 5 to 80, T = 50, ε = 2", f"{SIZES} for ε, 25 to 200 for T"


def trends(printed: Printed, epsilons: Sequence[float]) -> dict[str, list[Any]]:
    """What both documents show, by the part of the claim's id."""
    return {
        "eps": [Ratios(falling_with_eps(printed), SIZES, trials=8)],
        "eps.exact": [Ratios(falling_with_eps(printed, "exact"), SIZES)],
        "steps": [Ratios(steps_against_eps(printed), LENGTHS, trials=8)],
        "n": [Ratios(falling_with_n(printed), BY_N, trials=8)],
        "n.exact": [Ratios(falling_with_n(printed, "exact"), BY_N)],
        "advanced": [Ratios(against("advanced", printed, epsilons), SIZES, trials=8)],
        "moments": [Ratios(against("moments", printed, epsilons), ORDERED, trials=8)],
        "moments.seen": [Ratios(against("moments", printed, epsilons, 0.99), ORDERED, trials=8)],
        "step_size": [AuditCheck(backtracking, f"backtracking, {SEARCH}", trials=20_000)],
        "step_size.corrected": [
            AuditCheck(lambda: backtracking(False), f"the first step size kept, {SEARCH}", trials=20_000)
        ],
    }


CHECKS = {
    **{f"wangxu19.section.experiments.{part}": checks for part, checks in trends(PAPER, (0.5, 2.0)).items()},
    **{f"dwang20.section4.1.5.{part}": checks for part, checks in trends(CHAPTER, (1.0,)).items()},
    "wangxu19.section.experiments.size": [Ratios(falling_with_size(PAPER), SIZES, trials=8)],
    "dwang20.section4.1.5.stable": [Ratios(settling(CHAPTER), f"{DATASETS}, T = 400, ε = 2", trials=16)],
    "dwang20.section4.1.5.stable.exact": [Ratios(settling(CHAPTER, "exact"), f"{DATASETS}, T = 400, ε = 2", trials=16)],
    "dwang20.section4.1.5.d": [Ratios(growing_with_d(CHAPTER), BY_D, trials=8)],
    "dwang20.section4.1.5.d.exact": [Ratios(growing_with_d(CHAPTER, "exact"), BY_D, trials=8)],
    "dwang20.section4.1.5.n.proportional": [
        Trend("n", (500, 1000, 2000, 4000), norm_by_n(False), "synthetic data, d = 10, T = 50", 0.1, True, trials=16)
    ],
    "dwang20.section4.1.5.n.proportional.corrected": [
        Trend("n", (500, 1000, 2000), norm_by_n(True), "synthetic data, d = 10, T = n/20", 0.1, True, trials=16)
    ],
}
