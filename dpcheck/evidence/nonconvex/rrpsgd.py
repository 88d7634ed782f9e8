"""What runs show: Random-round private SGD (zhang17, Algorithm 2). Claims: bounds/library/nonconvex/rrpsgd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import rrpsgd as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.problems.losses import Huber
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.rrpsgd import RandomRoundSGD


def leaking_step() -> Any:
    """All labels 0: w_0 is the minimiser, so the step is 0 and the output 0. One label moved: it is not."""
    solver, guarantee = RandomRoundSGD(start_gap="data"), ApproxDP(1.0, 1e-3)
    first = Problem(np.ones((4, 1)), np.zeros(4), Huber(1.0))
    return solver.mechanism(guarantee, "stated"), (first, first.replace(0, [1.0], 1.0)), guarantee


def martingale_tail(case: Mapping[str, Any]) -> tuple[float, float]:
    """The exact tail of coin flips X = ±σ_t, or of normals with E exp(X²/σ_t²) = e, above Lemma 4's bound."""
    level, flips = float(theory.lemma4.evaluate(delta=case["delta"], T=case["T"], sigma_t=1.0)), int(case["T"])
    if case["normal"]:
        return float(stats.norm.sf(level / math.sqrt(flips * (1 - math.exp(-2)) / 2))), case["delta"]
    return float(stats.binom.sf(math.ceil((level + flips) / 2) - 1, flips, 0.5)), case["delta"]


def chi_square_tail(case: Mapping[str, Any]) -> tuple[float, float]:
    """The exact tail of a chi-square above the bound behind (5)."""
    level = float(theory.theorem6_chi2.evaluate(chi2_degrees=case["k"], x_tail=case["x"]))
    return float(stats.chi2.sf(level, case["k"])), math.exp(-case["x"])


CHECKS = {
    "zhang17.theorem5.privacy": [
        AuditCheck(
            leaking_step,
            "step size min(1/β, D_F/(σn)) read off the data: all labels 0, or one of them 1",
            trials=20_000,
            at={"n": 4, "L": 1.0, "beta": 1.0},
        )
    ],
    "zhang17.lemma4": [
        Property(
            martingale_tail,
            {"T": (1, 400), "delta": (1e-9, 0.5), "normal": (0, 1)},
            "exact tails of sums of coin flips and of normals; a proof stands in none of the documents",
        )
    ],
    "zhang17.theorem6.chi2": [
        Property(chi_square_tail, {"k": (1, 10**6), "x": (1e-2, 50.0)}, "exact tails; a proof stands in no document")
    ],
}
