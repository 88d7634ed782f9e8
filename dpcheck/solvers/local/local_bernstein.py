"""The local Bernstein mechanism. Claims: bounds/library/local/local_bernstein.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpcheck.families.grid_reports import EveryPoint


@dataclass(frozen=True)
class LocalBernstein(EveryPoint):
    """Minimises a smooth risk, convex or not, from noisy losses on a grid: private as printed, up to the lattice."""

    name: ClassVar[str] = "local_bernstein"
