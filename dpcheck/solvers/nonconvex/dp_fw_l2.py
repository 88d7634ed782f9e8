"""DP-FW-L2 (wangxu19, Algorithm 2; dwang20, Algorithm 4.1.17). Claims: bounds/library/nonconvex/dp_fw_l2.py."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpcheck.audits.scores.transcript import gaussian_log_density
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.nonconvex import dp_fw_l2 as theory
from dpcheck.bounds.privacy.exact import least_noise
from dpcheck.bounds.proving.derivations import expected_largest
from dpcheck.kernels.blocks import block_cuts, child, seed_of
from dpcheck.kernels.descent import Trace
from dpcheck.problems.constraints import Box, Constraint, L1Ball, L2Ball
from dpcheck.problems.extreme_pairs import FAR
from dpcheck.problems.losses import Array, Huber, must_be_positive
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, approximate, must_be_whole, must_meet, on_grid
from dpcheck.solvers.nonconvex.dp_pgd import loss_smoothness, public_gap


@dataclass(frozen=True)
class DPFWL2(Solver):
    """Frank-Wolfe steps towards the vertex that a noisy gradient points at; x_R of a random R in 1..T, from x_1 = 0.

    Over an l1 or l2 ball, or a box around 0 as high as it is low, without a regulariser. `steps` is T and `step_size`
    gamma in (0, 1], by default those of the corrected theorem with the largest loss at 0 for its gap. "stated" noise
    is by Theorem 4 with its hidden `c`.
    """

    steps: int | None = None
    step_size: float | None = None
    c: float = field(default=8.0, kw_only=True)
    name: ClassVar[str] = "dp_fw_l2"

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(steps=self.steps)
        must_be_positive("c", self.c)
        if self.step_size is not None and not 0 < self.step_size <= 1:
            limit = "a number in (0, 1]"
            raise InvalidInput("step_size", self.step_size, limit, "A longer step leaves the constraint set.")

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        must_be_symmetric(problem)
        must_meet(theory.privacy, problem)
        steps = self.steps or self.default_steps(problem, approximate(guarantee))
        noise, claims = self.noise(problem, guarantee, steps, calibration)
        noise *= self.noise_factor
        law = VertexSteps(self.gamma(problem, steps), steps, noise)
        w, path = law.run(problem, seed, trials, trace)
        # A vertex is a discontinuous function of the noise: the grid is that of the steps.
        return Solution(on_grid(w, law.gamma * problem.diameter, problem), guarantee, noise, claims, steps, path)

    def gamma(self, problem: Problem, steps: int) -> float:
        """sqrt(2 Delta / (L T)) / ||C||, at most 1."""
        best = math.sqrt(2 * public_gap(problem) / (loss_smoothness(problem) * steps)) / problem.diameter
        return self.step_size or min(1.0, best)

    def default_steps(self, problem: Problem, guarantee: ApproxDP) -> int:
        """The T of dwang20.theorem4.1.4.steps, from 1 to 1000."""
        values = {"n": problem.n, "eps": guarantee.eps, "delta": guarantee.delta, "G": problem.data_lipschitz}
        values |= {"c": 8.0, "L_smooth": loss_smoothness(problem), "gap0": public_gap(problem)}
        sizes = {"diameter": problem.diameter, "G_C": gaussian_width(problem.constraint, problem.d)}
        return int(min(1000, max(1, round(float(theory.steps.evaluate(**values, **sizes))))))

    def noise(
        self, problem: Problem, guarantee: Guarantee, steps: int, calibration: Calibration
    ) -> tuple[float, tuple[str, ...]]:
        """Deviation on each coordinate of the full gradient."""
        G, n = problem.data_lipschitz, problem.n
        if calibration == "certified":
            # privacy: wangxu19.theorem4.privacy.corrected, made exact; T full gradients, each 2G/n apart
            return least_noise(guarantee, steps=steps) * 2 * G / n, ("accounting.least_noise",)
        aim = approximate(guarantee)
        values = {"n": n, "eps": aim.eps, "delta": aim.delta, "G": G, "T": steps, "c": self.c}
        must_meet(theory.privacy, problem, **values)
        return float(theory.privacy.evaluate(**values)), (theory.privacy.id,)

    def worst_pair(self) -> tuple[Problem, Problem]:
        """All gradients are 0 but one record's, 1 or -1: its sign is all that a vertex shows."""
        rows = np.vstack([[[1.0]], np.zeros((4, 1))])
        first = Problem(rows, np.full(5, -FAR), Huber(1.0), label_bound=FAR, constraint=L2Ball(1.0))
        return first, first.replace(0, [1.0], FAR)


def must_be_symmetric(problem: Problem) -> None:
    """Refuse what the theorem does not cover, naming it."""
    held = problem.constraint
    even = isinstance(held, Box) and np.array_equal(np.negative(held.low), held.high)
    if not (isinstance(held, L1Ball | L2Ball) or even):
        limit = "a bounded set that is symmetric about 0"
        raise InvalidInput("constraint", held, limit, "Pass constraint=L2Ball(1.0).")
    if problem.l2 > 0:
        raise InvalidInput("l2", problem.l2, "0", "Frank-Wolfe steps take no regulariser: leave it out.")


def gaussian_width(held: Constraint, d: int) -> float:
    """E max over the set of <b, v>, b standard normal."""
    if isinstance(held, L1Ball):
        return held.radius * expected_largest(d, absolute=True)
    if isinstance(held, L2Ball):
        return held.radius * math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    assert isinstance(held, Box)
    return math.sqrt(2 / math.pi) * float(np.sum(np.broadcast_to(held.high, (d,))))


def frank_wolfe_gap(problem: Problem, W: Array, gradient: Array | None = None) -> Array:
    """max over the set of <grad F(w), w - v>, for each point: one linear step."""
    G = problem.gradient(W) if gradient is None else gradient
    return np.einsum("...d,...d->...", G, W - problem.constraint.linear_minimiser(G))


# The loop ------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class GapTrace(Trace):
    """`gaps` at x_1..x_T, (T, k), and the round R of each trial; `unprojected` holds the noisy gradients."""

    gaps: Array
    rounds: NDArray[np.int64]


@dataclass(frozen=True)
class VertexSteps:
    """x + gamma (v - x), v the vertex for grad F + sigma z: the loop, and the law of the noisy gradients."""

    gamma: float
    steps: int
    sigma: float

    @property
    def etas(self) -> Array:
        """One step size a step."""
        return np.full(self.steps, self.gamma)

    def run(self, problem: Problem, seed: Seed, trials: int, trace: bool = False) -> tuple[Array, GapTrace | None]:
        """x_R of each trial."""
        parent, w, d = seed_of(seed), np.empty((trials, problem.d)), problem.d
        kept = trials if trace else 0
        path, noisy = np.empty((self.steps + 1, kept, d)), np.empty((self.steps, kept, d))
        norms, gaps, rounds = np.empty((self.steps, kept)), np.empty((self.steps, kept)), np.empty(trials, int)
        for number, first, last in block_cuts(problem, trials):
            own, x, cut = child(parent, number), np.zeros((last - first, d)), slice(first, last)
            rng, R = np.random.default_rng(child(own, 0)), np.random.default_rng(child(own, 2))
            rounds[cut] = R.integers(1, self.steps + 1, len(x))
            for t in range(self.steps):
                w[cut][rounds[cut] == t + 1] = x[rounds[cut] == t + 1]
                exact = problem.gradient(x)
                seen = exact + self.sigma * rng.standard_normal(x.shape)  # privacy: wangxu19.theorem4.privacy.corrected
                if trace:
                    path[t, cut], noisy[t, cut], norms[t, cut] = x, seen, np.linalg.norm(exact, axis=1)
                    gaps[t, cut] = frank_wolfe_gap(problem, x, exact)
                x = x + self.gamma * (problem.constraint.linear_minimiser(seen) - x)
            if trace:
                path[-1, cut] = x
        law = self if self.sigma > 0 else None
        if not trace:
            return w, None
        return w, GapTrace(path, norms, gaps=gaps, rounds=rounds, unprojected=noisy, law=law)  # type: ignore[arg-type]

    def log_density(self, problem: Problem, released: Array) -> Array:
        """Of the noisy gradients, (k, T, d), up to a constant, (k,)."""
        x, logs = np.zeros(released[:, 0].shape), np.zeros(len(released))
        for seen in released.transpose(1, 0, 2):
            logs += gaussian_log_density(seen, problem.gradient(x), self.sigma)
            x = x + self.gamma * (problem.constraint.linear_minimiser(seen) - x)
        return logs
