"""What runs of the selection show. Claims: bounds/library/nonconvex/dp_select_sosp.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dpcheck.bounds.library.nonconvex import dp_gd_sosp as descent
from dpcheck.bounds.library.nonconvex import dp_select_sosp as theory
from dpcheck.bounds.library.nonconvex import saddle_points
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Composed, Release
from dpcheck.evidence.rate_checks import Within
from dpcheck.families.second_order import constants, largest_gap, second_order_error
from dpcheck.kernels.running import run
from dpcheck.problems.losses import Array
from dpcheck.problems.saddles import NAMES, saddle
from dpcheck.solvers.nonconvex.dp_select_sosp import Selection

FIRST = 1000  # iterates that are run of T; a run in which none of these passes lets out the last
PRIVATE = {"eps": 1.0, "delta": 1e-5}


def case_of(place: int) -> dict[str, Any]:
    """α is half the level of the saddle, which so is passed over; T is that of Theorem 4.3.1 for α/2."""
    problem, _, least = saddle(NAMES[place])
    M, B, rho = problem.smoothness, largest_gap(problem), problem.hessian_lipschitz
    alpha = least**2 / rho / 2
    T = math.ceil(M * B / (alpha / 2) ** 2)
    numbers = constants(problem) | {"M_second": M, "d": float(problem.d), "rho_h": rho, "alpha_sosp": alpha}
    return {**numbers, **PRIVATE, "place": place, "gamma": 0.1, "T": T}


def needed(case: Mapping[str, Any]) -> int:
    """Records with which noise is at most Err₁ = α/2 and Err₂, and that of the descent α/40, by Lemmas 4.3.8 and 4.3.2.

    Each is its value at n = 1 over n; c is 64, and 16 in step 1, and C of Lemma 4.3.11 is 5.
    """
    alpha, bent = case["alpha_sosp"], math.sqrt(case["rho_h"] * case["alpha_sosp"])
    numbers = {name: case[name] for name in ("G", "M_second", "d", "T", "eps", "delta", "gamma")}
    lengths = {
        saddle_points.lemma8: (64, alpha / 2),
        saddle_points.lemma8_matrix: (64, (1 - math.sqrt(0.5)) * bent),
        descent.lemma2: (16, alpha / 40),
    }
    return max(math.ceil(float(claim.evaluate(**numbers, n=1, c=c, C_spectral=5)) / most)
               for claim, (c, most) in lengths.items())  # fmt: skip


def levels(case: Mapping[str, Any], trials: int, seed: int) -> Array:
    """The least α for which each output is an α-SOSP, from the saddle, with the noise of the corrected theorem."""
    found, T = saddle(NAMES[int(case["place"])]), min(FIRST, int(case["T"]))
    numbers = {name: case[name] for name in ("G", "M_second", "d", "T", "eps", "delta")} | {"n": needed(case)}
    claims = (theory.descent_noise, theory.privacy_corrected, theory.hessian_noise)
    noises = [Gaussian(float(claim.evaluate(**numbers))) for claim in claims]
    asked = zip(noises, (T, T + 1, T + 1), strict=True)
    released = Composed(tuple(Release(1.0, noise, steps=steps) for noise, steps in asked))
    deepest = -math.sqrt(case["rho_h"] * case["alpha_sosp"])
    method = Selection(found.at, T, 1 / found.problem.smoothness, case["alpha_sosp"], deepest)
    w = run(method, released, found.problem, seed=seed, trials=trials).w
    return second_order_error(found.problem, w, case["rho_h"])


def most(case: Mapping[str, Any]) -> float:
    """1.68α, by what the two claims on an iterate that passes come to."""
    numbers = {name: case[name] for name in ("alpha_sosp", "rho_h")}
    steep, bent = (float(claim.evaluate(**numbers)) for claim in (theory.out_gradient, theory.out_hessian))
    return max(steep, bent**2 / case["rho_h"])


CHECKS = {
    "dwang20.theorem4.3.2": [Within(
        levels, [case_of(place) for place in range(len(NAMES))],
        "runs from known saddle points, α half of their level, n the least for Err₁, Err₂ and the descent; 1.68α",
        bound=most, trials=64,
    )],
}
