"""A step of DP-IHT on quadratics, as the solver takes it. Claims: bounds/library/sparse/dp_iht_erm.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.library.sparse import dp_iht_erm as theory
from dpcheck.evidence.property_checks import Property
from dpcheck.families.thresholded_descent import ThresholdedSteps
from dpcheck.problems.constraints import WholeSpace


def one_step(case: Mapping[str, Any]) -> tuple[float, float]:
    """The gap after a step on Σ h_i(x_i - a_i)²/2 with h from 1 to κ, a k*-sparse; noise at right angles to x - a.

    There the term of mean 0 vanishes, so that the inequality must hold for each draw.
    """
    rng, kappa, k_star = np.random.default_rng(case["seed"]), case["kappa"], case["k_star"]
    k = math.ceil((1 + 64 * kappa**2) * k_star)
    d = 2 * k + k_star + case["more"]
    h = rng.choice([1.0, kappa], d) if case["ends"] else rng.uniform(1, kappa, d)
    best, x = np.zeros(d), np.zeros(d)
    best[rng.choice(d, k_star, replace=False)] = rng.standard_normal(k_star)
    x[rng.choice(d, k, replace=False)] = case["away"] * rng.standard_normal(k)
    z = case["noise"] * rng.standard_normal(d)
    apart = x - best
    z -= (z @ apart) / (apart @ apart) * apart
    method = ThresholdedSteps(np.array([1 / (2 * kappa)]), np.zeros(d), WholeSpace(), kept=k)
    (after,) = method.update((x[None].copy(),), (h * apart + z)[None], 0)
    touched = (x != 0) | (best != 0) | (after[0] != 0)
    gaps = [float((h * (w - best) ** 2).sum()) / 2 for w in (x, after[0])]
    noise = float(np.linalg.norm(z[touched]))
    bound = theory.equation95.evaluate(kappa_s=kappa, rho_s=1.0, iht_gap=gaps[0], iht_z=noise, k_kept=k, k_star=k_star)
    return gaps[1], float(bound)


CASES = {
    "seed": (0, 1 << 30), "kappa": (1.0, 2.0), "k_star": (1, 2), "more": (0, 300), "ends": (0, 1), "away": (0.001, 2.0),
    "noise": (0.0, 2.0),
}  # fmt: skip
CHECKS = {"dwang20.equation5.95": [Property(one_step, CASES, "the solver's step on quadratics, κ up to 2")]}
