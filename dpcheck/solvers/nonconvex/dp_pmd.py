"""DP-PMD (wangxu19, Algorithm 3; dwang20, Algorithm 4.1.18). Claims: bounds/library/nonconvex/dp_pmd.py."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dpcheck.audits.scores.transcript import gaussian_log_density
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.nonconvex import dp_pmd as theory
from dpcheck.bounds.privacy.random_iterate import at_least_two, iterate_noise
from dpcheck.kernels.blocks import block_cuts, child, seed_of
from dpcheck.kernels.descent import Trace
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.extreme_pairs import FAR
from dpcheck.problems.losses import Array, Huber, must_be_positive
from dpcheck.problems.mirror import Mirror, mirror_of
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, approximate, must_be_whole, must_meet, on_grid

MOST_STEPS = 1000


@dataclass(frozen=True)
class DPPMD(Solver):
    """Noisy proximal mirror steps on the whole data; x_R is released, R uniform on 1..T.

    The risk is F + `l1` ||x||_1 over an l1, l_q or l2 ball, or the simplex (entropy; Theorem 5 is about symmetric
    sets). `steps` is T, by default the theorem's, `step_size` its 1/(2 L ||C||^2). `c` is the constant that the
    published noise hides.
    """

    steps: int | None = None
    step_size: float | None = None
    l1: float = 0.0
    c: float = field(default=1.0, kw_only=True)
    name: ClassVar[str] = "dp_pmd"

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(steps=self.steps)
        must_be_positive("c", self.c)
        if self.step_size is not None:
            must_be_positive("step_size", self.step_size)
        if not 0 <= self.l1 < math.inf:
            raise InvalidInput("l1", self.l1, "a finite number >= 0", "Pass l1=0.0 for none.")

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        must_meet(theory.privacy, problem)
        mirror = mirror_of(problem.constraint, problem.d)
        steps = at_least_two(self.steps or self.default_steps(problem, mirror, approximate(guarantee)))
        noise, claims = self.noise(problem, guarantee, steps, calibration)
        law = self.law(problem, mirror, steps, noise * self.noise_factor)
        found, path = law.run(problem, seed, trials, trace)
        # The step of x is the noise in the dual, over the least curvature of w, in units of the radius.
        grid = law.step_size * law.sigma * problem.constraint.reach(problem.d) ** 2
        return Solution(on_grid(found, grid, problem), guarantee, law.sigma, claims, steps, path)

    def law(self, problem: Problem, mirror: Mirror, steps: int, noise: float) -> MirrorDescent:
        """The loop with the theorem's step size unless another is given."""
        gamma = self.step_size or 1 / (2 * mirror.smoothness(must_be_smooth(problem)))
        return MirrorDescent(mirror, steps, gamma, noise, self.l1)

    def default_steps(self, problem: Problem, mirror: Mirror, guarantee: ApproxDP) -> int:
        """T of Theorem 5 with E||b||*^2 for G_C^2 + ||C||_2^2 and F(x_1) - F(x*) = 1, from 2 to 1000."""
        steep = problem.data_lipschitz * math.sqrt(mirror.dual_square() * math.log(1 / guarantee.delta))
        smooth = mirror.smoothness(must_be_smooth(problem))
        return int(min(MOST_STEPS, max(2, round(problem.n * guarantee.eps * math.sqrt(smooth) / steep))))

    def noise(
        self, problem: Problem, guarantee: Guarantee, steps: int, calibration: Calibration
    ) -> tuple[float, tuple[str, ...]]:
        """On each coordinate of a gradient."""
        G, n = problem.data_lipschitz, problem.n
        if calibration == "stated":
            aim = approximate(guarantee)
            values = {"n": n, "eps": aim.eps, "delta": aim.delta, "G": G, "T": steps, "c": self.c}
            must_meet(theory.privacy, problem, **values)
            return float(theory.privacy.evaluate(**values)), (theory.privacy.id,)
        # privacy: x_R is made of R-1 noisy full gradients, each 2G/n apart in l2, and R ignores the data
        return iterate_noise(guarantee, steps) * 2 * G / n, ("random_iterate.iterate_noise",)

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses over a ball, one of which turns round: full gradients differ by 2G/n everywhere."""
        first = Problem(np.ones((5, 1)), np.full(5, -FAR), Huber(1.0), label_bound=FAR, constraint=L2Ball(100.0))
        return first, first.replace(0, [1.0], FAR)


def must_be_smooth(problem: Problem) -> float:
    """The smoothness of the losses, above 0."""
    if not problem.smoothness > 0:
        raise InvalidInput("smoothness of the losses", problem.smoothness, "above 0", "Pass steps and step_size.")
    return problem.smoothness


@dataclass(frozen=True)
class MirrorDescent:
    """The loop, and what a white-box adversary knows: the law of z_k = grad w(x_k) - gamma (grad F(x_k) + noise)."""

    mirror: Mirror
    steps: int
    step_size: float
    sigma: float
    l1: float = 0.0

    def run(
        self, problem: Problem, seed: Seed, trials: int, trace: bool, stops: bool = True
    ) -> tuple[Array, Trace | None]:
        """x_R of each trial; without `stops` x_(T+1). Traced: all iterates, and z; a trial that stopped stays."""
        parent, d = seed_of(seed), problem.d
        released, moves = np.empty((trials, d)), self.steps - 1 if stops else self.steps
        led = np.empty((moves, trials, d)) if trace else np.empty((0, 0, 0))
        path = np.empty((moves + 1, trials, d)) if trace else np.empty((0, 0, 0))
        norms = np.zeros((moves, trials)) if trace else np.empty((0, 0))
        for number, first, last in block_cuts(problem, trials):
            rng = np.random.default_rng(child(parent, number))
            until = rng.integers(0, self.steps, last - first) if stops else np.full(last - first, moves)  # R - 1
            x = np.tile(self.mirror.start, (last - first, 1))
            if trace:
                path[0, first:last] = x
            for k in range(moves):
                going = until > k
                gradient = problem.gradient(x[going])
                # privacy: noise on the full gradient, wangxu19.theorem5.privacy.corrected
                noisy = gradient + self.sigma * rng.standard_normal(gradient.shape)
                z = self.mirror.gradient(x)
                z[going] -= self.step_size * noisy
                x[going] = self.mirror.step(z[going], self.step_size * self.l1)
                if trace:
                    led[k, first:last], path[k + 1, first:last] = z, x
                    norms[k, first:last][going] = np.linalg.norm(gradient, axis=1)
            released[first:last] = x
        if not trace:
            return released, None
        law = self if self.sigma > 0 else None
        return released, Trace(path, norms, unprojected=led, law=law)  # type: ignore[arg-type]

    def log_density(self, problem: Problem, seen: Array) -> Array:
        """Of the points z, (k, T-1, d), up to a constant, (k,); steps after a trial stopped say nothing."""
        x, logs = np.tile(self.mirror.start, (len(seen), 1)), np.zeros(len(seen))
        for k in range(seen.shape[1]):
            z, before = seen[:, k], self.mirror.gradient(x)
            mean = before - self.step_size * problem.gradient(x)
            step = gaussian_log_density(z, mean, self.step_size * self.sigma)
            stopped = (z == before).all(axis=1)
            logs += np.where(stopped, 0.0, step)
            x = np.where(stopped[:, None], x, self.mirror.step(z, self.step_size * self.l1))
        return logs
