"""Buffers of a stream by RS-x (dwang20, Algorithm 3.3.11): positions that ignore the data, and what they weigh."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]


def rs_x(n: int, capacity: int, rng: np.random.Generator) -> tuple[Positions, ...]:
    """The positions that the buffer holds before each of n records comes; the first holds none.

    It fills up; record s+1 (s the capacity) makes it s draws from all that came; later ones take each place with
    probability 1/t, so that each place is a uniform draw from what came, independent of the others.
    """
    held, seen = np.empty(0, np.int64), []
    for t in range(1, n + 1):
        seen.append(held)
        if len(held) < capacity:
            held = np.append(held, t - 1)
        elif t == capacity + 1:
            held = rng.integers(0, t, capacity)
        else:
            held = np.where(rng.random(capacity) < 1 / t, t - 1, held)
    return tuple(seen)


def heaviest(buffers: tuple[Positions, ...], first: int, n: int) -> float:
    """The largest sum of squared shares that a record has of the steps after `first`: 1 of its own, then by its places.

    `buffers` are those of the steps alone. Public, as positions ignore the data.
    """
    weights = np.zeros(n)
    for j, held in enumerate(buffers):
        weights[first + j] += 1
        weights += (np.bincount(held, minlength=n) / len(held)) ** 2
    return float(weights.max())
