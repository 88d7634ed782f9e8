"""Noise on sums of batches, many times: what is released, under each way of drawing the batches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy  # its parts are imported on first use

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.exact import counted, positive

Noise = Literal["gaussian", "laplace"]


@dataclass(frozen=True)
class NoisySum:
    """Noise on a sum, `steps` times. `ratio` is the shift of one copy of the differing record over the noise scale.

    `picks[k]` is the probability that a batch holds it k times; `filled` says whether another record takes its
    place when it does not (a batch of fixed size), which lets a replaced record shift an empty batch in full.
    """

    ratio: float
    steps: int = 1
    picks: tuple[float, ...] = (0.0, 1.0)
    filled: bool = True
    noise: Noise = "gaussian"

    @property
    def sampled(self) -> bool:
        """Whether some batches miss the record."""
        return self.picks[0] > 0


def without_replacement(ratio: float, steps: int, batch: int, n: int, noise: Noise = "gaussian") -> NoisySum:
    """Each step takes `batch` of `n` records, no record twice."""
    n, batch = counted("n", n), counted("batch", batch)
    if batch > n:
        raise InvalidInput("batch", batch, f"at most n={n}", "Sampling is without replacement.")
    return _release(ratio, steps, (1 - batch / n, batch / n), True, noise)


def with_replacement(ratio: float, steps: int, batch: int, n: int, noise: Noise = "gaussian") -> NoisySum:
    """Each step draws `batch` times one of `n` records: the differing one may come up several times."""
    n, batch = counted("n", n), counted("batch", batch)
    if batch > 4 * n:
        raise InvalidInput("batch", batch, f"at most 4n={4 * n}", "Take full batches.")
    counts = np.arange(min(batch, 200) + 1)
    choose = (
        scipy.special.gammaln(batch + 1) - scipy.special.gammaln(counts + 1) - scipy.special.gammaln(batch - counts + 1)
    )
    rest = 0.0 if n == 1 else math.log1p(-1 / n)
    masses = np.exp(choose - counts * math.log(n) + (batch - counts) * rest) if n > 1 else 1.0 * (counts == batch)
    kept = int(np.flatnonzero(masses > 1e-40)[-1]) + 1
    return _release(ratio, steps, tuple(float(p) for p in masses[:kept]), True, noise)


def poisson(ratio: float, steps: int, rate: float, noise: Noise = "gaussian") -> NoisySum:
    """Each step takes each record with probability `rate`. Replaced, a record shifts by ratio/2 to either side of 0."""
    if not 0 < rate <= 1:
        raise InvalidInput("rate", rate, "a number in (0, 1]", "It is the probability that a record is sampled.")
    return _release(ratio, steps, (1 - rate, float(rate)), rate == 1, noise)


def every_record(ratio: float, steps: int = 1, noise: Noise = "gaussian") -> NoisySum:
    """Each step sums all records."""
    return _release(ratio, steps, (0.0, 1.0), True, noise)


def _release(ratio: float, steps: int, picks: tuple[float, ...], filled: bool, noise: Noise) -> NoisySum:
    return NoisySum(float(positive("ratio", ratio)), counted("steps", steps), picks, filled, noise)
