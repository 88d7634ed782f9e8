"""Random-round private SGD (zhang17, Algorithm 2). Claims: bounds/library/nonconvex/rrpsgd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.nonconvex import rrpsgd as theory
from dpcheck.bounds.privacy.sampled_gaussian import subsampled_gaussian_noise
from dpcheck.evidence.checks import AuditCheck, Property
from dpcheck.kernels.descent import Trace, noisy_descent
from dpcheck.problems.losses import Huber, Linear, Logistic, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, must_meet, on_grid


@dataclass(frozen=True)
class RandomRoundSGD(Solver):
    """Noisy SGD on single records for a random number of rounds, at most n^2; from w_0 = 0.

    The step size is min(1/beta, D_F/(sigma n)). `start_gap` is a PUBLIC bound on F(0) - F*: by default the
    largest loss that a record can have at 0. `start_gap="data"` reads it off the data as Theorem 5 does, which
    is not private (zhang17.theorem5.privacy) and refused under certified calibration.
    """

    start_gap: float | Literal["data"] | None = None
    name: ClassVar[str] = "rrpsgd"

    def __post_init__(self) -> None:
        super().__post_init__()
        gap = self.start_gap
        if gap not in (None, "data") and not (isinstance(gap, int | float) and 0 <= gap < math.inf):
            raise InvalidInput(
                "start_gap", gap, 'a finite number >= 0, "data" or None', "Leave it out for the default."
            )

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        if not isinstance(guarantee, ApproxDP) or guarantee.delta == 0:
            raise InvalidInput(
                "guarantee", str(guarantee), "ApproxDP with delta > 0", "Convert with .to_approx(delta)."
            )
        if self.start_gap == "data" and calibration == "certified":
            raise InvalidInput("start_gap", "data", "a public number", "A step size read off the data is not private.")
        rounds = problem.n**2
        noise, claims = self.noise(problem, guarantee, calibration)
        noise *= self.noise_factor
        step = self.step_size(problem, noise)
        if step == 0.0:  # D_F = 0: Algorithm 2 never moves
            path = resting(problem, rounds, trials) if trace else None
            return Solution(np.zeros((trials, problem.d)), guarantee, noise, claims, rounds, path)
        first = 1 if calibration == "stated" else 0  # certified: w_(R-1), see zhang17.theorem5.general.corrected
        done = noisy_descent(
            problem, steps=rounds, step_size=step, noise_std=noise, seed=seed, trials=trials, batch=1, trace=trace,
            rounds=lambda rng, k: rng.integers(first, rounds + first, size=k),
        )  # fmt: skip
        w = on_grid(done.w, step * noise, problem)
        return Solution(w, guarantee, noise, claims, rounds, done.trace)

    def noise(self, problem: Problem, guarantee: ApproxDP, calibration: Calibration) -> tuple[float, tuple[str, ...]]:
        """Deviation of each coordinate of the noise on a gradient."""
        L = problem.data_lipschitz
        values = {"n": problem.n, "eps": guarantee.eps, "delta": guarantee.delta, "L": L}
        if calibration == "stated":
            must_meet(theory.theorem4, problem, **values)
            return float(theory.theorem4.evaluate(**values)), (theory.theorem4.id,)
        if not math.isfinite(L):
            must_meet(theory.theorem4, problem)
        multiplier = subsampled_gaussian_noise(guarantee.eps, guarantee.delta, problem.n, 1, problem.n**2)
        return multiplier * L, ("sampled_gaussian.subsampled_gaussian_noise",)

    def step_size(self, problem: Problem, noise: float) -> float:
        """min(1/beta, D_F/(sigma n)) with D_F from a public bound (or, to be attacked, from the data)."""
        beta = problem.smoothness
        D_F = self.start_distance(problem)
        sigma = math.sqrt(4 * problem.data_lipschitz**2 + problem.d * noise**2)
        return min(1 / beta, D_F / (sigma * problem.n)) if beta > 0 else D_F / (sigma * problem.n)

    def start_distance(self, problem: Problem) -> float:
        """D_F = sqrt(2 (F(0) - F*) / beta)."""
        if self.start_gap == "data":
            gap = float(problem.value(np.zeros((1, problem.d)))[0]) - max(0.0, problem.minimiser()[1])
        elif self.start_gap is None:
            label = 1.0 if problem.loss.labels == "sign" else problem.label_bound
            gap = float(problem.loss.value(np.zeros(1), np.full(1, label))[0])
            if gap <= 0:  # a linear loss: it has no least value
                raise InvalidInput("start_gap", None, "a number for a loss unbounded below", "Pass start_gap=1.0.")
        else:
            gap = float(self.start_gap)
        return math.sqrt(2 * max(gap, 0.0) / (problem.smoothness or 1.0))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses: the differing record pulls with the others, or against them."""
        first = Problem(np.ones((10, 1)), -np.ones(10), Linear())
        return first, first.replace(0, [1.0], 1.0)


def resting(problem: Problem, rounds: int, trials: int) -> Trace:
    """The trace of trials that stay at 0."""
    norm = np.linalg.norm(problem.gradient(np.zeros(problem.d)))
    return Trace(np.zeros((rounds + 1, trials, problem.d)), np.full((rounds, trials), norm))


# Checks that run the solver -------------------------------------------------------------------------
def attacked(calibration: Calibration) -> Any:
    """Ten records, a hundred rounds at most, the released iterate seen."""
    solver, guarantee = RandomRoundSGD(start_gap=1.0), ApproxDP(1.0, 1e-3)
    return solver.mechanism(guarantee, calibration), solver.worst_pair(), guarantee


def leaking_step() -> Any:
    """All labels 0: w_0 is the minimiser, so the step is 0 and the output 0. One label moved: it is not."""
    solver, guarantee = RandomRoundSGD(start_gap="data"), ApproxDP(1.0, 1e-3)
    first = Problem(np.ones((4, 1)), np.zeros(4), Huber(1.0))
    return solver.mechanism(guarantee, "stated"), (first, first.replace(0, [1.0], 1.0)), guarantee


def squared_gradient(case: Mapping[str, Any]) -> tuple[float, float]:
    """Measured E||grad F(w_R)||^2, less five standard errors, against the bound of Theorem 5; public D_F."""
    rng = np.random.default_rng(case["seed"])
    n, d = int(case["n"]), int(case["d"])
    X = rng.standard_normal((n, d))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    problem = Problem(X, rng.choice([-1.0, 1.0], n), (Sigmoid(), Logistic())[int(case["convex"])])
    solver, guarantee = RandomRoundSGD(), ApproxDP(case["eps"], 1e-2)
    found = solver.solve(problem, guarantee, int(case["seed"]), trials=400, calibration="stated")
    norms = np.einsum("ij,ij->i", *(problem.gradient(found.w),) * 2)
    measured = float(norms.mean() - 5 * norms.std() / math.sqrt(len(norms)))
    L, beta = problem.data_lipschitz, problem.smoothness
    bound = theory.theorem5_general.evaluate(
        n=n, beta=beta, D_F=solver.start_distance(problem), sigma_g=math.sqrt(4 * L**2 + d * found.noise_std**2),
        eta=solver.step_size(problem, found.noise_std),
    )  # fmt: skip
    return measured, float(bound)


CHECKS = {
    "zhang17.theorem4": [
        AuditCheck(lambda: attacked("stated"), "Algorithm 2 as published, the released iterate seen", trials=200_000)
    ],
    "zhang17.theorem5.privacy": [
        AuditCheck(leaking_step, "step size min(1/β, D_F/(σn)) read off the data", trials=20_000)
    ],
    "zhang17.theorem5.general": [
        Property(
            squared_gradient,
            {"n": (2, 12), "d": (1, 4), "eps": (0.2, 1.0), "convex": (0, 1), "seed": (0, 10**6)},
            "random sigmoid and logistic problems, 400 runs each, five standard errors",
            examples=25,
        )
    ],
}
