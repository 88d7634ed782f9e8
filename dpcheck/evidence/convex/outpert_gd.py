"""What runs of output-perturbation gradient descent show. Claims: bounds/library/convex/outpert_gd.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.bounds.library.convex import gradient_descent
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.random_problems import random_problem
from dpcheck.solver import Calibration
from dpcheck.solvers.convex.outpert_gd import OutputPerturbationGD, at, descend


def attacked(guarantee: Guarantee, calibration: Calibration, because: str, assume: str | None = None) -> AuditCheck:
    """The solver on its worst pair: n = 2, T = 10, L = β = 1."""
    solver = OutputPerturbationGD(steps=10)
    setting = solver.mechanism(guarantee, calibration), solver.worst_pair(), guarantee
    here = {"n": 2, "T": 10, "L": 1.0, "beta": 1.0}
    return AuditCheck(lambda: setting, f"{because}, on its worst pair", assume=assume, at=here)


def parting(claim: Claim, strong: bool) -> Property:
    """The distance of two neighbouring runs on random logistic problems, against the claim's bound."""

    def measure(case: Mapping[str, Any]) -> tuple[float, float]:
        first = random_problem(case, l2=case["l2"] if strong else 0.0)
        rng = np.random.default_rng(int(case["seed"]) + 1)
        # The differing record is the opposite of the one it replaces, which pulls hardest, or a random one.
        row = -first.X[0] if case["opposite"] else rng.uniform(-1, 1, first.d) / np.sqrt(first.d)
        eta = case["step"] / (first.smoothness + first.strong_convexity)
        ends = [descend(p, eta, int(case["T"]))[-1] for p in (first, first.replace(0, row, first.y[0]))]
        values = {"n": first.n, "T": case["T"], "eta": eta, "L": 1.0, "mu": first.l2, "beta": first.smoothness}
        return float(np.linalg.norm(ends[0] - ends[1])), at(claim, values)

    cases = {
        "n": (2, 12), "d": (1, 4), "T": (1, 12), "seed": (0, 10**6), "step": (0.05, 1.0), "l2": (0.02, 0.2),
        "opposite": (0, 1),
    }
    return Property(measure, cases, "two runs of gradient descent on random neighbouring logistic problems")


PUBLISHED, CERTIFIED = "Algorithm 1 as published", "certified calibration"
CHECKS = {
    "zhang17.lemma2": [parting(gradient_descent.lemma2, False)],
    "zhang17.lemma2.corrected": [parting(gradient_descent.lemma2_corrected, False)],
    "zhang17.lemma3.regularised": [parting(gradient_descent.lemma3_regularised, True)],
    "zhang17.theorem1": [
        attacked(ApproxDP(60.0, 1e-3), "stated", f"{PUBLISHED}, its noise known to be Gaussian", "gdp")
    ],
    "zhang17.theorem1.pure": [attacked(PureDP(1.0), "stated", PUBLISHED)],
    "zhang17.theorem1.corrected": [attacked(ApproxDP(1.0, 1e-3), "stated", PUBLISHED)],
    "zhang17.algorithm1.pure": [attacked(PureDP(1.0), "certified", CERTIFIED)],
    "zhang17.lemma1.gaussian.exact": [attacked(ApproxDP(1.0, 1e-2), "certified", CERTIFIED)],
}
