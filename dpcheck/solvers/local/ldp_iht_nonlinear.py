"""LDP-IHT for labels with a link. Claims: bounds/library/local/ldp_iht_nonlinear.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcheck.bounds.library.local import ldp_iht_nonlinear as library
from dpcheck.families.hard_thresholding import LINEAR, WAVY, Link
from dpcheck.families.reported_gradients import ReportedGradients


@dataclass(frozen=True)
class LDPIHTNonlinear(ReportedGradients):
    """Sparse regression through a link, whole records private."""

    name: ClassVar[str] = "ldp_iht_nonlinear"
    theory: ClassVar[Any] = library
    links: ClassVar[tuple[Link, ...]] = (WAVY, LINEAR)
