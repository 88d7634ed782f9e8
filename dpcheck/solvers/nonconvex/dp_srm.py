"""DP-SRM (lwang21, Algorithm 4). Claims: bounds/library/nonconvex."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.nonconvex import dp_srm as theory
from dpcheck.bounds.library.nonconvex import dp_srm_sensitivity as sensitivity
from dpcheck.bounds.privacy.batches import NoisySum
from dpcheck.bounds.privacy.sampled_gaussian import least_factor, without_replacement
from dpcheck.datasets import in_unit_ball
from dpcheck.evidence.random_problems import random_problem
from dpcheck.kernels.recursive_momentum import Estimators, Momentum, Plan, recursive_momentum
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.losses import must_be_positive
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, approximate, must_be_whole, must_meet, on_grid

MOST_STEPS = 10_000  # by default


@dataclass(frozen=True)
class DPSRM(Solver):
    """Noisy recursive momentum from 0; one of its T first iterates, drawn uniformly, is released.

    What is left out comes from Theorem 4.5.4 with its proof's constants: aim (zeta), slowing (n0), steps (with n0,
    at most 10000), the two batches and momentum (gamma, at most 1/2). `start_gap` is a PUBLIC bound on F(0) - F*, by
    default the largest loss of a record at 0. `clips` = (C1, C2) clips gradients and their changes, as the
    experiments of the source do; only then, or where 2(2-gamma)G/b is counted, may the step size be fixed. "stated" is
    the noise of Theorem 4.5.1; with `strict` it is refused where that theorem's conditions fail. `last` releases the
    last iterate instead: all estimators are counted, so privacy is the same.
    """

    steps: int | None = None
    batch: int | None = None
    first_batch: int | None = None
    momentum: float | None = None
    aim: float | None = None
    slowing: float | None = None
    step_size: float | None = None
    clips: tuple[float, float] | None = None
    start_gap: float | None = None
    split: float = field(default=0.5, kw_only=True)
    strict: bool = field(default=False, kw_only=True)
    last: bool = field(default=False, kw_only=True)
    name: ClassVar[str] = "dp_srm"

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(steps=self.steps, batch=self.batch, first_batch=self.first_batch)
        for name in ("aim", "slowing", "step_size", "start_gap"):
            if getattr(self, name) is not None:
                must_be_positive(name, getattr(self, name))
        for name in ("momentum", "split"):
            if getattr(self, name) is not None and not 0 < getattr(self, name) < 1:
                raise InvalidInput(name, getattr(self, name), "a number in (0, 1)", f"Pass {name}=0.5 for example.")

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        aim = approximate(guarantee)
        plan = self.plan(problem, aim)
        sigmas, claims = self.noise(problem, aim, plan, calibration)
        done = self.descent(problem, plan, sigmas, seed, trials, trace)
        moved = min(plan.largest * sigmas[0], plan.reach) * self.noise_factor
        w = on_grid(done.last if self.last else done.w, moved, problem)
        return Solution(w, guarantee, sigmas[1], claims, plan.steps, done.trace)

    def descent(
        self, problem: Problem, plan: Plan, sigmas: tuple[float, float], seed: Seed, trials: int, trace: bool = False
    ) -> Momentum:
        """The runs themselves, with this noise times `noise_factor`."""
        scaled = (sigmas[0] * self.noise_factor, sigmas[1] * self.noise_factor)
        return recursive_momentum(problem, plan, sigmas=scaled, seed=seed, trials=trials, trace=trace)

    # Parameters --------------------------------------------------------------------------------------
    def plan(self, problem: Problem, guarantee: ApproxDP) -> Plan:
        """All public: nothing here depends on the records."""
        must_meet(theory.theorem1, problem)
        if not isinstance(problem.constraint, WholeSpace):
            raise InvalidInput("constraint", problem.constraint, "the whole space", "DP-SRM does not project.")
        G, L, n = problem.data_lipschitz, problem.smoothness, problem.n
        if L == 0:
            raise InvalidInput("smoothness", 0.0, "> 0", "Linear losses: use Huber losses with far minimisers.")
        aim, slowing = self.aimed(problem, guarantee)
        gap = L * self.gap(problem) if None in (self.steps, self.first_batch) else 1.0
        steps = self.steps or min(MOST_STEPS, math.ceil(4 * slowing * gap / aim**2))
        first = self.first_batch or min(n, math.ceil(G**2 / (aim * gap)))
        batch = self.batch or min(n, math.ceil(G**2 / (slowing * aim)))
        momentum = self.momentum or min(0.5, math.sqrt(2) * aim / slowing)
        fixed = self.step_size
        reach = math.inf if fixed else aim / (slowing * L)
        return Plan(steps, first, batch, momentum, reach, fixed or 1 / (2 * slowing * L), self.clips)

    def aimed(self, problem: Problem, guarantee: ApproxDP) -> tuple[float, float]:
        """zeta and n0."""
        aim = self.aim or float(
            theory.theorem4.evaluate(
                n=problem.n, d=problem.d, eps=guarantee.eps, delta=guarantee.delta, G=problem.data_lipschitz,
                L_smooth=problem.smoothness, gap0=self.gap(problem),
            )
        )  # fmt: skip
        return aim, self.slowing or max(1.0, problem.smoothness * self.gap(problem) / aim)

    def gap(self, problem: Problem) -> float:
        """A public bound on F(0) - F*, for losses that are at least 0."""
        if self.start_gap is not None:
            return self.start_gap
        label = 1.0 if problem.loss.labels == "sign" else problem.label_bound
        return float(problem.loss.value(np.zeros(1), np.full(1, label))[0])

    # Noise -------------------------------------------------------------------------------------------
    def noise(
        self, problem: Problem, guarantee: ApproxDP, plan: Plan, calibration: Calibration
    ) -> tuple[tuple[float, float], tuple[str, ...]]:
        """Deviation of each coordinate of the noise on v_0 and on those after it, and the claims they rest on."""
        n, eps, delta = problem.n, float(guarantee.eps), float(guarantee.delta)
        first, later = self.reaches(problem, guarantee, plan)
        if calibration == "stated":
            if self.strict:
                self.must_be_covered(problem, guarantee, plan)
            G, reached = self.stated_reaches(problem, guarantee)
            noise = theory.theorem1.evaluate(
                T=plan.steps, n=n, eps=eps, delta=delta, split=self.split, momentum=plan.momentum, target=reached,
                slowing=1.0, G=G,
            )  # fmt: skip
            return (float(noise) * G / ((1 - plan.momentum) * reached + plan.momentum * G), float(noise)), (
                theory.theorem1.id,
            )
        drawn = 1 - (1 - plan.first_batch / n) * (1 - plan.batch / n) ** plan.steps
        if delta >= drawn:  # then no noise at all would be (eps, delta)-private, which nobody wants
            limit = f"below {drawn:.3g}, the chance that a record is ever drawn"
            raise InvalidInput("delta", delta, limit, "Lower delta, or take more steps or larger batches.")
        factor = least_factor(released(plan, n), eps, delta)
        return (2 * first * factor, 2 * later * factor), ("sampled_gaussian.least_factor",)

    def reaches(self, problem: Problem, guarantee: ApproxDP, plan: Plan) -> tuple[float, float]:
        """b/2 times the sensitivity of the first estimator and of the later ones, whatever the records."""
        gamma, G = plan.momentum, problem.data_lipschitz
        change = min(2 * G, problem.smoothness * plan.reach)
        if self.clips is not None:
            G, change = min(G, self.clips[0]), min(change, self.clips[1])
        return G, (1 - gamma) * change + gamma * G  # privacy: lwang21.equation4.9.4

    def stated_reaches(self, problem: Problem, guarantee: ApproxDP) -> tuple[float, float]:
        """G and zeta/n0 of the theorem, or C1 and C2 in their place (section 4.5)."""
        if self.clips is not None:
            return self.clips
        aim, slowing = self.aimed(problem, guarantee)
        return problem.data_lipschitz, aim / slowing

    def must_be_covered(self, problem: Problem, guarantee: ApproxDP, plan: Plan) -> None:
        """Refuse what Theorem 4.5.1 does not cover."""
        largest, least = max(plan.first_batch, plan.batch), min(plan.first_batch, plan.batch)
        order = math.log(1 / guarantee.delta) / ((1 - self.split) * guarantee.eps) + 1
        ratio = 3.5 * least**2 * plan.steps * order / (self.split * problem.n**2 * guarantee.eps)
        here = {"eps": guarantee.eps, "delta": guarantee.delta, "split": self.split}
        must_meet(theory.theorem1, problem, noise2=ratio, share=largest / problem.n, **here)

    def gradients(self, problem: Problem, guarantee: ApproxDP) -> int:
        """Record gradients evaluated: two for each record of a later batch."""
        plan = self.plan(problem, guarantee)
        return plan.first_batch + 2 * plan.batch * plan.steps

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses, one of which turns round: estimators differ by 2G/b, then by 2 gamma G/b."""
        return opposite_pair(20)


def released(plan: Plan, n: int) -> tuple[NoisySum, ...]:
    """v_0 to v_T with noise of twice the reach: shifts of 1/b when the record is drawn."""
    if plan.first_batch == plan.batch:
        return (without_replacement(1 / plan.batch, plan.steps + 1, plan.batch, n),)
    first = without_replacement(1 / plan.first_batch, 1, plan.first_batch, n)
    return first, without_replacement(1 / plan.batch, plan.steps, plan.batch, n)


def moved(case: Mapping[str, Any]) -> tuple[float, float]:
    """How far a replaced record moves a later estimator, all else the same, against (4.9.4)."""
    first = random_problem(case)
    rng = np.random.default_rng(int(case["seed"]) + 1)
    second = first.replace(0, in_unit_ball(rng, 1, first.d)[0], float(rng.choice([-1.0, 1.0])))
    zeta, gamma = case["zeta"] * first.data_lipschitz, case["gamma"]
    before, v = case["size"] * rng.standard_normal((2, 1, first.d))
    plan = Plan(1, 1, 1, gamma, zeta / first.smoothness, 1 / (2 * first.smoothness))
    index = np.arange(min(2, first.n))[None]  # the record and another one
    w = before - plan.step(v)
    one, other = (Estimators(p, plan).of(w, before, v, index) for p in (first, second))
    bound = sensitivity.equation4.evaluate(
        momentum=gamma, target=zeta, slowing=1.0, G=first.data_lipschitz, later_batch=index.shape[1]
    )
    return float(np.linalg.norm(one - other)), float(bound)
