"""The trimmed mean, attacked by an outlier. Claims: bounds/library/heavy_tail/ht_trim_arsinh_mean.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ZCDP, Guarantee
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.families.trimmed_means import smooth_width, trimmed
from dpcheck.solvers.heavy_tail.ht_trim_arsinh_mean import HtTrimArsinhMean

CLAIMED = ZCDP(0.02)  # ε = 0.2
IMPLIED = CLAIMED.to_approx(1e-2)


def with_outlier(calibration: Any) -> tuple[Any, Any, Guarantee]:
    """Twenty zeros, one of which becomes a million: the trimmed means are equal, the printed widths are not."""
    zeros = np.zeros(20)
    other = zeros.copy()
    other[0] = 1e6
    return HtTrimArsinhMean(trim=1).mechanism(CLAIMED, calibration), (zeros, other), IMPLIED


def widened(case: Mapping[str, Any]) -> tuple[float, float]:
    """What one record, of any size, does to the width and to the mean in units of it; e^t, as the claim has it."""
    rng, n, t = np.random.default_rng(case["seed"]), case["n"], 10.0 ** case["smoothness"]
    m = max(1, min(case["m"], (n - 1) // 2))
    data = rng.standard_t(1.5, size=(n, 1)) * 10.0 ** case["spread"]
    other = data.copy()
    other[rng.integers(n)] = rng.choice([-1, 0, 1]) * 10.0 ** case["size"]
    found = [np.sort(x, axis=0) for x in (data, other)]
    widths = [float(smooth_width(x, m, t, -1.0, 1.0)[0]) for x in found]
    means = [float(trimmed(x, m, -1.0, 1.0)[0]) for x in found]
    return max(max(widths) / min(widths), np.exp(t) * abs(means[0] - means[1]) / min(widths)), float(np.exp(t))


CHECKS = {
    "dwang20.theorem3.2.3.privacy": [
        AuditCheck(lambda: with_outlier("stated"), "one of twenty zeros becomes a million", at={"eps": 0.2})
    ],
    "dwang20.theorem3.2.3.privacy.corrected": [
        AuditCheck(lambda: with_outlier("certified"), "one of twenty zeros becomes a million", at={"eps": 0.2})
    ],
    "dwang20.theorem3.2.3.smooth": [
        Property(
            widened,
            {"n": (3, 60), "m": (1, 30), "seed": (0, 10**6), "smoothness": (-3.0, 0.0), "spread": (-3.0, 3.0),
             "size": (-3.0, 12.0)},
            "Student numbers and one of any size; width, and mean in units of it",
            examples=400,
        )
    ],
}  # fmt: skip
