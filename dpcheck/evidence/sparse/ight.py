"""Hard thresholding against its bound, searched. Claims: bounds/library/sparse/ight.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.library.sparse import ight as theory
from dpcheck.evidence.property_checks import Property
from dpcheck.families.thresholded_descent import keep_largest


def cut(case: Mapping[str, Any]) -> tuple[float, float]:
    """‖H_s(v)-θ*‖² and its bound; `tied`: as many entries as are kept tie with those of θ* that are lost."""
    rng, s_star = np.random.default_rng(case["seed"]), case["s_star"]
    kept = s_star + case["more_kept"]
    d = kept + s_star + case["more"]
    truth = np.zeros(d)
    truth[:s_star] = case["size"] * (1.0 if case["tied"] else rng.standard_normal(s_star))
    v = case["spread"] * (np.ones(d) if case["tied"] else rng.standard_normal(d))
    v[s_star : s_star + kept] *= 1 + 1e-9  # of what ties, the others are kept
    v[s_star + kept :] = 0.0
    after = keep_largest(v[None].copy(), kept)[0]
    before2 = float(np.sum((v - truth) ** 2))
    bound = theory.equation81.evaluate(s_star=s_star, kept=kept, before2=before2)
    return float(np.sum((after - truth) ** 2)), float(bound)


CASES = {
    "seed": (0, 1 << 30), "s_star": (1, 6), "more_kept": (1, 60), "more": (0, 30), "tied": (0, 1), "size": (0.0, 5.0),
    "spread": (0.01, 2.0),
}  # fmt: skip
CHECKS = {
    "lwang21.equation3.8.1": [Property(cut, CASES, "random vectors, and such as lose all of θ* by a hair", 1000)],
}
