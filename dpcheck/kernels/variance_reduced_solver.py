"""What DP-SVRG, DP-Katyusha, DP-SVRG++ and DP-SVRG on batches share: settings, calibration, cost.

The loop they run is dpcheck/kernels/variance_reduction.py.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.privacy.reduced_gaussian import reduced_noise
from dpcheck.kernels.variance_reduction import Plan, reduced_descent
from dpcheck.problems.losses import must_be_positive
from dpcheck.problems.problem import Problem
from dpcheck.solver import Calibration, Seed, Solution, Solver, must_be_whole, must_meet, on_grid


@dataclass(frozen=True)
class VarianceReduced(Solver):
    """Base of DP-SVRG and its kin; the last snapshot is released.

    `epochs` is T, `inner` is m and `step_size` is eta, by default those of the method's utility theorem with the
    constants of its orders taken as 1. `l1` adds l1 ||x||_1 to the problem's own regulariser. `c` and `c1` are the
    constants that the published noise hides: "stated" uses c, and refuses an eps above c1 times its limit.
    """

    epochs: int | None = None
    inner: int | None = None
    step_size: float | None = None
    l1: float = 0.0
    c: float = field(default=1.0, kw_only=True)
    c1: float = field(default=math.inf, kw_only=True)
    stated: ClassVar[Claim]

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_whole(epochs=self.epochs, inner=self.inner)
        must_be_positive("c", self.c)
        if self.step_size is not None:
            must_be_positive("step_size", self.step_size)
        for name in ("l1", "c1"):
            if not getattr(self, name) >= 0:
                raise InvalidInput(name, getattr(self, name), "a number >= 0", "Leave it out for the default.")

    @abstractmethod
    def plan(self, problem: Problem, guarantee: ApproxDP) -> Plan:
        """Lengths, step size and momentum for this problem. None of them depends on the records."""

    def batch_of(self, problem: Problem, guarantee: ApproxDP, plan: Plan) -> int:
        """Records a step."""
        return 1

    @property
    def adapts(self) -> bool:
        """Whether step sizes are read off the data."""
        return False

    def run(
        self, problem: Problem, guarantee: Guarantee, seed: Seed, trials: int, calibration: Calibration, trace: bool
    ) -> Solution:
        aim = approximate(guarantee)
        plan = self.plan(problem, aim)
        noise, claims = self.noise(problem, aim, plan, calibration)
        noise *= self.noise_factor
        done = reduced_descent(
            problem, plan, noise_std=noise, seed=seed, trials=trials, batch=self.batch_of(problem, aim, plan),
            l1=self.l1, adaptive=self.adapts, trace=trace,
        )  # fmt: skip
        # The last step's own noise, as the mean and the proximal step leave it.
        reach = plan.theta * plan.step_size * noise / (plan.epochs[-1] * (1 + plan.step_size * problem.l2))
        return Solution(on_grid(done.w, reach, problem), guarantee, noise, claims, plan.steps, done.trace)

    def noise(
        self, problem: Problem, guarantee: ApproxDP, plan: Plan, calibration: Calibration
    ) -> tuple[float, tuple[str, ...]]:
        """Deviation of each coordinate of the noise on a gradient estimate, and the claims it rests on."""
        must_meet(self.stated, problem)
        if calibration == "stated":
            values = self.values(problem, guarantee, plan)
            must_meet(self.stated, problem, **values)
            return float(self.stated.evaluate(**values)), (self.stated.id,)
        G, batch = problem.data_lipschitz, self.batch_of(problem, guarantee, plan)
        noise = reduced_noise(guarantee.eps, guarantee.delta, problem.n, batch, plan.steps, min(problem.d, 2))
        return noise * G, ("reduced_gaussian.reduced_noise",)

    def values(self, problem: Problem, guarantee: ApproxDP, plan: Plan) -> dict[str, float]:
        """The numbers of the published formula."""
        here = {
            "n": problem.n,
            "eps": guarantee.eps,
            "delta": guarantee.delta,
            "G": problem.data_lipschitz,
            "c": self.c,
        }
        return here | {"T": len(plan.epochs), "inner": plan.epochs[0], "c1": min(self.c1, 1e300)}

    def gradients(self, problem: Problem, guarantee: ApproxDP) -> int:
        """Record gradients evaluated: n a snapshot, two a drawn record."""
        plan = self.plan(problem, guarantee)
        batch = self.batch_of(problem, guarantee, plan)
        return len(plan.epochs) * problem.n + (1 if batch == problem.n else 2) * batch * plan.steps


def approximate(guarantee: Guarantee) -> ApproxDP:
    """The guarantee, if it is one that Gaussian noise on sampled steps can give."""
    if not isinstance(guarantee, ApproxDP) or guarantee.delta == 0:
        raise InvalidInput("guarantee", str(guarantee), "ApproxDP with delta > 0", "Convert with .to_approx(delta).")
    return guarantee


def condition(problem: Problem) -> tuple[float, float]:
    """L of the losses without the regulariser, and L over mu, that of the regulariser."""
    L = replace(problem, l2=0.0).smoothness
    if not 0 < L < math.inf:
        raise InvalidInput(
            "smoothness of the losses", L, "a finite number > 0", "Choose a smooth loss that is not linear."
        )
    return L, L / problem.l2 if problem.l2 > 0 else math.inf


def shrinking(problem: Problem, guarantee: ApproxDP) -> float:
    """log(n^2 eps^2 / (2 d log(1/delta))): by how much the start's risk must shrink to meet the noise; at least 0.

    It is n^2 eps^2 mu g_0 / (d G^2 log(1/delta)) of Theorem 3.1.2 with g_0 <= G^2/(2 mu), which is public.
    """
    room = (problem.n * guarantee.eps) ** 2 / (2 * problem.d * math.log(1 / guarantee.delta))
    return max(0.0, math.log(room))


def must_be_strong(problem: Problem, *, given: bool) -> None:
    """Refuse to choose the lengths of a run without a strongly convex regulariser."""
    if problem.l2 == 0 and not given:
        raise InvalidInput("l2", 0.0, "> 0 to choose epochs and inner", "Pass epochs, inner and step_size yourself.")
