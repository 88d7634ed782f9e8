"""Output-perturbation gradient descent (zhang17, Algorithm 1). Claims: bounds/library/convex/outpert_gd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim, lambdified
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.bounds.library.convex import gradient_descent
from dpcheck.bounds.library.convex import outpert_gd as theory
from dpcheck.bounds.library.mechanisms import gaussian, l2_laplace
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.method import ROUNDED
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.losses import Huber
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, positive
from dpcheck.solver import Calibrated, Calibration, Solver, gaussian_parameters, must_meet

MOST_STEPS = 10**7  # minutes of them
Values = Mapping[str, float]  # the numbers of Theorems 2 and 3; without "delta" for pure DP


@dataclass(frozen=True)
class OutputPerturbationGD(Solver):
    """Gradient descent from 0, then one draw of noise: Gamma-radius noise for pure DP, else Gaussian.

    In pure DP the end of the descent is rounded to a public grid, far finer than the noise, and so is ideal noise.
    `steps` is T, by default that of Theorem 2 (strongly convex) or 3 (convex). `radius` is D, a PUBLIC bound on
    the norm of the minimiser of every dataset: by default L/mu for a regularised loss, and 1 without.
    """

    steps: int | None = count()
    radius: float | None = positive()
    name: ClassVar[str] = "outpert_gd"
    multiclass: ClassVar[bool] = True

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        if not isinstance(data.constraint, WholeSpace):
            raise InvalidInput("constraint", data.constraint, "the whole space", "Algorithm 1 does not project.")
        if calibration == "stated" and not isinstance(guarantee, PureDP | ApproxDP):
            limit, remedy = "pure or approximate DP", "The paper states no other noise."
            raise InvalidInput("guarantee", str(guarantee), limit, remedy)
        must_meet(exact_lemma(data) if calibration == "certified" else published_lemma(data), data)

    def plan(self, data: Problem, guarantee: Guarantee) -> Values:
        return self.values(data, guarantee)

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
        if here["T"] > MOST_STEPS:
            raise InvalidInput("T of the theorem", f"{here['T']:.3g}", f"at most {MOST_STEPS:g}", "Pass steps=1000.")
        return here

    def release(self, data: Problem, plan: Values) -> Release:
        """w_T, as far from a neighbour's as Lemma 2 or 3, corrected, says; on the grid of pure DP a little farther."""
        released = self.unrounded(data, plan)
        rounding = ROUNDED * math.sqrt(data.d) * lattice_of(data, plan, released)
        return replace(released, sensitivity=released.sensitivity + rounding)

    def unrounded(self, data: Problem, plan: Values) -> Release:
        """The release in exact arithmetic."""
        lemma, strong, pure = exact_lemma(data), data.l2 > 0, "delta" not in plan
        here = {k: v for k, v in plan.items() if k not in ("eps", "delta")}
        here["L"] = pull(data, plan["eta"], int(plan["T"]))
        must_meet(lemma, data, **here)
        # privacy: zhang17.lemma2.corrected and zhang17.lemma3.regularised
        convex = theory.released_pure if pure else theory.released
        regularised = theory.released_strong_pure if pure else theory.released_strong
        return (regularised if strong else convex).at(**here)

    def method(self, data: Problem, plan: Values, released: Released) -> OneAnswer:
        lattice = lattice_of(data, plan, self.unrounded(data, plan))
        return OneAnswer(lambda records: descend(records, plan["eta"], int(plan["T"]))[-1], data.d, lattice=lattice)

    def stated(self, data: Problem, guarantee: Guarantee, plan: Values) -> tuple[Released, Sequence[Claim]]:
        """The noise of Algorithm 1 with the sensitivity of Theorem 2 or 3, as published."""
        lemma, strong = published_lemma(data), data.l2 > 0
        if "delta" in plan:
            claims = [theory.theorem1_strong if strong else theory.theorem1]
        else:
            plan, claims = {**plan, "Delta": at(lemma, plan)}, [l2_laplace.algorithm1_pure, lemma]
        return self.release(data, plan).with_noise(at(claims[0], plan)), claims

    def certifying(self, data: Problem, plan: Values) -> Sequence[Claim]:
        return [exact_lemma(data), confined(data), gaussian.exact if "delta" in plan else l2_laplace.algorithm1_pure]

    def taken(self, done: Calibrated) -> int:
        return int(done.plan["T"])

    def gradients(self, problem: Problem, guarantee: Guarantee) -> int:
        """Record gradients evaluated: all, at every step of the descent."""
        return problem.n * int(self.values(problem, guarantee)["T"])

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Huber losses whose minimisers lie at +far and -far: the gradient is 1 all along both paths."""
        far = 1e6
        X, y = np.array([[1.0], [0.0]]), np.array([far, far])
        first = Problem(X, y, Huber(1.0), label_bound=far)
        return first, first.replace(0, [1.0], -far)


def lattice_of(problem: Problem, plan: Values, released: Release) -> float:
    """For pure DP a power of two, 2^-20 of the sensitivity or less; coarser where w_T has fewer digits. Else 0.

    A gradient is a mean of n, of margins that are sums of d products of sizes up to T L eta |x|: it is computed to
    (n + d T) L units of rounding and a few more. Descent brings paths no farther apart: T eta times as much at the end.
    """
    if "delta" in plan:
        return 0.0
    rounds = problem.n + problem.d * plan["T"] + 32
    off = 2.0**-50 * rounds * plan["T"] * plan["eta"] * plan["L"]
    return math.ldexp(1.0, math.frexp(max(2.0**-20 * float(released.sensitivity), 4 * off))[1])


def exact_lemma(problem: Problem) -> Claim:
    """The sensitivity that certified noise rests on."""
    return gradient_descent.lemma3_regularised if problem.l2 > 0 else gradient_descent.lemma2_corrected


def published_lemma(problem: Problem) -> Claim:
    """The sensitivity as Theorems 2 and 3 set it."""
    return gradient_descent.lemma3 if problem.l2 > 0 else gradient_descent.lemma2


def at(claim: Claim, values: Mapping[str, Any]) -> float:
    """The claim's formula at these values."""
    return float(claim.evaluate(**{str(s): values[str(s)] for s in claim.formula.free_symbols}))


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


def pull(problem: Problem, step: float, steps: int) -> float:
    """The largest gradient of a record's loss, without the regulariser, that a run from 0 can meet.

    Runs stay in a ball, where a smaller L may hold, so that they stay in a smaller one, and so on.
    """
    losses, L, claim = replace(problem, l2=0.0), problem.data_lipschitz, confined(problem)
    if steps == 1:
        return losses.lipschitz_within(0.0)
    for _ in range(8):  # each round gives a bound, the next a smaller one
        here = {"L": L, "mu": problem.l2, "eta": step, "T": steps - 1}  # the last gradient is taken at w_(T-1)
        L = losses.lipschitz_within(at(claim, here))
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
