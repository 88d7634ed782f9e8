"""The graphical lasso, searched for counterexamples. Claims: bounds/library/matrix/graphical_lasso.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpcheck.bounds.library.matrix import graphical_lasso as theory
from dpcheck.evidence.property_checks import Property
from dpcheck.families.precision_matrices import exact_moments, moments, precisions
from dpcheck.kernels.wishart import cone_movement, unpacked

Case = Mapping[str, Any]


def records(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """n records of the ball, and the same with the first replaced: dense or with few entries, orthogonal among them."""
    rng, d = np.random.default_rng(case["seed"]), case["d"]
    rows = rng.standard_normal((case["n"] + 1, d)) * (rng.random((case["n"] + 1, d)) < case["dense"])
    rows[range(len(rows)), rng.integers(d, size=len(rows))] += 1.0
    if case["orthogonal"]:
        rows[-1] -= rows[0] * (rows[0] @ rows[-1]) / (rows[0] @ rows[0])
    lengths = np.r_[1.0, np.full(case["n"] - 1, case["others"]), case["shorter"]]
    rows *= (lengths / np.maximum(np.linalg.norm(rows, axis=1), 1e-12))[:, None]
    return rows[:-1], np.concatenate([rows[-1:], rows[1:-1]])


def second_moments(case: Case) -> np.ndarray:
    """S of both, (2, d, d)."""
    return unpacked(np.array([moments(rows) for rows in records(case)]), case["d"])


def apart(measure: Callable[[np.ndarray, int], float], claim: Any) -> Callable[[Case], tuple[float, float]]:
    """How far a record moves S, as `measure` says, against a claim."""

    def found(case: Case) -> tuple[float, float]:
        one, other = (exact_moments(rows) for rows in records(case))
        values = {"n": case["n"], "d": case["d"], "row_top": 1.0}
        stated = claim.evaluate(**{str(s): values[str(s)] for s in claim.formula.free_symbols})
        return measure(one - other, case["d"]), float(stated)

    return found


def frobenius(gap: np.ndarray, d: int) -> float:
    return float(np.linalg.norm(unpacked(gap[None], d)))


def solutions(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """S and Θ* of both, to 1e-9."""
    S = second_moments(case)
    return S, precisions(S, case["rho"], 1e-9)


def below(case: Case) -> tuple[float, float]:
    """1/σ_min(Θ*) against ‖S‖₂ + ρd."""
    S, theta = solutions(case)
    stated = theory.lower.evaluate(moment_top=np.linalg.norm(S[0], 2), rho_glasso=case["rho"], d=case["d"])
    return 1 / float(np.linalg.eigvalsh(theta[0])[0]), 1 / float(stated)


def above(case: Case) -> tuple[float, float]:
    S, theta = solutions(case)
    values = {"moment_top": np.linalg.norm(S[0], 2), "moment_trace": np.trace(S[0])}
    stated = theory.upper.evaluate(**values, rho_glasso=case["rho"], d=case["d"])
    return float(np.linalg.norm(theta[0], 2)), float(stated)


def second(case: Case) -> tuple[float, float]:
    """‖Θ*‖₂ against γ of (6.88)."""
    (S, *_), (theta, *_) = solutions(case)
    d, rho = case["d"], case["rho"]
    if np.linalg.eigvalsh(S)[0] > 1e-6:
        inverse, alpha = np.linalg.inv(S), 1 / (np.linalg.norm(S, 2) + rho * d)
        bound = min(np.abs(inverse).sum(), (d - rho * d**0.5 * alpha) * np.linalg.norm(inverse, 2) - (d - 1) * alpha)
    else:
        inverse = np.linalg.inv(S + rho / 2 * np.eye(d))
        bound = 2 * np.abs(inverse).sum() - np.trace(inverse)
    return float(np.linalg.norm(theta, 2)), float(bound)


def solutions_apart(case: Case) -> tuple[float, float]:
    _, theta = solutions(case)
    stated = theory.sensitivity.evaluate(n=case["n"], theta_largest=np.linalg.norm(theta, 2, axis=(1, 2)).max())
    return float(np.linalg.norm(theta[0] - theta[1])), float(stated)


def with_noise(case: Case) -> tuple[float, float]:
    """Of S and of S with symmetric noise that leaves a minimiser."""
    S, rng = second_moments(case)[0], np.random.default_rng(case["seed"])
    noise = rng.standard_normal(S.shape)
    noise = (noise + noise.T) * case["rho"] * case["others"] / (4 * np.linalg.norm(noise, 2))
    theta = precisions(np.array([S, S + noise]), case["rho"], 1e-9)
    largest = np.linalg.norm(theta, 2, axis=(1, 2)).max() ** 2
    stated = theory.stability.evaluate(theta_largest2=largest, noise_fro=np.linalg.norm(noise))
    return float(np.linalg.norm(theta[0] - theta[1])), float(stated)


SHAPES = {
    "seed": (0, 1 << 30), "d": (2, 8), "n": (1, 6), "dense": (0.0, 1.0), "orthogonal": (0, 1), "shorter": (0.0, 1.0),
    "others": (0.1, 1.0),
}
SOLVED = {**SHAPES, "d": (2, 5), "rho": (0.02, 0.5)}
PAIRS = "pairs of records of the ball, with few entries or many, at right angles among them"
RANDOM = "scikit-learn's solutions for random records"


def searched(measure: Callable[[Case], tuple[float, float]]) -> list[Property]:
    return [Property(measure, SOLVED, RANDOM, examples=30)]


CHECKS = {
    "dwang20.lemma6.3.5.lower": searched(below),
    "dwang20.lemma6.3.5.upper": searched(above),
    "dwang20.lemma6.3.5.gamma": searched(second),
    "dwang20.equation6.99": searched(solutions_apart),
    "dwang20.theorem6.3.3": searched(with_noise),
    "dwang20.equation6.98.moments": [Property(apart(frobenius, theory.moments), SHAPES, PAIRS)],
    "dwang20.equation6.98.moments.least": [Property(apart(frobenius, theory.least_moments), SHAPES, PAIRS)],
    "dwang20.theorem6.3.4.sensitivity": [
        Property(apart(lambda gap, d: float(cone_movement(gap[None], d)[0]), theory.traces), SHAPES, PAIRS)
    ],
    "dwang20.theorem6.3.5.sensitivity": [
        Property(
            apart(lambda gap, d: float(np.abs(gap).sum()), theory.triangle_sensitivity), SHAPES, PAIRS, examples=300
        )
    ],
}
