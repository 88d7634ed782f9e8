"""What runs of DP-SVRG show. Claims: bounds/library/convex/dp_svrg.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_svrg_proof as proof
from dpcheck.bounds.library.convex import variance_reduction as lemmas
from dpcheck.datasets.embedded import logistic_synthetic
from dpcheck.evidence.checks import AuditCheck, Property, Trend
from dpcheck.evidence.random_problems import RUNS, SIZES, random_problem
from dpcheck.kernels.variance_reduction import Epochs, proximal, reduced_descent
from dpcheck.problems.extreme_pairs import bending_pair, turning_pair
from dpcheck.problems.losses import Huber, Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.convex.dp_svrg import DPSVRG


def attacked(calibration: Calibration) -> Any:
    """Twenty records, one epoch of five steps, the mean of the iterates seen."""
    solver, guarantee = DPSVRG(epochs=1, inner=5, step_size=4.0), ApproxDP(1.0, 1e-2)
    return solver.mechanism(guarantee, calibration), solver.worst_pair(), guarantee


def attacked_without_condition() -> Any:
    """An epoch of 13 steps on 400 records, with Remark 3.1.1's factor log(T/delta) on the noise, its constant 1."""
    guarantee = ApproxDP(1.0, 1e-2)
    solver = DPSVRG(epochs=1, inner=13, step_size=4.0, c=math.log(1 / guarantee.delta) ** 2)
    return solver.mechanism(guarantee, "stated"), turning_pair(400), guarantee


def adapting(adaptive: bool = True) -> Any:
    """Two epochs of three small steps, the second with a step size read off the data; noise that would be enough."""
    guarantee = ApproxDP(1.0, 1e-2)
    solver = DPSVRG(epochs=2, inner=3, step_size=0.05, adaptive=adaptive, c=1e4)
    return solver.mechanism(guarantee, "stated"), bending_pair(20), guarantee


def gradient_variance(problem: Problem, y: np.ndarray, snap: np.ndarray) -> float:
    """Exact variance of a variance-reduced gradient, all records enumerated."""
    index = np.arange(problem.n)
    moved = [problem.gradient_at(np.tile(at, (problem.n, 1)), index) for at in (y, snap)]
    gone = moved[0] - moved[1]
    return float(np.mean(np.sum((gone - gone.mean(axis=0)) ** 2, axis=1)))


def variance_at_snapshot(case: Mapping[str, Any]) -> tuple[float, float]:
    """Lemma 3.1.1 on random logistic and Huber problems, without noise."""
    problem = random_problem(case, (Logistic(), Huber(0.5))[int(case["huber"])])
    y, snap = case["size"] * np.random.default_rng(int(case["seed"]) + 1).standard_normal((2, problem.d))
    bregman = problem.value(snap) - problem.value(y) - problem.gradient(y) @ (snap - y)
    bound = lemmas.lemma1.evaluate(
        L_smooth=problem.smoothness, bregman=max(0.0, float(bregman)), d=problem.d, sigma_n=0.0
    )
    return gradient_variance(problem, y, snap), float(bound) + 1e-12


def variance_at_best(case: Mapping[str, Any]) -> tuple[float, float]:
    """(3.26) corrected on regularised problems."""
    problem = random_problem(case, l2=0.1)
    y, snap = case["size"] * np.random.default_rng(int(case["seed"]) + 1).standard_normal((2, problem.d))
    least = problem.minimiser()[1]
    bound = proof.equation26_corrected.evaluate(
        L_smooth=0.25, gap_x=float(problem.value(y)) - least, gap_snap=float(problem.value(snap)) - least,
        d=problem.d, sigma_n=0.0,
    )  # fmt: skip
    return gradient_variance(replace(problem, l2=0.0), y, snap), float(bound) + 1e-9


def proximal_distance(case: Mapping[str, Any]) -> tuple[float, float]:
    """Lemma 3.1.4 for the proximal steps used here."""
    problem = random_problem(case, l2=case["l2"])
    x, y = np.random.default_rng(int(case["seed"]) + 1).standard_normal((2, 1, problem.d)) * case["size"]
    images = [proximal(problem, case["l1"], point, case["eta"]) for point in (x, y)]
    return float(np.linalg.norm(images[0] - images[1])), float(np.linalg.norm(x - y))


def one_epoch(case: Mapping[str, Any]) -> tuple[float, float]:
    """Measured excess risk after an epoch, on single records or batches, less five standard errors, against (3.28)."""
    problem = random_problem(case, l2=0.25 / case["kappa"])
    eta, inner = case["step"] / (8 * 0.25), int(case["inner"])
    w, least = problem.minimiser()
    start = w + case["size"] * np.ones(problem.d)
    epochs = Epochs((inner,), eta, batch=min(problem.n, int(case.get("batch", 1))))
    done = reduced_descent(problem, epochs, noise_std=case["noise"], seed=int(case["seed"]), trials=200, start=start)
    risks = problem.value(done.w) - least
    bound = proof.equation28.evaluate(
        eta=eta, L_smooth=0.25, mu=problem.l2, inner=inner, gap_snap=float(problem.value(start)) - least, d=problem.d,
        sigma_n=case["noise"],
    )  # fmt: skip
    return float(risks.mean() - 5 * risks.std() / math.sqrt(len(risks))), float(bound)


def all_epochs(case: Mapping[str, Any]) -> tuple[float, float]:
    """Measured excess risk of the certified solver, less five standard errors, against the bound of the proof."""
    problem = random_problem(case, l2=0.25 / case["kappa"])
    found = DPSVRG(epochs=int(case["T"])).solve(problem, ApproxDP(case["eps"], 1e-2), int(case["seed"]), trials=100)
    _, least = problem.minimiser()
    risks = problem.value(found.w) - least
    gap0 = float(problem.value(np.zeros(problem.d))) - least
    bound = proof.proof.evaluate(
        T=int(case["T"]), gap0=gap0, sigma_n=found.noise_std, d=problem.d, L_smooth=0.25, eta=1 / 12, mu=problem.l2
    )
    return float(risks.mean() - 5 * risks.std() / math.sqrt(len(risks))), float(bound)


def sampled_moment(case: Mapping[str, Any]) -> tuple[float, float]:
    """The log moment of a sampled Gaussian with shift 4, both ways, by quadrature; against (3.13) corrected."""
    sigma = case["sigma"]
    n = math.ceil(4 * sigma * case["more"])
    lam = max(1, math.floor(case["share"] * sigma**2 / 16 * math.log(4 * n / sigma)))
    nodes, weights = special.roots_hermitenorm(120)
    q, shift = 1 / n, 4 / sigma
    ratio = np.log1p(q * np.expm1(nodes * shift - shift**2 / 2))  # log A/B at points of B = N(0, 1)
    both = [special.logsumexp(order * ratio, b=weights / weights.sum()) for order in (lam + 1, -lam)]
    bound = lemmas.equation13_corrected.evaluate(lam=lam, n=n, sigma_1=sigma)
    return float(max(both)), float(bound)


def error_by(symbol: str) -> Any:
    """Excess risk over a grid of n or eps with the published noise, c = 1, on regularised logistic regression."""

    def measure(value: float, trials: int, seed: int) -> np.ndarray:
        here = {"n": 400.0, "eps": 1.0} | {symbol: value}
        problem = logistic_synthetic(int(here["n"]), 3, seed=7).problem(Logistic(), l2=0.25)
        solver = DPSVRG(epochs=6, inner=193)
        found = solver.solve(problem, ApproxDP(here["eps"], 1e-3), seed, trials=trials, calibration="stated")
        return problem.value(found.w) - problem.minimiser()[1]

    return measure


CHECKS = {
    "dwang20.lemma3.1.1": [
        Property(
            variance_at_snapshot, {**SIZES, "huber": (0, 1), "size": (0.1, 10.0)}, "exact variance, random problems"
        )
    ],
    "dwang20.lemma3.1.4": [
        Property(
            proximal_distance, {**SIZES, "l1": (0.0, 1.0), "l2": (0.0, 1.0), "eta": (0.1, 5.0), "size": (0.1, 5.0)},
            "l1 and l2 regularisers",
        )
    ],
    "dwang20.equation3.13.corrected": [
        Property(
            sampled_moment, {"sigma": (4.0, 40.0), "more": (1.0, 50.0), "share": (0.05, 1.0)},
            "one record in n drawn, shift 4, quadrature with 120 nodes",
        )
    ],
    "dwang20.equation3.26.corrected": [
        Property(variance_at_best, {**SIZES, "size": (0.1, 10.0)}, "exact variance, random problems", examples=50)
    ],
    "dwang20.equation3.28": [
        Property(
            one_epoch,
            {
                **SIZES, "kappa": (1.0, 5.0), "step": (0.05, 0.9), "inner": (1, 60), "noise": (0.0, 1.0),
                "size": (0.0, 3.0),
            },
            f"200 {RUNS}", examples=40,
        )
    ],
    "dwang20.theorem3.1.1": [
        AuditCheck(lambda: attacked("stated"), "Algorithm 3.1.1 as published, c = 1, its output seen")
    ],
    "dwang20.theorem3.1.1.corrected": [
        AuditCheck(lambda: attacked("certified"), "certified calibration, on the same pair")
    ],
    "dwang20.remark3.1.1": [
        AuditCheck(attacked_without_condition, "noise larger by log(T/δ), its output seen", trials=30_000)
    ],
    "dwang20.theorem3.1.2.proof": [
        Property(
            all_epochs, {**SIZES, "kappa": (1.0, 2.0), "T": (1, 2), "eps": (0.3, 3.0)}, f"certified noise, 100 {RUNS}",
            examples=8,
        )
    ],
    "dwang20.theorem3.1.2": [
        Trend("n", (200, 400, 800, 1600), error_by("n"), "published noise, L/μ = 1", trials=40, slack=0.15),
        Trend("eps", (0.5, 1.0, 2.0, 4.0), error_by("eps"), "published noise, L/μ = 1", trials=40, slack=0.15),
    ],
    "dwang20.section3.1.5.step_size": [
        AuditCheck(adapting, "Barzilai-Borwein step sizes, a hundred times the published noise", trials=20_000)
    ],
    "dwang20.section3.1.5.step_size.corrected": [
        AuditCheck(lambda: adapting(False), "fixed step sizes, the same noise and data", trials=20_000)
    ],
}  # fmt: skip
