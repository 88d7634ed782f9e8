"""What DP-SVRG, DP-Katyusha, DP-SVRG++ and DP-SVRG on batches share: settings, calibration, cost.

The steps they take are dpcheck/kernels/variance_reduction.py.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.convex.variance_reduction import full_gradients, on_a_line
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.variance_reduction import Epochs, ReducedSteps, reduced_steps
from dpcheck.problems.conditioning import condition, must_be_strong, shrinking
from dpcheck.problems.extreme_pairs import turning_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, not_negative, positive
from dpcheck.solver import Solver, approximate, must_meet


@dataclass(frozen=True)
class VarianceReduced(Solver):
    """Base of DP-SVRG and its kin; the last snapshot is released.

    `epochs` is T, `inner` is m and `step_size` is eta, by default those of the method's utility theorem with the
    constants of its orders taken as 1. `l1` adds l1 ||x||_1 to the problem's own regulariser. `c` and `c1` are the
    constants that the published noise hides: "stated" uses c, and refuses an eps above c1 times its limit.
    """

    epochs: int | None = count()
    inner: int | None = count()
    step_size: float | None = positive()
    l1: float = not_negative(0.0)
    c: float = positive(1.0, kw_only=True)
    c1: float = not_negative(math.inf, finite=False, kw_only=True)
    published: ClassVar[Claim]
    corrected: ClassVar[Claim]
    released: ClassVar[Release]

    def plan(self, data: Problem, guarantee: Guarantee) -> Epochs:
        return self.epochs_for(data, approximate(guarantee))

    @abstractmethod
    def epochs_for(self, problem: Problem, guarantee: ApproxDP) -> Epochs:
        """Epochs, step size and momentum for this problem. None of them depends on the records."""

    def sizes(self, plan: Epochs) -> dict[str, float]:
        """The lengths of a plan in the symbols of the theory."""
        return {"T": len(plan.lengths), "inner": plan.lengths[0], "batch": plan.batch}

    def release(self, data: Problem, plan: Epochs) -> Release:
        released = self.released
        if plan.batch == data.n:  # the step is the full gradient at y
            released = full_gradients(released.steps)
        elif data.d == 1:
            released = on_a_line(released)
        return released.at(G=data.data_lipschitz, n=data.n, **self.sizes(plan))

    def method(self, data: Problem, plan: Epochs, released: Released) -> ReducedSteps:
        return reduced_steps(data, plan, self.l1)

    def stated(self, data: Problem, guarantee: Guarantee, plan: Epochs) -> tuple[Released, Sequence[Claim]]:
        values = {
            "n": data.n,
            "G": data.data_lipschitz,
            "c": self.c,
            "c1": min(self.c1, 1e300),
            **self.sizes(plan),
            **guarantee.parameters,
        }
        must_meet(self.published, data, **values)
        return self.release(data, plan).with_noise(float(self.published.evaluate(**values))), [self.published]

    def certifying(self, data: Problem, plan: Epochs) -> Sequence[Claim]:
        return [self.corrected]

    def gradients(self, problem: Problem, guarantee: Guarantee) -> int:
        """Record gradients evaluated: n a snapshot, two a drawn record."""
        plan = self.plan(problem, guarantee)
        return len(plan.lengths) * problem.n + (1 if plan.batch == problem.n else 2) * plan.batch * plan.steps

    def worst_pair(self) -> tuple[Problem, Problem]:
        """All gradients are 1 at the snapshot 0; one record's turns to -1 below -2, where large steps lead."""
        return turning_pair(20)


@dataclass(frozen=True)
class EqualEpochs(VarianceReduced):
    """DP-SVRG's epochs: by default eta = 1/(48 L), m = 193 L/mu and T halves the start's risk down to the noise
    (Theorem 3.1.2).
    """

    def epochs_for(self, problem: Problem, guarantee: ApproxDP) -> Epochs:
        must_be_strong(problem, given=None not in (self.epochs, self.inner, self.step_size))
        eta = self.step_size or 1 / (48 * condition(problem)[0])
        inner = self.inner or math.ceil(193 * condition(problem)[1])
        epochs = self.epochs or max(1, math.ceil(shrinking(problem, guarantee) / math.log(2)))
        return Epochs((inner,) * epochs, eta)
