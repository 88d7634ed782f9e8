"""Releases at many points and cells at once, as the accountants of whole boxes read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpcheck.bounds.language.guarantees import REPLACE_ONE, Relation
from dpcheck.bounds.privacy import batches
from dpcheck.bounds.privacy.cells import Range
from dpcheck.bounds.privacy.laws import InOrder, Poisson, Scheme, WithoutReplacement
from dpcheck.bounds.privacy.moments import Sampled
from dpcheck.bounds.privacy.release import ZERO, Release, noise_name

Array = np.ndarray


@dataclass(frozen=True)
class StepValues:
    """One release at many points. `picked` is the probability that a batch holds the record at all.

    A number of steps that is not whole is rounded up in `steps`, and down in `fewest`. `product` bounds
    steps (picked ratio)^2 on cells, and `shared` steps always^2.
    """

    ratio: Array
    steps: Array
    always: Array
    picked: Array
    of: Release
    sizes: tuple[Array, ...] = ()
    fewest: Array | None = None
    product: Array | None = None
    shared: Array | None = None

    def parts(self, relation: Relation) -> list[Sampled]:
        """What it adds to the loss at most; a part that uses all records gets its own share of the noise.

        Any share is sound; this one is best for many small steps.
        """
        filled = not isinstance(self.of.sampling, Poisson) or relation != REPLACE_ONE
        product = self.product if filled and noise_name(self.of.law) == "gaussian" else None
        if self.of.always == 0:
            return [Sampled(self.ratio, self.steps, self.picked, filled, noise_name(self.of.law), product)]
        with np.errstate(all="ignore"):
            share = np.clip(self.always / (self.always + self.picked * self.ratio), 1e-4, 1 - 1e-4)
        if product is not None:
            product = product / (1 - share)
        drawn = Sampled(
            self.ratio / np.sqrt(1 - share), self.steps, self.picked, filled, noise_name(self.of.law), product
        )
        shared = None if self.shared is None else self.shared / share
        whole = np.ones(share.shape)
        return [drawn, Sampled(self.always / np.sqrt(share), self.steps, whole, True, noise_name(self.of.law), shared)]

    def with_ratio_times(self, factor: float) -> StepValues:
        """The same with less noise."""
        product, shared = (None if p is None else p * factor**2 for p in (self.product, self.shared))
        return replace(self, ratio=self.ratio * factor, always=self.always * factor, product=product, shared=shared)


@dataclass(frozen=True)
class Values:
    """Promise and releases at many points."""

    promise: dict[str, Array]
    steps: tuple[StepValues, ...]

    def parts(self, relation: Relation) -> list[Sampled]:
        """All that is released, for the bounds of moments.py."""
        return [part for step in self.steps for part in step.parts(relation)]

    def attackable(self, relation: Relation) -> list[Sampled]:
        """Each release by itself, with all of its noise."""
        whole = [replace(s, steps=s.fewest, of=replace(s.of, always=ZERO)) for s in self.steps if s.fewest is not None]
        return [part for step in whole for part in step.parts(relation)]


def share_picked(scheme: Scheme | None, sizes: Sequence[Array]) -> Array:
    """The probability that a batch holds the record at all."""
    if scheme is None or isinstance(scheme, InOrder):
        return np.asarray(1.0)
    if isinstance(scheme, Poisson):
        return sizes[0]
    if isinstance(scheme, WithoutReplacement):
        return sizes[0] / sizes[1]
    with np.errstate(all="ignore"):
        return -np.expm1(sizes[0] * np.log1p(-1 / sizes[1]))


def most_picked(scheme: Scheme | None, ends: Sequence[Range]) -> Array:
    """The largest on each cell, given the ends of the scheme's numbers there."""
    if scheme is None or isinstance(scheme, InOrder):
        return np.asarray(1.0)
    if isinstance(scheme, Poisson):
        return ends[0][1]
    return share_picked(scheme, (ends[0][1], np.maximum(ends[1][0], 1.0)))


def release_at(step: StepValues, ratio: float) -> batches.NoisySum:
    """The release at one point, with this ratio."""
    count, noise, scheme = int(step.steps), noise_name(step.of.law), step.of.sampling
    if scheme is None or isinstance(scheme, InOrder):
        return batches.every_record(ratio, count, noise)
    if isinstance(scheme, Poisson):
        return batches.poisson(ratio, count, float(step.sizes[0]), noise)
    make = batches.without_replacement if isinstance(scheme, WithoutReplacement) else batches.with_replacement
    return make(ratio, count, round(float(step.sizes[0])), round(float(step.sizes[1])), noise)
