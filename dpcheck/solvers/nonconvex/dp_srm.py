"""DP-SRM (lwang21, Algorithm 4). Claims: bounds/library/nonconvex/dp_srm.py and its kin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.nonconvex import dp_srm as theory
from dpcheck.bounds.library.nonconvex import dp_srm_privacy as sensitivity
from dpcheck.bounds.privacy.release import Composed, Released
from dpcheck.kernels.gradient_steps import must_be_batch
from dpcheck.kernels.recursive_momentum import MomentumPlan, RecursiveMomentum
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import allowing, count, flag, fraction, positive
from dpcheck.solver import Calibrated, Calibration, Example, Solver, approximate, must_meet

MOST_STEPS = 10_000  # by default


def two_limits(value: tuple[float, float]) -> bool:
    """C1 and C2."""
    return len(value) == 2 and all(0 < limit < math.inf for limit in value)


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

    steps: int | None = count()
    batch: int | None = count()
    first_batch: int | None = count()
    momentum: float | None = fraction()
    aim: float | None = positive()
    slowing: float | None = positive()
    step_size: float | None = positive()
    clips: tuple[float, float] | None = allowing(
        None, "two finite numbers > 0", two_limits, refuses=((1.0,), (1.0, 0.0), (-1.0, 1.0), (1.0, math.nan), 1.0)
    )
    start_gap: float | None = positive()
    split: float = fraction(0.5, kw_only=True)
    strict: bool = flag(kw_only=True)
    last: bool = flag(kw_only=True)
    name: ClassVar[str] = "dp_srm"

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        aim = approximate(guarantee)
        must_meet(theory.theorem1, data)
        if not isinstance(data.constraint, WholeSpace):
            raise InvalidInput("constraint", data.constraint, "the whole space", "DP-SRM does not project.")
        if data.smoothness == 0:
            raise InvalidInput("smoothness", 0.0, "> 0", "Linear losses: use Huber losses with far minimisers.")
        plan = self.plan(data, aim)
        must_be_batch(max(plan.first_batch, plan.batch), data.n)

    # Parameters --------------------------------------------------------------------------------------
    def plan(self, data: Problem, guarantee: Guarantee) -> MomentumPlan:
        G, L, n = data.data_lipschitz, data.smoothness, data.n
        aim, slowing = self.aimed(data, approximate(guarantee))
        gap = L * self.gap(data) if None in (self.steps, self.first_batch) else 1.0
        steps = self.steps or min(MOST_STEPS, math.ceil(4 * slowing * gap / aim**2))
        first = self.first_batch or min(n, math.ceil(G**2 / (aim * gap)))
        batch = self.batch or min(n, math.ceil(G**2 / (slowing * aim)))
        momentum = self.momentum or min(0.5, math.sqrt(2) * aim / slowing)
        fixed = self.step_size
        reach = math.inf if fixed else aim / (slowing * L)
        return MomentumPlan(steps, first, batch, momentum, reach, fixed or 1 / (2 * slowing * L), self.clips)

    def aimed(self, problem: Problem, guarantee: ApproxDP) -> tuple[float, float]:
        """zeta and n0."""
        sizes = {"n": problem.n, "d": problem.d, "eps": guarantee.eps, "delta": guarantee.delta}
        losses = {"G": problem.data_lipschitz, "L_smooth": problem.smoothness, "gap0": self.gap(problem)}
        aim = self.aim or float(theory.theorem4.evaluate(**sizes, **losses))
        return aim, self.slowing or max(1.0, problem.smoothness * self.gap(problem) / aim)

    def gap(self, problem: Problem) -> float:
        """A public bound on F(0) - F*, for losses that are at least 0."""
        if self.start_gap is not None:
            return self.start_gap
        label = 1.0 if problem.loss.labels == "sign" else problem.label_bound
        return float(problem.loss.value(np.zeros(1), np.full(1, label))[0])

    # What it lets out --------------------------------------------------------------------------------
    def release(self, data: Problem, plan: MomentumPlan) -> Composed:
        G, change = self.reaches(data, plan)
        sizes = {"first_batch": plan.first_batch, "later_batch": plan.batch, "T": plan.steps, "n": data.n}
        steps = {"G": G, "target": change, "slowing": 1.0, "momentum": plan.momentum}
        return theory.released.at(
            **sizes, **steps, sigma_n=1.0
        )  # privacy: lwang21.equation4.9.2, lwang21.equation4.9.4

    def reaches(self, problem: Problem, plan: MomentumPlan) -> tuple[float, float]:
        """How long a record's gradient and its change in a step can be: G and zeta/n0 of the theorem, or less."""
        G = problem.data_lipschitz
        change = min(2 * G, problem.smoothness * plan.reach)
        return (G, change) if self.clips is None else (min(G, self.clips[0]), min(change, self.clips[1]))

    def method(self, data: Problem, plan: MomentumPlan, released: Released) -> RecursiveMomentum:
        return RecursiveMomentum(plan, data.d, None if self.last else plan.uniform)

    def stated(self, data: Problem, guarantee: Guarantee, plan: MomentumPlan) -> tuple[Released, Sequence[Claim]]:
        aim, claim = approximate(guarantee), theory.theorem1
        if self.strict:
            self.must_be_covered(data, aim, plan)
        zeta, n0 = self.aimed(data, aim)
        G, change = self.clips or (data.data_lipschitz, zeta / n0)  # C1 and C2 in their place: section 4.5
        values = {"T": plan.steps, "n": data.n, "eps": float(aim.eps), "delta": float(aim.delta), "split": self.split}
        values |= {"momentum": plan.momentum, "slowing": 1.0, "G": G}
        # What a record reaches is G on the first batch: the formula with a change of G, whatever gamma.
        on_first, noise = (float(claim.evaluate(**values, target=reach)) for reach in (G, change))
        first, later = self.release(data, plan).parts
        return first.with_noise(on_first).followed_by(later.with_noise(noise)), [claim]

    def must_be_covered(self, problem: Problem, guarantee: ApproxDP, plan: MomentumPlan) -> None:
        """Refuse what Theorem 4.5.1 does not cover."""
        largest, least = max(plan.first_batch, plan.batch), min(plan.first_batch, plan.batch)
        order = math.log(1 / guarantee.delta) / ((1 - self.split) * guarantee.eps) + 1
        ratio = 3.5 * least**2 * plan.steps * order / (self.split * problem.n**2 * guarantee.eps)
        here = {"eps": guarantee.eps, "delta": guarantee.delta, "split": self.split}
        must_meet(theory.theorem1, problem, noise2=ratio, share=largest / problem.n, **here)

    def certifying(self, data: Problem, plan: MomentumPlan) -> Sequence[Claim]:
        if self.clips is not None:
            return [sensitivity.equation2, sensitivity.clipping]
        short = data.smoothness * plan.reach <= 2 * data.data_lipschitz
        return [sensitivity.equation2, sensitivity.equation4 if short else sensitivity.fixed_step_corrected]

    def taken(self, done: Calibrated) -> int:
        """T: the last estimator is let out, but leads nowhere."""
        return int(done.plan.steps)

    def gradients(self, problem: Problem, guarantee: Guarantee) -> int:
        """Record gradients evaluated: two for each record of a later batch."""
        plan = self.plan(problem, guarantee)
        return plan.first_batch + 2 * plan.batch * plan.steps

    @classmethod
    def example(cls) -> Example:
        return Example(cls(4, 1, 1, momentum=0.5, aim=0.01, slowing=1.0, last=True))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses, one of which turns round: estimators differ by 2G/b, then by 2 gamma G/b."""
        return opposite_pair(20)
