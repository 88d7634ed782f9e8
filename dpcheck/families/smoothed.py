"""What DP-LSSGD and DP-LSAdam share: batches, noise and its calibration; the update is their own.

Each step adds noise to the mean gradient of a random batch, smooths the sum by A_σ⁻¹ and moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.library.nonconvex import dp_lssgd as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.sampled_descent import Batches
from dpcheck.problems.constraints import WholeSpace
from dpcheck.problems.extreme_pairs import linear_pair
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, flag, fraction, not_negative, one_of, positive
from dpcheck.solver import Calibration, Example, Solver, approximate, must_meet

Document = Literal["lwang21", "lssgd20"]
EPOCHS = 50  # lwang21, section 5.4.1
THEOREMS = {"lwang21": theory.theorem2, "lssgd20": theory.theorem1}


@dataclass(frozen=True)
class SmoothedSolver(Solver):
    """`steps` noisy steps (by default 50 epochs) on `batch` random records each, smoothed with σ = `smoothing`.

    "stated" takes its noise from the theorem of `document`, with `split` for µ; without `conditions` it does so
    where the theorem does not apply, as the documents' own experiments do.
    """

    batch: int = count(128)
    steps: int | None = count()
    smoothing: float = not_negative(1.0)
    rate: float = positive(1.0)
    document: Literal["lwang21", "lssgd20"] = one_of("lwang21", "lssgd20", kw_only=True)
    split: float = fraction(0.5, kw_only=True)
    conditions: bool = flag(True, kw_only=True)
    multiclass: ClassVar[bool] = True

    def must_suit(self, data: Problem, guarantee: Guarantee, calibration: Calibration) -> None:
        approximate(guarantee)
        if not isinstance(data.constraint, WholeSpace):
            raise InvalidInput("constraint", data.constraint, "the whole space", "The algorithm does not project.")

    def plan(self, data: Problem, guarantee: Guarantee) -> Batches:
        batch = min(self.batch, data.n)
        return Batches(batch, self.steps or max(1, round(EPOCHS * data.n / batch)))

    def release(self, data: Problem, plan: Batches) -> Release:
        # privacy: lssgd20.theorem1.corrected
        return theory.released.at(G=data.data_lipschitz, batch=plan.batch, n=data.n, T=plan.steps)

    def stated(self, data: Problem, guarantee: Guarantee, plan: Batches) -> tuple[Released, Sequence[Claim]]:
        claim, aim = THEOREMS[self.document], approximate(guarantee)
        must_meet(claim, data)
        numbers = (float(aim.eps), float(aim.delta), data.n, plan.batch, plan.steps, data.data_lipschitz)
        noise = stated_noise(self.document, self.split, self.conditions, *numbers)
        return self.release(data, plan).with_noise(noise), [claim]

    def certifying(self, data: Problem, plan: Batches) -> Sequence[Claim]:
        return [theory.theorem1_corrected]

    @classmethod
    def example(cls) -> Example:
        return Example(cls(batch=4, steps=8))

    def worst_pair(self) -> tuple[Problem, Problem]:
        """Linear losses: all records pull one way, the differing one with or against them."""
        return linear_pair(2 * self.batch)


@lru_cache(maxsize=256)
def stated_noise(
    document: Document,
    split: float,
    conditions: bool,
    eps: float,
    delta: float,
    n: int,
    batch: int,
    steps: int,
    G: float,
) -> float:
    """The deviation that the document's theorem states; where its `conditions` fail that is refused, or ignored."""
    claim = THEOREMS[document]
    share = split if document == "lwang21" else 0.5  # α = 2 log(1/δ)/ε + 1
    values = {
        "n": n,
        "batch": batch,
        "T": steps,
        "eps": eps,
        "delta": delta,
        "G": G,
        "ls_mu": split,
        "ls_order": math.log(1 / delta) / ((1 - share) * eps) + 1,
    }
    broken = claim.violated_by(values) if conditions else None
    if broken is not None:
        given = {str(s): values[str(s)] for s in broken.free_symbols}
        remedy = 'Use calibration="certified", or conditions=False to use the noise all the same.'
        raise HypothesisViolated(claim.id, given, str(broken), remedy)
    return float(claim.formula.subs({s: values[str(s)] for s in claim.formula.free_symbols}))
