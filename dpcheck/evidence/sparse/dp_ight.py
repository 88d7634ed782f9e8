"""DP-IGHT, attacked and measured, as the solver runs it. Claims: bounds/library/sparse/dp_ight.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, Guarantee
from dpcheck.bounds.library.sparse import dp_ight as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.comparison_checks import Lower
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.sparse_regressions import best_on_average, generated, private_errors
from dpcheck.families.thresholded_descent import ThresholdedSteps
from dpcheck.problems.constraints import WholeSpace
from dpcheck.solver import Calibration
from dpcheck.solvers.sparse.dp_ight import DPIGHT

SOLVER = DPIGHT(kept=1, steps=3, step_size=0.5)
AT = {"n": 5, "T": 3, "G": 1.0}


def attacked(claimed: Guarantee, calibration: Calibration) -> tuple[Any, tuple[Any, Any], Guarantee]:
    """All noisy gradients of three steps on five records, one of which turns round."""
    return SOLVER.mechanism(claimed, calibration, transcript=True), SOLVER.worst_pair(), claimed


def audits(claimed: Guarantee, calibration: Calibration) -> list[AuditCheck]:
    """One attack, with `at` for the claim's own symbols."""
    words = "as published" if calibration == "stated" else "certified"
    return [AuditCheck(lambda: attacked(claimed, calibration), f"{words}, the whole transcript", assume="gdp", at=AT)]


def one_step(case: Mapping[str, Any]) -> tuple[float, float]:
    """The squared error after a step on Σ h_i(θ_i - θ*_i)²/2 with h from 1 to κ, noise at right angles to it.

    There the term of mean 0 vanishes, so that the inequality must hold for each draw.
    """
    rng, kappa, s_star = np.random.default_rng(case["seed"]), case["kappa"], case["s_star"]
    kept = int(np.ceil((16 * kappa**2 + 1) * s_star))
    d = 2 * kept + s_star + case["more"]
    h = rng.choice([1.0, kappa], d) if case["ends"] else rng.uniform(1, kappa, d)
    truth, theta = np.zeros(d), np.zeros(d)
    truth[rng.choice(d, s_star, replace=False)] = rng.standard_normal(s_star)
    theta[rng.choice(d, kept, replace=False)] = case["away"] * rng.standard_normal(kept)
    apart, eta = theta - truth, 2 / (1 + kappa)
    noise = case["noise"] * rng.standard_normal(d)
    turned = (1 - eta * h) * apart
    if turned @ turned > 0:
        noise -= (noise @ turned) / (turned @ turned) * turned
    method = ThresholdedSteps(np.array([eta]), np.zeros(d), WholeSpace(), kept=kept)
    (after,) = method.update((theta[None].copy(),), (h * apart + noise)[None], 0)
    bound = theory.one_step.evaluate(
        kappa_s=kappa, mu=1.0, s_star=s_star, error_now=float(apart @ apart), statistical=0.0,
        largest2=float(np.max(noise**2)),
    )  # fmt: skip
    return float(np.sum((after[0] - truth) ** 2)), float(bound)


# Figure 2.1 ------------------------------------------------------------------------------------------
def figure21(seed: int, trials: int, thorough: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """n = d = 1000, s* = 10, at the largest ε; steps and step size are those that turn out best on average."""
    errors = [
        private_errors(generated(1000, 1000, 10, 2.0, 20.0, seed + i), 10, 20.0, ApproxDP(10.0, 0.01), seed + i)
        for i in range(trials)
    ]
    return {"ε = 10": (best_on_average(np.array(errors)), np.full(trials, 0.5))}


CASES = {
    "seed": (0, 1 << 30), "kappa": (1.0, 3.0), "s_star": (1, 3), "more": (0, 300), "ends": (0, 1),
    "away": (0.001, 2.0), "noise": (0.0, 2.0),
}  # fmt: skip
CONCENTRATED, APPROXIMATE = ZCDP(1.0), ApproxDP(1.0, 1e-5)
CHECKS: dict[str, list[Any]] = {
    "lwang21.theorem2.5.2": audits(CONCENTRATED, "stated"),
    "lwang21.theorem2.5.2.corrected": audits(CONCENTRATED, "certified"),
    "lwang21.remark2.5.3": audits(APPROXIMATE, "stated"),
    "lwang21.remark2.5.3.corrected": audits(APPROXIMATE, "certified"),
    "lwang21.theorem2.5.4.step": [Property(one_step, CASES, "the solver's step on quadratics, κ up to 3")],
    "lwang21.figure2.1": [
        Lower(figure21, "n = d = 1000, s* = 10, rows of norm 20, δ = 0.01; steps and a step size that are best", 10)
    ],
}
