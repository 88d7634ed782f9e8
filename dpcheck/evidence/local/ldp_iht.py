"""Reported gradients: their norms searched, the reports attacked. Claims: bounds/library/local/ldp_iht.py, and with a
link those of ldp_iht_nonlinear.py."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP
from dpcheck.bounds.library.local import ldp_iht, ldp_iht_nonlinear
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.families.hard_thresholding import LINEAR, WAVY, Link, gradients
from dpcheck.solvers.local.ldp_iht import LDPIHT


def norms(bound: Claim, link: Link, case: Mapping[str, Any]) -> tuple[float, float]:
    """The gradient at the worst row for a random iterate and truth, flat or not, on common or other coordinates."""
    rng, s, flat = np.random.default_rng(case["seed"]), case["s_star"], bool(case["flat"])
    d = 9 * s + case["more"]
    now, truth = np.zeros(d), np.zeros(d)
    places = rng.permutation(d)
    first = int(rng.integers(0, 8 * s + 1)) if case["common"] else 8 * s
    for theta, where in ((now, places[: 8 * s]), (truth, places[first : first + s])):
        theta[where] = rng.choice([-1.0, 1.0], len(where)) * (1.0 if flat else rng.random(len(where)) + 1e-9)
        theta /= np.linalg.norm(theta)
    row = np.where(now - truth >= 0, 1.0, -1.0)[None]
    label = link.f(row @ truth) - case["noise_C"]
    residual = gradients(now[None], row, label, link)
    at = {"d": d, "s_star": s, "noise_C": case["noise_C"], "slope_a": link.low, "slope_b": link.high}
    return float(np.linalg.norm(residual[:, :, None] * row)), float(bound.evaluate(**at))


def attacked() -> tuple[Any, tuple[Any, Any], Guarantee]:
    """A user of the first of two blocks, at the two ends of her labels; the transcript of the whole run is seen."""
    solver, claimed = LDPIHT(steps=2), PureDP(1.0, relation=LOCAL)
    return solver.mechanism(claimed, transcript=True), solver.worst_pair(), claimed


searched = {
    "seed": (0, 1 << 30),
    "s_star": (1, 6),
    "more": (0, 20),
    "noise_C": (0.0, 5.0),
    "flat": (0, 1),
    "common": (0, 1),
}
SEARCH = "iterates and truths, flat or not, at their worst row; flat ones apart attain it for f(u) = u"
CHECKS = {
    "dwang20.theorem5.3.5.privacy": [AuditCheck(attacked, "the whole run, one user's records at both ends")],
    "dwang20.theorem5.3.5.gradient.corrected": [
        Property(partial(norms, ldp_iht.norm_corrected, LINEAR), searched, SEARCH)
    ],
    "dwang20.theorem5.3.9.gradient.corrected": [
        Property(partial(norms, ldp_iht_nonlinear.norm_corrected, WAVY), searched, "the same for f(u) = 8u + cos u")
    ],
}
