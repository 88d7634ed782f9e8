"""The trends of dwang20, section 3.1.5, measured again. Claims: bounds/library/convex.

Published noise with c = 1, lambda = 1e-4 and delta = 1e-4 as printed, on breast cancer and on the source's synthetic
rule (labels that a hyperplane decides) at smaller n. DP-SVRG keeps its first step size 0.1: with the rule of
Barzilai and Borwein it diverges at these n. DP-SGD is [29] on batches of 50, its cost n^2 as in the source; DP-GD is
[356], output perturbation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.datasets.embedded import Dataset, breast_cancer, in_unit_ball
from dpcheck.kernels.variance_reduction import composite_minimum, composite_value
from dpcheck.problems.losses import Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solver import Solver
from dpcheck.solvers.convex.bassily_sgd import BassilySGD
from dpcheck.solvers.convex.dp_katyusha import DPKatyusha
from dpcheck.solvers.convex.dp_svrg import DPSVRG
from dpcheck.solvers.convex.dp_svrgpp import DPSVRGpp
from dpcheck.solvers.convex.outpert_gd import OutputPerturbationGD

LAMBDA, DELTA = 1e-4, 1e-4
EPSILONS = (0.2, 1.0)


@dataclass(frozen=True)
class Ratios:
    """`measure(seed, trials)` gives ratios by name, all of which the claim says are at most 1."""

    measure: Callable[[int, int], Mapping[str, float]]
    because: str
    trials: int = 20
    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        return self.judge(effort.seed, self.trials * (5 if effort.thorough else 1))

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        return self.judge(int(point["seed"]), int(point["trials"]))

    def judge(self, seed: int, trials: int) -> Evidence:
        ratios = self.measure(seed, trials)
        above = [name for name, value in ratios.items() if value > 1]
        worst = max(ratios, key=lambda name: ratios[name])
        kept = f"ratio at most 1 in {len(ratios) - len(above)} of {len(ratios)} settings"
        figure = f"{kept}; largest {ratios[worst]:.3g}, {worst}"
        detail = f"{self.because}; {trials} runs each"
        if not above:
            return Evidence(self.kind, Verdict.SUPPORTED, figure, detail, seed=seed)
        seen = {"seed": seed, "trials": trials, "worst": worst}
        return Evidence(self.kind, Verdict.REFUTED, figure, detail, counterexample=seen, seed=seed)


# Data and settings ----------------------------------------------------------------------------------
def separable(n: int, d: int) -> Dataset:
    """The source's synthetic rule: a random direction decides the labels."""
    rng = np.random.default_rng(11)
    direction, X = rng.standard_normal(d), in_unit_ball(rng, 20_000, d)[:n]
    return Dataset("synthetic", X, np.where(X @ direction > 0, 1.0, -1.0))


def strong(data: Dataset) -> Problem:
    return data.problem(Logistic(), l2=LAMBDA)


def printed_settings(problem: Problem) -> dict[str, DPSVRG | DPKatyusha]:
    """Outer 2 log n and inner 100; outer log n and inner 3n/4."""
    outer = math.ceil(math.log(problem.n))
    return {
        "DP-SVRG": DPSVRG(2 * outer, 100, 0.1),
        "DP-Katyusha": DPKatyusha(outer, max(1, 3 * problem.n // 4)),
    }


def gaps(
    problem: Problem, solvers: Sequence[Solver], eps: float, seed: int, trials: int, l1: float = 0.0
) -> list[float]:
    """Mean optimality gaps with the published noise."""
    least = composite_minimum(problem, l1)
    found = [s.solve(problem, ApproxDP(eps, DELTA), seed, trials=trials, calibration="stated").w for s in solvers]
    return [float(np.mean(composite_value(problem, w, l1))) - least for w in found]


# Strongly convex: Figures 3.1 and 3.2 ---------------------------------------------------------------
def strong_gap(seed: int, trials: int) -> dict[str, float]:
    """The gap of either method over the lesser gap of the two baselines."""
    ratios = {}
    for data in (breast_cancer(), separable(500, 10)):
        problem = strong(data)
        for eps in EPSILONS:
            ours = printed_settings(problem)
            found = gaps(problem, [*ours.values(), BassilySGD(batch=50), OutputPerturbationGD()], eps, seed, trials)
            for name, own in zip(ours, found, strict=False):
                ratios[f"{name}, {data.name}, eps={eps:g}"] = own / min(found[-2:])
    return ratios


def empty(n: int, d: int) -> Problem:
    """A problem of that size: costs depend on nothing else."""
    return Problem(np.zeros((n, d)), np.ones(n), Logistic())


def strong_cost(seed: int, trials: int) -> dict[str, float]:
    """Record gradients of either method over those of the cheaper baseline: n^2, or n for each step of [356]."""
    ratios = {}
    for name, problem in (("synthetic (100000, 50)", empty(100_000, 50)), ("synthetic (1000, 10)", empty(1000, 10))):
        regular = replace(problem, l2=LAMBDA)
        for eps in EPSILONS:
            guarantee = ApproxDP(eps, DELTA)
            steps = OutputPerturbationGD().values(regular, guarantee)["T"]
            for method, ours in printed_settings(regular).items():
                cost = ours.gradients(regular, guarantee)
                ratios[f"{method}, {name}, eps={eps:g}"] = cost / (problem.n * min(problem.n, steps))
    return ratios


def katyusha_gap(seed: int, trials: int) -> dict[str, float]:
    """How far the two gaps are apart, as a factor, over 2."""
    ratios = {}
    for data in (breast_cancer(), separable(500, 10), separable(8000, 10)):
        problem = strong(data)
        for eps in EPSILONS:
            one, other = gaps(problem, [*printed_settings(problem).values()], eps, seed, trials)
            ratios[f"{data.name}, n={problem.n}, eps={eps:g}"] = max(one / other, other / one) / 2
    return ratios


def strong_trend(
    symbol: str, values: tuple[float, float], rising: bool = False
) -> Callable[[int, int], dict[str, float]]:
    """The gap at the second value over that at the first (or the other way round if it should rise)."""

    def measure(seed: int, trials: int) -> dict[str, float]:
        found = []
        for value in values:
            here = {"n": 500.0, "d": 10.0, "eps": 1.0} | {symbol: value}
            problem = strong(separable(int(here["n"]), int(here["d"])))
            found.append(gaps(problem, [*printed_settings(problem).values()], here["eps"], seed, trials))
        first, second = reversed(found) if rising else found
        return {name: b / a for name, a, b in zip(printed_settings(problem), first, second, strict=True)}

    return measure


# Convex: Figures 3.3 and 3.4 ------------------------------------------------------------------------
def convex(data: Dataset) -> Problem:
    return data.problem(Logistic())


def convex_gap(seed: int, trials: int) -> dict[str, float]:
    """The gap of DP-SVRG++ over twice that of DP-GD, l1 regulariser lambda/2."""
    ratios = {}
    for data in (breast_cancer(), separable(500, 10)):
        problem = convex(data)
        for eps in EPSILONS:
            methods = [DPSVRGpp(l1=LAMBDA / 2), OutputPerturbationGD()]
            ours, theirs = gaps(problem, methods, eps, seed, trials, LAMBDA / 2)
            ratios[f"{data.name}, eps={eps:g}"] = ours / (2 * theirs)
    return ratios


def convex_cost(seed: int, trials: int) -> dict[str, float]:
    """Record gradients of DP-SVRG++ over those of the cheaper baseline, at the sizes of Figures 3.3 and 3.4."""
    ratios = {}
    for name, problem in (("synthetic (100000, 50)", empty(100_000, 50)), ("IJCNN (50000, 22)", empty(50_000, 22))):
        for eps in EPSILONS:
            guarantee = ApproxDP(eps, DELTA)
            steps = OutputPerturbationGD().values(problem, guarantee)["T"]
            cost = DPSVRGpp().gradients(problem, guarantee)
            ratios[f"{name}, eps={eps:g}"] = cost / (problem.n * min(problem.n, steps))
    return ratios


def convex_trend(
    symbol: str, values: tuple[float, float], rising: bool = False
) -> Callable[[int, int], dict[str, float]]:
    """As `strong_trend`, for DP-SVRG++."""

    def measure(seed: int, trials: int) -> dict[str, float]:
        found = []
        for value in values:
            here = {"n": 500.0, "d": 10.0, "eps": 1.0} | {symbol: value}
            problem = convex(separable(int(here["n"]), int(here["d"])))
            found += gaps(problem, [DPSVRGpp(l1=LAMBDA / 2)], here["eps"], seed, trials, LAMBDA / 2)
        first, second = reversed(found) if rising else found
        return {"DP-SVRG++": second / first}

    return measure


DATA, SYNTHETIC = (
    "breast cancer and synthetic data, ε in 0.2 and 1",
    "synthetic data, n = 500, d = 10, ε = 1 but for what changes",
)

CHECKS = {
    "dwang20.section3.1.5.strongly_convex.gap": [Ratios(strong_gap, DATA)],
    "dwang20.section3.1.5.strongly_convex.cost": [Ratios(strong_cost, "counted from the settings")],
    "dwang20.section3.1.5.katyusha.gap": [Ratios(katyusha_gap, DATA, trials=8)],
    "dwang20.section3.1.5.strongly_convex.n": [Ratios(strong_trend("n", (500, 2000)), SYNTHETIC)],
    "dwang20.section3.1.5.strongly_convex.d": [Ratios(strong_trend("d", (5, 40), rising=True), SYNTHETIC)],
    "dwang20.section3.1.5.strongly_convex.eps": [Ratios(strong_trend("eps", (0.2, 1.0)), SYNTHETIC)],
    "dwang20.section3.1.5.convex.gap": [Ratios(convex_gap, DATA)],
    "dwang20.section3.1.5.convex.cost": [Ratios(convex_cost, "counted from the settings, T and m by default")],
    "dwang20.section3.1.5.convex.n": [Ratios(convex_trend("n", (500, 4000)), SYNTHETIC)],
    "dwang20.section3.1.5.convex.d": [Ratios(convex_trend("d", (5, 40), rising=True), SYNTHETIC)],
    "dwang20.section3.1.5.convex.eps": [Ratios(convex_trend("eps", (0.2, 1.0)), SYNTHETIC)],
}
