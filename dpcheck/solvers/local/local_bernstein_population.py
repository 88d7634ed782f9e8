"""The local Bernstein mechanism with a regulariser. Claims: bounds/library/local/local_bernstein_population.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpcheck.families.bernstein import Grid
from dpcheck.families.grid_reports import EveryPoint
from dpcheck.kernels.method import Array
from dpcheck.settings import not_negative


@dataclass(frozen=True)
class LocalBernsteinPopulation(EveryPoint):
    """The server adds μ/2·‖w‖² to the polynomial, n^(-1/12) unless given: public, so that privacy is as before."""

    name: ClassVar[str] = "local_bernstein_population"
    regulariser: float | None = not_negative(None)

    def served(self, reports: Array, plan: Grid) -> Array:
        mu = reports.shape[1] ** (-1 / 12) if self.regulariser is None else self.regulariser
        return plan.minimisers(reports.mean(axis=1), mu)
