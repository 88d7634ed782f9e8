"""Sample and aggregate, attacked by one far record. Claims: bounds/library/heavy_tail/ht_sample_aggregate.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.families.aggregated import centre_and_width, subsets
from dpcheck.solvers.heavy_tail.ht_sample_aggregate import HtSampleAggregate

CLAIMED, SETS = ApproxDP(5.0, 1e-2), 6400


def far_record() -> tuple[Any, Any, Guarantee]:
    """Records of 0, and one, of most subsets, at the edge of the ball: a width by the largest grows twentyfold."""
    solver, zeros = HtSampleAggregate(SETS), np.zeros(SETS)
    other = zeros.copy()
    other[np.argmax(np.bincount(subsets(SETS, SETS, solver.design).ravel(), minlength=SETS))] = 1.0
    return solver.mechanism(CLAIMED, "stated"), (zeros, other), CLAIMED


def widened(case: Mapping[str, Any]) -> tuple[float, float]:
    """What √m moved points do to the width, and to the centre in units of it; both over what they may."""
    rng, s, beta = np.random.default_rng(case["seed"]), case["root"], case["beta"]
    points = np.clip(rng.standard_t(1.5, size=(s * s, case["d"])) * 10.0 ** case["spread"], -0.5, 0.5)
    other = points.copy()
    other[rng.choice(s * s, s, replace=False)] = rng.uniform(-0.5, 0.5, size=case["d"])
    d, found = case["d"], [centre_and_width(z, beta, float(np.sqrt(case["d"]))) for z in (points, other)]
    widths = [one[d] for one in found]
    shift = float(np.linalg.norm(found[0][:d] - found[1][:d])) / min(widths) * (1 - beta)
    return max(abs(np.log(widths[0] / widths[1])) / (2 * beta), shift), 1.0


CHECKS = {
    "dwang20.theorem3.2.1.largest": [
        AuditCheck(far_record, "all records 0 but one at the edge", at={"d": 1, "m_sets": SETS})
    ],
    "dwang20.theorem3.2.1.smooth": [
        Property(
            widened,
            {"root": (10, 16), "beta": (0.2, 0.45), "d": (1, 2), "seed": (0, 10**6), "spread": (-3.0, 0.0)},
            "√m of m points anywhere in a box, moved together",
        )
    ],
}
