"""DP-PMD (wangxu19, Algorithm 3; dwang20, Algorithm 4.1.18). Claims: bounds/library/nonconvex/dp_pmd.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dpcheck.audits.scores.transcript import gaussian_log_density
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.nonconvex import dp_pmd as theory
from dpcheck.bounds.library.nonconvex import dp_pmd_proof as proof
from dpcheck.bounds.privacy.random_iterate import at_least_two, iterate_noise
from dpcheck.datasets import in_unit_ball
from dpcheck.evidence.checks import AuditCheck, Property
from dpcheck.kernels.descent import Trace, block_cuts, child, seed_of
from dpcheck.kernels.variance_reduced_solver import approximate
from dpcheck.problems.constraints import Constraint, L1Ball, L2Ball, LqBall, Simplex
from dpcheck.problems.losses import Array, Huber, Sigmoid, must_be_positive
from dpcheck.problems.mirror import Mirror, mirror_of
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, must_be_whole, must_meet, on_grid

FAR = 1e6
MOST_STEPS = 1000


@dataclass(frozen=True)
class DPPMD(Solver):
    """Noisy proximal mirror steps on the whole data; x_R is released, R uniform on 1..T.

    The risk is F + `l1` ||x||_1 over an l1, l_q or l2 ball, or the simplex (entropy; Theorem 5 is about symmetric
    sets). `steps` is T, by default the theorem's, `step_size` its 1/(2 L ||C||^2). `c` is the constant that the
    published noise hides.
    """

    steps: int | None = None
    step_size: float | None = None
    l1: float = 0.0
    c: float = field(default=1.0, kw_only=True)
    name: ClassVar[str] = "dp_pmd"

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(steps=self.steps)
        must_be_positive("c", self.c)
        if self.step_size is not None:
            must_be_positive("step_size", self.step_size)
        if not 0 <= self.l1 < math.inf:
            raise InvalidInput("l1", self.l1, "a finite number >= 0", "Pass l1=0.0 for none.")

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        must_meet(theory.privacy, problem)
        mirror = mirror_of(problem.constraint, problem.d)
        steps = at_least_two(self.steps or self.default_steps(problem, mirror, approximate(guarantee)))
        noise, claims = self.noise(problem, guarantee, steps, calibration)
        law = self.law(problem, mirror, steps, noise * self.noise_factor)
        found, path = law.run(problem, seed, trials, trace)
        # The step of x is the noise in the dual, over the least curvature of w, in units of the radius.
        grid = law.step_size * law.sigma * problem.constraint.reach(problem.d) ** 2
        return Solution(on_grid(found, grid, problem), guarantee, law.sigma, claims, steps, path)

    def law(self, problem: Problem, mirror: Mirror, steps: int, noise: float) -> MirrorDescent:
        """The loop with the theorem's step size unless another is given."""
        gamma = self.step_size or 1 / (2 * mirror.smoothness(must_be_smooth(problem)))
        return MirrorDescent(mirror, steps, gamma, noise, self.l1)

    def default_steps(self, problem: Problem, mirror: Mirror, guarantee: ApproxDP) -> int:
        """T of Theorem 5 with E||b||*^2 for G_C^2 + ||C||_2^2 and F(x_1) - F(x*) = 1, from 2 to 1000."""
        steep = problem.data_lipschitz * math.sqrt(mirror.dual_square() * math.log(1 / guarantee.delta))
        smooth = mirror.smoothness(must_be_smooth(problem))
        return int(min(MOST_STEPS, max(2, round(problem.n * guarantee.eps * math.sqrt(smooth) / steep))))

    def noise(
        self, problem: Problem, guarantee: Guarantee, steps: int, calibration: Calibration
    ) -> tuple[float, tuple[str, ...]]:
        """On each coordinate of a gradient."""
        G, n = problem.data_lipschitz, problem.n
        if calibration == "stated":
            aim = approximate(guarantee)
            values = {"n": n, "eps": aim.eps, "delta": aim.delta, "G": G, "T": steps, "c": self.c}
            must_meet(theory.privacy, problem, **values)
            return float(theory.privacy.evaluate(**values)), (theory.privacy.id,)
        # privacy: x_R is made of R-1 noisy full gradients, each 2G/n apart in l2, and R ignores the data
        return iterate_noise(guarantee, steps) * 2 * G / n, ("random_iterate.iterate_noise",)

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses over a ball, one of which turns round: full gradients differ by 2G/n everywhere."""
        first = Problem(np.ones((5, 1)), np.full(5, -FAR), Huber(1.0), label_bound=FAR, constraint=L2Ball(100.0))
        return first, first.replace(0, [1.0], FAR)


def telling_pair(n: int) -> tuple[Problem, Problem]:
    """The same in the plane, where the other records move x_R by a fixed amount each step: for large n it tells R."""
    rows = np.vstack([[1.0, 0.0], np.tile([0.0, 1.0], (n - 1, 1))])
    first = Problem(rows, np.full(n, -FAR), Huber(1.0), label_bound=FAR, constraint=L2Ball(100.0))
    return first, first.replace(0, [1.0, 0.0], FAR)


def must_be_smooth(problem: Problem) -> float:
    """The smoothness of the losses, above 0."""
    if not problem.smoothness > 0:
        raise InvalidInput("smoothness of the losses", problem.smoothness, "above 0", "Pass steps and step_size.")
    return problem.smoothness


@dataclass(frozen=True)
class MirrorDescent:
    """The loop, and what a white-box adversary knows: the law of z_k = grad w(x_k) - gamma (grad F(x_k) + noise)."""

    mirror: Mirror
    steps: int
    step_size: float
    sigma: float
    l1: float = 0.0

    def run(
        self, problem: Problem, seed: Seed, trials: int, trace: bool, stops: bool = True
    ) -> tuple[Array, Trace | None]:
        """x_R of each trial; without `stops` x_(T+1). Traced: all iterates, and z; a trial that stopped stays."""
        parent, d = seed_of(seed), problem.d
        released, moves = np.empty((trials, d)), self.steps - 1 if stops else self.steps
        led = np.empty((moves, trials, d)) if trace else np.empty((0, 0, 0))
        path = np.empty((moves + 1, trials, d)) if trace else np.empty((0, 0, 0))
        norms = np.zeros((moves, trials)) if trace else np.empty((0, 0))
        for number, first, last in block_cuts(problem, trials):
            rng = np.random.default_rng(child(parent, number))
            until = rng.integers(0, self.steps, last - first) if stops else np.full(last - first, moves)  # R - 1
            x = np.tile(self.mirror.start, (last - first, 1))
            if trace:
                path[0, first:last] = x
            for k in range(moves):
                going = until > k
                gradient = problem.gradient(x[going])
                # privacy: noise on the full gradient, wangxu19.theorem5.privacy.corrected
                noisy = gradient + self.sigma * rng.standard_normal(gradient.shape)
                z = self.mirror.gradient(x)
                z[going] -= self.step_size * noisy
                x[going] = self.mirror.step(z[going], self.step_size * self.l1)
                if trace:
                    led[k, first:last], path[k + 1, first:last] = z, x
                    norms[k, first:last][going] = np.linalg.norm(gradient, axis=1)
            released[first:last] = x
        if not trace:
            return released, None
        law = self if self.sigma > 0 else None
        return released, Trace(path, norms, unprojected=led, law=law)  # type: ignore[arg-type]

    def log_density(self, problem: Problem, seen: Array) -> Array:
        """Of the points z, (k, T-1, d), up to a constant, (k,); steps after a trial stopped say nothing."""
        x, logs = np.tile(self.mirror.start, (len(seen), 1)), np.zeros(len(seen))
        for k in range(seen.shape[1]):
            z, before = seen[:, k], self.mirror.gradient(x)
            mean = before - self.step_size * problem.gradient(x)
            step = gaussian_log_density(z, mean, self.step_size * self.sigma)
            stopped = (z == before).all(axis=1)
            logs += np.where(stopped, 0.0, step)
            x = np.where(stopped[:, None], x, self.mirror.step(z, self.step_size * self.l1))
        return logs


# Checks that run the solver -------------------------------------------------------------------------
def attacked(calibration: Calibration, transcript: bool, eps: float = 1.0) -> Any:
    """Five records, T = 12: x_R seen, or all steps up to it."""
    solver, guarantee = DPPMD(steps=12), ApproxDP(eps, 1e-2)
    return solver.mechanism(guarantee, calibration, transcript=transcript), solver.worst_pair(), guarantee


def geometry(kind: int, radius: float, q: float) -> Constraint:
    """An l1, l_q or l2 ball, or the simplex."""
    return (L2Ball(radius), L1Ball(radius), LqBall(radius, q), Simplex())[kind]


def random_risk(case: Mapping[str, Any]) -> Problem:
    """Sigmoid losses, not convex, on random rows, over one of the sets."""
    rng = np.random.default_rng(int(case["seed"]))
    n, d = int(case["n"]), int(case["d"])
    where = geometry(int(case["kind"]), case["radius"], case["q"])
    return Problem(in_unit_ball(rng, n, d), rng.choice([-1.0, 1.0], n), Sigmoid(), constraint=where)


def lowest(problem: Problem) -> float:
    """A lower bound of F and F^r: the least value of a loss over the set."""
    margin = problem.row_bound * problem.constraint.reach(problem.d)
    return float(problem.loss.value(np.asarray(margin), np.asarray(1.0)))


def explicit_bound(case: Mapping[str, Any], exact: bool = False, by_radius: bool = False) -> tuple[float, float]:
    """The mean squared step (or projected gradient) in the set's norm, less five standard errors, and the bound.

    `by_radius` takes the smoothness L R^2 of a ball, a quarter of that with its diameter, for step size and bound.
    """
    problem, l1 = random_risk(case), case["l1"]
    mirror, T, sigma = mirror_of(problem.constraint, problem.d), int(case["T"]), case["noise"]
    smooth = mirror.smoothness(problem.smoothness) / (4 if by_radius else 1)
    law = MirrorDescent(mirror, T, 1 / (2 * smooth), sigma, l1)
    _, trace = law.run(problem, int(case["seed"]), 60, trace=True, stops=False)
    assert trace is not None
    x, after = trace.iterates[:-1], trace.iterates[1:]
    if exact:
        z = mirror.gradient(x) - law.step_size * problem.gradient(x)
        after = mirror.step(z.reshape(-1, problem.d), law.step_size * l1).reshape(x.shape)
    squares = (mirror.norm(x - after) / law.step_size) ** 2
    means = squares.mean(axis=0)
    start = mirror.start
    gap = float(problem.value(start)) + l1 * float(np.abs(start).sum()) - lowest(problem)
    claim = proof.exact_map if exact else proof.explicit_tight if by_radius else proof.explicit
    bound = claim.evaluate(
        L_smooth=smooth * (4 if by_radius else 1),
        diameter=1.0,
        gap0=max(gap, 1e-9),
        T=T,
        sigma_n=sigma,
        dual2=mirror.dual_square(),
    )
    return float(means.mean() - 5 * means.std() / math.sqrt(len(means))), float(bound) + 1e-9


def step_gain(case: Mapping[str, Any]) -> tuple[float, float]:
    """Lemma 4.1.5 for the steps used here: what must be gained, and <grad F(x), x - x+>, both shifted above 0."""
    problem, rng = random_risk(case), np.random.default_rng(int(case["seed"]) + 1)
    mirror, gamma = mirror_of(problem.constraint, problem.d), case["gamma"]
    x = mirror.step(case["size"] * rng.standard_normal((1, problem.d)), 0.0)
    error = case["size"] * rng.standard_normal((1, problem.d))
    p = problem.gradient(x)
    after = mirror.step(mirror.gradient(x) - gamma * (p + error), gamma * case["l1"])
    r = case["l1"] * (np.abs(after).sum() - np.abs(x).sum())
    needed = float(mirror.norm(x - after)[0] ** 2 / gamma + r + (error * (after - x)).sum())
    gained = float((p * (x - after)).sum())
    shift = 1 + abs(needed) + abs(gained)
    return needed + shift, gained + shift + 1e-7 * shift


def optimal_step(case: Mapping[str, Any]) -> tuple[float, float]:
    """(4.11) for the steps used here and another point u of the set: r(x+) against r(u) + <..., u - x+>, shifted."""
    problem, rng = random_risk(case), np.random.default_rng(int(case["seed"]) + 1)
    mirror, gamma = mirror_of(problem.constraint, problem.d), case["gamma"]
    x, u = (mirror.step(case["size"] * rng.standard_normal((1, problem.d)), 0.0) for _ in range(2))
    pulled = problem.gradient(x) + case["size"] * rng.standard_normal((1, problem.d))
    after = mirror.step(mirror.gradient(x) - gamma * pulled, gamma * case["l1"])
    pull = float(((pulled + (mirror.gradient(after) - mirror.gradient(x)) / gamma) * (u - after)).sum())
    r_after, r_u = (case["l1"] * float(np.abs(w).sum()) for w in (after, u))
    shift = 1 + abs(pull) + r_after
    return r_after + shift, r_u + pull + shift + 1e-6 * shift


def map_gap(case: Mapping[str, Any]) -> tuple[float, float]:
    """Two gradients at one point: how far their projected gradients differ, against how far they do."""
    problem, rng = random_risk(case), np.random.default_rng(int(case["seed"]) + 1)
    mirror, gamma = mirror_of(problem.constraint, problem.d), case["gamma"]
    x = mirror.step(case["size"] * rng.standard_normal((1, problem.d)), 0.0)
    g = case["size"] * rng.standard_normal((2, problem.d))
    after = mirror.step(mirror.gradient(x) - gamma * g, gamma * case["l1"])
    moved = float(mirror.norm(after[:1] - after[1:])[0]) / gamma
    return moved, float(mirror.dual_norm(g[:1] - g[1:])[0]) * (1 + 1e-7) + 1e-9


SETS = {"n": (2, 8), "d": (1, 6), "seed": (0, 10**6), "kind": (0, 3), "radius": (0.3, 4.0), "q": (1.1, 2.0)}
STEPS = {**SETS, "gamma": (0.05, 5.0), "size": (0.1, 5.0), "l1": (0.0, 1.0)}
RUNS = {**SETS, "T": (2, 12), "noise": (0.0, 1.0), "l1": (0.0, 0.5)}
OVER = "l1, l_q and l2 balls and the simplex"

CHECKS = {
    "wangxu19.theorem5.privacy": [
        AuditCheck(lambda: attacked("stated", False, 3.0), "as published with c = 1, x_R seen", trials=20_000)
    ],
    "dwang20.theorem4.1.5.privacy": [
        AuditCheck(
            lambda: attacked("stated", True, 3.0), "as published with c = 1, the steps up to x_R", trials=10_000
        )
    ],
    "wangxu19.theorem5.privacy.corrected": [
        AuditCheck(lambda: attacked("certified", False), "certified for x_R, x_R seen", trials=20_000)
    ],
    "dwang20.theorem4.1.5.privacy.corrected": [
        AuditCheck(lambda: attacked("certified", True), "certified for x_R, the steps up to it", trials=10_000)
    ],
    "dwang20.lemma4.1.5": [Property(step_gain, STEPS, f"{OVER}, with an l1 regulariser", examples=60)],
    "dwang20.equation4.11": [Property(optimal_step, STEPS, f"{OVER}, with an l1 regulariser", examples=60)],
    "dwang20.definition4.1.4.nonexpansive": [Property(map_gap, STEPS, f"{OVER}, with an l1 regulariser", examples=60)],
    "dwang20.theorem4.1.5.explicit": [
        Property(explicit_bound, RUNS, f"60 runs with sigmoid losses over {OVER}, five standard errors", examples=15)
    ],
    "dwang20.theorem4.1.5.explicit.radius": [
        Property(
            lambda case: explicit_bound(case, by_radius=True), {**RUNS, "kind": (0, 2)},
            "60 runs with sigmoid losses over l1, l_q and l2 balls, five standard errors", examples=10,
        )
    ],
    "dwang20.theorem4.1.5.projected_gradient": [
        Property(
            lambda case: explicit_bound(case, exact=True), RUNS,
            f"60 runs with sigmoid losses over {OVER}, five standard errors", examples=10,
        )
    ],
}  # fmt: skip
