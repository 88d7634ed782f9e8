"""One question whose noise is as wide as the data call for: the answer, and beside it the bounds of its noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.kernels.method import Array, Asked, Drawn, Method, State
from dpcheck.kernels.one_answer import HELD, repeated


@dataclass(frozen=True, eq=False)
class SmoothAnswer(Method):
    """`ask(data)` is d numbers and d bounds; the noisy numbers are the output."""

    ask: Callable[[Any], Array]
    d: int
    floor: float  # what no data make a bound fall below: public, as the bounds are not
    steps = 1

    @property
    def width(self) -> int:  # type: ignore[override]
        return 2 * self.d

    def start(self, k: int) -> State:
        return (np.zeros((k, self.d)),)

    def query(self, data: Any, state: State, t: int, drawn: Drawn) -> Array:
        return repeated(self.ask(data), len(state[0]))

    def asked_of(self, data: Any, k: int) -> Asked:
        asked = self.ask(data)
        return lambda state, t, drawn: repeated(asked, len(state[0]))

    def update(self, state: State, answer: Array, t: int) -> State:
        return (answer,)

    def grain(self, scale: float) -> float:
        return scale * self.floor

    def block(self, data: Any) -> int:
        return max(1, HELD // self.width)
