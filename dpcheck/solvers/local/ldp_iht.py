"""LDP-IHT: users of a block report their gradients. Claims: bounds/library/local/ldp_iht.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcheck.bounds.library.local import ldp_iht as library
from dpcheck.families.reported_gradients import ReportedGradients


@dataclass(frozen=True)
class LDPIHT(ReportedGradients):
    """Sparse linear regression with whole records private: hard thresholding on reports, block after block."""

    name: ClassVar[str] = "ldp_iht"
    theory: ClassVar[Any] = library
