"""A trimmed mean with noise by its smooth sensitivity. Claims: bounds/library/heavy_tail/ht_trim_arsinh_mean.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, Guarantee
from dpcheck.bounds.library.heavy_tail import ht_trim_arsinh_mean as theory
from dpcheck.bounds.privacy.laws import SmoothNoise
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families import trimmed_means
from dpcheck.families.robust_means import must_be_rows
from dpcheck.families.smooth_answers import SmoothAnswer
from dpcheck.kernels.method import Array
from dpcheck.settings import allowing, count
from dpcheck.solver import Calibration, Example, Solver


class Trimming(NamedTuple):
    """How many records are trimmed at each end, and how smooth the width of the noise is."""

    m: int
    smoothness: float


@dataclass(frozen=True)
class HtTrimArsinhMean(Solver):
    """The mean, known to lie in [low, high], of numbers of any size: trimmed, with arsinh-normal noise.

    `trim` records are left out at each end, by default as many as make e^-mt at most 1/n, and a quarter of n at most.
    "stated" is Algorithm 3.2.6 with its printed width, for ε²/2-zCDP: an outlier widens it without limit. "certified"
    takes the smooth one, and the least scale that Bun and Steinke's bound allows beside t = ε²/16.
    """

    low: float = allowing(-1.0, "a finite number", math.isfinite, refuses=(math.inf, math.nan, "a"))
    high: float = allowing(1.0, "a finite number", math.isfinite, refuses=(math.inf, math.nan, "a"))
    trim: int | None = count()
    name: ClassVar[str] = "ht_trim_arsinh_mean"
    any_size: ClassVar[bool] = True
    minimises: ClassVar[bool] = False

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        if must_be_rows(data).shape[1] != 1:
            raise InvalidInput("x", np.shape(data), "one number a record", "Give one mean at a time.")
        if not self.low < self.high:
            raise InvalidInput("high", self.high, f"above low = {self.low:g}", "They bound the mean.")
        if self.trim is not None and 2 * self.trim >= len(data):
            raise InvalidInput("trim", self.trim, f"below half of n = {len(data)}", "Leave it out for the default.")

    def plan(self, data: Array, guarantee: Guarantee) -> Trimming:
        smoothness = trimmed_means.printed_smoothness(guarantee)
        return Trimming(self.trim or trimmed_means.enough_trimmed(len(data), smoothness), smoothness)

    def release(self, data: Array, plan: Trimming) -> Release:
        return theory.released.at(t_smooth=plan.smoothness)  # privacy: dwang20.theorem3.2.3.privacy.corrected

    def method(self, data: Array, plan: Trimming, released: Released) -> SmoothAnswer:
        (m, t), law = plan, released.parts[0].law
        smooth = isinstance(law, SmoothNoise) and math.isfinite(law.smoothness)
        width = trimmed_means.smooth_width if smooth else trimmed_means.printed_width

        def ask(data: Array) -> Array:
            x = np.sort(np.reshape(data, (-1, 1)), axis=0)
            mean = trimmed_means.trimmed(x, m, self.low, self.high)
            return np.concatenate([mean, width(x, m, t, self.low, self.high)])

        return SmoothAnswer(ask, 1, trimmed_means.least_width(m, t, self.low, self.high))

    def stated(self, data: Array, guarantee: Guarantee, plan: Trimming) -> tuple[Released, Sequence[Claim]]:
        if not isinstance(guarantee, ZCDP):
            raise InvalidInput("guarantee", str(guarantee), "ZCDP, as printed", 'Use calibration="certified".')
        noise = theory.privacy.evaluate(eps=math.sqrt(2 * guarantee.rho))
        return theory.released.at(t_smooth=math.inf, scale_tr=float(noise)), [theory.privacy]  # smooth to no t

    def certifying(self, data: Array, plan: Trimming) -> Sequence[Claim]:
        return [theory.smooth, theory.corrected]

    def worst_pair(self) -> tuple[Array, Array]:
        """A record moves from below all others to above them, which moves the trimmed mean as far as can be."""
        data = np.repeat([-1.0, 1.0], 200)
        other = data.copy()
        other[0] = 1.0
        return data, other

    @classmethod
    def example(cls) -> Example:
        return Example(
            cls(), ZCDP(0.5), neighbour=another_number, bug=0.1
        )  # the account has slack in shift and dilation


def another_number(data: Array, rng: np.random.Generator) -> Array:
    """One record is another number, of any size."""
    found = np.array(data)
    found[rng.integers(len(data))] = rng.choice([-1, 1]) * 10 ** rng.uniform(-3, 12)
    return found
