"""MPC Grad P: descent on gradients summed inside a computation. Claims: bounds/library/distributed/mpc_grad_p.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.distributed import mpc_grad_p as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.gradient_steps import GradientSteps, starting_point
from dpcheck.kernels.method import Array, Asked, Drawn, Method, State
from dpcheck.problems.losses import Huber
from dpcheck.problems.parties import Parties, must_be_parties
from dpcheck.problems.problem import Problem
from dpcheck.settings import count, one_of, positive
from dpcheck.solver import Calibration, Example, Solver, approximate, must_meet

MOST_STEPS = 1000


@dataclass(frozen=True, eq=False)
class OwnGradients(GradientSteps):
    """Every party's gradient is an answer of its own, (k, m d); a step goes along their mean."""

    count: int = 1

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.count * self.begin.shape[-1]

    def query(self, data: Problem, state: State, t: int, drawn: Drawn) -> Array:
        assert isinstance(data, Parties)
        return np.hstack([party.gradient(state[0]) for party in data.parties])

    def update(self, state: State, answer: Array, t: int) -> State:
        return super().update(state, answer.reshape(len(answer), self.count, -1).mean(axis=1), t)

    def asked_of(self, data: Problem, k: int) -> Asked:
        return lambda state, t, drawn: self.query(data, state, t, drawn)


@dataclass(frozen=True)
class MPCGradP(Solver):
    """`steps` noisy gradients of the mean of the parties' objectives, from 0; the last iterate is released, all seen.

    `noise` is added "inside", once a step, or by "each" party to its own gradients, which all see (Local Grad P). By
    default step_size = 1/L, and steps = L/l2 log(m^2 n^2 eps^2 / (d log(1/delta))) with the smallest party's n, at most
    1000. "stated" is (6.3.1), which for "each" is that of one party.
    """

    steps: int | None = count()
    step_size: float | None = positive()
    noise: str = one_of("inside", "each")
    name: ClassVar[str] = "mpc_grad_p"
    for_estimators: ClassVar[bool] = False  # its data are Parties

    def must_suit(self, data: Parties, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_parties(data)

    def plan(self, data: Parties, guarantee: Guarantee) -> int:
        aim = approximate(guarantee)
        if self.steps is None and data.l2 == 0:
            raise InvalidInput("l2", 0.0, "> 0 to choose the number of steps", "Pass steps, or add l2 > 0.")
        if self.steps is not None:
            return self.steps
        room = (data.count * data.smallest * aim.eps) ** 2 / (data.d * math.log(1 / aim.delta))
        wanted = data.smoothness / data.l2 * math.log(max(room, 1.0))
        return int(min(MOST_STEPS, max(1, math.ceil(wanted))))

    def release(self, data: Parties, plan: int) -> Release:
        part = theory.released if self.noise == "inside" else theory.released_by_each
        return part.at(G=data.data_lipschitz, parties=data.count, n_least=data.smallest, T=plan)

    def method(self, data: Parties, plan: int, released: Released) -> Method:
        etas = np.full(plan, self.step_size or 1 / data.smoothness)
        if self.noise == "inside":
            return GradientSteps(etas, starting_point(data), data.constraint)
        return OwnGradients(etas, starting_point(data), data.constraint, count=data.count)

    def stated(self, data: Parties, guarantee: Guarantee, plan: int) -> tuple[Released, Sequence[Claim]]:
        aim = approximate(guarantee)
        count = data.count if self.noise == "inside" else 1
        here = {"eps": aim.eps, "delta": aim.delta, "G": data.data_lipschitz, "T": plan, "n_least": data.smallest}
        must_meet(theory.theorem4, data, **here)
        noise = float(theory.theorem4.evaluate(parties=count, **here))
        return self.release(data, plan).with_noise(noise), [theory.theorem4]

    def certifying(self, data: Parties, plan: int) -> Sequence[Claim]:
        return [theory.theorem4_corrected]

    def gradients(self, problem: Parties, guarantee: Guarantee) -> int:
        """Record gradients evaluated."""
        return problem.n * self.plan(problem, guarantee)

    @classmethod
    def example(cls) -> Example:
        return Example(cls(steps=6, step_size=0.5), ApproxDP(1.0, 1e-2))

    def worst_pair(self) -> tuple[Parties, Parties]:
        """Huber losses with far minimisers, of two parties: one of the smaller one's changes sides."""
        far = 1e6
        first = Parties(np.ones((5, 1)), np.full(5, -far), Huber(1.0), l2=0.01, label_bound=far, sizes=(2, 3))
        return first, first.replace(0, [1.0], far)
