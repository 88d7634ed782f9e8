"""Trade-off curves of many hypotheses at once: the same notion of privacy, for a row of epsilons at one delta."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Protocol

import numpy as np
from scipy import special

from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP, gaussian_delta

LOSSES = np.concatenate([np.linspace(0, 4, 81), np.linspace(4, 60, 113)[1:]])  # where a profile is looked at


class Curves(Protocol):
    """A row of trade-off curves."""

    @property
    def size(self) -> int:
        """How many."""

    def least_error(self, power: np.ndarray) -> np.ndarray:
        """Of a test with this power: the curve, read at 1 - power. The first axis of `power` is the row's."""


@dataclass(frozen=True, eq=False)
class GaussianCurves:
    """Of unit Gaussians mu apart."""

    mu: np.ndarray = field(repr=False)

    @property
    def size(self) -> int:
        return len(self.mu)

    def least_error(self, power: np.ndarray) -> np.ndarray:
        mu = self.mu.reshape(-1, *(1,) * (power.ndim - 1))
        return np.asarray(special.ndtr(special.ndtri(power) - mu))


@dataclass(frozen=True, eq=False)
class ProfileCurves:
    """By the lines below them: one pair for each loss and delta of the profiles (row, loss)."""

    losses: np.ndarray = field(repr=False)
    deltas: np.ndarray = field(repr=False)

    @property
    def size(self) -> int:
        return len(self.deltas)

    def least_error(self, power: np.ndarray) -> np.ndarray:
        shape = (self.size, *(1,) * (power.ndim - 1), -1)
        losses, deltas, test = self.losses.reshape(shape), self.deltas.reshape(shape), power[..., None]
        lines = np.maximum(np.exp(-losses) * (test - deltas), 1 - deltas - np.exp(losses) * (1 - test))
        return np.maximum(lines.max(axis=-1), 0.0)


def curves_at(claim: Guarantee, epsilons: np.ndarray, delta: float) -> Curves:
    """Of the claim's notion, with its epsilon at delta moved to each of these."""
    if isinstance(claim, GaussianDP):
        return GaussianCurves(gaussian_mu(epsilons, delta))
    moved = [with_epsilon(claim, float(eps), delta) for eps in epsilons]
    losses = np.array([np.append(LOSSES, eps) for eps in epsilons])
    deltas = np.array([member.profile(row) for member, row in zip(moved, losses, strict=True)])
    return ProfileCurves(losses, deltas)


def profiles_at(claim: Guarantee, epsilons: np.ndarray, delta: float, losses: np.ndarray) -> np.ndarray:
    """Delta of each such guarantee (rows) at these losses."""
    if isinstance(claim, GaussianDP):
        return np.asarray(gaussian_delta(losses, gaussian_mu(epsilons, delta)[:, None]))
    return np.array([with_epsilon(claim, float(eps), delta).profile(losses) for eps in epsilons])


def gaussian_mu(epsilons: np.ndarray, delta: float) -> np.ndarray:
    """How far apart unit Gaussians may be that are (eps, delta)-private, rounded up."""
    return _gaussian_mu(tuple(epsilons.tolist()), delta)


@lru_cache(maxsize=256)
def _gaussian_mu(epsilons: tuple[float, ...], delta: float) -> np.ndarray:
    eps = np.array(epsilons)
    return _least(lambda mu: np.asarray(gaussian_delta(eps, mu)) > delta, np.ones_like(eps))


@lru_cache(maxsize=2048)
def with_epsilon(claim: Guarantee, epsilon: float, delta: float) -> Guarantee:
    """A guarantee of the claim's notion with this epsilon at delta (rounded up)."""
    if isinstance(claim, PureDP | ApproxDP):
        return replace(claim, eps=epsilon)  # `delta` is its own
    name = {ZCDP: "rho", RenyiDP: "eps", GaussianDP: "mu"}[type(claim)]

    def sized(size: float) -> Guarantee:
        return type(claim)(**{**claim.parameters, name: size}, relation=claim.relation)

    def leaks(size: np.ndarray) -> np.ndarray:
        return np.array([sized(float(size[0])).profile(epsilon) > delta])

    return sized(float(_least(leaks, np.ones(1))[0]))


def _least(leaks: Callable[[np.ndarray], np.ndarray], start: np.ndarray) -> np.ndarray:
    """The least size that leaks too much, by bisection from a size of any fit."""
    low, high = np.zeros_like(start), start.copy()
    while not np.all(enough := leaks(high)):
        low, high = np.where(enough, low, high), np.where(enough, high, 2 * high)
    for _ in range(45):
        middle = (low + high) / 2
        much = leaks(middle)
        low, high = np.where(much, low, middle), np.where(much, middle, high)
    return high
