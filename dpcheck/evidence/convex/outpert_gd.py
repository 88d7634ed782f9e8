"""What runs of output-perturbation gradient descent show. Claims: bounds/library/convex/outpert_gd.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.bounds.library.convex import gradient_descent
from dpcheck.bounds.library.convex.smooth_erm_experiments import TABLE3
from dpcheck.datasets.embedded import breast_cancer, diabetes, digits, logistic_synthetic
from dpcheck.evidence.checks import AuditCheck, Property, Trend
from dpcheck.evidence.random_problems import excess
from dpcheck.problems.losses import Huber, Logistic
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


def real_error_strong(eps: float, trials: int, seed: int) -> np.ndarray:
    """Mean over three embedded data sets of the excess risk, each over the noise power it would have at eps = 1."""
    problems = [
        breast_cancer().problem(Logistic(), l2=0.1),
        digits().problem(Logistic(), l2=0.1),
        diabetes().problem(Huber(0.5), l2=0.5),
    ]
    solver = OutputPerturbationGD()
    unit = [solver.solve(p, ApproxDP(1.0, 1e-3), 0, calibration="stated").noise_std for p in problems]
    risks = [excess(p, solver, ApproxDP(eps, 1e-3), trials, seed, "stated") for p in problems]
    return np.mean([r / (p.d * s**2) for r, p, s in zip(risks, problems, unit, strict=True)], axis=0)


def real_error_convex(eps: float, trials: int, seed: int) -> np.ndarray:
    """Excess risk on diabetes without a regulariser; D = 3 bounds the norm of its minimiser (2.66).

    Chosen because its minimiser is near: on digits, nearly separable (norm 2432), the trend does not show.
    """
    problem = diabetes().problem(Huber(0.5))
    return excess(problem, OutputPerturbationGD(radius=3.0), ApproxDP(eps, 1e-3), trials, seed, "stated")


def steps_on_real_data(regularised: bool) -> Any:
    """T, which is all the run time depends on: n d operations a step."""

    def measure(eps: float, trials: int, seed: int) -> np.ndarray:
        problem = digits().problem(Logistic(), l2=0.1 if regularised else 0.0)
        solver = OutputPerturbationGD(radius=None if regularised else 300.0)
        return np.array([float(solver.values(problem, ApproxDP(eps, 1e-3))["T"])])

    return measure


def printed(column: str, regularised: bool) -> Any:
    """A column of Table 3 relative to its value at eps = 1, over the data sets with run times above a second."""

    def measure(eps: float, trials: int, seed: int) -> np.ndarray:
        rows = [r for r in TABLE3 if (r.mu > 0) == regularised and r.data in ("BANK", "ADULT", "CreditCard")]
        unit = {r.data: getattr(r, column) for r in rows if r.eps == 1}
        return np.array([np.mean([getattr(r, column) / unit[r.data] for r in rows if r.eps == eps])])

    return measure


PRINTED = (0.1, 0.5, 1.0, 2.0)


EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)


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
    "zhang17.table3.error.strongly_convex": [
        Trend("eps", EPSILONS, real_error_strong, "breast cancer, digits and diabetes, published noise"),
        Trend("eps", PRINTED, printed("error", True), "the printed rows of BANK, ADULT and CreditCard"),
    ],
    "zhang17.table3.error.convex": [Trend("eps", EPSILONS, real_error_convex, "diabetes, published noise")],
    "zhang17.table3.time.convex": [
        Trend("eps", EPSILONS, steps_on_real_data(False), "steps on digits", slack=0.05, two_sided=True),
        Trend("eps", PRINTED, printed("time", False), "the printed rows", slack=0.05, two_sided=True),
    ],
    "zhang17.table3.time.strongly_convex": [
        Trend("eps", EPSILONS, steps_on_real_data(True), "steps on digits", slack=0.02, in_log=True, two_sided=True),
        Trend("eps", PRINTED, printed("time", True), "the printed rows", slack=0.02, in_log=True),
    ],
}
