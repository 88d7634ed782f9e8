"""DP-GD: full-batch noisy gradient descent. Claims: bounds/library/convex/dp_gd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.convex import dp_gd as theory
from dpcheck.bounds.privacy.exact import least_noise
from dpcheck.evidence.checks import AuditCheck, Property
from dpcheck.kernels.descent import hidden_by_noise, noisy_descent, single_error
from dpcheck.kernels.momentum import MomentumSteps
from dpcheck.kernels.variance_reduced_solver import approximate, condition, shrinking
from dpcheck.problems.losses import must_be_positive
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, must_be_whole, must_meet, on_grid
from dpcheck.solvers.convex.dp_svrg import RUNS, SIZES, opposite_pair, random_problem


@dataclass(frozen=True)
class DPGD(Solver):
    """`steps` noisy full gradients from 0; the last iterate is released.

    By default step_size = 1/(L + mu), and steps as many as shrink the start's risk down to the noise (at most 1000).
    "stated" is the noise of Lemma 2.1.7 at q = 1 with its constant `c`; "certified" is exact, for any guarantee that
    Gaussian noise can give. With `momentum`, at least 0 and below 1, as many steps of the same noise
    go further.
    """

    steps: int | None = None
    step_size: float | None = None
    momentum: float = field(default=0.0, kw_only=True)
    c: float = field(default=8.0, kw_only=True)
    name: ClassVar[str] = "dp_gd"
    multiclass: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(steps=self.steps)
        must_be_positive("c", self.c)
        if not (isinstance(self.momentum, float | int) and 0 <= self.momentum < 1):
            raise InvalidInput("momentum", self.momentum, "at least 0 and below 1", "Leave it out for plain descent.")
        if self.step_size is not None:
            must_be_positive("step_size", self.step_size)

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        must_meet(theory.privacy, problem)
        eta = self.step_size or 1 / problem.smoothness
        steps = self.steps or self.default_steps(problem, approximate(guarantee))
        noise, claims = self.noise(problem, guarantee, steps, calibration)
        noise *= self.noise_factor
        if self.momentum > 0:
            done = MomentumSteps(steps, eta, self.momentum, noise).run(problem, seed, trials, trace)
        else:
            done = noisy_descent(
                problem, steps=steps, step_size=eta, noise_std=noise, seed=seed, trials=trials, trace=trace
            )
        return Solution(on_grid(done.w, eta * noise, problem), guarantee, noise, claims, steps, done.trace)

    def default_steps(self, problem: Problem, guarantee: ApproxDP) -> int:
        """(L + mu)/mu log(n^2 eps^2 / (2 d log(1/delta))), at most 1000."""
        _, kappa = condition(problem)
        return int(min(1000, max(1, math.ceil(min(1 + kappa, 1e6) * shrinking(problem, guarantee)))))

    def noise(
        self, problem: Problem, guarantee: Guarantee, steps: int, calibration: Calibration
    ) -> tuple[float, tuple[str, ...]]:
        """Deviation on each coordinate of the full gradient."""
        G, n = problem.data_lipschitz, problem.n
        if calibration == "stated":
            aim = approximate(guarantee)
            values = {"n": n, "eps": aim.eps, "delta": aim.delta, "G": G, "T": steps}
            must_meet(theory.privacy, problem, **values)
            # privacy: dwang20.section3.1.5.dp_gd, whose own constant is 8
            return float(theory.privacy.evaluate(**values)) * math.sqrt(self.c / 8), (theory.privacy.id,)
        if steps == 1:  # the one gradient is taken at the start, which is public
            start = float(np.linalg.norm(problem.constraint.project(np.zeros(problem.d))))
            G = replace(problem, l2=0.0).lipschitz_within(start)
        noise = least_noise(guarantee, steps=steps) * 2 * G / n
        # Where full gradients will be in single precision they are off by e each, so 2G/n + 2e apart.
        more = noise * (1 + n * single_error(problem) / G)
        covers = hidden_by_noise(problem, np.full(steps, more * self.noise_factor))
        return (more if covers else noise), ("accounting.least_noise",)

    def gradients(self, problem: Problem, guarantee: ApproxDP) -> int:
        """Record gradients evaluated."""
        return problem.n * (self.steps or self.default_steps(problem, guarantee))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses, one of which turns round: full gradients differ by 2G/n everywhere."""
        return opposite_pair(5)


# Checks that run the solver -------------------------------------------------------------------------
def attacked(calibration: Calibration) -> Any:
    """Five records, ten steps, the last iterate seen."""
    solver, guarantee = DPGD(steps=10, step_size=0.5), ApproxDP(1.0, 1e-2)
    return solver.mechanism(guarantee, calibration), solver.worst_pair(), guarantee


def last_iterate(case: Mapping[str, Any]) -> tuple[float, float]:
    """Measured excess risk, less five standard errors, against the explicit bound."""
    problem = random_problem(case, l2=case["l2"])
    found = DPGD(steps=int(case["T"])).solve(problem, ApproxDP(case["eps"], 1e-2), int(case["seed"]), trials=200)
    _, least = problem.minimiser()
    risks = problem.value(found.w) - least
    bound = theory.utility.evaluate(
        T=int(case["T"]), mu=problem.l2, L_smooth=0.25, gap0=float(problem.value(np.zeros(problem.d))) - least,
        d=problem.d, sigma_n=found.noise_std,
    )  # fmt: skip
    return float(risks.mean() - 5 * risks.std() / math.sqrt(len(risks))), float(bound)


CHECKS = {
    "dwang20.section3.1.5.dp_gd": [
        AuditCheck(lambda: attacked("stated"), "the noise as stated, c = 8, its output seen"),
        AuditCheck(lambda: attacked("certified"), "certified calibration, on the same pair"),
    ],
    "dwang20.section3.1.5.dp_gd.utility": [
        Property(
            last_iterate, {**SIZES, "l2": (0.02, 1.0), "T": (1, 30), "eps": (0.2, 3.0)}, f"200 {RUNS}", examples=40
        )
    ],
}
