"""One question and its noisy answer: a mean, the end of an exact descent, scores to choose by; asked once for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.kernels.method import Array, Asked, Drawn, Method, State

HELD = 1 << 20  # numbers that a block holds: a step costs little, so that blocks are large


@dataclass(frozen=True, eq=False)
class OneAnswer(Method):
    """`ask(data)` is what the one step asks, (width,); the noisy answer is the output.

    With `candidates`, one row each, the answer is the place of the one that was chosen, and that row the output.
    """

    ask: Callable[[Any], Array]
    width: int
    candidates: Array | None = None
    lattice: float = 0.0
    steps = 1

    def start(self, k: int) -> State:
        return (np.zeros((k, self.width if self.candidates is None else self.candidates.shape[1])),)

    def query(self, data: Any, state: State, t: int, drawn: Drawn) -> Array:
        return repeated(self.ask(data), len(state[0]))

    def update(self, state: State, answer: Array, t: int) -> State:
        return (answer if self.candidates is None else self.candidates[answer[:, 0].astype(int)],)

    def grain(self, scale: float) -> float:
        # A public row has no bits to hide, and a multiple of the lattice none but its own.
        return scale if self.candidates is None and self.lattice == 0 else 0.0

    def asked_of(self, data: Any, k: int) -> Asked:
        asked = self.ask(data)
        return lambda state, t, drawn: repeated(asked, len(state[0]))

    def block(self, data: Any) -> int:
        return max(1, HELD // self.width)


def repeated(asked: Array, k: int) -> Array:
    """One row a trial, to be written into."""
    rows = np.empty((k, len(asked)))
    rows[:] = asked
    return rows
