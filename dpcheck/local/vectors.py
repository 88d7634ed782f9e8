"""The randomiser for the mean of vectors of a Euclidean ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpcheck.audits import Neighbours, one_user
from dpcheck.kernels.reports import half_sphere_log_density, half_spheres, unbiased_radius
from dpcheck.local.randomiser import Array, Randomiser, must_hold
from dpcheck.settings import count, positive


@dataclass(frozen=True)
class L2Ball(Randomiser):
    """A point of a sphere, more often on the record's own side (Duchi, Jordan, Wainwright 2018).

    Claims: bounds/library/local/ldp_l2_randomizer.py. The sphere's radius makes it unbiased.
    """

    d: int = count(2)
    radius: float = positive(1.0)

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.d

    @cached_property
    def scale(self) -> float:
        """A record's own side has probability (1 + norm/scale)/2."""
        return self.radius / math.tanh(self.spent / 2)

    @cached_property
    def largest(self) -> float:
        """The norm of every report."""
        return self.scale * unbiased_radius(self.d)

    @property
    def neighbours(self) -> Neighbours:
        return one_user(high=self.radius, d=self.d, ball="l2")

    def must_be_inside(self, records: Array) -> Array:
        held = np.einsum("ij,ij->i", records, records) <= (self.radius * (1 + 1e-9)) ** 2
        must_hold(held, f"vectors of norm at most {self.radius:g}", "Scale them into the ball.")
        return records

    def drawn(self, records: Array, rng: np.random.Generator) -> Array:
        return half_spheres(rng, records, self.scale, self.largest)

    def aggregate(self, reports: Any) -> Array:
        words = f"vectors of norm {self.largest:.6g}"
        found = self.reported(reports, self.d, words, self._on_sphere)
        return np.asarray(found.mean(axis=0))

    def _on_sphere(self, reports: Array) -> Array:
        return np.isclose(np.einsum("ij,ij->i", reports, reports), self.largest**2, rtol=1e-6)

    def loss(self, record: Any, other: Any) -> float:
        one, two = self.checked([record, other])
        sizes = [min(float(np.linalg.norm(v)) / self.scale, 1.0) for v in (one, two)]
        lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(two))
        cosine = float(one @ two) / max(lengths, 1e-300)
        sides = [(a, b) for a in (1, -1) for b in (1, -1)]  # of one and of the other, on which a report may lie
        if abs(cosine) >= 1 - 1e-15:
            sides = [(a, b) for a, b in sides if a * b == np.sign(cosine)]
        return max(abs(math.log1p(a * sizes[0]) - math.log1p(b * sizes[1])) for a, b in sides)

    def log_density(self, outputs: Any, data: Any) -> Array:
        reports = np.asarray(outputs, float).reshape(-1, self.d)
        return half_sphere_log_density(reports, np.asarray(data, float), self.scale)

    def variance(self, n: int = 1, record: Any = None) -> float:
        """E‖mean of reports - mean‖² of n users who all hold this record; of users at 0, the largest, without one."""
        size = 0.0 if record is None else float(np.linalg.norm(record))
        return (self.largest**2 - size**2) / n
