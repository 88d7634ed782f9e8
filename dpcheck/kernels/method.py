"""Method: the steps of an algorithm, written once: what it asks of the data, how it updates, what it outputs.

One kernel (running.py) runs it for a block of trials at once and records it; the log density of a transcript
(transcripts.py) is the same `query` evaluated along the given answers, with the same `update` between them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcheck.kernels.blocks import block_size

Array = np.ndarray
ROUNDED = 2  # multiples of the lattice: 1 for rounding two answers, the rest for how exactly they are computed
State = tuple[Array, ...]  # one row a trial in each
Drawn = NDArray[np.int64] | None  # records of a batch, (k,) or (k, b); None for all of them
Asked = Callable[[State, int, Drawn], Array]


class Method(ABC):
    """The steps of an algorithm on trials that run side by side. Its settings are public: only `query` sees records.

    `steps` answers are asked for, each of `width` numbers. `rounds(rng, k)` draws for each trial after how many of
    them it stops, by a rule that ignores the data; None lets all run to the end.
    """

    steps: int
    width: int
    rounds: Callable[[np.random.Generator, int], Any] | None = None
    # `coins(rng, k)` draws what all see before anybody answers, one row a trial, of a protocol whose release says so.
    coins: Callable[[np.random.Generator, int], Array] | None = None
    # A power of two: answers are rounded to its multiples and get Laplace noise or are selected by whole numbers of it,
    # exactly (exact_draws.py), which delta = 0 needs. 0 for none. The release counts `ROUNDED` of it a number.
    lattice: float = 0.0
    # Overridden by algorithms that are broken as printed: what they take from the records without noise, after an
    # answer was asked for, as a new state. A method that peeks is never certified, and its transcript has no density.
    peek: Callable[[Any, State, int, Array], State] | None = None

    @abstractmethod
    def start(self, k: int) -> State:
        """Where k trials begin. The arrays are the kernel's own: an update may write into them."""

    def start_with(self, k: int, coins: Array | None) -> State:
        """The same, given public coins, (k, c); overridden by protocols that have some."""
        return self.start(k)

    @abstractmethod
    def query(self, data: Any, state: State, t: int, drawn: Drawn) -> Array:
        """What step t asks of the records (or of those drawn), before noise: (k, width)."""

    @abstractmethod
    def update(self, state: State, answer: Array, t: int) -> State:
        """What is made of a noisy answer; it may write into both."""

    def point(self, state: State) -> Array:
        """Where the method stands, (k, d)."""
        return state[0]

    def output(self, state: State) -> Array:
        """What is released at the end, (k, d)."""
        return self.point(state)

    def grain(self, scale: float) -> float:
        """About the deviation that the noise of the last answer, of this scale, leaves in the output."""
        return scale

    def asked_of(self, data: Any, k: int) -> Asked:
        """`query` on these data for up to k trials; overridden where it keeps buffers or something between steps."""
        return partial(self.query, data)

    def block(self, data: Any) -> int:
        """How many trials run side by side; overridden where a trial does not hold a number for each record."""
        return block_size(data)


def before_random_iterate(steps: int) -> Callable[[np.random.Generator, int], Any]:
    """Rounds of x_R, R uniform on 1..steps: R - 1 answers made it."""
    return lambda rng, k: rng.integers(0, steps, k)
