"""One report of each user, all at once: what every non-interactive local protocol does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcheck.kernels.method import Array, Asked, Drawn, Method, State
from dpcheck.kernels.one_answer import HELD, repeated


@dataclass(frozen=True, eq=False)
class OneReport(Method):
    """`ask(data)` is what each of the users is asked for, (users, each); `server(reports)`, of (k, users, each), makes
    the output of their noisy reports, (k, outputs).
    """

    ask: Callable[[Any], Array]
    server: Callable[[Array], Array]
    users: int
    each: int
    outputs: int
    lattice: float = 0.0
    steps = 1

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.users * self.each

    def start(self, k: int) -> State:
        return (np.zeros((k, self.outputs)),)

    def query(self, data: Any, state: State, t: int, drawn: Drawn) -> Array:
        return repeated(np.ravel(self.ask(data)), len(state[0]))

    def update(self, state: State, answer: Array, t: int) -> State:
        return (self.server(answer.reshape(len(answer), self.users, self.each)),)

    def grain(self, scale: float) -> float:
        return 0.0  # the server sees the reports themselves: rounding what it makes of them hides nothing

    def asked_of(self, data: Any, k: int) -> Asked:
        asked = np.ravel(self.ask(data))
        return lambda state, t, drawn: repeated(asked, len(state[0]))

    def block(self, data: Any) -> int:
        return max(1, HELD // self.width)


def mean_of_users(reports: Array) -> Array:
    """(k, users, each) to (k, each)."""
    return np.asarray(reports.mean(axis=1))
