"""What runs of Mini-batch noisy SGD after Bassily et al. show. Claims: bounds/library/convex/bassily_sgd.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.datasets.embedded import breast_cancer, diabetes, digits, logistic_synthetic
from dpcheck.evidence.checks import AuditCheck, Comparison, Trend
from dpcheck.evidence.random_problems import excess
from dpcheck.problems.losses import Huber, Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.convex.bassily_sgd import BassilySGD
from dpcheck.solvers.convex.outpert_gd import OutputPerturbationGD


def attacked(guarantee: ApproxDP, calibration: Calibration) -> Any:
    """Batches of 5 out of 10, for the auditor."""
    solver = BassilySGD(batch=5)
    return solver.mechanism(guarantee, calibration), solver.worst_pair(), guarantee


def against_the_baseline(seed: int, trials: int) -> dict[str, tuple[float, float]]:
    """Mean excess risk and record gradients, Algorithm 1 over the baseline, in settings like those of Table 3."""
    ratios = {}
    for problem, label in table3_problems():
        ours, theirs = OutputPerturbationGD(radius=3.0 if problem.l2 == 0 else None), BassilySGD(radius=3.0)
        _, least = problem.minimiser()
        for eps in (0.1, 0.5, 1.0):
            guarantee = ApproxDP(eps, 1e-3)
            found = [s.solve(problem, guarantee, seed, trials=trials, calibration="stated") for s in (ours, theirs)]
            risks = [float(np.mean(problem.value(f.w))) - least for f in found]
            work = found[0].steps * problem.n / (found[1].steps * theirs.batch)
            ratios[f"{label}, eps={eps:g}"] = (risks[0] / risks[1], work)
    return ratios


def table3_problems() -> list[tuple[Problem, str]]:
    """Logistic and Huber regression on embedded data, with and without a regulariser."""
    return [
        (breast_cancer().problem(Logistic(), l2=0.1), "breast cancer, mu=0.1"),
        (digits().problem(Logistic(), l2=0.1), "digits, mu=0.1"),
        (diabetes().problem(Huber(0.5), l2=0.5), "diabetes, mu=0.5"),
        (diabetes().problem(Huber(0.5)), "diabetes, mu=0"),
    ]


CHECKS = {
    "zhang17.section4.minibatch": [
        AuditCheck(lambda: attacked(ApproxDP(1.0, 1e-3), "stated"), "the baseline as published, last iterate seen")
    ],
    "zhang17.table3.outperforms": [
        Comparison(
            against_the_baseline, "published noise on breast cancer, digits and diabetes; run time as record gradients"
        )
    ],
}
