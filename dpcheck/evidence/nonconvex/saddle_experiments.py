"""The experiments of dwang20, section 4.3.3, run again. Claims: bounds/library/nonconvex/saddle_experiments.py.

As printed: λ = 1e-3, δ = 1/n, α = 0.1, rows of norm 1, ten runs, batches of 50000 and 5000, both losses. Not printed,
and fixed before the first run: ε of 0.25 and 0.9, as Theorem 4.3.6 is for ε < 1; each run from a standard normal point
of its own, the same for every method and ε; T, radius and step sizes of the theorems, Δ and B being the largest loss at
0; noise as stated (c of Theorem 4.3.2 as corrected); DP-GD is Algorithm 4.3.26, which lets out one point.

Covertype and IJCNN are not to be had here. In place of each are normal rows of its n and p, scaled to norm 1, with the
labels of a random direction, as the document draws its own in section 4.1.5; as many are turned round (14%, 5%) as the
document's best classifier gets wrong. All of it under --thorough; by default the sigmoid loss at IJCNN's size, ε = 0.9
where methods are compared and the two trust-region methods where ε is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import optimize

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.evidence.comparison_checks import Lower
from dpcheck.problems.losses import Array, Logistic, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solver import Solver
from dpcheck.solvers.nonconvex.dp_select_sosp import DPSelectSOSP
from dpcheck.solvers.nonconvex.dp_str import DPSTR
from dpcheck.solvers.nonconvex.dp_tr import DPTR

LAMBDA, AIM, EPSILONS = 1e-3, 0.1, (0.25, 0.9)
LOSSES = ("logistic", "sigmoid")
Runs = Mapping[str, tuple[Array, Array]]


@dataclass(frozen=True)
class Drawn:
    """A data set of the document: its size, its batches, and what its best classifier gets wrong."""

    name: str
    n: int
    d: int
    batch: int
    wrong: float


COVERTYPE, IJCNN = Drawn("Covertype", 581_012, 54, 50_000, 0.14), Drawn("IJCNN", 35_000, 22, 5000, 0.05)


@dataclass(frozen=True, eq=False)
class Bounded(Problem):
    """With the regulariser λ·Σ w²/(1+w²) of the document."""

    strength: float = 0.0

    def value(self, W: Array) -> Any:
        squares = np.asarray(W, float) ** 2
        return super().value(W) + self.strength * (squares / (1 + squares)).sum(axis=-1)

    def _regularised(self, out: Array, W: Array) -> Array:
        return super()._regularised(out, W) + self.strength * 2 * W / (1 + W**2) ** 2

    def hessians(self, W: Array, index: Any = None) -> Array:
        bends = self.strength * (2 - 6 * W**2) / (1 + W**2) ** 3
        return super().hessians(W, index) + bends[:, :, None] * np.eye(self.d)

    @property
    def smoothness(self) -> float:
        return super().smoothness + 2 * self.strength

    @property
    def hessian_lipschitz(self) -> float:
        return super().hessian_lipschitz + 4.67 * self.strength  # 24w(w²-1)/(1+w²)⁴ is at most 4.669


@lru_cache(maxsize=4)
def problem_of(here: Drawn, loss: str) -> Problem:
    """The same rows and labels for both losses."""
    rng = np.random.default_rng(11)
    direction, X = rng.standard_normal(here.d), rng.standard_normal((here.n, here.d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.where(X @ direction > 0, 1.0, -1.0) * np.where(rng.random(here.n) < here.wrong, -1.0, 1.0)
    if loss == "sigmoid":
        return Problem(X, y, Sigmoid(), l2=LAMBDA)
    return Bounded(X, y, Logistic(), strength=LAMBDA)


def starts(here: Drawn, seed: int, trials: int) -> Array:
    return np.random.default_rng(seed).standard_normal((trials, here.d))


@lru_cache(maxsize=4)
def least(here: Drawn, loss: str) -> float:
    """The least value found from 0 and three normal points."""
    problem, points = problem_of(here, loss), np.vstack([np.zeros(here.d), starts(here, 1, 3)])
    found = [optimize.minimize(problem.value, w, jac=problem.gradient, method="L-BFGS-B") for w in points]
    return float(min(result.fun for result in found))


def methods(here: Drawn) -> dict[str, Solver]:
    return {"DP-GD": DPSelectSOSP(aim=AIM), "DP-TR": DPTR(aim=AIM), "DP-STR": DPSTR(aim=AIM, batch=here.batch)}


@lru_cache(maxsize=128)
def ends(here: Drawn, loss: str, method: str, eps: float, seed: int, trials: int) -> Array:
    """Where the runs of a method end, (trials, p)."""
    problem, solver, guarantee = problem_of(here, loss), methods(here)[method], ApproxDP(eps, 1 / here.n)
    begins = starts(here, seed, trials)
    runs = [
        replace(solver, start=tuple(begin)).solution(problem, guarantee, seed + i, trials=1, calibration="stated").w[0]  # type: ignore[call-arg]
        for i, begin in enumerate(begins)
    ]
    return np.array(runs)


def cases(thorough: bool) -> list[tuple[Drawn, str]]:
    """Data and losses."""
    return [(here, loss) for here in (IJCNN, COVERTYPE) for loss in LOSSES] if thorough else [(IJCNN, "sigmoid")]


def against(ours: str, theirs: tuple[str, ...], seed: int, trials: int, thorough: bool) -> Runs:
    """Gaps and lengths of gradients at the ends of one method's runs, and of others': the first are to be less."""
    found = {}
    for here, loss in cases(thorough):
        problem = problem_of(here, loss)
        for eps in EPSILONS if thorough else EPSILONS[-1:]:
            points = [ends(here, loss, name, eps, seed, trials) for name in (ours, *theirs)]
            gaps = [problem.value(w) - least(here, loss) for w in points]
            slopes = [np.linalg.norm(problem.gradient(w), axis=1) for w in points]
            for measure, values in (("gap", gaps), ("gradient", slopes)):
                for name, other in zip(theirs, values[1:], strict=True):
                    found[f"{measure}, {ours} and {name}, {here.name}, {loss}, ε = {eps:g}"] = values[0], other
    return found


def trust_region(seed: int, trials: int, thorough: bool) -> Runs:
    return against("DP-TR", ("DP-GD",), seed, trials, thorough)


def stochastic(seed: int, trials: int, thorough: bool) -> Runs:
    return {
        name: pair
        for ours in ("DP-GD", "DP-TR")
        for name, pair in against(ours, ("DP-STR",), seed, trials, thorough).items()
    }


def wrong(seed: int, trials: int, thorough: bool) -> Runs:
    """Shares of labels that are wrong, at the larger ε and at the smaller."""
    found = {}
    for here in (case[0] for case in cases(thorough) if case[1] == "sigmoid"):
        problem = problem_of(here, "sigmoid")
        for name in list(methods(here))[0 if thorough else 1 :]:
            shares = [
                (problem.y * (ends(here, "sigmoid", name, eps, seed, trials) @ problem.X.T) <= 0).mean(axis=1)
                for eps in reversed(EPSILONS)
            ]
            found[f"{name}, {here.name}"] = shares[0], shares[1]
    return found


def work(here: Drawn, loss: str) -> dict[str, float]:
    """Derivatives of records in all steps of the theorems: p for a gradient, p² for a Hessian."""
    small = problem_of(replace(here, n=2), loss)
    both, guarantee = here.d + here.d**2, ApproxDP(1.0, 1 / here.n)
    T = {name: int(solver.plan(small, guarantee) if name == "DP-GD" else solver.plan(small, guarantee).steps)
         for name, solver in methods(here).items()}  # fmt: skip
    selection = here.n * (T["DP-GD"] * here.d + (T["DP-GD"] + 1) * both)
    return {"DP-GD": selection, "DP-TR": T["DP-TR"] * here.n * both, "DP-STR": T["DP-STR"] * here.batch * both}


def time(seed: int, trials: int, thorough: bool) -> Runs:
    found = {}
    for here in (IJCNN, COVERTYPE):
        for loss in LOSSES:
            counted = work(here, loss)
            for name in ("DP-GD", "DP-TR"):
                pair = np.array([counted["DP-STR"]]), np.array([counted[name]])
                found[f"DP-STR and {name}, {here.name}, {loss}"] = pair
    return found


WHERE = "draws of IJCNN's size with 5% of the labels turned round (thorough: of Covertype's, 14%), α = 0.1"

CHECKS = {
    "dwang20.section4.3.3.accuracy": [Lower(wrong, WHERE, trials=10, stand_in=True)],
    "dwang20.section4.3.3.trust_region": [Lower(trust_region, WHERE, trials=10, stand_in=True)],
    "dwang20.section4.3.3.stochastic": [Lower(stochastic, WHERE, trials=10, stand_in=True)],
    "dwang20.section4.3.3.time": [Lower(time, "sizes and batches as printed, T of the theorems")],
}
