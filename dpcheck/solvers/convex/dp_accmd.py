"""DP-AccMD (dwang20, Algorithm 3.1.4), as printed and repaired. Claims: bounds/library/convex/dp_accmd.py."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dpcheck.audits.scores.transcript import gaussian_log_density
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.convex import dp_accmd as theory
from dpcheck.bounds.privacy.exact import least_noise
from dpcheck.kernels.blocks import block_cuts, child, seed_of
from dpcheck.kernels.descent import Trace
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.extreme_pairs import FAR
from dpcheck.problems.losses import Array, Huber, must_be_positive
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, approximate, must_be_whole, must_meet, on_grid


@dataclass(frozen=True)
class DPAccMD(Solver):
    """Accelerated mirror descent over an l2 ball of radius R, with w = ||x||^2 / (2 R^2); y_T is released.

    `repaired`: one noisy gradient in both steps, and step sizes for the smoothness L (2R)^2 in the norm of the set.
    `repaired=False` is the algorithm as printed, whose y steps, and so its output, use exact gradients: to be
    attacked, and refused when certified. `c` is the constant that the published noise hides. `steps` is T, by
    default that of Theorem 3.1.7 with V(x*, x_0) <= 1/2, from x_0 = 0.
    """

    steps: int | None = None
    repaired: bool = True
    c: float = field(default=1.0, kw_only=True)
    name: ClassVar[str] = "dp_accmd"
    multiclass: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(steps=self.steps)
        must_be_positive("c", self.c)

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        if not isinstance(problem.constraint, L2Ball) or problem.l2 > 0:
            limit = "an l2 ball, without a regulariser"
            raise InvalidInput("constraint", problem.constraint, limit, "Pass constraint=L2Ball(1.0), l2=0.")
        must_meet(theory.theorem6, problem)
        steps = self.steps or self.default_steps(problem, approximate(guarantee))
        noise, claims = self.noise(problem, guarantee, steps, calibration)
        noise *= self.noise_factor
        law = MirrorSteps(problem.smoothness, problem.constraint.radius, steps, noise, self.repaired)
        y, path = law.run(problem, seed, trials, trace)
        return Solution(on_grid(y, law.y_step * noise, problem), guarantee, noise, claims, steps, path)

    def default_steps(self, problem: Problem, guarantee: ApproxDP) -> int:
        """The square root of (3.59), at least 1 and at most 1000."""
        R = problem.constraint.reach(problem.d)
        width = R * math.sqrt(problem.d)
        spread = math.hypot(width, 2 * R)
        noise = problem.data_lipschitz * math.sqrt(math.log(1 / guarantee.delta)) * spread
        square = problem.smoothness * (2 * R) ** 2 * math.sqrt(0.5) * problem.n * guarantee.eps / noise
        return int(min(1000, max(1, round(math.sqrt(square)))))

    def noise(
        self, problem: Problem, guarantee: Guarantee, steps: int, calibration: Calibration
    ) -> tuple[float, tuple[str, ...]]:
        """Deviation on each coordinate of the full gradient."""
        G, n = problem.data_lipschitz, problem.n
        if calibration == "stated":
            aim = approximate(guarantee)
            values = {"n": n, "eps": aim.eps, "delta": aim.delta, "G": G, "T": steps, "c": self.c}
            must_meet(theory.theorem6, problem, **values)
            return float(theory.theorem6.evaluate(**values)), (theory.theorem6.id,)
        if not self.repaired:
            raise InvalidInput("repaired", False, "True", "Algorithm 3.1.4 as printed releases an exact gradient step.")
        # privacy: dwang20.theorem3.1.6.corrected; y_T is made of T noisy full gradients, each 2G/n apart
        return least_noise(guarantee, steps=steps) * 2 * G / n, ("accounting.least_noise",)

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses over a ball, one of which turns round: full gradients differ by 2G/n everywhere."""
        first = Problem(np.ones((5, 1)), np.full(5, -FAR), Huber(1.0), label_bound=FAR, constraint=L2Ball(100.0))
        return first, first.replace(0, [1.0], FAR)


@dataclass(frozen=True)
class MirrorSteps:
    """The loop, and what a white-box adversary of the repaired one knows: the law of each noisy step of z."""

    smoothness: float
    radius: float
    steps: int
    sigma: float
    repaired: bool

    @property
    def etas(self) -> Array:
        """z moves by eta_k times the noisy gradient: alpha_(k+1) R^2, with L (2R)^2 for L if repaired."""
        scale = 16.0 if self.repaired else 4.0 / self.radius**2
        return (np.arange(self.steps) + 2) / (scale * self.smoothness)

    @property
    def y_step(self) -> float:
        """y moves by this times a gradient: L (2R)^2 (a half of it, as printed) times ||y - x||^2 / R^2."""
        return 1 / ((8.0 if self.repaired else 4.0) * self.smoothness)

    def run(self, problem: Problem, seed: Seed, trials: int, trace: bool) -> tuple[Array, Trace | None]:
        """y_T of each trial; traced, the points z before they are projected, and the norms of exact gradients."""
        parent, y = seed_of(seed), np.empty((trials, problem.d))
        led, norms = np.empty((2, 0)), np.empty((self.steps, trials))
        if trace:
            led = np.empty((self.steps, trials, problem.d))
        for number, first, last in block_cuts(problem, trials):
            rng = np.random.default_rng(child(parent, number))
            y_k = z = np.zeros((last - first, problem.d))
            for k, eta in enumerate(self.etas):
                x = 2 / (k + 2) * z + k / (k + 2) * y_k
                exact = problem.gradient(x)
                noisy = exact + self.sigma * rng.standard_normal(x.shape)  # privacy: dwang20.theorem3.1.6.corrected
                y_k = problem.constraint.project(x - self.y_step * (noisy if self.repaired else exact))
                moved = z - eta * noisy
                z = problem.constraint.project(moved)
                if trace:
                    led[k, first:last], norms[k, first:last] = moved, np.linalg.norm(exact, axis=1)
            y[first:last] = y_k
        if not trace:
            return y, None
        start = np.zeros((1, trials, problem.d))
        law = self if self.repaired and self.sigma > 0 else None
        path = np.concatenate([start, problem.constraint.project(led)])
        return y, Trace(path, norms, unprojected=led, law=law)  # type: ignore[arg-type]

    def log_density(self, problem: Problem, released: Array) -> Array:
        """Of the points z before projection, (k, T, d), up to a constant, (k,)."""
        y = z = np.zeros(released[:, 0].shape)
        logs = np.zeros(len(released))
        for k, eta in enumerate(self.etas):
            x = 2 / (k + 2) * z + k / (k + 2) * y
            moved = released[:, k]
            logs += gaussian_log_density(moved, z - eta * problem.gradient(x), eta * self.sigma)
            y = problem.constraint.project(x - self.y_step * (z - moved) / eta)
            z = problem.constraint.project(moved)
        return logs
