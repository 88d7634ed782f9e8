"""What Table 6.1 prints of 1,000 samples, averaged models. Claims: bounds/library/distributed/noise_comparison.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.bounds.library.distributed import noise_comparison as theory
from dpcheck.datasets import logistic_synthetic
from dpcheck.evidence.comparison_checks import MethodsCompared
from dpcheck.problems.losses import Logistic
from dpcheck.problems.parties import split_evenly
from dpcheck.problems.problem import Problem

SAMPLES, ERRORS = 1000, 5.0
# Deviation over scale and kurtosis of each law; what is printed is in thousandths.
LAPLACE, GAUSS = (math.sqrt(2), 6.0), (1.0, 3.0)
PRINTED: list[tuple[Claim, float, tuple[float, float]]] = [
    (theory.pathak, 1150.0, LAPLACE), (theory.local_out, 112.0, LAPLACE), (theory.local_obj, 11.6, LAPLACE),
    (theory.local_grad, 5.63, GAUSS), (theory.mpc_out, 12.2, LAPLACE), (theory.mpc_grad, 0.572, GAUSS),
]


@dataclass(frozen=True)
class SampledDeviations:
    """Each printed deviation against that of its law, in standard errors of the deviation of 1,000 samples."""

    kind: ClassVar[str] = "rate"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        off = {row[0].id.rsplit(".", 1)[-1]: self.errors(*row) for row in PRINTED}
        name, worst = max(off.items(), key=lambda item: item[1])
        fits = worst <= ERRORS * float(claim.formula)
        figure = f"at most {worst:.2g} standard errors off ({name}), of {len(off)} columns"
        return Evidence(self.kind, Verdict.SUPPORTED if fits else Verdict.NOT_REPRODUCED, figure)

    def errors(self, column: Claim, printed: float, law: tuple[float, float]) -> float:
        factor, kurtosis = law
        true = factor * 1000 * float(column.formula.subs(theory.SETTING))
        return abs(printed - true) / (true * math.sqrt((kurtosis - 1) / 4 / SAMPLES))


# The methods that average models --------------------------------------------------------------------
RECORDS, FEATURES, OWNERS, LAMBDA, EPS = 50_000, 122, 100, 1e-3, 0.5  # Figure 6.3
AVERAGED = {"Local Out P": theory.local_out, "Pathak": theory.pathak}


def gaps(seed: int, trials: int) -> dict[str, tuple[np.ndarray, np.ndarray, float]]:
    """J(θ) - J(θ*) of runs of MPC Out P, and of each baseline on the same parties."""
    rng = np.random.default_rng(seed)
    data = split_evenly(logistic_synthetic(RECORDS, FEATURES, seed).problem(Logistic(), l2=LAMBDA), OWNERS)
    local, least = data.minimisers(), data.minimiser()[1]

    def of(points: np.ndarray) -> np.ndarray:
        return np.asarray(data.value(points) - least)

    def noise(column: Claim, shape: tuple[int, ...]) -> np.ndarray:
        here = {"G": 1.0, "parties": OWNERS, "n_least": data.smallest, "lam_parties": LAMBDA, "eps": EPS}
        scale = float(column.evaluate(**{str(s): here[str(s)] for s in column.formula.free_symbols}))
        return rng.laplace(scale=scale, size=shape)

    centre, shape = local.mean(axis=0), (trials, FEATURES)
    ours = of(centre + noise(theory.mpc_out, shape))
    found = {name: (ours, of(centre + noise(column, shape)), 1.0) for name, column in AVERAGED.items()}

    def tilted() -> np.ndarray:
        tilts = noise(theory.local_obj, (OWNERS, FEATURES))
        return np.mean([perturbed(*each) for each in zip(data.parties, local, tilts, strict=True)], axis=0)

    return {**found, "Local Obj P": (ours, of(np.array([tilted() for _ in range(trials)])), 1.0)}


def perturbed(problem: Problem, start: np.ndarray, tilt: np.ndarray) -> np.ndarray:
    """The minimiser of J + ⟨tilt, θ⟩, by Newton's steps from J's own, halved until the slope falls."""
    w, slope = start, tilt + problem.gradient(start)
    for _ in range(50):
        step, share = np.linalg.solve(problem.hessian(w), slope), 1.0
        while np.linalg.norm(new := tilt + problem.gradient(w - share * step)) > np.linalg.norm(slope) and share > 1e-6:
            share /= 2
        w, slope = w - share * step, new
        if np.linalg.norm(slope) < 1e-10:
            break
    return w


compared = MethodsCompared(
    gaps, "synthetic logistic data", "averages of 100 parties' models, noise as Table 6.1 prints it",
    share=1.0, trials=12, stand_in=True,
)
CHECKS = {"lwang21.table6.1.generated": [SampledDeviations()], "lwang21.section6.4.aggregation": [compared]}
