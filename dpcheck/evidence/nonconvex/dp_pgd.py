"""What runs of DP-PGD show. Claims: bounds/library/nonconvex/dp_pgd.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_pgd as theory
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.datasets.embedded import in_unit_ball
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.evidence.rate_checks import Within
from dpcheck.kernels.proximal_steps import Proximal, ProximalSteps
from dpcheck.kernels.running import run
from dpcheck.problems.conditioning import loss_smoothness
from dpcheck.problems.constraints import Box, L1Ball, L2Ball, WholeSpace
from dpcheck.problems.extreme_pairs import FAR
from dpcheck.problems.losses import Array, Huber, Loss, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_pgd import DPPGD

CLAIMED, FIVE = ApproxDP(1.0, 1e-2), {"n": 5.0, "T": 5.0, "G": 1.0}
SHORT = DPPGD(steps=5)


@dataclass(frozen=True)
class Breaks:
    """A claim that something is NOT private, which an audit that finds a violation supports."""

    audit: AuditCheck
    kind: ClassVar[str] = "audit"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        found = self.audit.run(claim, effort)
        verdict = Verdict.SUPPORTED if found.verdict is Verdict.REFUTED else Verdict.UNCHECKED
        return replace(found, verdict=verdict, counterexample=None)


def attacked() -> Any:
    """The noise of Theorem 1 with c = 8, on the worst pair of five records, all T noisy gradients seen."""
    return SHORT.mechanism(CLAIMED, "stated", transcript=True), SHORT.worst_pair(), CLAIMED


def flat_pair() -> tuple[Problem, Problem]:
    """As the worst pair, G = 1, but with L = 1/100: rows of 1/10 and Huber losses of slope 10."""
    first = Problem(np.full((5, 1), 0.1), np.full(5, -FAR), Huber(10.0), row_bound=0.1, label_bound=FAR)
    return first, first.replace(0, [0.1], FAR)


def printed_box() -> Any:
    """Step 3 as printed, on flat losses of slope 1, x_R seen."""
    return DPPGD(steps=5, recipe="zcdp").mechanism(CLAIMED, "stated"), flat_pair(), CLAIMED


def chosen_by(choice: Literal["noisy minimum", "exact minimum"]) -> Any:
    """A hundred steps on five Huber losses whose minimiser moves by 2/5: one label is 1 or -1, the others 0."""
    first = Problem(np.ones((5, 1)), np.r_[1.0, np.zeros(4)], Huber(1.0))
    solver = DPPGD(steps=100, step_size=0.5, choice=choice)
    return solver.mechanism(CLAIMED, "stated"), (first, first.replace(0, [1.0], -1.0)), CLAIMED


# Utility -------------------------------------------------------------------------------------------
def composite_problem(case: Mapping[str, float]) -> Problem:
    """Random sigmoid losses, or quadratics with rows of norm 1, over one of four sets."""
    rng = np.random.default_rng(5)
    n, d = int(case["n"]), int(case["d"])
    held = (WholeSpace(), L2Ball(0.7), L1Ball(0.9), Box(-0.3, 0.5))[int(case["set"])]
    X = in_unit_ball(rng, n, d)
    loss: Loss = Sigmoid()
    if case["quadratic"]:
        X, loss = X / np.linalg.norm(X, axis=1)[:, None], Huber(100.0)
    return Problem(X, rng.choice([-1.0, 1.0], n), loss, l2=case["l2"], constraint=held)


def noisy_map2(case: Mapping[str, float], trials: int, seed: int) -> Array:
    """The squared noisy map of each run, T steps of 1/(2L) from 0, averaged over R."""
    problem, T = composite_problem(case), int(case["T"])
    eta = 1 / (2 * loss_smoothness(problem))
    method = ProximalSteps(np.zeros(problem.d), eta, T, Proximal.of(problem, case["l1"]))
    released = Release(1.0, Gaussian(case["noise"]), steps=T)
    trace = run(method, released, problem, seed=seed, trials=trials, trace=True).trace
    assert trace is not None
    return np.mean((np.diff(trace.points, axis=0) ** 2).sum(axis=2), axis=0) / eta**2


def proofs_bound(case: Mapping[str, float]) -> float:
    """With F(x_1) - F* at most the largest loss at 0: no loss or regulariser is below 0."""
    problem = composite_problem(case)
    gap, L = float(problem.value(np.zeros(problem.d))), loss_smoothness(problem)
    values = {"gap0": gap, "L_smooth": L, "T": case["T"], "d": case["d"], "sigma_n": case["noise"]}
    return float(theory.explicit.evaluate(**values, eta=1 / (2 * L)))


CASES = [
    {"n": 200.0, "d": 5.0, "T": 50.0, "noise": 0.05, "l1": 0.005, "l2": 0.0, "set": 0.0, "quadratic": 0.0},
    {"n": 200.0, "d": 5.0, "T": 50.0, "noise": 0.2, "l1": 0.01, "l2": 0.1, "set": 1.0, "quadratic": 0.0},
    {"n": 50.0, "d": 3.0, "T": 10.0, "noise": 0.5, "l1": 0.0, "l2": 0.0, "set": 2.0, "quadratic": 0.0},
    {"n": 50.0, "d": 3.0, "T": 30.0, "noise": 0.1, "l1": 0.0, "l2": 0.1, "set": 3.0, "quadratic": 1.0},
    {"n": 50.0, "d": 1.0, "T": 200.0, "noise": 1.0, "l1": 0.0, "l2": 0.0, "set": 0.0, "quadratic": 1.0},
]

RUNS = "sigmoid and quadratic losses over ℝᵈ, balls and a box, with l1 and l2 terms"
LEAKS = Breaks(AuditCheck(lambda: chosen_by("exact minimum"), "noise of Theorem 1, c = 8; n = 5, T = 100", 8000))

CHECKS = {
    "wangxu19.theorem1.corrected": [AuditCheck(attacked, "as published, c = 8, all steps seen", 20_000, at=FIVE)],
    "wangxu19.algorithm1.noise": [
        AuditCheck(printed_box, "as printed, G = 1 and L = 1/100, x_R seen", 20_000, at={**FIVE, "L_smooth": 0.01})
    ],
    "wangxu19.remark1.minimum.corrected": [LEAKS],
    "dwang20.remark4.1.1.minimum.corrected": [LEAKS],
    "dwang20.theorem4.1.2.proof": [Within(noisy_map2, CASES, RUNS, bound=proofs_bound, trials=64)],
}
