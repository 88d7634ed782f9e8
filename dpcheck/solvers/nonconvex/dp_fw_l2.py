"""DP-FW-L2 (wangxu19, Algorithm 2; dwang20, Algorithm 4.1.17). Claims: bounds/library/nonconvex/dp_fw_l2.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpcheck.audits.scores.transcript import gaussian_log_density
from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.nonconvex import dp_fw_l2 as theory
from dpcheck.bounds.privacy.exact import least_noise
from dpcheck.bounds.proving.derivations import expected_largest
from dpcheck.datasets import in_unit_ball
from dpcheck.evidence.checks import AuditCheck, Exponents, Property, Within
from dpcheck.kernels.descent import Trace, block_cuts, child, seed_of
from dpcheck.kernels.variance_reduced_solver import approximate
from dpcheck.problems.constraints import Box, Constraint, L1Ball, L2Ball
from dpcheck.problems.losses import Array, Huber, Linear, Sigmoid, must_be_positive
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, must_be_whole, must_meet, on_grid
from dpcheck.solvers.convex.dp_svrg import FAR
from dpcheck.solvers.nonconvex.dp_pgd import loss_smoothness, public_gap


@dataclass(frozen=True)
class DPFWL2(Solver):
    """Frank-Wolfe steps towards the vertex that a noisy gradient points at; x_R of a random R in 1..T, from x_1 = 0.

    Over an l1 or l2 ball, or a box around 0 as high as it is low, without a regulariser. `steps` is T and `step_size`
    gamma in (0, 1], by default those of the corrected theorem with the largest loss at 0 for its gap. "stated" noise
    is by Theorem 4 with its hidden `c`.
    """

    steps: int | None = None
    step_size: float | None = None
    c: float = field(default=8.0, kw_only=True)
    name: ClassVar[str] = "dp_fw_l2"

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(steps=self.steps)
        must_be_positive("c", self.c)
        if self.step_size is not None and not 0 < self.step_size <= 1:
            limit = "a number in (0, 1]"
            raise InvalidInput("step_size", self.step_size, limit, "A longer step leaves the constraint set.")

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        must_be_symmetric(problem)
        must_meet(theory.privacy, problem)
        steps = self.steps or self.default_steps(problem, approximate(guarantee))
        noise, claims = self.noise(problem, guarantee, steps, calibration)
        noise *= self.noise_factor
        law = VertexSteps(self.gamma(problem, steps), steps, noise)
        w, path = law.run(problem, seed, trials, trace)
        # A vertex is a discontinuous function of the noise: the grid is that of the steps.
        return Solution(on_grid(w, law.gamma * problem.diameter, problem), guarantee, noise, claims, steps, path)

    def gamma(self, problem: Problem, steps: int) -> float:
        """sqrt(2 Delta / (L T)) / ||C||, at most 1."""
        best = math.sqrt(2 * public_gap(problem) / (loss_smoothness(problem) * steps)) / problem.diameter
        return self.step_size or min(1.0, best)

    def default_steps(self, problem: Problem, guarantee: ApproxDP) -> int:
        """The T of dwang20.theorem4.1.4.steps, from 1 to 1000."""
        values = {"n": problem.n, "eps": guarantee.eps, "delta": guarantee.delta, "G": problem.data_lipschitz}
        values |= {"c": 8.0, "L_smooth": loss_smoothness(problem), "gap0": public_gap(problem)}
        sizes = {"diameter": problem.diameter, "G_C": gaussian_width(problem.constraint, problem.d)}
        return int(min(1000, max(1, round(float(theory.steps.evaluate(**values, **sizes))))))

    def noise(
        self, problem: Problem, guarantee: Guarantee, steps: int, calibration: Calibration
    ) -> tuple[float, tuple[str, ...]]:
        """Deviation on each coordinate of the full gradient."""
        G, n = problem.data_lipschitz, problem.n
        if calibration == "certified":
            # privacy: wangxu19.theorem4.privacy.corrected, made exact; T full gradients, each 2G/n apart
            return least_noise(guarantee, steps=steps) * 2 * G / n, ("accounting.least_noise",)
        aim = approximate(guarantee)
        values = {"n": n, "eps": aim.eps, "delta": aim.delta, "G": G, "T": steps, "c": self.c}
        must_meet(theory.privacy, problem, **values)
        return float(theory.privacy.evaluate(**values)), (theory.privacy.id,)

    def worst_pair(self) -> tuple[Problem, Problem]:
        """All gradients are 0 but one record's, 1 or -1: its sign is all that a vertex shows."""
        rows = np.vstack([[[1.0]], np.zeros((4, 1))])
        first = Problem(rows, np.full(5, -FAR), Huber(1.0), label_bound=FAR, constraint=L2Ball(1.0))
        return first, first.replace(0, [1.0], FAR)


def must_be_symmetric(problem: Problem) -> None:
    """Refuse what the theorem does not cover, naming it."""
    held = problem.constraint
    even = isinstance(held, Box) and np.array_equal(np.negative(held.low), held.high)
    if not (isinstance(held, L1Ball | L2Ball) or even):
        limit = "a bounded set that is symmetric about 0"
        raise InvalidInput("constraint", held, limit, "Pass constraint=L2Ball(1.0).")
    if problem.l2 > 0:
        raise InvalidInput("l2", problem.l2, "0", "Frank-Wolfe steps take no regulariser: leave it out.")


def gaussian_width(held: Constraint, d: int) -> float:
    """E max over the set of <b, v>, b standard normal."""
    if isinstance(held, L1Ball):
        return held.radius * expected_largest(d, absolute=True)
    if isinstance(held, L2Ball):
        return held.radius * math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    assert isinstance(held, Box)
    return math.sqrt(2 / math.pi) * float(np.sum(np.broadcast_to(held.high, (d,))))


def frank_wolfe_gap(problem: Problem, W: Array, gradient: Array | None = None) -> Array:
    """max over the set of <grad F(w), w - v>, for each point: one linear step."""
    G = problem.gradient(W) if gradient is None else gradient
    return np.einsum("...d,...d->...", G, W - problem.constraint.linear_minimiser(G))


# The loop ------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class GapTrace(Trace):
    """`gaps` at x_1..x_T, (T, k), and the round R of each trial; `unprojected` holds the noisy gradients."""

    gaps: Array
    rounds: NDArray[np.int64]


@dataclass(frozen=True)
class VertexSteps:
    """x + gamma (v - x), v the vertex for grad F + sigma z: the loop, and the law of the noisy gradients."""

    gamma: float
    steps: int
    sigma: float

    @property
    def etas(self) -> Array:
        """One step size a step."""
        return np.full(self.steps, self.gamma)

    def run(self, problem: Problem, seed: Seed, trials: int, trace: bool = False) -> tuple[Array, GapTrace | None]:
        """x_R of each trial."""
        parent, w, d = seed_of(seed), np.empty((trials, problem.d)), problem.d
        kept = trials if trace else 0
        path, noisy = np.empty((self.steps + 1, kept, d)), np.empty((self.steps, kept, d))
        norms, gaps, rounds = np.empty((self.steps, kept)), np.empty((self.steps, kept)), np.empty(trials, int)
        for number, first, last in block_cuts(problem, trials):
            own, x, cut = child(parent, number), np.zeros((last - first, d)), slice(first, last)
            rng, R = np.random.default_rng(child(own, 0)), np.random.default_rng(child(own, 2))
            rounds[cut] = R.integers(1, self.steps + 1, len(x))
            for t in range(self.steps):
                w[cut][rounds[cut] == t + 1] = x[rounds[cut] == t + 1]
                exact = problem.gradient(x)
                seen = exact + self.sigma * rng.standard_normal(x.shape)  # privacy: wangxu19.theorem4.privacy.corrected
                if trace:
                    path[t, cut], noisy[t, cut], norms[t, cut] = x, seen, np.linalg.norm(exact, axis=1)
                    gaps[t, cut] = frank_wolfe_gap(problem, x, exact)
                x = x + self.gamma * (problem.constraint.linear_minimiser(seen) - x)
            if trace:
                path[-1, cut] = x
        law = self if self.sigma > 0 else None
        if not trace:
            return w, None
        return w, GapTrace(path, norms, gaps=gaps, rounds=rounds, unprojected=noisy, law=law)  # type: ignore[arg-type]

    def log_density(self, problem: Problem, released: Array) -> Array:
        """Of the noisy gradients, (k, T, d), up to a constant, (k,)."""
        x, logs = np.zeros(released[:, 0].shape), np.zeros(len(released))
        for seen in released.transpose(1, 0, 2):
            logs += gaussian_log_density(seen, problem.gradient(x), self.sigma)
            x = x + self.gamma * (problem.constraint.linear_minimiser(seen) - x)
        return logs


# Checks that run the solver -------------------------------------------------------------------------
CLAIMED = ApproxDP(1.0, 1e-2)


def attacked(solver: DPFWL2, calibration: Calibration) -> Any:
    """The worst pair, all noisy gradients seen."""
    return solver.mechanism(CLAIMED, calibration, transcript=True), solver.worst_pair(), CLAIMED


def ball_problem(case: Mapping[str, float]) -> Problem:
    """Random sigmoid losses over an l2 or l1 ball or a box of that radius; or F(x) = x on an interval."""
    d, radius = int(case["d"]), case["radius"]
    held = (L2Ball(radius), L1Ball(radius), Box(-radius, radius), L2Ball(radius))[int(case["set"])]
    if case["set"] == 3:
        return Problem(np.ones((4, 1)), -np.ones(4), Linear(), constraint=held)
    rng = np.random.default_rng(3)
    return Problem(
        in_unit_ball(rng, int(case["n"]), d), rng.choice([-1.0, 1.0], int(case["n"])), Sigmoid(), constraint=held
    )


def gaps_of(case: Mapping[str, float], trials: int, seed: int) -> Array:
    """The gap at x_R of each run, averaged over R."""
    path = VertexSteps(case["gamma"], int(case["T"]), case["noise"]).run(ball_problem(case), seed, trials, trace=True)[
        1
    ]
    assert path is not None
    return np.mean(path.gaps, axis=0)


def bounded_by(claim: Claim) -> Any:
    """The claim's bound on a case; the gap at the start is at most F(0) less the least value that F can have."""

    def bound(case: Mapping[str, float]) -> float:
        problem = ball_problem(case)
        least = -case["radius"] if case["set"] == 3 else 0.0
        values = {
            "gap0": float(problem.value(np.zeros(problem.d))) - least, "L_smooth": loss_smoothness(problem),
            "T": case["T"], "step_fw": case["gamma"], "sigma_n": case["noise"], "diameter": problem.diameter,
            "G_C": gaussian_width(problem.constraint, problem.d),
        }  # fmt: skip
        return float(claim.evaluate(**values))

    return bound


def width_by_draws(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far `gaussian_width` is from the mean of 4000 draws, against five standard errors."""
    d, radius = int(case["d"]), case["radius"]
    held = (L2Ball(radius), L1Ball(radius), Box(-radius, radius))[int(case["set"])]
    b = np.random.default_rng(int(case["seed"])).standard_normal((4000, d))
    tops = -np.einsum("kd,kd->k", b, held.linear_minimiser(b))
    return abs(float(tops.mean()) - gaussian_width(held, d)), 5 * float(tops.std()) / math.sqrt(len(tops)) + 1e-9


def second_moment(case: Mapping[str, Any]) -> tuple[float, float]:
    """E (max over the set of <v, b>)^2, less five standard errors, against Lemma 4.1.1 with constant 1."""
    d, radius = int(case["d"]), case["radius"]
    held = (L2Ball(radius), L1Ball(radius), Box(-radius, radius))[int(case["set"])]
    b = np.random.default_rng(int(case["seed"])).standard_normal((4000, d))
    squares = np.einsum("kd,kd->k", b, held.linear_minimiser(b)) ** 2
    bound = gaussian_width(held, d) ** 2 + held.diameter(d) ** 2 / 4
    return float(squares.mean() - 5 * squares.std() / math.sqrt(len(squares))), bound


def gap_and_slope(case: Mapping[str, Any], converse: bool = False) -> tuple[float, float]:
    """r ||grad F(x)|| against the gap, a ball of radius r around x in the set; or the gap against ||C|| ||grad||."""
    problem, rng = ball_problem(case), np.random.default_rng(int(case["seed"]))
    share, radius = case["share"], case["radius"]
    edge = -problem.constraint.linear_minimiser(rng.standard_normal((1, problem.d)))
    x, room = share * edge, (1 - share) * radius / (math.sqrt(problem.d) if case["set"] == 1 else 1.0)
    slope = float(np.linalg.norm(problem.gradient(x)))
    gap = float(frank_wolfe_gap(problem, x)[0])
    if converse:
        return gap, float(theory.stationary_back.evaluate(diameter=problem.diameter, slope_at=slope)) * (1 + 1e-9)
    return room * slope, gap * (1 + 1e-9) + 1e-12


def rate_of(point: Mapping[str, float], trials: int, seed: int) -> Array:
    """The gap at x_R with the published noise, c = 8, T and gamma by default, on a parabola with its minimum inside."""
    n = int(point["n"])
    problem = Problem(np.ones((n, 1)), np.full(n, 0.3), Huber(2.0), label_bound=0.3, constraint=L2Ball(1.0))
    guarantee = ApproxDP(point["eps"], 1e-3)
    found = DPFWL2().solve(problem, guarantee, seed, trials=trials, calibration="stated", trace=True)
    return np.mean(found.trace.gaps, axis=0)


CASES = [
    {"n": 100.0, "d": 5.0, "radius": 1.0, "set": 0.0, "T": 50.0, "gamma": 0.2, "noise": 0.1},
    {"n": 500.0, "d": 50.0, "radius": 2.0, "set": 1.0, "T": 40.0, "gamma": 0.1, "noise": 0.05},
    {"n": 100.0, "d": 3.0, "radius": 0.5, "set": 2.0, "T": 20.0, "gamma": 0.5, "noise": 0.3},
    {"n": 4.0, "d": 1.0, "radius": 0.005, "set": 3.0, "T": 100.0, "gamma": 0.3, "noise": 1.0},
    {"n": 4.0, "d": 1.0, "radius": 1.0, "set": 3.0, "T": 400.0, "gamma": 0.05, "noise": 1.5},
]
SETS = "sigmoid losses over balls and a box, a linear one over intervals"
SHORT = DPFWL2(steps=5, step_size=0.5)
INSIDE = {"n": (1, 6), "d": (1, 8), "set": (0, 3), "radius": (0.1, 5.0), "seed": (0, 10**6), "share": (0.0, 0.99)}
ON_SETS = {"d": (1, 40), "set": (0, 2), "radius": (0.1, 5.0), "seed": (0, 10**6)}

CHECKS = {
    "wangxu19.theorem4.privacy": [
        AuditCheck(lambda: attacked(DPFWL2(steps=5, step_size=0.5, c=1.0), "stated"), "as published, c = 1", 10_000)
    ],
    "wangxu19.theorem4.privacy.corrected": [
        AuditCheck(lambda: attacked(SHORT, "stated"), "as published, c = 8, all noisy gradients seen", 10_000),
        AuditCheck(lambda: attacked(SHORT, "certified"), "certified calibration, all noisy gradients seen", 10_000),
    ],
    **{
        f"{name}.stationary{part}": [
            Property(partial(gap_and_slope, converse=bool(part)), INSIDE, SETS, examples=60)
        ]
        for name in ("wangxu19.section.frank_wolfe", "dwang20.section4.1.2")
        for part in ("", ".converse")
    },
    "dwang20.lemma4.1.1": [Property(second_moment, ON_SETS, "l2 and l1 balls and boxes, 4000 draws each", examples=50)],
    "wangxu19.theorem4.direct": [Within(gaps_of, CASES, SETS, bound=bounded_by(theory.theorem4_direct), trials=64)],
    "dwang20.theorem4.1.4.proof": [Within(gaps_of, CASES, SETS, bound=bounded_by(theory.proof), trials=64)],
    "wangxu19.theorem4.corrected": [
        Exponents(
            {"n": (400, 800, 1600), "eps": (0.5, 1.0, 2.0)}, rate_of,
            "published noise, c = 8, (x-0.3)²/2 on [-1, 1]", trials=64,
        )
    ],
}  # fmt: skip
