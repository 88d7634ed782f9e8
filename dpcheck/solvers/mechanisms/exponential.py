"""The exponential mechanism: a private choice from a public list of points. Claims: bounds/library/mechanisms.

The score of a point is the sum of its records' losses, negative; the choice is drawn exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee, PureDP
from dpcheck.bounds.library.mechanisms import exponential as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.method import ROUNDED
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.problems.losses import Linear, SignLoss
from dpcheck.problems.problem import Problem
from dpcheck.settings import allowing
from dpcheck.solver import Calibration, Solver


def _rows(points: Any) -> bool:
    table = np.asarray(points, float)
    return table.ndim == 2 and table.size > 0 and bool(np.all(np.isfinite(table)))


@dataclass(frozen=True)
class ExponentialMechanism(Solver):
    """Chooses one of `points` (rows of numbers, public) by the sum of losses there; right as printed."""

    points: Sequence[Sequence[float]] = allowing(
        ((1.0,), (-1.0,)),
        "rows of finite numbers",
        _rows,
        remedy="One row a candidate.",
        refuses=((), ((),), (1.0, 2.0), ((1.0,), (1.0, 2.0)), ((np.nan,),), ((np.inf,),), "points"),
    )
    name: ClassVar[str] = "exponential"
    minimises: ClassVar[bool] = False

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        if not isinstance(guarantee, PureDP):
            raise InvalidInput("guarantee", str(guarantee), "PureDP", "Give it as PureDP(eps): it implies the others.")

    def plan(self, data: Problem, guarantee: Guarantee) -> np.ndarray:
        """The points as an array, refused if they do not fit the problem."""
        points = np.asarray(self.points, float)
        if points.shape[1] != data.d:
            limit = f"rows of {data.d} finite numbers"
            raise InvalidInput("points", self.points, limit, "One row a candidate, in the problem's dimension.")
        return points

    def release(self, data: Problem, plan: np.ndarray) -> Release:
        rounding = ROUNDED * lattice_of(data, plan)
        return theory.released.at(Delta_u=sensitivity(data, plan) + rounding)  # privacy: dwang20.definition2.1.4

    def method(self, data: Problem, plan: np.ndarray, released: Released) -> OneAnswer:
        return OneAnswer(partial(scores, points=plan), len(plan), plan, lattice_of(data, plan))

    def stated(self, data: Problem, guarantee: Guarantee, plan: np.ndarray) -> tuple[Released, Sequence[Claim]]:
        claim, release = theory.definition4, self.release(data, plan)
        noise = claim.evaluate(Delta_u=sensitivity(data, plan), eps=guarantee.parameters["eps"])
        return release.with_noise(float(noise)), [claim]

    def certifying(self, data: Problem, plan: np.ndarray) -> Sequence[Claim]:
        return [theory.definition4]

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Three votes for the first point, one of which turns round: both scores move, in opposite ways.

        More votes come nearer to eps, by a choice that is seen less often.
        """
        points = np.asarray(self.points, float)
        towards = points[0] / np.linalg.norm(points[0])
        first = Problem(np.tile(towards, (3, 1)), np.ones(3), Linear())
        return first, first.replace(0, towards, -1.0)


def scores(problem: Problem, points: np.ndarray) -> np.ndarray:
    """u(D, r) = -Σ loss at r: without the regulariser, which could be added for free."""
    losses = problem.loss.value(points @ problem.X.T, problem.y)
    return -np.array([math.fsum(row) for row in losses])


def lattice_of(problem: Problem, points: np.ndarray) -> float:
    """A power of two, 2^-30 of the sensitivity or less; coarser where a sum of n losses has fewer digits."""
    finest = sensitivity(problem, points) * max(2.0**-30, problem.n * 2.0**-46)
    return math.ldexp(1.0, math.frexp(finest)[1])


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
