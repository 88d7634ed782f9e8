"""Private regression with a known link, attacked and measured. Claims: bounds/library/local/nldp_nlr_public.py.

The experiment of Figure 5.2 as printed, and judged as its text does: by means over runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.comparison_checks import Lower
from dpcheck.evidence.local.scaled_least_squares import Signs, rate_at_zero
from dpcheck.evidence.rate_checks import Exponents
from dpcheck.families.scaled_least_squares import LabelledUsers
from dpcheck.kernels.method import Array
from dpcheck.solvers.local.nldp_nlr_public import LINKS, PublicLinkRegression

PRINTED = ApproxDP(0.9, 1e-2, relation=LOCAL)
CUBIC, SIGMOID = PublicLinkRegression(), PublicLinkRegression(link="sigmoid", label_noise=0.5)


def cubic_labels(rng: np.random.Generator, counts: Array, margins: Array) -> Array:
    """Sums of t³/3 ± 0.001 over the users of each pattern."""
    return np.asarray(counts * margins**3 / 3 + CUBIC.label_noise * (2 * rng.binomial(counts, 0.5) - counts))


def relative(p: int, n: int, eps: float, runs: int, seed: int) -> Array:
    """‖ŵ - w*‖_∞/‖w*‖_∞ in the experiment as printed, with the bound on labels that r = 1 gives."""
    design = Signs(p, 1 / p, p**-0.5, LINKS["cubic"].slope, cubic_labels, CUBIC.label_bound(1.0))
    return design.errors(n, n, eps, 1 / n, runs, seed)[0] / design.scale


def squared(point: Mapping[str, float], runs: int, seed: int) -> Array:
    return relative(10, int(point["n"]), point["eps"], runs, seed) ** 2


def by_dimension(seed: int, trials: int, thorough: bool) -> Mapping[str, tuple[Array, Array]]:
    """The relative error in fewer dimensions against that in more; 2¹⁵ patterns of signs take long."""
    found: dict[str, tuple[Array, Array]] = {}
    for n in (100_000, 480_000):
        errors = {p: relative(p, n, 10.0, trials, seed + p) for p in (5, 10, 12, *([15] if thorough else []))}
        found |= {f"n = {n}, p = {a} against {b}": (errors[a], errors[b]) for a, b in pairwise(errors)}
    return found


def attacked() -> tuple[Any, Any, ApproxDP]:
    """As published: one user, of ‖x‖₁ = 1 and with the largest label, who turns round."""
    first = LabelledUsers(np.eye(1, 2), np.array([CUBIC.label_bound(1.0)]), np.eye(2) / 2)
    pair = first, first.with_user(0, -np.eye(1, 2), float(first.y[0]))
    return CUBIC.mechanism(PRINTED, "stated", transcript=True), pair, PRINTED


# First, middle and last of the printed n, all printed ε; about the largest of both, where noise matters least.
TREND = {"n": (1e4, 1.5e5, 2.9e5), "eps": (2.0, 3.0, 5.0, 10.0)}
LARGEST = {"n": 2.9e5, "eps": 10.0}
CHECKS = {
    "dwang20.algorithm5.2.40": [AuditCheck(attacked, "one user's report as published, x against -x, largest label")],
    # 0 or 1 with the sigmoid's chance is the link plus noise of at most a half at w* = 0.
    "dwang20.theorem5.2.5.corrected": [rate_at_zero(SIGMOID.label_bound(1.0))],
    "dwang20.figure5.2": [
        Exponents(TREND, squared, "as printed; means, as printed", LARGEST, two_sided=True, trials=1000)
    ],
    "dwang20.figure5.2.dimension": [Lower(by_dimension, "p up to 12, first and last of the printed n", trials=1000)],
}
