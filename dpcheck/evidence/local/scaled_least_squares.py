"""Least squares from users' reports, scaled. Claims: bounds/library/local/scaled_least_squares.py.

With features ±s, signs independent, the users of one pattern of signs are counted, and the sum of their reports is
drawn at once: the law is that of n single reports, and n may be the document's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy import special

from dpcheck.bounds.language.claim import lambdified
from dpcheck.bounds.library.local import scaled_least_squares as theory
from dpcheck.evidence.property_checks import Property
from dpcheck.evidence.rate_checks import Exponents, Within
from dpcheck.families.scaled_least_squares import Slope, fitting_scale, least_squares, report
from dpcheck.kernels.method import Array

UNIT_DEVIATION = lambdified(theory.unit_deviation)  # of delta and eps
NODES = np.linspace(-12.0, 12.0, 2401)  # sums over a grid are exact to rounding for what is analytic near the line;
WEIGHTS = np.exp(-(NODES**2) / 2)  # Gauss-Hermite with 120 nodes was off by 1e-6 for a steep logistic
STEEPEST = 1 / (6 * np.sqrt(3))  # of the logistic Φ'': its Lipschitz constant
GROUP = 75  # runs of which the median is taken: a noisy Gram matrix may be singular, which has no mean error
LOGISTIC = Slope(lambda t: special.expit(t) * special.expit(-t), 4.0)


@dataclass(frozen=True)
class Signs:
    """Features ±size in p dimensions, w* = scale (1, ..., 1), labels by `labels(rng, counts, <x, w*>)`: their sums."""

    p: int
    size: float
    scale: float
    slope: Slope
    labels: Callable[[np.random.Generator, Array, Array], Array]
    label_bound: float = 1.0

    @property
    def patterns(self) -> Array:
        return self.size * np.array(list(product([-1.0, 1.0], repeat=self.p)))

    def mean_reports(self, n: int, trials: int, rng: np.random.Generator) -> Array:
        """Of n users, without noise, for ‖x‖₂ ≤ 1."""
        X = self.patterns
        counts = rng.multinomial(n, np.full(len(X), 1 / len(X)), trials)
        gram = report(X, np.zeros(len(X)), 1.0, 1.0)[:, : -self.p]
        sums = self.labels(rng, counts, X @ np.full(self.p, self.scale))
        return np.hstack([counts @ gram, sums @ X / self.label_bound]) / n

    def solved(self, n: int, eps: float, delta: float, trials: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Least squares of the data, and from reports with the published noise."""
        mean = self.mean_reports(n, trials, rng)
        noisy = mean + float(UNIT_DEVIATION(delta, eps)) / np.sqrt(n) * rng.standard_normal(mean.shape)
        exact, private = (least_squares(reports, self.p, 1.0, self.label_bound) for reports in (mean, noisy))
        return exact, private

    def errors(self, n: int, m: int, eps: float, delta: float, trials: int, seed: int) -> tuple[Array, Array]:
        """‖ŵ - w*‖_∞ of so many runs, each with its own m public features; and whether a scale was found."""
        rng, X = np.random.default_rng(seed), self.patterns
        _, w = self.solved(n, eps, delta, trials, rng)
        public = rng.multinomial(m, np.full(len(X), 1 / len(X)), trials)
        scale, found = fitting_scale(self.slope, w @ X.T, public)
        return np.abs(scale[:, None] * w - self.scale).max(axis=1), found


def by_chance(rng: np.random.Generator, counts: Array, margins: Array) -> Array:
    """How many of each pattern have the label 1, in the logistic model."""
    return rng.binomial(counts, special.expit(margins))


# The rate where it can be measured: p = 2, features ±1/2 as in section 5.2.5, w* = 0, the limit of small w*.
HERE = {
    "n": 6.4e6, "eps": 1.0, "delta": 0.01, "gamma": 0.5, "d": 2, "lam_min": 0.25, "rho2": 1.0, "rho_inf": 1.0,
    "c_link": 4.0, "w_inf": 1e-9, "m_public": 1e8, "mean_norm": 0.5,
}  # fmt: skip
GRID = {"n": (4e5, 1.6e6, 6.4e6), "eps": (0.25, 0.5, 1.0)}


def rate_at_zero(label_bound: float = 1.0) -> Exponents:
    """Exponents of n and ε of the whole error of the logistic model, at w* = 0."""
    design = Signs(2, 0.5, 0.0, LOGISTIC, by_chance, label_bound)

    def measure(point: Mapping[str, float], trials: int, seed: int) -> Array:
        n, m = int(point["n"]), int(HERE["m_public"])
        errors, _ = design.errors(n, m, point["eps"], HERE["delta"], GROUP * trials, seed)
        return np.median(errors.reshape(GROUP, -1), axis=0)

    because = f"features ±1/2, p = 2, w* = 0, m = 10⁸, δ = 0.01; medians of {GROUP} runs"
    return Exponents(GRID, measure, because, HERE, trials=16)


# Lemmas ----------------------------------------------------------------------------------------------
def moved(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far any two users' reports are apart: lengths, angle, plane, dimension and labels are searched."""
    rng = np.random.default_rng(case["seed"])
    plane = np.linalg.qr(rng.standard_normal((case["p"], 2)))[0]
    if case["turned"]:  # the plane of two axes, and x xᵀ that differs on its diagonal most
        plane = np.eye(case["p"], 2)
    angles = case["middle"] + np.array([-0.5, 0.5]) * case["angle"]
    X = np.array([case["first"], case["second"]])[:, None] * (np.stack([np.cos(angles), np.sin(angles)]).T @ plane.T)
    one, other = report(X, np.array([case["y"], case["y_other"]]), 1.0, 1.0)
    return float(((one - other) ** 2).sum()), float(theory.report_shift.evaluate())


LINKS: tuple[tuple[Any, Any], ...] = (  # Φ' and Φ''
    (special.expit, LOGISTIC.of),
    (special.ndtr, lambda t: np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi)),
    (np.exp, np.exp),
)


def stein(case: Mapping[str, Any]) -> tuple[float, float]:
    """Along w*, <x, w*> = sN: the coordinate of w* against c_Φ times that of w_ols, by quadrature; both ways round."""
    first, second = LINKS[int(case["link"])]
    s, weights = case["spread"], WEIGHTS / WEIGHTS.sum()
    of_ols = weights @ (NODES * first(s * NODES)) / s  # w_ols is so many w*
    c = 1 / float(weights @ second(s * NODES))
    sides = case["w"], float(theory.lemma1.evaluate(c_link=c, curvature=1 / c, ols_j=case["w"] * of_ols))
    return sides if case["turned"] else sides[::-1]


def off_scale(case: Mapping[str, Any]) -> tuple[float, float]:
    """‖w*/c_Φ - w_ols‖_∞ of a logistic model with x = Σ^½v, v random signs, exactly; ρ_∞ is the less of Σ and Σ^½."""
    rng, p = np.random.default_rng(int(case["seed"])), int(case["p"])
    off = np.triu(rng.uniform(-1, 1, (p, p)) * rng.choice([0, 1], (p, p)), 1)
    off += off.T
    root = off * case["coupling"] + np.diag(np.abs(off).sum(axis=1) * rng.uniform(1, 2, p) + rng.uniform(0.05, 1, p))
    v = np.array(list(product([-1.0, 1.0], repeat=p)))
    X, cov = v @ root, root @ root
    w = case["size"] * rng.choice([-1.0, 1.0, 0.3], p)
    ols = np.linalg.solve(cov, (X * special.expit(X @ w)[:, None]).mean(axis=0))
    measured = float(np.abs(w * LOGISTIC.of(X @ w).mean() - ols).max())
    values = np.linalg.eigvalsh(cov)
    bound = theory.lemma2.evaluate(
        d=p,
        G_link=STEEPEST,
        kappa_x=1.0,
        w_inf=float(np.abs(w).max()),
        rho2=values[-1] / values[0],
        features_r=float(np.linalg.norm(X, axis=1).max()),
        rho_inf=min(float(np.linalg.cond(A, np.inf)) for A in (cov, root)),
    )
    return measured, float(bound)


def random_form(case: Mapping[str, float], trials: int, seed: int) -> Array:
    """‖Ew‖²_M for rank one on the diagonal, the worst, and for the identity."""
    rng, p = np.random.default_rng(seed), int(case["d"])
    E = np.triu(rng.standard_normal((trials, p, p)))
    E += np.triu(E, 1).transpose(0, 2, 1)
    Ew = E.mean(axis=2) * np.sqrt(p)  # w = (1, ..., 1)/√p
    return np.asarray((Ew.sum(axis=1) ** 2 / p) if case["trace_M"] == 1 else (Ew**2).sum(axis=1))


FORMS = [
    {"d": p, "trace_M": trace, "w_size2": 1.0, "entry_std": 1.0, "gamma": g}
    for p in (1, 3, 10) for trace in {1.0, float(p)} for g in (0.2, 0.05)
]  # fmt: skip

CHECKS = {
    "dwang20.algorithm5.2.39.sensitivity": [
        Property(
            moved,
            {
                "p": (2, 6), "seed": (0, 10**6), "turned": (0, 1), "first": (0.0, 1.0), "second": (0.0, 1.0),
                "middle": (0.0, 3.2), "angle": (0.0, 3.2), "y": (-1.0, 1.0), "y_other": (-1.0, 1.0),
            },
            "any two users of the ball",
            examples=200,
        )
    ],
    "dwang20.lemma5.2.1": [
        Property(
            stein,
            {"link": (0, 2), "spread": (0.05, 3.0), "w": (0.1, 2.0), "turned": (0, 1)},
            "logistic, probit and Poisson models of normal features, by quadrature",
        )
    ],
    "dwang20.lemma5.2.2": [
        Property(
            off_scale,
            {"p": (1, 8), "size": (0.01, 20.0), "coupling": (0.0, 1.0), "seed": (0, 10**6)},
            "logistic models of random signs, mixed by diagonally dominant roots, exactly",
        )
    ],
    "dwang20.lemma5.2.4.corrected": [Within(random_form, FORMS, "rank one on the diagonal, and the identity")],
}  # fmt: skip
