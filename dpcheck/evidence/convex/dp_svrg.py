"""What runs of DP-SVRG show. Claims: bounds/library/convex/dp_svrg.py and the files it names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import special

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex import dp_svrg_proof as proof
from dpcheck.bounds.library.convex import variance_reduction as lemmas
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.random_problems import RUNS, SIZES, random_problem
from dpcheck.kernels.variance_reduction import Epochs, reduced_descent
from dpcheck.problems.extreme_pairs import bending_pair
from dpcheck.solvers.convex.dp_svrg import DPSVRG

BENT = {"n": 20, "T": 2, "inner": 3, "c": 10_000}


def adapting(adaptive: bool = True) -> Any:
    """Two epochs of three small steps, the second with a step size read off the data; noise that would be enough."""
    guarantee = ApproxDP(1.0, 1e-2)
    solver = DPSVRG(epochs=BENT["T"], inner=BENT["inner"], step_size=0.05, adaptive=adaptive, c=BENT["c"])
    return solver.mechanism(guarantee, "stated"), bending_pair(BENT["n"]), guarantee


def one_epoch(case: Mapping[str, Any]) -> tuple[float, float]:
    """Measured excess risk after an epoch, on single records or batches, less five standard errors, against (3.28)."""
    problem = random_problem(case, l2=0.25 / case["kappa"])
    eta, inner = case["step"] / (12 * 0.25), int(case["inner"])
    w, least = problem.minimiser()
    start = w + case["size"] * np.ones(problem.d)
    epochs = Epochs((inner,), eta, batch=min(problem.n, int(case.get("batch", 1))))
    done = reduced_descent(problem, epochs, noise_std=case["noise"], seed=int(case["seed"]), trials=200, start=start)
    risks = problem.value(done.w) - least
    bound = proof.equation28.evaluate(
        eta=eta, L_smooth=0.25, mu=problem.l2, inner=inner, gap_snap=max(0.0, float(problem.value(start)) - least),
        d=problem.d, sigma_n=case["noise"],
    )
    return float(risks.mean() - 5 * risks.std() / math.sqrt(len(risks))), float(bound)


def sampled_moment(case: Mapping[str, Any]) -> tuple[float, float]:
    """The log moment of a sampled Gaussian with shift 4, both ways, by quadrature; against 64 times (3.13)."""
    sigma = case["sigma"]
    n = math.ceil(4 * sigma * case["more"])
    lam = max(1, math.floor(case["share"] * sigma**2 / 16 * math.log(4 * n / sigma)))
    nodes, weights = special.roots_hermitenorm(120)
    q, shift = 1 / n, 4 / sigma
    ratio = np.log1p(q * np.expm1(nodes * shift - shift**2 / 2))  # log A/B at points of B = N(0, 1)
    both = [special.logsumexp(order * ratio, b=weights / weights.sum()) for order in (lam + 1, -lam)]
    bound = lemmas.equation13_corrected.evaluate(lam=lam, n=n, sigma_1=sigma)
    return float(max(both)), 64 * float(bound)


CHECKS = {
    "dwang20.equation3.13.corrected": [
        Property(
            sampled_moment, {"sigma": (4.0, 40.0), "more": (1.0, 50.0), "share": (0.05, 1.0)},
            "one record in n drawn, shift 4, quadrature with 120 nodes; 64 times the rate",
        )
    ],
    "dwang20.equation3.28": [
        Property(
            one_epoch,
            {
                **SIZES, "kappa": (1.0, 5.0), "step": (0.05, 1.0), "inner": (1, 60), "noise": (0.0, 1.0),
                "size": (0.0, 3.0),
            },
            f"200 {RUNS}", examples=40,
        )
    ],
    "dwang20.section3.1.5.step_size": [
        AuditCheck(
            adapting, "Barzilai-Borwein step sizes, a hundred times the published noise, the output seen",
            trials=20_000, at=BENT,
            any_constants="the second step size is ‖Δx‖²/(m⟨Δx, Δg⟩), and replacing the one bent loss divides Δg by 2 "
            "to 4, whatever the noise: the steps of the second epoch and their noise grow by as much",
        )
    ],
}
