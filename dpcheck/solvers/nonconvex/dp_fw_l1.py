"""DP-FW-L1 (wangxu19, Algorithm 4; dwang20, Algorithm 4.1.19). Claims: bounds/library/nonconvex/dp_fw_l1.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_fw_l1 as theory
from dpcheck.bounds.library.nonconvex import dp_fw_l1_proof as proof
from dpcheck.bounds.privacy.random_iterate import at_least_two
from dpcheck.bounds.privacy.selections import selection_epsilon
from dpcheck.kernels.blocks import block_cuts, child, seed_of
from dpcheck.kernels.descent import Trace
from dpcheck.kernels.selection import BOUNDED_RANGE, Noise, must_be_noise, select, selection_logs
from dpcheck.problems.extreme_pairs import turning_pair
from dpcheck.problems.losses import Array, must_be_positive
from dpcheck.problems.polytopes import Corners, corners_of
from dpcheck.problems.problem import ROUNDING, Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, approximate, must_be_whole

MOST_STEPS = 1000


FAILURE = 0.05  # η in the theorem's number of steps


@dataclass(frozen=True)
class DPFWL1(Solver):
    """Frank-Wolfe steps to a corner that is selected privately; x_R is released, R uniform on 1..T.

    Over an l1 ball, the simplex or a box. `selection` is the noise on the scores: "gumbel" (the exponential
    mechanism), "exponential" or "laplace" (report-noisy-max). Every entry of the rows is at most `entry_bound` in
    size, by default the problem's row bound; `steps` is T, by default the theorem's, `step_size` the proof's, up to 1.
    """

    steps: int | None = None
    step_size: float | None = None
    selection: Noise = "gumbel"
    entry_bound: float | None = None
    name: ClassVar[str] = "dp_fw_l1"
    multiclass: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(steps=self.steps)
        must_be_noise(self.selection)
        if self.entry_bound is not None:
            must_be_positive("entry_bound", self.entry_bound)
        if self.step_size is not None and not 0 < self.step_size <= 1:
            raise InvalidInput("step_size", self.step_size, "above 0 and at most 1", "Above 1 iterates leave the set.")

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        corners = corners_of(problem.constraint, problem.d)
        sensitivity = self.sensitivity(problem, corners)
        steps = at_least_two(self.steps or self.default_steps(problem, corners, guarantee))
        eps0, claims = self.eps0(guarantee, steps, calibration)
        if self.noise_factor == 0:
            raise InvalidInput("noise_factor", 0.0, "above 0", "A selection without noise is planted by 1e-3, say.")
        law = Selections(
            corners, steps, self.pace(problem, steps), eps0 / self.noise_factor, sensitivity, self.selection
        )
        found, path = law.run(problem, seed, trials, trace)
        return Solution(found, guarantee, 2 * sensitivity / law.eps0, claims, steps, path)

    def sensitivity(self, problem: Problem, corners: Corners) -> float:
        """Of a score: max ||s||_1 times 2G/n, with G the l-infinity bound of a record's gradient."""
        bound = problem.row_bound if self.entry_bound is None else self.entry_bound
        worst = float(np.abs(problem.X).max())
        if worst > bound * (1 + ROUNDING):
            raise InvalidInput("largest entry of a row", worst, f"at most entry_bound={bound}", "Scale or clip them.")
        label = 1.0 if problem.loss.labels == "sign" else problem.label_bound
        # |<x, w>| is at most entry bound times max ||s||_1: C is the hull of its corners.
        G = bound * problem.loss.derivative_bound(bound * corners.largest, label)
        if not math.isfinite(G):
            who = f"the problem ({type(problem.loss).__name__} loss)"
            raise HypothesisViolated(theory.privacy.id, who, "each loss is G-Lipschitz in l1", "Choose another loss.")
        # privacy: dwang20.theorem4.1.6.sensitivity.corrected
        values = {"G": G, "size_1": corners.largest, "n": problem.n}
        return float(proof.sensitivity_corrected.evaluate(**values))

    def eps0(self, guarantee: Guarantee, steps: int, calibration: Calibration) -> tuple[float, tuple[str, ...]]:
        """Of each selection."""
        if calibration == "stated":
            aim = approximate(guarantee)
            values = {"eps": aim.eps, "delta": aim.delta, "T": steps}
            return float(theory.privacy.evaluate(**values)), (theory.privacy.id,)
        ranged = self.selection in BOUNDED_RANGE  # privacy: dwang20.algorithm4.1.19.range, else pure DP
        return selection_epsilon(guarantee, steps, bounded_range=ranged), ("selections.selection_epsilon",)

    def pace(self, problem: Problem, steps: int) -> float:
        """sqrt(2 / (T L ||C||_2^2)), as the proof of Theorem 4.1.6 has it, and at most 1."""
        if self.step_size is not None:
            return self.step_size
        smooth = problem.smoothness * problem.diameter**2
        return min(1.0, math.sqrt(2 / (steps * smooth))) if smooth > 0 else 1.0

    def default_steps(self, problem: Problem, corners: Corners, guarantee: Guarantee) -> int:
        """T of Theorem 6 with η = 0.05, from 2 to 1000."""
        aim = approximate(guarantee)
        logs = math.sqrt(math.log(1 / aim.delta)) * math.log(corners.count * problem.n / FAILURE)
        return int(min(MOST_STEPS, max(2, round(problem.n * aim.eps / logs))))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses on an interval whose mean gradient turns from 1/n to -1/n: each selection's loss is ±eps0/2."""
        return turning_pair(5)


@dataclass(frozen=True)
class Selections:
    """The loop, and what a white-box adversary knows: the law of each selected corner, given those before."""

    corners: Corners
    steps: int
    pace: float
    eps0: float
    sensitivity: float
    noise: Noise = "gumbel"

    def run(
        self, problem: Problem, seed: Seed, trials: int, trace: bool, stops: bool = True
    ) -> tuple[Array, Trace | None]:
        """x_R of each trial; without `stops` x_(T+1). Traced: all iterates, and the corners, 0 once a trial stopped."""
        parent, d = seed_of(seed), problem.d
        released, moves = np.empty((trials, d)), self.steps - 1 if stops else self.steps
        chosen = np.zeros((moves, trials, d)) if trace else np.empty((0, 0, 0))
        path = np.empty((moves + 1, trials, d)) if trace else np.empty((0, 0, 0))
        norms = np.zeros((moves, trials)) if trace else np.empty((0, 0))
        for number, first, last in block_cuts(problem, trials):
            rng = np.random.default_rng(child(parent, number))
            until = rng.integers(0, self.steps, last - first) if stops else np.full(last - first, moves)  # R - 1
            x = np.tile(self.corners.centre(), (last - first, 1))
            if trace:
                path[0, first:last] = x
            for k in range(moves):
                going = until > k
                gradient = problem.gradient(x[going])
                scores = -self.corners.products(gradient)
                corner = self.corners.at(select(scores, self.eps0, self.sensitivity, rng, self.noise))
                x[going] = (1 - self.pace) * x[going] + self.pace * corner
                if trace:
                    path[k + 1, first:last] = x
                    chosen[k, first:last][going] = corner
                    norms[k, first:last][going] = np.linalg.norm(gradient, axis=1)
            released[first:last] = x
        if not trace:
            return released, None
        return released, Trace(path, norms, unprojected=chosen, law=self)  # type: ignore[arg-type]

    def log_density(self, problem: Problem, seen: Array) -> Array:
        """Of the selected corners, (k, T-1, d), (k,); what is no corner says that the trial had stopped."""
        x, logs = np.tile(self.corners.centre(), (len(seen), 1)), np.zeros(len(seen))
        for k in range(seen.shape[1]):
            index = self.corners.which(seen[:, k])
            going = index >= 0
            if not np.any(going):
                break
            scores = -self.corners.products(problem.gradient(x[going]))
            law = selection_logs(scores, self.eps0, self.sensitivity, self.noise)
            logs[going] += law[np.arange(len(law)), index[going]]
            x[going] = (1 - self.pace) * x[going] + self.pace * seen[going, k]
        return logs
