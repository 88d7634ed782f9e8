"""The stochastic intermediate gradient method: gradients of an inexact, noisy oracle, for many trials at once.

Claims: bounds/library/local/sigm.py. Not private by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Oracle = Callable[[Array, int], Array]  # points (k, d) and the number of a call to gradients (k, d)


def unit_ball(points: Array) -> Array:
    """Each row, or its direction where it is longer than 1."""
    return np.asarray(points / np.maximum(1.0, np.linalg.norm(points, axis=1, keepdims=True)))


@dataclass(frozen=True)
class IntermediateGradient:
    """Algorithm 5.1.38 of dwang20: `power` p between 1, plain, and 2, fast; a = 2^((p-1)/2), d(x) = ‖x‖²/2.

    The set must hold 0, where it starts, and `radius` R bounds the minimiser; `deviation` is that of the oracle.
    """

    smoothness: float
    deviation: float
    radius: float = 1.0
    power: float = 1.0
    project: Callable[[Array], Array] = unit_ball

    def run(self, oracle: Oracle, steps: int, trials: int, dimension: int) -> Array:
        """y_T after `steps`, (trials, dimension); the oracle is called steps + 1 times."""
        x, weights = np.zeros((trials, dimension)), self.weight(0)
        total = weights * oracle(x, 0)
        y = self.project(-total / self.steepness(0))
        for i in range(steps):
            z = self.project(-total / self.steepness(i))
            kept = self.share(i + 1)
            x = kept * z + (1 - kept) * y
            gradient = oracle(x, i + 1)
            ahead = self.project(z - self.weight(i + 1) / self.steepness(i) * gradient)
            weights += self.weight(i + 1)
            part = self.bulk(i + 1) / weights
            y = (1 - part) * y + part * (kept * ahead + (1 - kept) * y)
            total = total + self.weight(i + 1) * gradient
        return np.asarray(y)

    def weight(self, i: int) -> float:
        """α_i."""
        return float(2 ** ((1 - self.power) / 2) * ((i + self.power) / self.power) ** (self.power - 1))

    def bulk(self, i: int) -> float:
        """B_i."""
        return float(2 ** ((self.power - 1) / 2) * self.weight(i) ** 2)

    def share(self, i: int) -> float:
        """α_i/B_i."""
        return self.weight(i) / self.bulk(i)

    def steepness(self, i: int) -> float:
        """β_i."""
        p = self.power
        b = 2 ** ((5 - 2 * p) / 4) * p ** ((1 - 2 * p) / 2)
        return float(self.smoothness + b * self.deviation / self.radius * (i + p + 1) ** ((2 * p - 1) / 2))
