"""What runs of DP-LSSGD show. Claims: bounds/library/nonconvex/dp_lssgd.py and dp_lssgd_proof.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy import special

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_lssgd as theory
from dpcheck.bounds.library.nonconvex import dp_lssgd_proof as proof
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.random_problems import random_problem
from dpcheck.kernels.smoothing import LaplacianSmoothing
from dpcheck.problems.extreme_pairs import linear_pair
from dpcheck.problems.losses import Array, Logistic, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.nonconvex.dp_lssgd import DPLSSGD

BOUNDARY = ApproxDP(1.13, 1e-4)  # ε² = 5·log(1/δ)/36, nearly


def at_the_boundary(calibration: Calibration) -> Any:
    """One of six records, one step, ε at the limit of Theorem 1's condition."""
    solver = DPLSSGD(batch=1, steps=1, smoothing=2.0, document="lssgd20")
    return solver.mechanism(BOUNDARY, calibration, transcript=True), linear_pair(6), BOUNDARY


def renyi_divergence(order: float, share: float, spread: float, others: tuple[float, float]) -> float:
    """The larger of both directions between (1-τ)N(x,s) + τN(m,s), m = (0, 0) or (1, 0), x that of the other batches.

    Three means span a plane, and the grid of it holds all mass; rounding leaves about 1e-12.
    """
    step = math.sqrt(spread) / 4
    axis = np.arange(-order - 40 * step, order + 40 * step, step)
    across, up = np.meshgrid(axis, axis)

    def component(mean: tuple[float, float]) -> Array:
        apart = (across - mean[0]) ** 2 + (up - mean[1]) ** 2
        return np.asarray(-apart / (2 * spread) + 2 * math.log(step) - math.log(2 * math.pi * spread))

    p, q = (
        np.logaddexp(math.log1p(-share) + component(others), math.log(share) + component(mean))
        for mean in ((0.0, 0.0), (1.0, 0.0))
    )
    moments = (order * a + (1 - order) * b for a, b in ((p, q), (q, p)))
    return max(float(special.logsumexp(m)) / (order - 1) for m in moments)


def amplified(claim: Claim, case: Mapping[str, Any]) -> tuple[float, float]:
    """The divergence at a real order inside the lemma's limit, against the claim's; means are at most 1 apart."""
    spread, share, across = float(case["spread"]), 10.0 ** -float(case["digits"]), float(case["across"])
    top = math.log(1 / (share * (1 + spread)))
    if top <= 1.01:
        return 0.0, 1.0
    order = 1.01 + (top - 1.01) * float(case["part"])
    up = float(case["up"]) * math.sqrt(1 - max(across, 1 - across) ** 2)
    found = renyi_divergence(order, share, spread, (across, up))
    return found, float(claim.evaluate(ls_order=order, ls_spread=spread, ls_tau=share))


def within(claim: Claim) -> Property:
    """Its divergence is no less than what quadrature finds."""
    ends = {"spread": (1.5, 60.0), "digits": (0.5, 3.5), "part": (0.0, 1.0), "across": (0.0, 1.0), "up": (0.0, 1.0)}
    because = "real orders inside the limit, the other records anywhere within the sensitivity, quadrature"
    return Property(partial(amplified, claim), ends, because, examples=60)


def against(claim: Claim, problem: Problem, case: Mapping[str, Any], released: Any, weight: float, **at: Any) -> Any:
    """A run's iterates, the operator, and the claim's bound on `weight`·ηT times what the proof adds up of each."""
    steps, sigma = int(case["T"]), float(case["sigma"])
    solver = DPLSSGD(1, steps, sigma, schedule="constant", released=released, large_delta=True)
    found = solver.solve(problem, ApproxDP(float(case["eps"]), 1e-2), int(case["seed"]), trials=200)
    operator, eta = LaplacianSmoothing(sigma, problem.d), 1 / math.sqrt(steps)
    means = {"gamma_s": operator.gamma, "beta_s": operator.beta, "d": problem.d}
    sizes = {"G": problem.data_lipschitz, "ls_nu": found.noise_std, "T": steps, "eta": eta, **means, **at}
    return found.w, operator, float(claim.evaluate(**sizes)) / (weight * eta * steps)


def less_five_errors(sample: Array) -> float:
    """A mean from below."""
    return float(sample.mean() - 5 * sample.std() / math.sqrt(len(sample)))


def excess(case: Mapping[str, Any]) -> tuple[float, float]:
    """E F(mean iterate) - F near the minimum, against the proof of Theorem 2, which holds for every point."""
    problem = random_problem(case, Logistic())
    best = np.zeros(problem.d)
    for _ in range(200):
        best = best - 4.0 * problem.gradient(best)
    distance = float(LaplacianSmoothing(float(case["sigma"]), problem.d).norm2(best))
    w, _, bound = against(proof.sum2, problem, case, "mean", 2.0, D_sigma=distance)
    return less_five_errors(problem.value(w) - float(problem.value(best))), bound


def stationarity(case: Mapping[str, Any]) -> tuple[float, float]:
    """E ‖∇F‖² at a random iterate in the norm of A⁻¹, against the proof of Theorem 3; F starts at 1/2."""
    problem = random_problem(case, Sigmoid())
    w, operator, bound = against(
        proof.sum3, problem, case, "random", 0.5, ls_gap=0.5, L_smooth=problem.smoothness
    )
    return less_five_errors(operator.dual_norm2(problem.gradient(w))), bound


SIZES = {"n": (2, 8), "d": (2, 9), "seed": (0, 10**6), "T": (1, 12), "sigma": (0.0, 5.0), "eps": (0.3, 3.0)}
RUNS = "200 runs, five standard errors"
CHECKS = {
    "lssgd20.theorem1": [
        AuditCheck(
            lambda: at_the_boundary("stated"), "as published, ε at the limit of its condition, one of six records",
            trials=1_000_000,
            at={"n": 6, "batch": 1, "T": 1, "G": 1, "ls_order": 2 * math.log(1 / BOUNDARY.delta) / BOUNDARY.eps + 1},
        )
    ],
    theory.amplification.id: [within(theory.amplification)],
    theory.amplification_right.id: [within(theory.amplification_right)],
    "lssgd20.theorem2.proof": [
        Property(excess, SIZES, f"certified noise, random logistic problems, {RUNS}", examples=12)
    ],
    "lssgd20.theorem3.proof": [
        Property(stationarity, SIZES, f"certified noise, random sigmoid problems, {RUNS}", examples=12)
    ],
}
