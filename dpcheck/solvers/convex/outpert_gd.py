"""Output-perturbation gradient descent (zhang17, Algorithm 1). Claims: bounds/library/convex/outpert_gd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim, lambdified
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.bounds.library.convex import gradient_descent
from dpcheck.bounds.library.convex import outpert_gd as theory
from dpcheck.bounds.library.mechanisms import gaussian, l2_laplace
from dpcheck.kernels.blocks import seed_of
from dpcheck.kernels.descent import Trace
from dpcheck.kernels.noise import l2_laplace as l2_laplace_noise
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.losses import Huber, must_be_positive
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
