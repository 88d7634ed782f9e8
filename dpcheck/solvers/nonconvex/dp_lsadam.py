"""DP-LSAdam (lwang21, section 5.4.2; lssgd20, section 4.2). Claims: bounds/library/nonconvex/dp_lsadam.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.kernels.smoothed_solver import SmoothedSolver
from dpcheck.kernels.smoothing import LaplacianSmoothing
from dpcheck.problems.losses import Array, must_be_positive


@dataclass(frozen=True)
class DPLSAdam(SmoothedSolver):
    """Adam on smoothed noisy gradients of random batches, from 0; smoothing = 0 is DP-Adam.

    Steps of size `rate` along m/(√s + `floor`), m and s running means of the gradients and of their squares. What
    Adam makes of the noisy gradients is post-processing: the noise is that of DP-LSSGD.
    """

    rate: float = 1e-3
    first: float = field(default=0.9, kw_only=True)
    second: float = field(default=0.999, kw_only=True)
    floor: float = field(default=1e-8, kw_only=True)
    name: ClassVar[str] = "dp_lsadam"

    def __post_init__(self) -> None:
        super().__post_init__()
        must_be_positive("floor", self.floor)
        for what, value in (("first", self.first), ("second", self.second)):
            if not 0 <= value < 1:
                raise InvalidInput(what, value, "a number in [0, 1)", "Leave it out for the default.")

    def step_sizes(self, steps: int) -> Array:
        return np.full(steps, self.rate)

    def moved(self, w: Array, smooth: Array, eta: float, memory: list[Array]) -> Array:
        """`memory` holds m, s and the number of steps so far."""
        if not memory:
            memory += [np.zeros_like(w), np.zeros_like(w), np.zeros(())]
        memory[0] = self.first * memory[0] + (1 - self.first) * smooth
        memory[1] = self.second * memory[1] + (1 - self.second) * smooth**2
        memory[2] = memory[2] + 1
        mean, square = (
            m / (1 - decay ** float(memory[2])) for m, decay in zip(memory, (self.first, self.second), strict=False)
        )
        return np.asarray(w - eta * mean / (np.sqrt(square) + self.floor))

    def transcript_of(self, iterates: Array, noisy: Array) -> Array | None:
        """The noisy gradients themselves: the iterates are made of them."""
        return noisy

    def path(self, operator: LaplacianSmoothing, etas: Array, released: Array) -> Iterator[tuple[Array, Array]]:
        w, memory = np.zeros(released[:, 0].shape), list[Array]()
        for t, eta in enumerate(etas):
            yield w, released[:, t]
            w = self.moved(w, operator.solve(released[:, t]), float(eta), memory)
