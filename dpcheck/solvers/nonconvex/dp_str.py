"""DP-STR (dwang20, Algorithm 4.3.29). Claims: bounds/library/nonconvex/dp_str.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_str as theory
from dpcheck.bounds.library.nonconvex import saddle_points
from dpcheck.bounds.privacy.release import Composed, Released
from dpcheck.families.second_order import Data, constants
from dpcheck.families.trust_region_runs import Plan, TrustRegionSolver, with_both
from dpcheck.kernels.gradient_steps import must_be_batch
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import count
from dpcheck.solver import Calibration, Example, approximate


@dataclass(frozen=True)
class DPSTR(TrustRegionSolver):
    """DP-TR on `batch` records for a gradient and `hessian_batch` for a Hessian, drawn afresh; by default a tenth.

    Certified noise is by the exact account of sampled Gaussian sums, for every size of batch; "stated" is the box's.
    """

    batch: int | None = count()
    hessian_batch: int | None = count()
    name: ClassVar[str] = "dp_str"

    def must_suit(self, data: Data, guarantee: Guarantee, calibration: Calibration) -> None:
        super().must_suit(data, guarantee, calibration)
        must_be_batch(max(self.batches(data)), data.n)

    def batches(self, data: Data) -> tuple[int, int]:
        """|S| and |T|."""
        tenth = math.ceil(data.n / 10)
        return self.batch or tenth, self.hessian_batch or self.batch or tenth

    def release(self, data: Data, plan: Plan) -> Composed:
        # privacy: dwang20.theorem4.3.4.low_rank
        numbers, (m, b) = constants(data), self.batches(data)
        equal = {"sigma_n": numbers["G"] / m, "sigma_H": numbers["M_second"] * math.sqrt(numbers["hessian_rank"]) / b}
        return theory.released.at(n=data.n, T=plan.steps, m=m, batch=b, **numbers, **equal)

    def stated(self, data: Data, guarantee: Guarantee, plan: Plan) -> tuple[Released, Sequence[Claim]]:
        aim, claims = approximate(guarantee), [theory.theorem6, theory.box_hessian]
        numbers = {"n": data.n, "d": data.d, "T": plan.steps, "delta": aim.delta, **constants(data)}
        on_gradients, on_hessians = (float(claim.evaluate(**numbers, eps=aim.eps)) for claim in claims)
        return with_both(self.release(data, plan), on_gradients, on_hessians), claims

    def certifying(self, data: Data, plan: Plan) -> Sequence[Claim]:
        return [saddle_points.low_rank]

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=2, radius=0.5, batch=2), bug=0.3)

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses, one of which turns round: gradients of batches with it differ by 2G/|S| everywhere."""
        return opposite_pair(5)
