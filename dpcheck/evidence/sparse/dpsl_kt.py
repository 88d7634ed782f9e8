"""DPSL-KT, attacked and measured; its lemmas searched. Claims: bounds/library/sparse/dpsl_kt.py."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.sparse import dpsl_kt as theory
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.comparison_checks import Lower
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.sparse_regressions import SparseRegression, best_on_average, generated, private_errors
from dpcheck.families.thresholded_descent import ight
from dpcheck.solvers.sparse.dpsl_kt import DPSLKT, flipping_pair

CLAIMED = ApproxDP(1.0, 1e-5)
HALF, L2 = 500, 0.1


def attacked() -> tuple[Any, tuple[Any, Any], Guarantee]:
    """The student as printed, on 1001 records of which one changes the feature that its teacher keeps."""
    solver = DPSLKT(kept=1, sparse_teacher=True, covariance=1 / 3)
    return solver.mechanism(CLAIMED, "stated"), flipping_pair(HALF, L2, 2 * HALF + 1, seed=0), CLAIMED


def corrected(pair: tuple[Any, Any]) -> tuple[Any, tuple[Any, Any], Guarantee]:
    """All noisy answers, of a teacher that keeps all entries."""
    return DPSLKT(kept=1).mechanism(CLAIMED, transcript=True), pair, CLAIMED


# Lemmas ----------------------------------------------------------------------------------------------
def flat(case: Mapping[str, Any]) -> tuple[float, float]:
    """What ‖X̃v‖²/m is to be at least, and what it is, for features ±√β̃·e₁ and v = e₂."""
    signs = np.random.default_rng(case["seed"]).choice([-1.0, 1.0], case["answers"])
    features = np.sqrt(case["beta"]) * np.column_stack([signs, np.zeros_like(signs)])
    form = float(np.mean((features @ np.array([0.0, 1.0])) ** 2))
    return float(theory.lemma1.evaluate(beta_pub=case["beta"], size2=1.0)), form


def round_features(case: Mapping[str, Any]) -> tuple[float, float]:
    """The same for features uniform on [-1, 1]^d, β̃ = 1/3, and the worst of all sparse v; m = 200·s·log d."""
    d, s = case["d"], case["s"]
    m = int(np.ceil(200 * s * np.log(d)))
    X = np.random.default_rng(case["seed"]).uniform(-1, 1, (m, d))
    form = X.T @ X / m
    least = min(np.linalg.eigvalsh(form[np.ix_(kept, kept)])[0] for kept in combinations(range(d), s))
    return float(theory.lemma1_corrected.evaluate(beta_pub=1 / 3, size2=1.0)), float(least)


def tail(case: Mapping[str, Any]) -> tuple[float, float]:
    """The exact chance that one of d coordinates, independent as columns are orthogonal, is above 2·√log d."""
    d = round(10 ** case["digits"])
    one = 2 * stats.norm.sf(2 * np.sqrt(np.log(d)))
    return float(-np.expm1(d * np.log1p(-one))), float(theory.lemma3_corrected.evaluate(d=d))


# Figure 3.2 ------------------------------------------------------------------------------------------
N, D, KEPT, DELTA = 800, 1000, 10, 0.01
EPSILONS = (0.8, 1.5, 2.5, 3.5, 4.5)  # those of Table 3.2, in the figure's range
STEPS = 20  # each leaves about a third of what is left
MULTIPLES = 10.0 ** np.arange(-6, 2)  # c₁ in λ = c₁√(s·log d·log(1/δ)/(nε))


def taught_errors(data: SparseRegression, eps: float, features: SparseRegression, seed: int) -> np.ndarray:
    """Relative errors of students of the printed algorithm, one for each λ that is tried."""
    rng = np.random.default_rng(seed)
    ridges = MULTIPLES * np.sqrt(KEPT * np.log(D) * np.log(1 / DELTA) / (N * eps))
    lam, start = ridges[:, None], np.zeros((len(ridges), D))
    teachers = ight(lambda w: (data.gradient(w) + lam * w) / (lam + 0.5), start, KEPT, 1.0, STEPS)
    # γ: the largest entry of a record's gradient at its minimiser
    slopes = np.max(np.abs(teachers @ data.X.T - data.y) * np.abs(data.X).max(axis=1), axis=1)
    at = {"answers": N, "beta_pub": 1 / 3, "kept": KEPT, "n": N, "eps": eps, "delta": DELTA}
    noise = [float(theory.theorem3.evaluate(slope_inf=g, ridge=r, **at)) for g, r in zip(slopes, ridges, strict=True)]
    answers = teachers @ features.X.T + np.array(noise)[:, None] * rng.standard_normal((len(ridges), N))
    pulls = answers @ features.X / N
    return data.off(ight(lambda w: w @ features.curvature - pulls, start, KEPT, 2.0, STEPS))


def figure32(seed: int, trials: int, epsilons: tuple[float, ...]) -> dict[float, tuple[np.ndarray, np.ndarray]]:
    """By ε: errors of DPSL-KT and of DP-IGHT on the same data, settings chosen best on average."""
    found: dict[float, list[tuple[np.ndarray, np.ndarray]]] = {eps: [] for eps in epsilons}
    for i in range(trials):
        data = generated(N, D, KEPT, 1.0, np.inf, seed + i)
        features = generated(N, D, KEPT, 1.0, np.inf, seed + trials + i)
        longest = float(np.linalg.norm(data.X, axis=1).max())
        for eps in epsilons:
            theirs = private_errors(data, KEPT, longest, ApproxDP(eps, DELTA), seed + i)
            found[eps].append((taught_errors(data, eps, features, seed + i), theirs))
    return {
        eps: (best_on_average(np.array([o for o, _ in runs])), best_on_average(np.array([t for _, t in runs])))
        for eps, runs in found.items()
    }


def lower(seed: int, trials: int, thorough: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Against DP-IGHT at every ε."""
    return {f"ε = {eps:g}": pair for eps, pair in figure32(seed, trials, EPSILONS).items()}


def recovers(seed: int, trials: int, thorough: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Against 1/2 at the least ε."""
    return {"ε = 0.8": (figure32(seed, trials, (0.8,))[0.8][0], np.full(trials, 0.5))}


SETTING = "n = m = 800, d = 1000, s* = 10, δ = 0.01; λ, steps and step sizes that are best on average"
CHECKS: dict[str, list[Any]] = {
    "lwang21.theorem3.3.3": [
        AuditCheck(attacked, "the student as printed, m = n = 1001, λ = 0.1", trials=20_000,
                   at={"n": 2 * HALF + 1, "answers": 2 * HALF + 1, "kept": 1, "ridge": L2, "slope_inf": 1.0})
    ],
    "lwang21.theorem3.3.3.corrected": [
        AuditCheck(lambda: corrected(DPSLKT().worst_pair()), "certified, a far record that changes sides"),
        AuditCheck(lambda: corrected(flipping_pair(20, L2, 41, seed=0)), "certified, a record that moves to e₂"),
    ],
    "lwang21.lemma3.6.1": [
        Property(flat, {"seed": (0, 99), "answers": (1, 10_000), "beta": (0.1, 10.0)}, "features along one direction")
    ],
    "lwang21.lemma3.6.1.corrected": [
        Property(round_features, {"seed": (0, 1 << 30), "d": (3, 12), "s": (1, 3)},
                 "uniform features, all supports, m = 200·s·log d", 40)
    ],
    "lwang21.lemma3.6.3.corrected": [Property(tail, {"digits": (0.31, 12.0)}, "X = √n·α times an orthonormal basis")],
    "lwang21.figure3.2.lower": [Lower(lower, SETTING, 40)],
    "lwang21.figure3.2.recovers": [Lower(recovers, SETTING, 10)],
}
