"""What runs of output-perturbation gradient descent show. Claims: bounds/library/convex/outpert_gd.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.bounds.library.convex import gradient_descent
from dpcheck.datasets.embedded import logistic_synthetic
from dpcheck.evidence.checks import AuditCheck, Property, Trend
from dpcheck.evidence.random_problems import excess
from dpcheck.problems.losses import Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.convex.outpert_gd import OutputPerturbationGD, descend


def attacked(guarantee: Guarantee, calibration: Calibration, steps: int = 10) -> Any:
    """The solver on its worst pair, for the auditor."""
    solver = OutputPerturbationGD(steps=steps)
    return solver.mechanism(guarantee, calibration), solver.worst_pair(), guarantee


def divergence(case: Mapping[str, Any], strong: bool) -> tuple[float, float]:
    """Distance of two neighbouring runs on random data, and the steps' parameters; for the sensitivity lemmas."""
    rng = np.random.default_rng(case["seed"])
    n, d, steps = int(case["n"]), int(case["d"]), int(case["T"])
    X = rng.standard_normal((n + 1, d))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    y = rng.choice([-1.0, 1.0], n + 1)
    if case["opposite"]:  # the differing record pulls the other way with full weight
        X[n], y[n] = -X[0], y[0]
    first = Problem(X[:n], y[:n], Logistic(), l2=case["l2"] if strong else 0.0)
    second = first.replace(0, X[n], y[n])
    eta = case["step"] / (first.smoothness + first.strong_convexity)
    ends = [descend(p, eta, steps)[-1] for p in (first, second)]
    return float(np.linalg.norm(ends[0] - ends[1])), eta


def sensitivity_ratio(claim: Claim, strong: bool) -> Any:
    """Measured distance against the claim's bound for one random case."""

    def measure(case: Mapping[str, Any]) -> tuple[float, float]:
        measured, eta = divergence(case, strong)
        mu = case["l2"] if strong else 0.0
        values = {"n": case["n"], "T": case["T"], "eta": eta, "L": 1.0, "mu": mu, "beta": 0.25 + mu}
        return measured, float(claim.evaluate(**{str(s): values[str(s)] for s in claim.symbols if str(s) in values}))

    return measure


CASES = {
    "n": (2, 12),
    "d": (1, 4),
    "T": (1, 12),
    "seed": (0, 10**6),
    "step": (0.05, 1.0),
    "l2": (0.02, 0.2),
    "opposite": (0, 1),
}


RANDOM = "two runs of gradient descent on random neighbouring logistic problems"


def strong_error_by(symbol: str) -> Any:
    """Excess risk over a grid of n, d or eps, the rest fixed, on regularised logistic regression (Theorem 2)."""

    def measure(value: float, trials: int, seed: int) -> np.ndarray:
        here = {"n": 400.0, "d": 4.0, "eps": 1.0} | {symbol: value}
        problem = logistic_synthetic(int(here["n"]), int(here["d"]), seed=7).problem(Logistic(), l2=0.05)
        return excess(problem, OutputPerturbationGD(), PureDP(here["eps"]), trials, seed, "stated")

    return measure


CHECKS = {
    "zhang17.lemma2": [Property(sensitivity_ratio(gradient_descent.lemma2, False), CASES, RANDOM)],
    "zhang17.lemma2.corrected": [Property(sensitivity_ratio(gradient_descent.lemma2_corrected, False), CASES, RANDOM)],
    "zhang17.lemma3.regularised": [
        Property(sensitivity_ratio(gradient_descent.lemma3_regularised, True), CASES, RANDOM)
    ],
    "zhang17.theorem1": [
        AuditCheck(
            lambda: attacked(ApproxDP(60.0, 1e-3), "stated"),
            "Algorithm 1 as published, on its worst pair; its noise is known to be Gaussian",
            assume="gdp",
        )
    ],
    "zhang17.theorem1.pure": [
        AuditCheck(lambda: attacked(PureDP(1.0), "stated"), "Algorithm 1 as published, on its worst pair")
    ],
    "zhang17.theorem1.corrected": [
        AuditCheck(lambda: attacked(ApproxDP(1.0, 1e-3), "stated"), "Algorithm 1 as published, on its worst pair")
    ],
    "zhang17.algorithm1.pure": [
        AuditCheck(lambda: attacked(PureDP(1.0), "certified"), "certified calibration, on its worst pair")
    ],
    "zhang17.lemma1.gaussian.exact": [
        AuditCheck(lambda: attacked(ApproxDP(1.0, 1e-2), "certified"), "certified calibration, on its worst pair")
    ],
    "zhang17.theorem2.pure": [
        Trend("n", (200, 400, 800, 1600), strong_error_by("n"), "regularised logistic regression, ε = 1"),
        Trend("eps", (0.5, 1.0, 2.0, 4.0), strong_error_by("eps"), "regularised logistic regression, n = 400"),
        Trend("d", (2, 4, 8, 16), strong_error_by("d"), "regularised logistic regression, n = 400"),
    ],
}
