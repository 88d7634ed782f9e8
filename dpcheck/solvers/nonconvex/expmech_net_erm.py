"""The exponential mechanism on a net (dwang20, Theorem 4.2.4). Claims: bounds/library/nonconvex/expmech_net_erm.py."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee, PureDP
from dpcheck.bounds.library.nonconvex import expmech_net_erm as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.method import ROUNDED
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.losses import Array, Linear
from dpcheck.problems.problem import Problem
from dpcheck.settings import positive
from dpcheck.solver import Calibration, Example, Solver, must_meet

MOST_POINTS = 1 << 18


@dataclass(frozen=True)
class NetERM(Solver):
    """A point of a net of the ball that holds every minimiser, drawn by its risk; right as printed.

    Losses need only be Lipschitz, with a regulariser and no constraint. `mesh` is how near the net comes to every point
    of the ball of radius G/l2, by default d/(n eps). Its points are at most 262,144: time is exponential in d.
    """

    mesh: float | None = positive()
    name: ClassVar[str] = "expmech_net_erm"
    for_estimators: ClassVar[bool] = False  # time is exponential in d, and privacy pure

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        must_meet(theory.privacy, data)
        if not isinstance(guarantee, PureDP):
            raise InvalidInput("guarantee", str(guarantee), "PureDP", "Give it as PureDP(eps): it implies the others.")
        if not isinstance(data.constraint, WholeSpace):
            raise InvalidInput("constraint", data.constraint, "none", "The regulariser bounds the net's ball.")
        if data.l2 == 0:
            raise InvalidInput("l2", 0.0, "> 0", "Without a regulariser no ball holds the minimiser: add one.")

    def plan(self, data: Problem, guarantee: Guarantee) -> Array:
        """The net: its points depend on public bounds alone."""
        eps = float(guarantee.parameters["eps"])
        return net(data.d, data.data_lipschitz / data.l2, self.mesh or data.d / (data.n * eps))

    def release(self, data: Problem, plan: Array) -> Release:
        released = theory.released.at(L=data.data_lipschitz, ridge=data.l2, n=data.n)
        # privacy: dwang20.theorem4.2.4.sensitivity
        return Release(float(released.sensitivity) + ROUNDED * lattice_of(data), released.law)

    def method(self, data: Problem, plan: Array, released: Released) -> OneAnswer:
        return OneAnswer(partial(scores, points=plan), len(plan), plan, lattice_of(data))

    def stated(self, data: Problem, guarantee: Guarantee, plan: Array) -> tuple[Released, Sequence[Claim]]:
        values = {"L": data.data_lipschitz, "ridge": data.l2, "n": data.n, "eps": guarantee.parameters["eps"]}
        return self.release(data, plan).with_noise(float(theory.privacy.evaluate(**values))), [theory.privacy]

    def certifying(self, data: Problem, plan: Array) -> Sequence[Claim]:
        return [theory.sensitivity, theory.privacy]

    @classmethod
    def example(cls) -> Example:
        return Example(cls(mesh=0.1), PureDP(1.0), reaches=0.85, bug=0.25)  # no point of the net lies on the sphere

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Three linear losses, one of which turns round: the ends of the ball change places."""
        first = Problem(np.ones((3, 1)), np.ones(3), Linear(), l2=1.0)
        return first, first.replace(0, [1.0], -1.0)


def net(d: int, radius: float, mesh: float) -> Array:
    """Points of a ball, one within `mesh` of each: centres of cubes of that half diagonal, drawn into the ball."""
    half = mesh / math.sqrt(d)  # of a cube's side
    wide = max(1.0, radius / half)  # in cubes; it may be no number that is whole
    sides = math.ceil(min(wide, 1.0 + MOST_POINTS))
    if sides**d > MOST_POINTS:
        remedy = "Pass a larger mesh, or use dp_gld, which walks."
        raise InvalidInput("points of the net", f"{np.ceil(wide):g}^{d}", f"at most {MOST_POINTS}", remedy)
    axis = radius * (2 * np.arange(sides) + 1 - sides) / sides
    cubes = np.array(list(itertools.product(axis, repeat=d)))
    near = cubes[np.linalg.norm(np.maximum(np.abs(cubes) - radius / sides, 0), axis=1) <= radius]  # they meet the ball
    norms = np.linalg.norm(near, axis=1, keepdims=True)
    return np.unique(near * (radius / np.maximum(norms, radius)), axis=0)


def scores(problem: Problem, points: Array) -> Array:
    """u(D, w) = F(0) - F(w) for each point."""
    here = problem.loss.value(points @ problem.X.T, problem.y) - problem.loss.value(np.zeros(problem.n), problem.y)
    losses = np.array([math.fsum(row) for row in here]) / problem.n
    return -(losses + problem.l2 / 2 * np.einsum("pd,pd->p", points, points))


def lattice_of(problem: Problem) -> float:
    """A power of two, 2^-30 of the sensitivity or less; coarser where a mean of n losses has fewer digits."""
    moved = float(theory.sensitivity.evaluate(L=problem.data_lipschitz, ridge=problem.l2, n=problem.n))
    return math.ldexp(1.0, math.frexp(moved * max(2.0**-30, problem.n * 2.0**-46))[1])
