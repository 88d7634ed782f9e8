"""Private EM on the latent models: steps by a bounded mean of what records add, and what its solvers share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.families.em_models import LatentRecords, another_record, must_be_latent
from dpcheck.kernels.method import Array, Asked, Drawn, Method, State
from dpcheck.settings import allowing, count
from dpcheck.solver import Calibration, Example, Solver

HELD = 1 << 21  # numbers that records add in a block of trials


def numbers(value: Any) -> bool:
    """A tuple of finite numbers."""
    return isinstance(value, tuple) and all(
        isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x) for x in value
    )


def point(**how: Any) -> Any:
    """A public point, one number a coordinate; None stands for a rule."""
    refused = ((math.nan,), "a", 1.0, ("b",))
    return allowing(
        None, "a tuple of finite numbers, or None", lambda v: v is None or numbers(v), refuses=refused, **how
    )


@dataclass(frozen=True, eq=False)
class EMSteps(Method):
    """β ← β + η answer, or β ← answer where η is None; `ask(records, β)` is a mean that a record moves little."""

    ask: Callable[[Any, Array], Array]
    begin: Array
    length: int
    eta: float | None

    @property
    def steps(self) -> int:  # type: ignore[override]
        return self.length

    @property
    def width(self) -> int:  # type: ignore[override]
        return len(self.begin)

    def start(self, k: int) -> State:
        return (np.tile(self.begin, (k, 1)),)

    def query(self, data: LatentRecords, state: State, t: int, drawn: Drawn) -> Array:
        return self.ask(data, state[0])

    def update(self, state: State, answer: Array, t: int) -> State:
        return (answer,) if self.eta is None else (state[0] + self.eta * answer,)

    def grain(self, scale: float) -> float:
        return scale * (1.0 if self.eta is None else self.eta)

    def asked_of(self, data: LatentRecords, k: int) -> Asked:
        return partial(self.query, data)

    def block(self, data: LatentRecords) -> int:
        return max(1, min(2048, HELD // (data.n * data.d)))


@dataclass(frozen=True)
class EMSolver(Solver):
    """Settings of private EM: `steps` from `start`, a public point; by default all entries are 1/√d."""

    steps: int = count(20)
    start: tuple[float, ...] | None = point()
    minimises: ClassVar[bool] = False
    any_size: ClassVar[bool] = True
    model: ClassVar[Any] = LatentRecords  # or a kind of them

    def must_suit(self, data: LatentRecords, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_latent(data, self.model)
        self.begin(data)

    def begin(self, data: LatentRecords) -> Array:
        """The start, one number a coordinate."""
        if self.start is None:
            return np.full(data.d, data.d**-0.5)
        if len(self.start) != data.d:
            raise InvalidInput("start", self.start, f"{data.d} numbers", "Leave it out, or give one a coordinate.")
        return np.array(self.start, float)

    @classmethod
    def example(cls) -> Example:
        # φ averaged over η stays below its end: 8% at κ = log 20
        return Example(replace(cls(), steps=2), ApproxDP(0.9, 1e-2), neighbour=another_record, reaches=0.9, bug=0.4)
