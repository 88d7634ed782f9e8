"""Noisy descent with momentum, all trials at once: 1 / theta times as far a step where the risk is flat.
The points where gradients are asked for stay in the constraint set, so their sensitivity is that of plain descent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcheck.audits.scores.transcript import gaussian_log_density
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels.descent import Descent, Seed, Trace, block_cuts, child, must_be_finite, seed_of
from dpcheck.problems.losses import Array
from dpcheck.problems.problem import Problem


@dataclass(frozen=True)
class MomentumSteps:
    """The loop, and what a white-box adversary knows: the law of each noisy step of z. From the projection of 0,

        x = (1 - theta) w + theta z,   u = z - step_size / theta (g(x) + sigma noise),
        z = project(u),                w = (1 - theta) w + theta z,

    with theta = 1 - momentum; theta = 1 is plain descent. Over the whole space it is Nesterov's method with constant
    momentum. Without noise, and if step_size <= 1/L, F(w) - F(v) + theta^2 / (2 step_size) ||z - v||^2 never grows,
    for v any point of the set that is no worse than w (Tseng 2008, proof of Proposition 1). Unlike a growing
    momentum it weighs all gradients but the last few alike, which adds up their noise the least.
    """

    steps: int
    step_size: float
    momentum: float
    sigma: float

    @property
    def theta(self) -> float:
        return 1 - self.momentum

    @property
    def z_step(self) -> float:
        """How far z moves along a noisy gradient."""
        return self.step_size / self.theta

    def run(self, problem: Problem, seed: Seed, trials: int, trace: bool = False) -> Descent:
        """The last w of each trial; traced, the points u, and the norms of gradients before noise."""
        parent, ends = seed_of(seed), np.empty((trials, problem.d))
        led, norms = np.empty((self.steps, trials if trace else 0, problem.d)), np.empty((self.steps, trials))
        for number, first, last in block_cuts(problem, trials):
            rng = np.random.default_rng(child(parent, number))
            w = z = self._start(problem, last - first)
            for t in range(self.steps):
                gradient = problem.gradient(self._between(w, z))
                # privacy: the gradient of all records, at a point of the set, with the noise of one step
                u = z - self.z_step * (gradient + self.sigma * rng.standard_normal(z.shape))
                z = problem.constraint.project(u)
                w = self._between(w, z)
                if trace:
                    led[t, first:last], norms[t, first:last] = u, np.linalg.norm(gradient, axis=1)
            ends[first:last] = w
        must_be_finite(ends)
        return Descent(ends, self._trace(problem, led, norms) if trace else None)

    def log_density(self, problem: Problem, released: Array) -> Array:
        """Of the points u, shape (k, steps, d), up to a constant, shape (k,)."""
        if self.sigma == 0:
            raise InvalidInput("noise_std", 0.0, "> 0 in every step", "Without noise a transcript has no density.")
        w = z = self._start(problem, len(released))
        logs = np.zeros(len(released))
        for t in range(self.steps):
            mean = z - self.z_step * problem.gradient(self._between(w, z))
            logs += gaussian_log_density(released[:, t], mean, self.z_step * self.sigma)
            z = problem.constraint.project(released[:, t])
            w = self._between(w, z)
        return logs

    def _between(self, w: Array, z: Array) -> Array:
        return self.momentum * w + self.theta * z

    def _start(self, problem: Problem, k: int) -> Array:
        return np.tile(problem.constraint.project(np.zeros(problem.d)), (k, 1))

    def _trace(self, problem: Problem, led: Array, norms: Array) -> Trace:
        """Its iterates are the points z, which the noise is added to."""
        path = np.concatenate([self._start(problem, led.shape[1])[None], problem.constraint.project(led)])
        return Trace(path, norms, unprojected=led, law=self)  # type: ignore[arg-type]
