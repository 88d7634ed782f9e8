"""What is released is one iterate, x_R with R uniform on 1..T: the start, or what 1 to T-1 noisy steps made of it.

R does not depend on the data, so privacy profiles average over R: an upper bound always, and what an attacker reaches
who can tell R from x_R. Two cases: Gaussian noise on full gradients, and private selections.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, gaussian_delta
from dpcheck.bounds.privacy.exact import SLACK, counted, least_noise, positive

Array = np.ndarray
BLOCKS = 64  # numbers of steps that are looked at; those between are taken with their neighbour


def averaged(profile: Callable[[Array], Array], steps: int, *, below: bool = False, blocks: int = BLOCKS) -> float:
    """The mean of profile(k) over k = 0..steps-1, rounded up (`below`: down); it must grow with k.

    >>> averaged(lambda k: k / 10.0, 5)
    0.2
    """
    if counted("steps", steps) <= blocks:
        return float(np.mean(profile(np.arange(steps))))
    cuts = np.linspace(0, steps, blocks + 1).astype(int)
    ends = cuts[:-1] if below else cuts[1:] - 1
    return float(np.diff(cuts) @ profile(ends)) / steps


def gaussian_iterate_delta(eps: float, mu: float, steps: int, *, below: bool = False) -> float:
    """delta at eps of x_R, each of whose steps is a full gradient with sensitivity / noise = mu."""

    def after(k: Array) -> Array:
        return np.where(k > 0, gaussian_delta(eps, mu * np.sqrt(np.maximum(k, 1))), 0.0)

    return averaged(after, steps, below=below)


@lru_cache(maxsize=1024)
def iterate_noise(guarantee: Guarantee, steps: int) -> float:
    """The least noise per unit of a step's sensitivity with which x_R keeps the guarantee, rounded up.

    >>> iterate_noise(ApproxDP(1.0, 1e-5), 100) < least_noise(ApproxDP(1.0, 1e-5), steps=99)
    True
    """
    steps = at_least_two(steps)
    if not isinstance(guarantee, ApproxDP):
        return least_noise(guarantee, steps=steps - 1)
    eps, target = float(positive("eps", guarantee.eps)), float(positive("delta", guarantee.delta))
    high = 1 / least_noise(guarantee, steps=steps - 1)  # keeps it even if all steps were always seen
    low = high
    while gaussian_iterate_delta(eps, high, steps) * (1 + SLACK) <= target:
        low, high = high, 2 * high
        if high > 1e6:
            raise InvalidInput("delta", target, f"below {1 - 1 / steps:g}", "With so large a delta no noise is needed.")
    for _ in range(60):
        middle = (low + high) / 2
        keeps = gaussian_iterate_delta(eps, middle, steps) * (1 + SLACK) <= target
        low, high = (middle, high) if keeps else (low, middle)
    return float(np.nextafter(1 / low, np.inf))


def at_least_two(steps: int) -> int:
    """Refuse T = 1: x_1 is the start."""
    if counted("steps", steps) < 2:
        raise InvalidInput("steps", steps, "at least 2", "x_R with R uniform on 1..1 is the start itself.")
    return int(steps)
