"""DP-SGD with the noise of Lemma 2.1.7 (dwang20, baseline [29]). Claims: bounds/library/convex/dp_sgd.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.convex import dp_sgd as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.sampled_descent import Batches, SampledDescent
from dpcheck.kernels.single_precision import rounded_bound
from dpcheck.problems.problem import Problem
from dpcheck.settings import flag, not_negative, positive
from dpcheck.solver import must_meet


@dataclass(frozen=True)
class DPSGD(SampledDescent):
    """Mini-batch noisy SGD: "stated" noise is that of Lemma 2.1.7 with its constants `c` and `c1`.

    An eps above c1 q^2 T is refused. The noise is over n as printed or, with `over_batch`, over the batch as its source
    has it.
    """

    c: float = positive(1.0, kw_only=True)
    c1: float = not_negative(math.inf, finite=False, kw_only=True)
    over_batch: bool = flag(kw_only=True)
    name: ClassVar[str] = "dp_sgd"
    multiclass: ClassVar[bool] = True

    def release(self, data: Problem, plan: Batches) -> Release:
        G = rounded_bound(data) if plan.batch == data.n else data.data_lipschitz
        return theory.released.at(G=G, m=plan.batch, n=data.n, T=plan.steps)  # privacy: dwang20.lemma2.1.7.corrected

    def stated(self, data: Problem, guarantee: Guarantee, plan: Batches) -> tuple[Released, Sequence[Claim]]:
        claim = theory.lemma7
        sizes = {"n": data.n, "m": plan.batch, "T": plan.steps, "c2": self.c, "c1": min(self.c1, 1e300)}
        values = {**sizes, "G": data.data_lipschitz, **guarantee.parameters}
        must_meet(claim, data, **values)
        factor = data.n / plan.batch if self.over_batch else 1.0
        return self.release(data, plan).with_noise(factor * float(claim.evaluate(**values))), [claim]

    def certifying(self, data: Problem, plan: Batches) -> Sequence[Claim]:
        return [theory.lemma7_corrected]
