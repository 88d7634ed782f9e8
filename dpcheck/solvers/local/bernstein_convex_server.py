"""A server for convex losses that takes few steps. Claims: bounds/library/local/bernstein_convex_server.py.

The optimiser of the document's [249] is not here: this one goes along slopes over a distance, which a small error of
the values cannot turn, and keeps the best point that it has seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpcheck.families.bernstein import Grid
from dpcheck.families.grid_reports import EveryPoint
from dpcheck.kernels.method import Array
from dpcheck.settings import count, fraction
from dpcheck.solver import Example


@dataclass(frozen=True)
class BernsteinConvexServer(EveryPoint):
    """Minimises a smooth convex risk on [0, 1]^p: reports as in `local_bernstein`, 2p values a step of the server."""

    name: ClassVar[str] = "bernstein_convex_server"
    steps: int = count(50)
    reach: float = fraction(0.2)

    def served(self, reports: Array, plan: Grid) -> Array:
        values = reports.mean(axis=1)
        w = np.full((len(values), plan.p), 0.5)
        best, least = w, plan.values_at(values, w[:, None])[:, 0]
        for t in range(1, self.steps + 1):
            slope = self.slopes(values, w, plan)
            length = np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), np.finfo(float).tiny)
            w = np.clip(w - slope / length / (2 * t**0.5), 0, 1)
            now = plan.values_at(values, w[:, None])[:, 0]
            best, least = np.where((now < least)[:, None], w, best), np.minimum(now, least)
        return best

    def slopes(self, values: Array, w: Array, plan: Grid) -> Array:
        """Differences of the polynomials along the axes over twice the reach, less at the border, (k, p)."""
        ends = [np.clip(w[:, None] + sign * self.reach * np.eye(plan.p), 0, 1) for sign in (1, -1)]
        up, down = (plan.values_at(values, end) for end in ends)
        return np.asarray((up - down) / np.einsum("kjj->kj", ends[0] - ends[1]))

    @classmethod
    def example(cls) -> Example:
        return replace(super().example(), solver=cls(cells=2, order=1, steps=5))
