"""What runs of DP-LSSGD show. Claims: bounds/library/nonconvex/dp_lssgd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import special

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_lssgd as theory
from dpcheck.bounds.library.nonconvex import dp_lssgd_proof as convex_theory
from dpcheck.bounds.library.nonconvex import dp_lssgd_stationarity as nonconvex_theory
from dpcheck.bounds.library.nonconvex import dp_lssgd_steps as steps_theory
from dpcheck.evidence.checks import AuditCheck, Property
from dpcheck.evidence.random_problems import random_problem
from dpcheck.kernels.smoothing import LaplacianSmoothing
from dpcheck.problems.extreme_pairs import linear_pair
from dpcheck.problems.losses import Array, Logistic, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.nonconvex.dp_lssgd import DPLSSGD
from dpcheck.testing.planting import with_noise_times

ALTERNATING = (1.0, -1.0) * 4
CLAIMED = ApproxDP(1.0, 1e-2)
SEEN, RUNS = "every iterate seen", "200 runs, five standard errors"


def at_the_boundary(calibration: Calibration) -> Any:
    """One of six records, one step, ε at the limit of Theorem 1's condition."""
    guarantee = ApproxDP(1.13, 1e-4)
    solver = DPLSSGD(batch=1, steps=1, smoothing=2.0, document="lssgd20")
    return solver.mechanism(guarantee, calibration, transcript=True), linear_pair(6), guarantee


def where_theorem_5_3_2_applies(part: float = 1.0) -> Any:
    """One of twelve records, eight steps, µ = 0.05: about the fewest that meet both conditions at ε = 5."""
    guarantee = ApproxDP(5.0, 0.1)
    solver = DPLSSGD(batch=1, steps=8, smoothing=2.0, split=0.05)
    return with_noise_times(part, solver, guarantee, "stated", transcript=True), linear_pair(12), guarantee


def smoothed(part: float) -> Any:
    """Eight dimensions, gradients that alternate: what smoothing shrinks most; every iterate seen."""
    solver = DPLSSGD(batch=2, steps=4, smoothing=5.0)
    return with_noise_times(part, solver, CLAIMED, transcript=True), linear_pair(10, ALTERNATING), CLAIMED


def if_smoothing_helped() -> Any:
    """The noise that would do if sensitivity fell by √β and noise did not."""
    return smoothed(math.sqrt(LaplacianSmoothing(5.0, 8).beta))


def renyi_divergence(order: float, share: float, spread: float, means: tuple[float, float]) -> float:
    """The larger of both directions between (1-τ)N(0,s) + τN(m,s), m one mean or the other, on a grid with all mass.

    Rounding leaves about 1e-11: too much for shares below 1e-4.
    """
    deviation = math.sqrt(spread)
    x = np.linspace(-order - 12 * deviation, order + 12 * deviation, 20_001)
    centre = -(x**2) / (2 * spread) - math.log(deviation * math.sqrt(2 * math.pi))
    p, q = (
        centre + np.logaddexp(math.log1p(-share), math.log(share) + (2 * m * x - m**2) / (2 * spread)) for m in means
    )
    moments = (order * a + (1 - order) * b for a, b in ((p, q), (q, p)))
    return max(float(special.logsumexp(m) + math.log(x[1] - x[0])) / (order - 1) for m in moments)


def amplified(case: Mapping[str, Any]) -> tuple[float, float]:
    """The divergence at a real order inside the lemma's limit, against 5τ²α/σ'²."""
    spread, share = float(case["spread"]), 10.0 ** -float(case["digits"])
    top = math.log(1 / (share * (1 + spread)))
    if top <= 1.01:
        return 0.0, 1.0
    order = 1.01 + (top - 1.01) * float(case["part"])
    bound = theory.amplification.evaluate(ls_order=order, ls_spread=spread, ls_tau=share)
    means = (0.5, -0.5) if case["between"] else (1.0, 0.0)  # the other records between the two, or like one
    return renyi_divergence(order, share, spread, means), float(bound)


def excess(case: Mapping[str, Any]) -> tuple[float, float]:
    """E F(mean iterate) - F*, less five standard errors, against the bound of Theorem 2's proof."""
    return excess_against(convex_theory.theorem2_proof, case, 1)


def excess_of_batches(case: Mapping[str, Any]) -> tuple[float, float]:
    """The same with batches, against that of Theorem 5.3.4's proof; T ≥ 4L² always, as L ≤ 1/4."""
    return excess_against(steps_theory.theorem4_proof, case, min(int(case["batch"]), int(case["n"])))


def excess_against(claim: Claim, case: Mapping[str, Any], batch: int) -> tuple[float, float]:
    problem = random_problem(case, Logistic())
    best, least = _minimiser(problem)
    solver = DPLSSGD(batch, int(case["T"]), float(case["sigma"]), schedule="constant", released="mean")
    found = solver.solve(problem, ApproxDP(float(case["eps"]), 1e-2), int(case["seed"]), trials=200)
    gaps = problem.value(found.w) - least
    operator = LaplacianSmoothing(solver.smoothing, problem.d)
    bound = claim.evaluate(
        D_sigma=float(operator.norm2(best)), G=problem.data_lipschitz, gamma_s=operator.gamma, d=problem.d,
        ls_nu=found.noise_std, T=found.steps, batch=batch, L_smooth=problem.smoothness, n=problem.n,
    )  # fmt: skip
    return float(gaps.mean() - 5 * gaps.std() / math.sqrt(len(gaps))), float(bound)


def _minimiser(problem: Problem) -> tuple[Array, float]:
    """A comparison point and its value: bounds of this kind hold against every point."""
    w = np.zeros(problem.d)
    for _ in range(200):
        w = w - 4.0 * problem.gradient(w)
    return w, float(problem.value(w))


def stationarity(case: Mapping[str, Any]) -> tuple[float, float]:
    """E ‖∇F‖² at a random iterate in the norm of A⁻¹, less five standard errors, against Theorem 3's proof."""
    problem = random_problem(case, Sigmoid())
    solver = DPLSSGD(1, int(case["T"]), float(case["sigma"]), schedule="constant", released="random")
    found = solver.solve(problem, ApproxDP(float(case["eps"]), 1e-2), int(case["seed"]), trials=200)
    operator = LaplacianSmoothing(solver.smoothing, problem.d)
    norms = operator.dual_norm2(problem.gradient(found.w))
    bound = nonconvex_theory.theorem3_half.evaluate(
        ls_gap=0.5, L_smooth=problem.smoothness, G=problem.data_lipschitz, beta_s=operator.beta, d=problem.d,
        ls_nu=found.noise_std, T=found.steps,
    )  # fmt: skip
    return float(norms.mean() - 5 * norms.std() / math.sqrt(len(norms))), float(bound)


SIZES = {"n": (2, 8), "d": (2, 9), "seed": (0, 10**6), "T": (1, 12), "sigma": (0.0, 5.0), "eps": (0.3, 3.0)}

CHECKS = {
    "lssgd20.theorem1": [
        AuditCheck(
            lambda: at_the_boundary("stated"), "as published, ε at the limit of its condition, one of six records",
            trials=1_000_000,
        )
    ],
    "lwang21.theorem5.3.2": [
        AuditCheck(where_theorem_5_3_2_applies, f"as published, where both conditions hold, {SEEN}", trials=20_000)
    ],
    "lssgd20.theorem1.corrected": [
        AuditCheck(lambda: smoothed(1.0), f"certified noise, σ = 5, d = 8, {SEEN}", trials=20_000)
    ],
    "lwang21.remark5.5.6.privacy": [
        AuditCheck(if_smoothing_helped, f"√β of the noise, σ = 5, d = 8, alternating gradients, {SEEN}", trials=20_000)
    ],
    "lwang21.lemma5.5.3.subsampled": [
        Property(
            amplified, {"spread": (1.5, 60.0), "digits": (0.5, 3.5), "part": (0.0, 1.0), "between": (0, 1)},
            "real orders inside the limit, all other records alike or between the two, quadrature", examples=150,
        )
    ],
    "lssgd20.theorem2.proof": [
        Property(excess, SIZES, f"certified noise, random logistic problems, {RUNS}", examples=12)
    ],
    "lwang21.theorem5.3.4.proof": [
        Property(
            excess_of_batches, {**SIZES, "batch": (1, 8)}, f"certified noise, random logistic problems, {RUNS}",
            examples=12,
        )
    ],
    "lssgd20.theorem3.proof.sharper": [
        Property(stationarity, SIZES, f"certified noise, random sigmoid problems, {RUNS}", examples=12)
    ],
}  # fmt: skip
