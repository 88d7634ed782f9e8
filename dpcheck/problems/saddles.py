"""Problems with a saddle point that is known: where it is, and how deep it bends. For studies of escapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from scipy import optimize

from dpcheck.problems.losses import Array, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.problems.sensing import Sensing

Name = Literal["phase retrieval", "matrix sensing", "sigmoid"]
NAMES: tuple[Name, ...] = ("phase retrieval", "matrix sensing", "sigmoid")


class Saddle(NamedTuple):
    """A problem, a point where its gradient vanishes, and the least eigenvalue of its Hessian there, below 0."""

    problem: Problem | Sensing
    at: Array
    least: float


def saddle(name: Name) -> Saddle:
    """One of three.

    >>> [saddle(name).least < 0 for name in NAMES]
    [True, True, True]
    """
    made: dict[Name, Callable[[], tuple[Problem | Sensing, Array]]]
    made = {"phase retrieval": _phase, "matrix sensing": _matrix, "sigmoid": _sigmoid}
    problem, at = made[name]()
    return Saddle(problem, at, float(np.linalg.eigvalsh(problem.hessians(at[None]))[0, 0]))


def _phase() -> tuple[Sensing, Array]:
    """||w'x||^2 along 24 directions of the plane, of w = (1, 0); by symmetry a saddle lies on the other axis."""
    angles = np.arange(24) * math.pi / 24
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    problem = Sensing(X, X[:, 0] ** 2)
    return problem, np.array([0.0, _root(lambda t: problem.gradient(np.array([[0.0, t]]))[0, 1], 0.1, 1.0)])


def _matrix() -> tuple[Sensing, Array]:
    """||U'x||^2 of a U with two orthogonal columns, along 60 random directions of space; a saddle lies at 0."""
    X = np.random.default_rng(3).standard_normal((60, 3))
    X /= np.linalg.norm(X, axis=1)[:, None]
    return Sensing(X, X[:, 0] ** 2 + X[:, 1] ** 2 / 2, rank=2), np.zeros(6)


def _sigmoid() -> tuple[Problem, Array]:
    """Records (c, s) and (-c, s) of label 1 against (0, 1) of label -1, which pull w_2 below 0, where w_1 may go either
    way: a saddle lies at w_1 = 0.
    """
    c = s = math.sqrt(0.5)
    X = np.vstack([np.tile([[c, s], [-c, s]], (11, 1)), np.tile([[0.0, 1.0]], (18, 1))])
    problem = Problem(X, np.r_[np.ones(22), -np.ones(18)], Sigmoid(), l2=1e-3)
    return problem, np.array([0.0, _root(lambda t: problem.gradient(np.array([[0.0, t]]))[0, 1], -5.0, 0.0)])


def _root(slope: Callable[[float], float], low: float, high: float) -> float:
    return float(optimize.brentq(slope, low, high, xtol=1e-14))
