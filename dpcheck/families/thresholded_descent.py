"""Gradient steps that keep the largest entries alone: what solvers over sparse points share, noisy or not.

Claims: bounds/library/sparse/ight.py, dp_ight.py and dp_iht_erm.py.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.sparse.dp_ight import gradients
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.gradient_steps import GradientSteps
from dpcheck.kernels.method import Array, State
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, positive
from dpcheck.solver import Calibration, Example, Solver


def keep_largest(w: Array, kept: int) -> Array:
    """Hard thresholding, in place: each row with its `kept` entries of largest size, the others 0."""
    if kept < w.shape[1]:
        small = np.argpartition(np.abs(w), -kept, axis=1)[:, :-kept]
        np.put_along_axis(w, small, 0.0, axis=1)
    return w


def ight(gradient: Callable[[Array], Array], start: Array, kept: int, eta: float, steps: int) -> Array:
    """Iterative gradient hard thresholding without noise, from `start`, (k, d); nothing of it is private."""
    w = start.copy()
    for _ in range(steps):
        w = keep_largest(w - eta * gradient(w), kept)
    return w


@dataclass(frozen=True, eq=False)
class ThresholdedSteps(GradientSteps):
    """Gradient steps that keep the `kept` entries of largest size, or all that there are."""

    kept: int = 1

    def update(self, state: State, answer: Array, t: int) -> State:
        (w,) = super().update(state, answer, t)
        return (keep_largest(w, self.kept),)


@dataclass(frozen=True)
class ThresholdedDescent(Solver):
    """`steps` noisy full gradients from 0, each followed by hard thresholding to `kept` entries."""

    kept: int = count(10)
    steps: int = count(20)
    step_size: float | None = positive()
    minimises: ClassVar[bool] = False  # over sparse points, not over the problem's own set

    @abstractmethod
    def default_step(self, problem: Problem) -> float:
        """Where no step size is given."""

    def must_suit(self, data: Any, guarantee: Guarantee, calibration: Calibration) -> None:
        if not isinstance(data, Problem):
            raise InvalidInput("data", type(data).__name__, "a Problem", "Make one of rows, labels and a loss.")
        if not isinstance(data.constraint, WholeSpace):
            limit = "the whole space, as the sparse points are what it is restricted to"
            raise InvalidInput("constraint", data.constraint, limit, "Leave it out, or use dp_fw_l1 over an l1 ball.")
        if data.smoothness == 0 and self.step_size is None:
            raise InvalidInput("step_size", None, "given for a linear risk", "Pass step_size=1.0 for example.")

    def release(self, data: Problem, plan: None) -> Release:
        # privacy: lwang21.theorem2.5.2.corrected, dwang20.theorem5.3.8.privacy
        return gradients.at(G=data.data_lipschitz, n=data.n, T=self.steps)

    def method(self, data: Problem, plan: None, released: Released) -> ThresholdedSteps:
        eta = self.step_size or self.default_step(data)
        return ThresholdedSteps(np.full(self.steps, eta), np.zeros(data.d), data.constraint, kept=self.kept)

    @classmethod
    def example(cls) -> Example:
        return Example(replace(cls(), kept=2, steps=5, step_size=0.5))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses, one of which turns round: full gradients differ by 2G/n everywhere."""
        return opposite_pair(5)
