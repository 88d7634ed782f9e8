"""Random-round private SGD (zhang17, Algorithm 2). Claims: bounds/library/nonconvex/rrpsgd.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.nonconvex import rrpsgd as theory
from dpcheck.bounds.privacy.sampled_gaussian import subsampled_gaussian_noise
from dpcheck.kernels.descent import Trace
from dpcheck.kernels.gradient_steps import noisy_descent
from dpcheck.problems.losses import Linear
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
