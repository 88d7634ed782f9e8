"""Neighbouring problems on which gradient methods leak the most: few records, one of which turns round."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcheck.problems.constraints import Constraint, L1Ball, L2Ball, WholeSpace
from dpcheck.problems.losses import Huber, Linear
from dpcheck.problems.problem import Problem

FAR = 1e6


def linear_pair(n: int, direction: Any = (1.0,)) -> tuple[Problem, Problem]:
    """n records with gradient u, the unit vector along `direction`, one of which turns round."""
    u = np.asarray(direction, float)
    u = u / np.linalg.norm(u)
    first = Problem(np.tile(u, (n, 1)), -np.ones(n), Linear(), row_bound=float(np.linalg.norm(u)))
    return first, first.replace(0, u, 1.0)


def opposite_pair(n: int, constraint: Constraint | None = None) -> tuple[Problem, Problem]:
    """n Huber losses with far minimisers, one of which changes sides: full gradients differ by 2G/n everywhere."""
    first = _far(n, constraint)
    return first, first.replace(0, [1.0], FAR)


def turning_pair(n: int) -> tuple[Problem, Problem]:
    """n Huber losses with far minimisers, and the same with one minimiser at -1: it differs only where x < 0."""
    first = _far(n, None)
    return first, first.replace(0, [1.0], -1.0)


def bending_pair(n: int) -> tuple[Problem, Problem]:
    """Linear losses but for one Huber loss, whose slope in x halves: the curvature is all that differs at first."""
    first = Problem(
        np.vstack([[1.0], np.ones((n - 1, 1))]), np.r_[0.0, np.full(n - 1, -FAR)], Huber(1.0), label_bound=FAR
    )
    return first, first.replace(0, [0.5], 0.0)


def balanced_pair(n: int) -> tuple[Problem, Problem]:
    """n (odd) linear losses on [-1, 1], as many rising as falling but for one that turns round: so does their mean."""
    labels = np.r_[-FAR, np.tile([-FAR, FAR], (n - 1) // 2)]
    first = Problem(np.ones((n, 1)), labels, Huber(1.0), label_bound=FAR, constraint=L1Ball(1.0))
    return first, first.replace(0, [1.0], FAR)


def lone_pair(n: int) -> tuple[Problem, Problem]:
    """Losses on [-1, 1] of which one alone is not constant; its gradient turns from 1 to -1, and the mean with it."""
    rows = np.vstack([[[1.0]], np.zeros((n - 1, 1))])
    first = Problem(rows, np.full(n, -FAR), Huber(1.0), label_bound=FAR, constraint=L2Ball(1.0))
    return first, first.replace(0, [1.0], FAR)


def _far(n: int, constraint: Constraint | None) -> Problem:
    where = constraint or WholeSpace()
    return Problem(np.ones((n, 1)), np.full(n, -FAR), Huber(1.0), label_bound=FAR, constraint=where)


def turned_row(d: int, n: int = 4, row_bound: float = 1.0) -> tuple[Problem, Problem]:
    """Rows of zeros but one, with equal entries and as long as the bound allows, which turns round."""
    row = np.full(d, row_bound / math.sqrt(d) * (1 - 1e-12))
    X = np.zeros((n, d))
    X[0] = row
    first = Problem(X, np.zeros(n), Linear(), row_bound=row_bound)
    return first, first.replace(0, -row, 0.0)
