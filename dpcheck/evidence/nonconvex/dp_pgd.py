"""What runs of DP-PGD show. Claims: bounds/library/nonconvex/dp_pgd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, cast

import numpy as np

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import dp_pgd_proof as proof
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Release
from dpcheck.datasets.embedded import in_unit_ball, logistic_synthetic
from dpcheck.evidence.checks import AuditCheck, Exponents, Property, Within
from dpcheck.evidence.random_problems import SIZES
from dpcheck.kernels.proximal_steps import Proximal, ProximalSteps, losses_of
from dpcheck.kernels.running import Trace, run
from dpcheck.problems.conditioning import loss_smoothness
from dpcheck.problems.constraints import Box, L1Ball, L2Ball, WholeSpace
from dpcheck.problems.extreme_pairs import FAR
from dpcheck.problems.losses import Array, Huber, Loss, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration
from dpcheck.solvers.nonconvex.dp_pgd import DPPGD

CLAIMED = ApproxDP(1.0, 1e-2)


@dataclass(frozen=True)
class Breaks:
    """A claim that something is NOT private, which an audit that finds a violation supports."""

    audit: AuditCheck
    kind: ClassVar[str] = "audit"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        found = self.audit.run(claim, effort)
        verdict = Verdict.SUPPORTED if found.verdict is Verdict.REFUTED else Verdict.UNCHECKED
        return replace(found, verdict=verdict, counterexample=None)


def attacked(solver: DPPGD, calibration: Calibration) -> Any:
    """The worst pair of five records, all T noisy gradients seen."""
    return solver.mechanism(CLAIMED, calibration, transcript=True), solver.worst_pair(), CLAIMED


def flat_pair() -> tuple[Problem, Problem]:
    """As the worst pair, G = 1, but with L = 1/100: rows of 1/10 and Huber losses of slope 10."""
    first = Problem(np.full((5, 1), 0.1), np.full(5, -FAR), Huber(10.0), row_bound=0.1, label_bound=FAR)
    return first, first.replace(0, [0.1], FAR)


def printed_box() -> Any:
    """Step 3 as printed, on flat losses of slope 1, x_R seen."""
    return DPPGD(steps=5, recipe="zcdp").mechanism(CLAIMED, "stated"), flat_pair(), CLAIMED


def chosen_by(choice: Literal["noisy minimum", "exact minimum"], calibration: Calibration = "stated") -> Any:
    """A hundred steps on five Huber losses whose minimiser moves by 2/5: one label is 1 or -1, the others 0."""
    first = Problem(np.ones((5, 1)), np.r_[1.0, np.zeros(4)], Huber(1.0))
    solver = DPPGD(steps=100, step_size=0.5, choice=choice)
    return solver.mechanism(CLAIMED, calibration), (first, first.replace(0, [1.0], -1.0)), CLAIMED


def composite_problem(case: Mapping[str, Any]) -> Problem:
    """Random sigmoid losses, or quadratics with rows of norm 1, over one of four sets."""
    rng = np.random.default_rng(int(case["seed"]))
    n, d = int(case["n"]), int(case["d"])
    sets = (WholeSpace(), L2Ball(0.7), L1Ball(0.9), Box(-0.3, 0.5))
    X, loss = in_unit_ball(rng, n, d), cast(Loss, Sigmoid())
    if case.get("quadratic"):
        X, loss = X / np.linalg.norm(X, axis=1)[:, None], Huber(100.0)
    return Problem(
        X, rng.choice([-1.0, 1.0], n), loss, l2=float(case.get("l2", 0.0)), constraint=sets[int(case["set"])]
    )  # fmt: skip


def proximal_gain(case: Mapping[str, Any]) -> tuple[float, float]:
    """Lemma 4.1.2: its left side less its right, which must not be positive; 0.1 added to both for a bound above 0."""
    problem, l1, eta = composite_problem(case), case["l1"], case["eta"]
    rng = np.random.default_rng(int(case["seed"]) + 1)
    x = problem.constraint.project(rng.standard_normal((1, problem.d)))
    error = case["noise"] * rng.standard_normal(x.shape)
    gradient = losses_of(problem).gradient(x)
    new = Proximal.of(problem, l1)(x - eta * (gradient + error), eta)
    r_x, r_new = (l1 * np.abs(p).sum() + problem.l2 / 2 * float((p**2).sum()) for p in (x, new))
    left = float(((new - x) ** 2).sum()) / eta + r_new - r_x + float((error * (new - x)).sum())
    return left - float((gradient * (x - new)).sum()) + 0.1, 0.1


@dataclass(frozen=True, eq=False)
class Maps:
    """Runs of all T steps: the norms of the noisy maps (x_k - x_(k+1))/gamma and of the exact P(x_k), (T, trials)."""

    trace: Trace
    noisy: Array
    exact: Array


def maps_of(
    problem: Problem, T: int, noise: float, l1: float, seed: int, trials: int, start: Array | None = None
) -> Maps:
    """T steps at gamma = 1/(2L), whatever the round R."""
    eta, prox = 1 / (2 * loss_smoothness(problem)), Proximal.of(problem, l1)
    method = ProximalSteps(np.zeros(problem.d) if start is None else start, eta, T, prox)
    trace = run(method, Release(1.0, Gaussian(noise), steps=T), problem, seed=seed, trials=trials, trace=True).trace
    assert trace is not None
    x, losses = trace.points[:-1], losses_of(problem)
    exact = np.stack([prox.map_norms(point, losses.gradient(point), eta) for point in x])
    return Maps(trace, np.linalg.norm(np.diff(trace.points, axis=0), axis=2) / eta, exact)


def on_case(case: Mapping[str, float], trials: int, seed: int) -> Maps:
    """On the problem of a case."""
    return maps_of(composite_problem({**case, "seed": 5}), int(case["T"]), case["noise"], case["l1"], seed, trials)


def noisy_map2(case: Mapping[str, float], trials: int, seed: int) -> Array:
    """||g_C,R||^2 of each run, averaged over R."""
    return np.mean(on_case(case, trials, seed).noisy ** 2, axis=0)


def exact_map2(case: Mapping[str, float], trials: int, seed: int) -> Array:
    """||P(x_R, grad F, gamma)||^2, averaged over R; for C = R^d and r = 0 it is the gradient's."""
    return np.mean(on_case(case, trials, seed).exact ** 2, axis=0)


def bounded_by(claim: Claim) -> Any:
    """The claim's bound on a case, with F(x_1) - F* at most the largest loss at 0."""

    def bound(case: Mapping[str, float]) -> float:
        problem = composite_problem({**case, "seed": 5})
        gap = float(problem.value(np.zeros(problem.d)))  # no loss or regulariser is negative
        values = {"gap0": gap, "L_smooth": loss_smoothness(problem), "T": case["T"], "d": case["d"]}
        return float(claim.evaluate(**values, sigma_n=case["noise"], eta=1 / (2 * loss_smoothness(problem))))

    return bound


def rate_of(point: Mapping[str, float], trials: int, seed: int) -> Array:
    """||g_C,R|| with the published noise, c = 8, and T of the theorem, on sigmoid losses with an l1 term."""
    n, d, level = int(point["n"]), int(point["d"]), point["eps"]
    problem = logistic_synthetic(n, d, seed=7).problem(Sigmoid())
    steps = max(1, round(n * level / math.sqrt(d * math.log(1e3))))
    noise = DPPGD(steps=steps, l1=0.005).calibrated(problem, ApproxDP(level, 1e-3), "stated").noise_std
    return np.mean(maps_of(problem, steps, noise, 0.005, seed, trials).noisy, axis=0)  # over R, given the run


CASES = [
    {"n": 200.0, "d": 5.0, "T": 50.0, "noise": 0.05, "l1": 0.005, "l2": 0.0, "set": 0.0, "quadratic": 0.0},
    {"n": 200.0, "d": 5.0, "T": 50.0, "noise": 0.2, "l1": 0.01, "l2": 0.1, "set": 1.0, "quadratic": 0.0},
    {"n": 50.0, "d": 3.0, "T": 10.0, "noise": 0.5, "l1": 0.0, "l2": 0.0, "set": 2.0, "quadratic": 0.0},
    {"n": 50.0, "d": 3.0, "T": 30.0, "noise": 0.1, "l1": 0.0, "l2": 0.1, "set": 3.0, "quadratic": 1.0},
    {"n": 50.0, "d": 1.0, "T": 200.0, "noise": 1.0, "l1": 0.0, "l2": 0.0, "set": 0.0, "quadratic": 1.0},
]

FREE = [case for case in CASES if case["set"] == 0.0 and case["l2"] == 0.0 and case["l1"] == 0.0]

SHORT = DPPGD(steps=5)

RUNS = "sigmoid and quadratic losses over ℝᵈ, balls and a box, with l1 and l2 terms"

CHECKS = {
    "wangxu19.theorem1": [
        AuditCheck(lambda: attacked(replace(SHORT, c=1.0), "stated"), "as published, c = 1, all seen", 20_000)
    ],
    "wangxu19.theorem1.corrected": [
        AuditCheck(lambda: attacked(SHORT, "stated"), "as published, c = 8, all steps seen", 20_000)
    ],
    "wangxu19.algorithm1.noise": [AuditCheck(printed_box, "step 3 as printed, G = 1 and L = 1/100, x_R seen", 20_000)],
    "wangxu19.algorithm1.noise.corrected": [
        AuditCheck(lambda: attacked(SHORT, "certified"), "certified calibration, all steps seen", 20_000)
    ],
    "wangxu19.remark1.minimum.corrected": [
        Breaks(AuditCheck(lambda: chosen_by("exact minimum"), "noise of Theorem 1, c = 8; the iterate chosen", 8000))
    ],
    "dwang20.remark4.1.1.minimum.corrected": [
        Breaks(AuditCheck(lambda: chosen_by("exact minimum"), "noise of Theorem 1, c = 8; the iterate chosen", 8000))
    ],
    "dwang20.lemma4.1.2": [
        Property(
            proximal_gain,
            {**SIZES, "set": (0, 3), "l1": (0.0, 0.5), "l2": (0.0, 0.5), "eta": (0.1, 5.0), "noise": (0.0, 2.0)},
            "random points, errors, sets and regularisers",
        )
    ],
    "wangxu19.theorem2": [
        Exponents(
            {"n": (200, 400, 800), "eps": (0.5, 1.0, 2.0), "d": (2, 4, 8)}, rate_of,
            "published noise, c = 8, sigmoid losses with an l1 term", centre={"n": 400, "eps": 1.0, "d": 4}, trials=64,
        )
    ],
    "dwang20.theorem4.1.2.proof": [Within(noisy_map2, CASES, RUNS, bound=bounded_by(proof.proof), trials=64)],
    "dwang20.theorem4.1.2.noiseless": [Within(exact_map2, CASES, RUNS, bound=bounded_by(proof.noiseless), trials=64)],
    "dwang20.theorem4.1.2.unconstrained": [
        Within(exact_map2, FREE, "quadratics over ℝ", bound=bounded_by(proof.free), trials=64)
    ],
}  # fmt: skip
