"""Label-LDP-IHT for labels with a link. Claims: bounds/library/local/label_ldp_iht_nonlinear.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.library.local import label_ldp_iht_nonlinear as theory
from dpcheck.families.hard_thresholding import LINEAR, WAVY, LabelPrivateThresholding


@dataclass(frozen=True)
class LabelLDPIHTNonlinear(LabelPrivateThresholding):
    """Sparse regression through a link from private labels."""

    name: ClassVar[str] = "label_ldp_iht_nonlinear"
    theory: ClassVar = theory
    links: ClassVar = (WAVY, LINEAR)
