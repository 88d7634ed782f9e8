"""Label-LDP-IHT: noisy labels, then hard thresholding. Claims: bounds/library/local/label_ldp_iht.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcheck.bounds.library.local import label_ldp_iht as library
from dpcheck.families.hard_thresholding import LabelPrivateThresholding


@dataclass(frozen=True)
class LabelLDPIHT(LabelPrivateThresholding):
    """Sparse linear regression from private labels."""

    name: ClassVar[str] = "label_ldp_iht"
    theory: ClassVar[Any] = library
