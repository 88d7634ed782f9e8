"""Mini-batch noisy SGD after Bassily et al. (zhang17's baseline). Claims: bounds/library/convex/bassily_sgd.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.convex import bassily_sgd as theory
from dpcheck.bounds.privacy.sampled_gaussian import subsampled_gaussian_noise
from dpcheck.datasets import breast_cancer, diabetes, digits, logistic_synthetic
from dpcheck.evidence.checks import AuditCheck, Comparison, Trend
from dpcheck.kernels.descent import hidden_by_noise, noisy_descent, single_error
from dpcheck.problems.losses import Huber, Linear, Logistic, must_be_positive
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, must_be_whole, must_meet, on_grid
from dpcheck.solvers.convex.outpert_gd import OutputPerturbationGD, excess


@dataclass(frozen=True)
class BassilySGD(Solver):
    """Noisy steps on `batch` random records each; the last iterate is released.

    By default (n / batch)^2 steps. Step sizes are 1/(mu t) with a regulariser, and radius / sqrt(t E||g||^2)
    without (`radius` is a public bound on the minimiser's norm). batch = n is noisy gradient descent.
    """

    batch: int = 50
    steps: int | None = None
    radius: float = 1.0
    name: ClassVar[str] = "bassily_sgd"
    multiclass: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(batch=self.batch, steps=self.steps)
        must_be_positive("radius", self.radius)

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        if not isinstance(guarantee, ApproxDP) or guarantee.delta == 0:
            raise InvalidInput(
                "guarantee", str(guarantee), "ApproxDP with delta > 0", "Convert with .to_approx(delta)."
            )
        batch = min(self.batch, problem.n)
        steps = self.steps or max(1, math.ceil((problem.n / batch) ** 2))
        noise, claims = self.noise(problem, guarantee, batch, steps, calibration)
        noise *= self.noise_factor
        etas = self.step_sizes(problem, noise, steps)
        done = noisy_descent(
            problem, steps=steps, step_size=etas, noise_std=noise, seed=seed, trials=trials,
            batch=None if batch == problem.n else batch, trace=trace,
        )  # fmt: skip
        w = on_grid(done.w, float(etas[-1]) * noise, problem)
        return Solution(w, guarantee, noise, claims, steps, done.trace)

    def noise(
        self, problem: Problem, guarantee: ApproxDP, batch: int, steps: int, calibration: Calibration
    ) -> tuple[float, tuple[str, ...]]:
        """Deviation on a batch's MEAN gradient. The regulariser adds nothing: it does not depend on the data."""
        L = problem.data_lipschitz
        values = {"n": problem.n, "m": batch, "eps": guarantee.eps, "delta": guarantee.delta, "L": L}
        if calibration == "stated":
            must_meet(theory.minibatch, problem, **values)
            return float(theory.minibatch.evaluate(**values)), (theory.minibatch.id,)
        if not math.isfinite(L):
            must_meet(theory.minibatch, problem)
        multiplier = subsampled_gaussian_noise(guarantee.eps, guarantee.delta, problem.n, batch, steps)
        noise = multiplier * L / batch
        if batch == problem.n:
            noise = self.covered(problem, noise, steps)
        return noise, ("sampled_gaussian.subsampled_gaussian_noise",)

    def covered(self, problem: Problem, noise: float, steps: int) -> float:
        """The noise, larger where full gradients will be in single precision: off by e each, so 2L/n + 2e apart."""
        more = noise * (1 + problem.n * single_error(problem) / problem.data_lipschitz)
        return more if hidden_by_noise(problem, np.full(steps, more * self.noise_factor)) else noise

    def step_sizes(self, problem: Problem, noise: float, steps: int) -> np.ndarray:
        """1/(mu t), capped at 1/beta; or radius / sqrt(t (L^2 + d noise^2))."""
        t = np.arange(1, steps + 1)
        if problem.l2 > 0:
            return np.minimum(1 / problem.smoothness, 1 / (problem.l2 * t))
        return self.radius / np.sqrt(t * (problem.data_lipschitz**2 + problem.d * noise**2))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses: all records pull one way, the differing one with or against them."""
        n = 2 * self.batch
        first = Problem(np.ones((n, 1)), -np.ones(n), Linear())
        return first, first.replace(0, [1.0], 1.0)


def attacked(guarantee: ApproxDP, calibration: Calibration) -> Any:
    """Batches of 5 out of 10, for the auditor."""
    solver = BassilySGD(batch=5)
    return solver.mechanism(guarantee, calibration), solver.worst_pair(), guarantee


def against_the_baseline(seed: int, trials: int) -> dict[str, tuple[float, float]]:
    """Mean excess risk and record gradients, Algorithm 1 over the baseline, in settings like those of Table 3."""
    ratios = {}
    for problem, label in table3_problems():
        ours, theirs = OutputPerturbationGD(radius=3.0 if problem.l2 == 0 else None), BassilySGD(radius=3.0)
        _, least = problem.minimiser()
        for eps in (0.1, 0.5, 1.0):
            guarantee = ApproxDP(eps, 1e-3)
            found = [s.solve(problem, guarantee, seed, trials=trials, calibration="stated") for s in (ours, theirs)]
            risks = [float(np.mean(problem.value(f.w))) - least for f in found]
            work = found[0].steps * problem.n / (found[1].steps * theirs.batch)
            ratios[f"{label}, eps={eps:g}"] = (risks[0] / risks[1], work)
    return ratios


def table3_problems() -> list[tuple[Problem, str]]:
    """Logistic and Huber regression on embedded data, with and without a regulariser."""
    return [
        (breast_cancer().problem(Logistic(), l2=0.1), "breast cancer, mu=0.1"),
        (digits().problem(Logistic(), l2=0.1), "digits, mu=0.1"),
        (diabetes().problem(Huber(0.5), l2=0.5), "diabetes, mu=0.5"),
        (diabetes().problem(Huber(0.5)), "diabetes, mu=0"),
    ]


def strong_error(eps: float, trials: int, seed: int) -> np.ndarray:
    """Excess risk with the published noise on regularised logistic regression, batches of 20 out of 400."""
    problem = logistic_synthetic(400, 3, seed=7).problem(Logistic(), l2=0.2)
    return excess(problem, BassilySGD(batch=20), ApproxDP(eps, 1e-3), trials, seed, "stated")


CHECKS = {
    "zhang17.table1.bassily.approx": [
        Trend("eps", (0.25, 0.5, 1.0), strong_error, "regularised logistic regression, n = 400", trials=100)
    ],
    "zhang17.section4.minibatch": [
        AuditCheck(lambda: attacked(ApproxDP(1.0, 1e-3), "stated"), "the baseline as published, last iterate seen")
    ],
    "zhang17.abstract.outperforms": [
        Comparison(
            against_the_baseline, "published noise on breast cancer, digits and diabetes; run time as record gradients"
        )
    ],
}
