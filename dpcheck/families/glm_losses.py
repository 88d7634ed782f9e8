"""Losses of section 4.2 that are not convex: the squared loss of a logistic model, and the biweight of a residual."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.problems.constraints import L1Ball, L2Ball
from dpcheck.problems.losses import Labels, Loss, SignLoss, must_be_positive
from dpcheck.problems.problem import Problem

BENDS = (0.0, 1.0, (15 - math.sqrt(33)) / 24, (15 + math.sqrt(33)) / 24)  # of s: where psi'' may be extreme


@dataclass(frozen=True)
class SquaredLogistic(SignLoss):
    """(σ(m) - t)^2 with the logistic link σ, where y = 1 stands for t = 1 and y = -1 for t = 0: σ(-y m)^2.

    >>> round(SquaredLogistic().derivative_bound(math.inf), 4)  # 8/27, where the link is 2/3 off
    0.2963
    """

    convex: ClassVar[bool] = False
    separable: ClassVar[bool] = True

    def level(self, u: Any) -> Any:
        return special.expit(np.negative(u)) ** 2

    def slope(self, u: Any, out: Any = None) -> Any:
        s = special.expit(np.negative(u))
        return np.multiply(-2 * s**2, 1 - s, out=out)

    def bend(self, u: Any) -> Any:
        return _bend(special.expit(np.negative(u)))

    def derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        s = float(special.expit(min(margin_bound, math.log(2))))
        return 2 * s**2 * (1 - s)

    def curvature_range(self, margin_bound: float, label_bound: float = 1.0) -> tuple[float, float]:
        ends = special.expit([-margin_bound, margin_bound])
        tried = [float(_bend(s)) for s in (*ends, *BENDS) if ends[0] <= s <= ends[1]]
        return min(tried), max(tried)


def _bend(s: Any) -> Any:
    return 2 * s**2 * (1 - s) * (2 - 3 * s)


@dataclass(frozen=True)
class Biweight(Loss):
    """c²/6 (1 - (1 - (r/c)²)³) of a residual r = m - y up to c = `scale` in size, and c²/6 beyond.

    >>> Biweight(2.0).curvature_range(math.inf)
    (-0.8, 1.0)
    """

    scale: float = 3.0
    convex: ClassVar[bool] = False
    labels: ClassVar[Labels] = "real"

    def __post_init__(self) -> None:
        must_be_positive("scale", self.scale)

    def _left(self, margin: Any, y: Any) -> Any:
        """1 - (r/c)², at least 0."""
        return np.maximum(0.0, 1 - (np.subtract(margin, y, dtype=float) / self.scale) ** 2)

    def value(self, margin: Any, y: Any) -> Any:
        return self.scale**2 / 6 * (1 - self._left(margin, y) ** 3)

    def derivative(self, margin: Any, y: Any) -> Any:
        return np.subtract(margin, y) * self._left(margin, y) ** 2

    def second_derivative(self, margin: Any, y: Any) -> Any:
        left = self._left(margin, y)
        return left * (5 * left - 4)

    def derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        r = min(margin_bound + label_bound, self.scale / math.sqrt(5))
        return r * (1 - (r / self.scale) ** 2) ** 2

    def curvature_range(self, margin_bound: float, label_bound: float = 1.0) -> tuple[float, float]:
        left = max(0.4, 1 - min(1.0, (margin_bound + label_bound) / self.scale) ** 2)
        return left * (5 * left - 4), 1.0


def must_be_of_section_4_2(problem: Problem, ball: type[L1Ball] | type[L2Ball]) -> None:
    """Refuse other losses, sets and rows than those of Theorems 4.2.5 and 4.2.6."""
    if not isinstance(problem.loss, SquaredLogistic | Biweight):
        remedy = "Use dp_fw_l2 or dp_fw_l1 for other losses."
        raise InvalidInput("loss", type(problem.loss).__name__, "SquaredLogistic or Biweight", remedy)
    if not (isinstance(problem.constraint, ball) and problem.constraint.radius == 1.0):
        raise InvalidInput("constraint", problem.constraint, f"{ball.__name__}(1.0)", "Scale the rows to fit.")
    if problem.l2 > 0:
        raise InvalidInput("l2", problem.l2, "0", "Frank-Wolfe steps take no regulariser: leave it out.")
    if isinstance(problem.loss, Biweight) and problem.loss.scale <= 1 + problem.label_bound:
        limit = f"above 1 + label_bound = {1 + problem.label_bound:g}"
        raise InvalidInput("scale of the loss", problem.loss.scale, limit, "Beyond it the loss is flat: widen it.")


def steepest_pair(ball: L1Ball | L2Ball) -> tuple[Problem, Problem]:
    """Rows of zeros but one, whose biweight loss is steepest on all of the interval, and turns round."""
    label = 100 / math.sqrt(5)
    rows, labels = np.vstack([[[1.0]], np.zeros((4, 1))]), np.r_[-label, np.zeros(4)]
    first = Problem(rows, labels, Biweight(100.0), constraint=ball, label_bound=50.0)
    return first, first.replace(0, [1.0], label)
