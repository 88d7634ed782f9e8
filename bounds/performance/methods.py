"""First-order methods as linear recursions: where a gradient is asked, and where the next point lies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.exact import counted, positive

Array = np.ndarray
Name = Literal["gradient", "projected", "proximal", "accelerated", "heavy_ball"]
NAMES: tuple[Name, ...] = ("gradient", "projected", "proximal", "accelerated", "heavy_ball")


@dataclass(frozen=True)
class FirstOrderMethod:
    """w_{t+1} = prox(base_t - step_t * gradient at ask_t), with momentum_t on ask, on base, or on neither.

    `proximal` methods take a prox of a common convex function; a projection is the prox of an indicator.
    `momentum`: a number for all steps; accelerated methods default to Nesterov's sequence (or to
    (1 - sqrt q) / (1 + sqrt q), q = mu / beta, if strongly convex), heavy balls to 0.5.

    >>> [round(share, 4) for share in FirstOrderMethod("accelerated", steps=4, step_size=0.5).momenta]
    [0.0, 0.0, 0.2818, 0.434]
    """

    name: Name
    steps: int
    step_size: float | tuple[float, ...]
    momentum: float | tuple[float, ...] | None = None
    composite: bool | None = None  # whether a prox is taken; projected and proximal methods always do
    condition: float = field(default=0.0, compare=True)  # mu / beta, for the momentum of accelerated methods

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise InvalidInput("method", self.name, f"one of {NAMES}", 'Use "gradient" for gradient descent.')
        counted("steps", self.steps)
        for what, found in (("step_size", self.step_sizes), ("momentum", self.momenta)):
            if len(found) != self.steps:
                raise InvalidInput(what, found, f"a number, or {self.steps} of them", "Give one a step.")
        for size in self.step_sizes:
            positive("step_size", size)
        for share in self.momenta:
            if not 0 <= share < math.inf:
                raise InvalidInput("momentum", share, "a finite number >= 0", "Use 0 for none.")

    @property
    def step_sizes(self) -> tuple[float, ...]:
        return _each(self.step_size, self.steps)

    @property
    def momenta(self) -> tuple[float, ...]:
        if self.momentum is not None:
            return _each(self.momentum, self.steps)
        if self.name == "heavy_ball":
            return (0.0,) + (0.5,) * (self.steps - 1)
        if self.name != "accelerated":
            return (0.0,) * self.steps
        if self.condition > 0:
            root = math.sqrt(self.condition)
            return (0.0,) + ((1 - root) / (1 + root),) * (self.steps - 1)
        return nesterov(self.steps)

    @property
    def takes_prox(self) -> bool:
        return self.composite if self.composite is not None else self.name in ("projected", "proximal")

    def walk(
        self,
        start: Array,
        gradient: Callable[[int, Array], Array],
        prox: Callable[[int, Array, float], Array] | None = None,
    ) -> list[Array]:
        """All points from `start`: vectors of numbers, or of coefficients over a basis."""
        points = [start]
        before = start
        for t, (eta, theta) in enumerate(zip(self.step_sizes, self.momenta, strict=True)):
            w = points[-1]
            ahead = w + theta * (w - before) if theta else w
            ask = ahead if self.name == "accelerated" else w
            after = ahead - eta * gradient(t, ask)
            if self.takes_prox and prox is not None:
                after = prox(t, after, eta)
            before = w
            points.append(after)
        return points


def nesterov(steps: int) -> tuple[float, ...]:
    """(a_t - 1) / a_{t+1} with a_0 = 1, a_{t+1} = (1 + sqrt(1 + 4 a_t^2)) / 2 (Beck-Teboulle 2009)."""
    found, a = [], 1.0
    momentum = 0.0
    for _ in range(steps):
        found.append(momentum)
        after = (1 + math.sqrt(1 + 4 * a * a)) / 2
        momentum, a = (a - 1) / after, after
    return tuple(found)


def _each(value: float | Sequence[float], steps: int) -> tuple[float, ...]:
    if isinstance(value, int | float | np.floating):
        return (float(value),) * steps
    return tuple(float(v) for v in value)
