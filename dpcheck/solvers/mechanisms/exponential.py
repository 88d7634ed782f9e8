"""The exponential mechanism: a private choice from a public list of points. Claims: bounds/library/mechanisms.

The score of a point is the sum of its records' losses, negative; the choice is the largest score after Gumbel noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee, PureDP
from dpcheck.bounds.library.mechanisms import exponential as theory
from dpcheck.kernels.blocks import seed_of
from dpcheck.problems.losses import Linear, SignLoss
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver

HELD = 1 << 20  # noise held at once, in numbers


@dataclass(frozen=True)
class ExponentialMechanism(Solver):
    """Chooses one of `points` (rows of numbers, public) by the sum of losses there."""

    points: Sequence[Sequence[float]] = ((1.0,), (-1.0,))
    name: ClassVar[str] = "exponential"
    minimises: ClassVar[bool] = False

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        if not isinstance(guarantee, PureDP):
            raise InvalidInput("guarantee", str(guarantee), "PureDP", "Give it as PureDP(eps): it implies the others.")
        points = self.table(problem)
        claim = theory.definition4  # right as printed: both calibrations use it
        scale = float(claim.evaluate(Delta_u=sensitivity(problem, points), eps=guarantee.eps)) * self.noise_factor
        rng = np.random.default_rng(seed_of(seed))
        chosen = noisy_argmax(scores(problem, points), scale, rng, trials)  # privacy: dwang20.definition2.1.4
        return Solution(points[chosen], guarantee, scale, (claim.id,), steps=1)

    def table(self, problem: Problem) -> np.ndarray:
        """The points as an array, refused if they do not fit the problem."""
        points = np.asarray(self.points, float)
        if points.ndim != 2 or len(points) == 0 or points.shape[1] != problem.d or not np.all(np.isfinite(points)):
            limit = f"rows of {problem.d} finite numbers"
            raise InvalidInput("points", self.points, limit, "One row a candidate, in the problem's dimension.")
        return points

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Five votes for the first point, one of which turns round: both scores move, in opposite ways."""
        points = np.asarray(self.points, float)
        towards = points[0] / np.linalg.norm(points[0])
        first = Problem(np.tile(towards, (5, 1)), np.ones(5), Linear())
        return first, first.replace(0, towards, -1.0)


def scores(problem: Problem, points: np.ndarray) -> np.ndarray:
    """u(D, r) = -Σ loss at r: without the regulariser, which could be added for free."""
    return -problem.loss.value(points @ problem.X.T, problem.y).sum(axis=-1)


def sensitivity(problem: Problem, points: np.ndarray) -> float:
    """The largest change of a score when a record is replaced: the range of a loss over margins up to |x||r|.

    A sign loss depends on y⟨x, r⟩ alone, and so does a linear one: its range is at most twice the slope's bound
    times the largest margin.
    """
    if not isinstance(problem.loss, SignLoss | Linear):
        limit = "a loss of y⟨x, w⟩ (sign losses, Linear)"
        raise InvalidInput("loss", type(problem.loss).__name__, limit, "Its range over labels is not derived here.")
    largest = problem.row_bound * float(np.linalg.norm(points, axis=1).max())
    slope = problem.loss.derivative_bound(largest, problem.label_bound if problem.loss.labels == "real" else 1.0)
    if largest == 0 or slope == 0:
        raise InvalidInput("points", points.tolist(), "with one that is not 0", "All scores are the same.")
    return 2 * largest * slope


def noisy_argmax(values: np.ndarray, scale: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    """Indices of the largest score after Gumbel noise of this scale, one a trial."""
    if scale == 0:
        return np.full(trials, int(np.argmax(values)))
    chosen = np.empty(trials, dtype=np.int64)
    rows = max(1, HELD // len(values))
    for first in range(0, trials, rows):
        noisy = rng.gumbel(size=(min(rows, trials - first), len(values)))
        noisy += values / scale
        chosen[first : first + len(noisy)] = noisy.argmax(axis=1)
    return chosen
