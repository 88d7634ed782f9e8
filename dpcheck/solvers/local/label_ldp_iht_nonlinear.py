"""Label-LDP-IHT for labels with a link. Claims: bounds/library/local/label_ldp_iht_nonlinear.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcheck.bounds.library.local import label_ldp_iht_nonlinear as library
from dpcheck.families.hard_thresholding import LINEAR, WAVY, LabelPrivateThresholding, Link


@dataclass(frozen=True)
class LabelLDPIHTNonlinear(LabelPrivateThresholding):
    """Sparse regression through a link from private labels."""

    name: ClassVar[str] = "label_ldp_iht_nonlinear"
    theory: ClassVar[Any] = library
    links: ClassVar[tuple[Link, ...]] = (WAVY, LINEAR)
