"""Bits of floats: what a naive sampler lets out below its noise (Mironov 2012, On significance of the least significant
bits for differential privacy).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from dpcheck.audits.scores.tables import Name

ZERO = 2000.0  # the place of the lowest bit of 0: above all others
UNIFORMS = 2.0**53  # how many uniform numbers a sampler draws from
NEAR = 4  # of them on either side are tried
_log = np.frompyfunc(
    math.log, 1, 1
)  # the C library's, as samplers in C take it: numpy's own may differ in the last bit


@dataclass(frozen=True)
class TrailingZeros:
    """How many low bits of a float are zero: rounding and naive samplers leak there."""

    column: int

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        bits = (np.ascontiguousarray(rows[:, self.column]) + 0.0).view(np.uint64)
        lowest = bits & (~bits + np.uint64(1))
        return np.where(bits == 0, 64.0, np.log2(np.maximum(lowest, 1).astype(float)))

    def phrase(self, name: Name) -> str:
        return f"number of zero low bits of {name(self.column)}"


@dataclass(frozen=True)
class LowestBit:
    """The largest power of two that divides a float, as exponent: a sum has no bit below those of its larger part."""

    column: int

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        share, exponent = np.frexp(rows[:, self.column])
        whole = np.where(np.isfinite(share), np.abs(share) * 2.0**53, 0.0).astype(np.int64)
        lowest = np.log2(np.maximum(whole & -whole, 1).astype(float))
        return np.where(whole == 0, ZERO, exponent - 53.0 + lowest)

    def phrase(self, name: Name) -> str:
        return f"place of the lowest bit of {name(self.column)}"


@dataclass(frozen=True)
class Attainable:
    """Mironov's attack on one number: can the sampler make it of one answer, and not of the other?

    For noise scale * F^-1(u), u a multiple of 2^-53, added to an `answer` of each dataset. 1 where only the first one
    can give the output, -1 where only the second. For `dp.audit(..., attack=Attainable((0.0, 1.0), scale=1.0))`.
    """

    answers: tuple[float, float]
    scale: float
    noise: Literal["laplace", "gaussian"] = "laplace"
    column: int = 0

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        outputs = np.asarray(rows, float).reshape(len(rows), -1)[:, self.column]
        first, second = (self.possible(outputs, answer) for answer in self.answers)
        return first.astype(float) - second

    def possible(self, outputs: np.ndarray, answer: float) -> np.ndarray:
        """Whether some uniform number gives the output."""
        z = (outputs - answer) / self.scale
        laplace = self.noise == "laplace"
        with np.errstate(under="ignore"):
            middle = np.rint((np.exp(-np.abs(z)) if laplace else special.ndtr(z)) * UNIFORMS)
        found = np.zeros(len(outputs), bool)
        for away in range(-NEAR, NEAR + 1):
            u = np.clip(middle + away, 1.0, UNIFORMS - (not laplace)) / UNIFORMS
            noise = np.copysign(_log(u).astype(float), z) if laplace else special.ndtri(u)
            found |= answer + self.scale * noise == outputs
        return found
