"""What runs of DP-TR show. Claims: bounds/library/nonconvex/dp_tr.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_tr as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.rate_checks import Within
from dpcheck.families.second_order import constants, largest_gap, second_order_error
from dpcheck.families.trust_region_runs import TrustRegion, noisy_run
from dpcheck.kernels.running import run
from dpcheck.problems.losses import Array
from dpcheck.problems.saddles import NAMES, Saddle, saddle
from dpcheck.solvers.nonconvex.dp_tr import DPTR

CLAIMED = ApproxDP(1.0, 1e-2)
SHORT = DPTR(steps=3, radius=0.5)
PRIVATE = {"eps": 1.0, "delta": 1e-5}
LOG = math.log(1 / PRIVATE["delta"])
ROUNDS = 1500  # that are run of T; a run that has not stopped by then counts as failed


# Escapes -------------------------------------------------------------------------------------------
def aim(found: Saddle) -> float:
    """α: a twentieth of the level of the saddle, which so is no 9α-SOSP."""
    return found.least**2 / found.problem.hessian_lipschitz / 20


def case_of(place: int) -> dict[str, Any]:
    """One of the problems, its α and T by the theorem; failures 1/10."""
    found = saddle(NAMES[place])
    numbers = {"rho_h": found.problem.hessian_lipschitz, "gap0": largest_gap(found.problem), "alpha_sosp": aim(found)}
    T = math.ceil(float(theory.steps.evaluate(**numbers)))
    return {"place": place, "gamma": 0.1, "alpha_sosp": aim(found), "T": T}


def needed(case: Mapping[str, Any]) -> int:
    """Records with which the noise of Theorem 4.3.4 is half of (4.74) and (4.75), with chance 1 - γ, all T steps."""
    found = saddle(NAMES[int(case["place"])])
    numbers, d, alpha, T = constants(found.problem), found.problem.d, case["alpha_sosp"], case["T"]
    rho, root = found.problem.hessian_lipschitz, math.sqrt(PRIVATE["eps"] + LOG) - math.sqrt(LOG)  # √φ
    on_gradients = 12 * math.sqrt(2 * d) * math.log(2 * T / case["gamma"]) * 2 * numbers["G"] / alpha
    on_hessians = 6 * 4 * math.sqrt(d) * 2 * numbers["M_second"] * math.sqrt(d) / math.sqrt(alpha * rho)
    return math.ceil(max(on_gradients, on_hessians) * math.sqrt(T) / root)


def levels(case: Mapping[str, Any], n: int, trials: int, seed: int) -> Array:
    """The least α for which each output is an α-SOSP, from the saddle, with the printed noise for n records."""
    found = saddle(NAMES[int(case["place"])])
    numbers = constants(found.problem) | PRIVATE | {"n": n, "T": case["T"], "d": found.problem.d}
    noises = [float(claim.evaluate(**numbers)) for claim in (theory.theorem4, theory.theorem4_hessian)]
    rho = found.problem.hessian_lipschitz
    radius = math.sqrt(case["alpha_sosp"] / rho)
    method = TrustRegion(found.at, min(ROUNDS, case["T"]), radius, case["alpha_sosp"] / radius)
    w = run(method, noisy_run(method.rounds_taken, *noises), found.problem, seed=seed, trials=trials).w
    return second_order_error(found.problem, w, rho)


# The trust-region problem --------------------------------------------------------------------------
def multiplier(case: Mapping[str, Any]) -> tuple[float, float]:
    """In the plane: the least eigenvalue below 0 against the multiplier of the best of 20,000 points of the disc."""
    rng = np.random.default_rng(int(case["seed"]))
    H = rng.standard_normal((2, 2)) * rng.choice([0.1, 1.0, 10.0])
    H, g, r = H + H.T, rng.standard_normal(2) * case["pull"], case["radius"]
    angles = np.linspace(0, 2 * math.pi, 20_001)
    rim = r * np.column_stack([np.cos(angles), np.sin(angles)])
    values = rim @ g + np.einsum("ki,ij,kj->k", rim, H, rim) / 2
    best = rim[values.argmin()]
    least = float(np.linalg.eigvalsh(H)[0])
    inner = np.linalg.solve(H, -g) if least > 0 else best
    if least > 0 and np.linalg.norm(inner) <= r:
        return 0.0, 1.0  # inside, lam = 0 and H is positive
    lam = -float(best @ (H @ best + g)) / r**2
    return max(0.0, -least), lam + 1e-3 * (np.abs(H).max() + np.abs(g).max() / r)


def attacked(calibration: Any) -> Any:
    return SHORT.mechanism(CLAIMED, calibration, transcript=True), SHORT.worst_pair(), CLAIMED


ESCAPES = [case_of(place) for place in range(len(NAMES))]
FROM_SADDLES = "runs from known saddle points, α a twentieth of their level, n the least for half of (4.74) and (4.75)"

CHECKS = {
    "dwang20.theorem4.3.4": [AuditCheck(
        lambda: attacked("stated"), "as published, gradients and Hessians seen", 20_000,
        at={"n": 5.0, "T": 3.0, "G": 1.0, "M_second": 1.0, "d": 1.0},
    )],
    "dwang20.lemma4.3.1": [Property(
        multiplier, {"seed": (0, 10**6), "pull": (0.0, 3.0), "radius": (0.1, 3.0)},
        "random problems in the plane, by brute force",
    )],
    "dwang20.theorem4.3.5.output": [Within(
        lambda case, trials, seed: levels(case, needed(case), trials, seed), ESCAPES, FROM_SADDLES, trials=64,
        bound=lambda case: float(theory.out.evaluate(alpha_sosp=case["alpha_sosp"])),
    )],
}
