"""Solvers whose users report their losses on a grid, and whose server minimises a Bernstein polynomial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP, Relation
from dpcheck.bounds.library.local import local_bernstein as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.bernstein import Grid, GridLosses, level, must_fit, random_record
from dpcheck.families.one_report import OneReport
from dpcheck.families.user_numbers import must_be_pure
from dpcheck.kernels.method import ROUNDED, Array
from dpcheck.settings import count
from dpcheck.solver import Calibration, Example, Solver

LATTICE = 2.0**-30  # losses in [0, 1] are rounded to it, and their noise is whole multiples of it


@dataclass(frozen=True)
class GridSolver(Solver):
    """What they share: the grid, which data and guarantees they take, and their worst pair."""

    relations: ClassVar[tuple[Relation, ...]] = (LOCAL,)
    minimises: ClassVar[bool] = False
    cells: int | None = count(None)
    order: int = count(2)

    def must_suit(self, data: GridLosses, guarantee: Guarantee, calibration: Calibration) -> None:
        if not isinstance(data, GridLosses):
            raise InvalidInput("data", type(data).__name__, "GridLosses", "Give records and a loss on [0, 1]^p.")
        must_be_pure(guarantee)
        must_fit(self.cells or 2, data.p)

    def plan(self, data: GridLosses, guarantee: Guarantee) -> Grid:
        """k of Theorem 5.1.2 with every constant 1, unless it is given; what is reported at must stay affordable."""
        eps, n, p, h = float(guarantee.parameters["eps"]), data.n, data.p, self.order
        rule = (np.sqrt(p * n) * eps / 2.0 ** ((h + 1) * p)) ** (1 / (h + p))
        k = self.cells or int(np.clip(rule, 2, 16))
        must_fit(k, p)
        return Grid(k, p, h)

    def worst_pair(self) -> tuple[GridLosses, GridLosses]:
        """One user, whose loss is 0 or 1 everywhere."""
        return tuple(GridLosses(np.array([[x]]), level) for x in (0.0, 1.0))  # type: ignore[return-value]

    @classmethod
    def example(cls) -> Example:
        return Example(cls(cells=2, order=1), PureDP(1.0, relation=LOCAL), neighbour=random_record)


@dataclass(frozen=True)
class InGroups(GridSolver):
    """Public coins give each user one grid point, at which she reports; each point as many users."""

    def plan(self, data: GridLosses, guarantee: Guarantee) -> Grid:
        grid = super().plan(data, guarantee)
        if self.cells is None and data.n < len(grid.points):
            grid = replace(grid, k=max(1, int(data.n ** (1 / data.p)) - 1))
        if data.n < len(grid.points):
            raise InvalidInput("users", data.n, f"at least {len(grid.points)}, one a grid point", "Take fewer cells.")
        return grid

    def not_published(self) -> InvalidInput:
        """The published reports are no noise of this kind: they are attacked in the evidence."""
        limit = 'calibration="certified"'
        return InvalidInput("calibration", "stated", limit, "The published reports are attacked in the evidence.")

    def worst_pair(self) -> tuple[GridLosses, GridLosses]:
        """One of four users, whose loss is 0 or 1 everywhere."""
        users = GridLosses(np.full((4, 1), 0.5), level)
        return users.with_record(0, np.zeros(1)), users.with_record(0, np.ones(1))


def group_means(reports: Array, points: Array, count: int) -> Array:
    """The mean report at each of so many grid points, of reports (k, n) and their users' points, (k, count)."""
    k = len(reports)
    where = (points + count * np.arange(k)[:, None]).ravel()
    sums = np.bincount(where, reports.ravel(), k * count)
    return np.asarray(sums / np.maximum(np.bincount(where, minlength=k * count), 1)).reshape(k, count)


@dataclass(frozen=True)
class EveryPoint(GridSolver):
    """Every user reports her loss at every point of the grid, with Laplace noise."""

    def release(self, data: GridLosses, plan: Grid) -> Release:
        exactly = theory.released.at(grid_k=plan.k, d=plan.p)  # privacy: dwang20.theorem5.1.2.privacy
        rounded = exactly.sensitivity * (1 + ROUNDED * LATTICE)
        return Release(rounded, exactly.law, relation=LOCAL)

    def method(self, data: GridLosses, plan: Grid, released: Released) -> OneReport:
        return OneReport(
            lambda data: data.at(plan.points), lambda reports: self.served(reports, plan),
            users=data.n, each=len(plan.points), outputs=plan.p, lattice=LATTICE,
        )  # fmt: skip

    def served(self, reports: Array, plan: Grid) -> Array:
        """What the server makes of all reports."""
        return plan.minimisers(reports.mean(axis=1))

    def stated(self, data: GridLosses, guarantee: Guarantee, plan: Grid) -> tuple[Released, Sequence[Claim]]:
        noise = theory.theorem2_privacy.evaluate(grid_k=plan.k, d=plan.p, eps=guarantee.parameters["eps"])
        return self.release(data, plan).with_noise(float(noise)), [theory.theorem2_privacy]

    def certifying(self, data: GridLosses, plan: Grid) -> Sequence[Claim]:
        return [theory.theorem2_privacy]
