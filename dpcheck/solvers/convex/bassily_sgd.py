"""Mini-batch noisy SGD after Bassily et al. (zhang17's baseline). Claims: bounds/library/convex/bassily_sgd.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.convex import bassily_sgd as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.sampled_descent import Batches, SampledDescent
from dpcheck.kernels.single_precision import rounded_bound
from dpcheck.problems.problem import Problem
from dpcheck.solver import must_meet


@dataclass(frozen=True)
class BassilySGD(SampledDescent):
    """Mini-batch noisy SGD: "stated" noise is that of Bassily et al. on the sum of a batch, for (n / batch)^2 steps."""

    name: ClassVar[str] = "bassily_sgd"
    multiclass: ClassVar[bool] = True

    def release(self, data: Problem, plan: Batches) -> Release:
        """The regulariser adds nothing: it does not depend on the data."""
        L = rounded_bound(data) if plan.batch == data.n else data.data_lipschitz
        return theory.released.at(L=L, m=plan.batch, n=data.n, T=plan.steps)  # privacy: zhang17.section4.minibatch

    def stated(self, data: Problem, guarantee: Guarantee, plan: Batches) -> tuple[Released, Sequence[Claim]]:
        claim, promised = theory.minibatch, guarantee.parameters
        values = {"n": data.n, "m": plan.batch, "L": data.data_lipschitz, **promised}
        must_meet(claim, data, **values)
        return self.release(data, plan).with_noise(float(claim.evaluate(**values))), [claim]

    def certifying(self, data: Problem, plan: Batches) -> Sequence[Claim]:
        return [theory.minibatch]
