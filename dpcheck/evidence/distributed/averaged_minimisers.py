"""What runs show of averages of local minimisers. Claims: bounds/library/distributed/averaged_minimisers.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.library.distributed import averaged_minimisers as theory
from dpcheck.evidence.distributed.mpc_out_p import CASES, bound, drawn
from dpcheck.evidence.property_checks import Property


def off_centre(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far the average is from the minimiser of the mean objective."""
    data, _ = drawn(case)
    gap = np.linalg.norm(data.minimisers().mean(axis=0) - data.minimiser()[0])
    return float(gap), bound(theory.theorem5_3_corrected, data)


CHECKS = {
    "lwang21.theorem6.5.3.corrected": [
        Property(off_centre, CASES, "averages of local minimisers of random parties, alike and unlike")
    ],
}
