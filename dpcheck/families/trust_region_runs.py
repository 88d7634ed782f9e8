"""Noisy trust-region runs, of all records or of batches: what DP-TR and DP-STR share (dwang20, section 4.3.2)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_tr as theory
from dpcheck.bounds.library.nonconvex import saddle_points
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.release import Composed, Release, Released
from dpcheck.families.second_order import (
    MOST_STEPS,
    Data,
    NoisyDerivatives,
    bend,
    largest_gap,
    must_be_free,
    start_setting,
)
from dpcheck.kernels.gradient_steps import starting_point
from dpcheck.kernels.method import Array
from dpcheck.kernels.trust_region import trust_region_steps
from dpcheck.settings import count, positive
from dpcheck.solver import Calibrated, Calibration, Solver, approximate, must_meet


@dataclass(frozen=True)
class Plan:
    """Rounds of a gradient and a Hessian each, the length of a step, and the α that is aimed at."""

    steps: int
    radius: float
    aim: float


@dataclass(frozen=True, eq=False)
class TrustRegion(NoisyDerivatives):
    """Exact trust-region steps; a trial stops after the first whose multiplier is at most `stop`, which is α/r."""

    radius: float
    stop: float

    def moved(self, w: Array, gradient: Array, hessian: Array) -> tuple[Array, Array]:
        steps, multipliers = trust_region_steps(gradient, hessian, self.radius)
        return w + steps, multipliers <= self.stop

    def grain(self, scale: float) -> float:
        return self.radius


@dataclass(frozen=True)
class TrustRegionSolver(Solver):
    """What a run is: lengths by Theorem 4.3.5, from public bounds."""

    aim: float = positive(0.1)
    steps: int | None = count()
    radius: float | None = positive()
    start: tuple[float, ...] | None = start_setting()
    for_estimators: ClassVar[bool] = False  # they seek second-order stationary points

    def must_suit(self, data: Data, guarantee: Guarantee, calibration: Calibration) -> None:
        approximate(guarantee)
        must_meet(saddle_points.low_rank, data)
        must_be_free(data, self.name)

    def plan(self, data: Data, guarantee: Guarantee) -> Plan:
        radius = self.radius or math.sqrt(self.aim / bend(data))
        if self.steps is not None:
            return Plan(self.steps, radius, self.aim)
        numbers = {"rho_h": self.aim / radius**2, "gap0": largest_gap(data), "alpha_sosp": self.aim}
        steps = math.ceil(float(theory.steps.evaluate(**numbers)))
        return Plan(min(MOST_STEPS, steps), radius, self.aim)

    def method(self, data: Data, plan: Plan, released: Released) -> TrustRegion:
        return TrustRegion(starting_point(data, self.start), plan.steps, plan.radius, plan.aim / plan.radius)

    def taken(self, done: Calibrated) -> int:
        """T at most; each asks for a gradient and a Hessian."""
        return int(done.plan.steps)

    @abstractmethod
    def release(self, data: Data, plan: Plan) -> Composed: ...

    @abstractmethod
    def stated(self, data: Data, guarantee: Guarantee, plan: Plan) -> tuple[Released, Sequence[Claim]]: ...


def with_both(released: Composed, on_gradients: float, on_hessians: float) -> Composed:
    """The same two releases with this noise each."""
    first, second = released.parts
    return replace(released, parts=(first.with_noise(on_gradients), second.with_noise(on_hessians)))


def noisy_run(steps: int, on_gradients: float, on_hessians: float) -> Composed:
    """Noise of any size on all records, for studies: it promises nothing."""
    parts = tuple(Release(1.0, Gaussian(sigma), steps=steps) for sigma in (on_gradients, on_hessians))
    return Composed(parts, in_turn=True)
