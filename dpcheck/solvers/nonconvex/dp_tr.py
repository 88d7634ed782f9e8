"""DP-TR (dwang20, Algorithm 4.3.28). Claims: bounds/library/nonconvex/dp_tr.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_tr as theory
from dpcheck.bounds.library.nonconvex import saddle_points
from dpcheck.bounds.privacy.release import Composed, Released
from dpcheck.families.second_order import Data, constants
from dpcheck.families.trust_region_runs import Plan, TrustRegionSolver, with_both
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.solver import Example, approximate


@dataclass(frozen=True)
class DPTR(TrustRegionSolver):
    """Trust-region steps from `start` on noisy gradients and noisy Hessians, until a multiplier is at most α/r.

    `aim` is α. `radius` and `steps` are by default those of Theorem 4.3.5, √(α/ρ) and 6√ρΔ/α^(3/2), Δ being the
    largest loss at 0; at most 1000. Certified noise counts the rank of a record's Hessian, 1 for linear models, where
    the theorem has the dimension.
    """

    name: ClassVar[str] = "dp_tr"

    def release(self, data: Data, plan: Plan) -> Composed:
        # privacy: dwang20.theorem4.3.4.low_rank
        numbers = constants(data)
        equal = {"sigma_n": numbers["G"], "sigma_H": numbers["M_second"] * math.sqrt(numbers["hessian_rank"])}
        return theory.released.at(n=data.n, T=plan.steps, **numbers, **equal)

    def stated(self, data: Data, guarantee: Guarantee, plan: Plan) -> tuple[Released, Sequence[Claim]]:
        aim, claims = approximate(guarantee), [theory.theorem4, theory.theorem4_hessian]
        numbers = {"n": data.n, "d": data.d, "T": plan.steps, "eps": aim.eps, "delta": aim.delta, **constants(data)}
        on_gradients, on_hessians = (float(claim.evaluate(**numbers)) for claim in claims)
        return with_both(self.release(data, plan), on_gradients, on_hessians), claims

    def certifying(self, data: Data, plan: Plan) -> Sequence[Claim]:
        return [saddle_points.low_rank]

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=2, radius=0.5), bug=0.3)

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses, one of which turns round: gradients differ by 2G/n everywhere, Hessians not at all."""
        return opposite_pair(5)
