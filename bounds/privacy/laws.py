"""Laws of noise and ways of drawing batches: the words that a Release is made of, symbolic or numeric."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Any


# Laws of noise ---------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Gaussian:
    """Independent N(0, scale^2) on each coordinate; sensitivities are in l2."""

    scale: Any

    def times(self, factor: float) -> Gaussian:
        """The same law with more (or less) noise."""
        return replace(self, scale=self.scale * factor)


@dataclass(frozen=True)
class Laplace:
    """Independent entries of density exp(-|z| / scale) / (2 scale); sensitivities are in l1."""

    scale: Any

    def times(self, factor: float) -> Laplace:
        """The same law with more (or less) noise."""
        return replace(self, scale=self.scale * factor)


@dataclass(frozen=True)
class L2Laplace:
    """Vectors of density proportional to exp(-||z||_2 / scale); sensitivities are in l2."""

    scale: Any

    def times(self, factor: float) -> L2Laplace:
        """The same law with more (or less) noise."""
        return replace(self, scale=self.scale * factor)


@dataclass(frozen=True)
class Selected:
    """One candidate: the largest score after noise of this scale, "gumbel", "exponential" or "laplace", on each.

    The sensitivity is that of a score. Gumbel noise of scale 2 sensitivity / eps is the exponential mechanism.
    """

    scale: Any
    noise: str = "gumbel"

    def times(self, factor: float) -> Selected:
        """The same law with more (or less) noise."""
        return replace(self, scale=self.scale * factor)

    @property
    def ranged(self) -> bool:
        """Whether the log ratio of two laws has range eps, and not only size eps (Durfee and Rogers 2019)."""
        return self.noise == "gumbel"


@dataclass(frozen=True)
class OneBit:
    """A report of -1 or 1 for each number x that is asked for, 1 with probability (1 + x/scale)/2.

    The scale must be at least the largest |x|, which is half the sensitivity: randomised response when they are equal
    to it. scale times the mean of such reports is unbiased.
    """

    scale: Any

    def times(self, factor: float) -> OneBit:
        """The same law with more (or less) noise."""
        return replace(self, scale=self.scale * factor)


@dataclass(frozen=True)
class HalfSphere:
    """A unit vector for each vector x of `width` numbers: uniform on the half sphere around x with probability
    (1 + ‖x‖₂/scale)/2, on the other half else. A user's numbers stand side by side in an answer.

    The scale must be at least the largest ‖x‖₂, which is half the sensitivity: `OneBit` when the width is 1.
    """

    scale: Any
    width: Any = 1

    def times(self, factor: float) -> HalfSphere:
        """The same law with more (or less) noise."""
        return replace(self, scale=self.scale * factor)


@dataclass(frozen=True)
class SmoothNoise:
    """Noise as wide as the data call for: beside its `width` numbers an answer has as many bounds S, and each number
    gets S·scale·Z, Z being the sinh of a standard normal ("arsinh"), or one ("gaussian", with one S for all numbers).

    A record moves a number by at most S, in either dataset, and log S by at most `smoothness`; the sensitivity is in
    units of S. The bounds are not let out.
    """

    scale: Any
    smoothness: Any
    width: Any = 1
    noise: str = "arsinh"

    def times(self, factor: float) -> SmoothNoise:
        """The same law with more (or less) noise."""
        return replace(self, scale=self.scale * factor)


@dataclass(frozen=True)
class Wishart:
    """Positive definite noise on a symmetric side x side matrix, W_d(degrees, scale I): the sum of as many vvᵀ with v
    of N(0, scale I). An answer is the upper triangle, row by row, diagonal included: each entry once.

    The sensitivity is the larger trace of the positive and the negative part of the move. The noise moves the cone that
    answers lie in, so that a neighbour may be ruled out: pure DP is beyond it, whatever the scale.
    """

    scale: Any
    degrees: Any
    side: Any

    @property
    def excess(self) -> Any:
        """The degrees of freedom of what is left of one direction, given the others; pure edge at 2."""
        return self.degrees - self.side + 1

    def times(self, factor: float) -> Wishart:
        """The same law with more (or less) noise."""
        return replace(self, scale=self.scale * factor)


Law = Gaussian | Laplace | L2Laplace | Selected | OneBit | HalfSphere | SmoothNoise | Wishart
RESPONSES = (OneBit, HalfSphere)  # their loss is that of randomised response


# Local protocols -------------------------------------------------------------------------------------
class Interaction(enum.Enum):
    """What a user of a local protocol may know of the others' reports."""

    NONE = "nothing: a report depends on its user's record alone"
    SEQUENTIAL = "those of earlier steps; she answers in one step, of all that there are"


class Coins(enum.Enum):
    """Who sees the random choices that users make their reports by."""

    PRIVATE = "each user her own"
    PUBLIC = "everybody, those that were drawn before anybody answered"


# Sampling --------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class WithoutReplacement:
    """`batch` different records out of `of`."""

    batch: Any
    of: Any


@dataclass(frozen=True)
class WithReplacement:
    """`batch` independent draws of one record out of `of`."""

    batch: Any
    of: Any


@dataclass(frozen=True)
class Poisson:
    """Each record with probability `rate`."""

    rate: Any


@dataclass(frozen=True)
class InOrder:
    """One pass: step t asks the t-th record alone, so that a record enters one step."""


Scheme = WithoutReplacement | WithReplacement | Poisson | InOrder
