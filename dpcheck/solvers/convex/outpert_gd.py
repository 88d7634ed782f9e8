"""Output-perturbation gradient descent (zhang17, Algorithm 1). Claims: bounds/library/convex/outpert_gd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim, lambdified
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.bounds.library.convex import gradient_descent
from dpcheck.bounds.library.convex import outpert_gd as theory
from dpcheck.bounds.library.convex.smooth_erm_experiments import TABLE3
from dpcheck.bounds.library.mechanisms import gaussian, l2_laplace
from dpcheck.datasets import breast_cancer, diabetes, digits, logistic_synthetic
from dpcheck.evidence.checks import AuditCheck, Property, Trend
from dpcheck.kernels.descent import Trace, seed_of
from dpcheck.kernels.noise import l2_laplace as l2_laplace_noise
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.losses import Huber, Logistic, must_be_positive
from dpcheck.problems.problem import Problem
from dpcheck.solver import (
    Calibration,
    Seed,
    Solution,
    Solver,
    gaussian_noise_for,
    gaussian_parameters,
    must_be_whole,
    must_meet,
    on_grid,
)  # fmt: skip


@dataclass(frozen=True)
class OutputPerturbationGD(Solver):
    """Gradient descent from 0, then one draw of noise: Gamma-radius noise for pure DP, else Gaussian.

    `steps` is T, by default that of Theorem 2 (strongly convex) or 3 (convex). `radius` is D, a PUBLIC bound on
    the norm of the minimiser of every dataset: by default L/mu for a regularised loss, and 1 without.
    """

    steps: int | None = None
    radius: float | None = None
    name: ClassVar[str] = "outpert_gd"
    multiclass: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(steps=self.steps)
        if self.radius is not None:
            must_be_positive("radius", self.radius)

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        if not isinstance(problem.constraint, WholeSpace):
            raise InvalidInput("constraint", problem.constraint, "the whole space", "Algorithm 1 does not project.")
        pure = isinstance(guarantee, PureDP) or (isinstance(guarantee, ApproxDP) and guarantee.delta == 0)
        must_meet(premise(problem, calibration, pure), problem)
        values = self.values(problem, guarantee)
        scale, claims = (stated_scale if calibration == "stated" else certified_scale)(problem, guarantee, values, pure)
        scale *= self.noise_factor
        iterates = descend(problem, values["eta"], int(values["T"]))
        rng = np.random.Generator(np.random.PCG64(seed_of(seed)))
        w_T = iterates[-1]
        if pure:
            w = w_T + l2_laplace_noise(rng, scale, trials, problem.d)  # privacy: zhang17.algorithm1.pure
        else:
            w = w_T + scale * rng.standard_normal((trials, problem.d))  # privacy: zhang17.lemma1.gaussian.exact
        path = traced(problem, iterates) if trace else None
        return Solution(on_grid(w, scale, problem), guarantee, scale, claims, int(values["T"]), path)

    def values(self, problem: Problem, guarantee: Guarantee) -> dict[str, float]:
        """The numbers of Theorems 2 and 3 for this problem. None of them depends on the records."""
        strong = problem.l2 > 0
        if problem.smoothness == 0:
            raise InvalidInput("smoothness", 0.0, "a number > 0", "A linear risk has no minimiser: add l2 > 0.")
        D = self.radius or (problem.data_lipschitz / problem.l2 if strong else 1.0)
        L = problem.lipschitz_within(2 * D) if strong else problem.data_lipschitz
        beta, mu = problem.smoothness, problem.strong_convexity
        eps, delta = gaussian_parameters(guarantee)
        here = {"n": problem.n, "d": problem.d, "eps": eps, "L": L, "beta": beta, "mu": mu, "D": D}
        here |= {"delta": delta} if delta > 0 else {}
        here["eta"] = 1 / (mu + beta) if strong else 1 / beta
        here["T"] = self.steps or default_steps(here, strong)
        return here

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Huber losses whose minimisers lie at +far and -far: the gradient is 1 all along both paths."""
        far = 1e6
        X, y = np.array([[1.0], [0.0]]), np.array([far, far])
        first = Problem(X, y, Huber(1.0), label_bound=far)
        return first, first.replace(0, [1.0], -far)


def default_steps(values: Mapping[str, float], strong: bool) -> int:
    """T of Theorem 2 or 3, with the constant of the order taken as 1."""
    formula = {
        (True, False): theory.strong_steps_pure,
        (True, True): theory.strong_steps_approx,
        (False, False): theory.pure_steps,
        (False, True): theory.approx_steps,
    }[strong, "delta" in values]
    names = sorted(formula.free_symbols, key=str)
    value = float(lambdified(formula)(*(values[str(s)] for s in names)))
    return max(1, math.ceil(value)) if math.isfinite(value) else 1


def premise(problem: Problem, calibration: Calibration, pure: bool) -> Claim:
    """The claim whose hypotheses on the losses the noise rests on."""
    strong = problem.l2 > 0
    if calibration == "certified":
        return gradient_descent.lemma3_regularised if strong else gradient_descent.lemma2_corrected
    if pure:  # the noise law itself assumes nothing of the losses, its sensitivity does
        return gradient_descent.lemma3 if strong else gradient_descent.lemma2
    return theory.theorem1_strong if strong else theory.theorem1


def stated_scale(
    problem: Problem, guarantee: Guarantee, values: Mapping[str, float], pure: bool
) -> tuple[float, tuple[str, ...]]:
    """The noise of Algorithm 1 with the sensitivity of Theorem 2 or 3, as published."""
    if not isinstance(guarantee, PureDP | ApproxDP):
        raise InvalidInput("guarantee", str(guarantee), "pure or approximate DP", "The paper states no other noise.")
    strong = problem.l2 > 0
    claim = premise(problem, "stated", pure)
    if pure:
        values = dict(values) | {"Delta": published_sensitivity(values, strong)}
        claim = l2_laplace.algorithm1_pure
    return float(claim.evaluate(**{str(s): values[str(s)] for s in claim.formula.free_symbols})), (claim.id,)


def published_sensitivity(values: Mapping[str, float], strong: bool) -> float:
    """Delta as Theorems 2 and 3 set it."""
    claim = gradient_descent.lemma3 if strong else gradient_descent.lemma2
    return float(claim.evaluate(**{str(s): values[str(s)] for s in claim.formula.free_symbols}))


def certified_scale(
    problem: Problem, guarantee: Guarantee, values: Mapping[str, float], pure: bool
) -> tuple[float, tuple[str, ...]]:
    """The exact sensitivity (Lemma 2 or 3, corrected) and the exact noise for it."""
    claim = premise(problem, "certified", pure)
    here = {k: v for k, v in values.items() if k not in ("eps", "delta")}
    here["L"] = pull(problem, values["eta"], int(values["T"]))
    must_meet(claim, problem, **here)
    sensitivity = float(claim.evaluate(**{str(s): here[str(s)] for s in claim.symbols if str(s) in here}))
    claims = (claim.id, confined(problem).id)
    if pure:
        noise = l2_laplace.algorithm1_pure
        return float(noise.evaluate(Delta=sensitivity, eps=values["eps"])), (*claims, noise.id)
    return gaussian_noise_for(guarantee, sensitivity), (*claims, gaussian.exact.id)


def pull(problem: Problem, step: float, steps: int) -> float:
    """The largest gradient of a record's loss, without the regulariser, that a run from 0 can meet.

    Runs stay in a ball, where a smaller L may hold, so that they stay in a smaller one, and so on.
    """
    losses, L, claim = replace(problem, l2=0.0), problem.data_lipschitz, confined(problem)
    if steps == 1:
        return losses.lipschitz_within(0.0)
    for _ in range(8):  # each round gives a bound, the next a smaller one
        here = {"L": L, "mu": problem.l2, "eta": step, "T": steps - 1}  # the last gradient is taken at w_(T-1)
        L = losses.lipschitz_within(float(claim.evaluate(**{str(s): here[str(s)] for s in claim.formula.free_symbols})))
    return L


def confined(problem: Problem) -> Claim:
    """The claim on how far a run from 0 goes."""
    return gradient_descent.lemma3_confined if problem.l2 > 0 else gradient_descent.lemma2_confined


def descend(problem: Problem, step: float, steps: int) -> np.ndarray:
    """w_0 = 0, ..., w_T, shape (T + 1, d): computed once for all trials."""
    path = np.zeros((steps + 1, problem.d))
    for t in range(steps):
        path[t + 1] = path[t] - step * problem.gradient(path[t][None])[0]
    return path


def traced(problem: Problem, iterates: np.ndarray) -> Trace:
    """Iterates and gradient norms, with an axis of one trial: they are common to all."""
    norms = np.linalg.norm(problem.gradient(iterates[:-1]), axis=1)
    return Trace(iterates[:, None], norms[:, None])


# Checks that run the solver -------------------------------------------------------------------------
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


def excess(
    problem: Problem,
    solver: Solver,
    guarantee: Guarantee,
    trials: int,
    seed: int,
    calibration: Calibration = "certified",
) -> np.ndarray:
    """F(w_priv) - F(w_hat) of each trial."""
    _, least = problem.minimiser()
    return problem.value(solver.solve(problem, guarantee, seed, trials=trials, calibration=calibration).w) - least


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
