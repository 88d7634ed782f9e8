"""Losses of y⟨w,x⟩ from noisy copies of each record: a Bernstein polynomial of the slope, of products of copies."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP, Guarantee, Relation
from dpcheck.bounds.library.local import hinge_ldp as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.intermediate_gradient import IntermediateGradient
from dpcheck.families.one_report import OneReport
from dpcheck.families.user_numbers import must_be_users
from dpcheck.kernels.method import Array
from dpcheck.settings import count, positive
from dpcheck.solver import Calibration, Example, Solver, approximate

LONGER = 1e-12  # what the length of a row may exceed 1 by, for rounding
MOST = 16  # degree: its square is how often a user reports


@dataclass(frozen=True)
class NoisyCopies(Solver):
    """Users hold rows (x, y), ‖x‖₂ ≤ 1 and |y| ≤ 1, and report them 1 + d(d+1) times; w is in the unit ball.

    The server passes once over the users, so that noise is fresh in every step, and its polynomial is one for all of
    [-1, 1], where y⟨w,x⟩ may be: both differ from what is printed.
    """

    relations: ClassVar[tuple[Relation, ...]] = (LOCAL,)
    minimises: ClassVar[bool] = False
    degree: int = count(2)
    smoothing: float = positive(0.5)

    @abstractmethod
    def slope(self, margins: Array) -> Array:
        """The smoothed slope of the loss, at most 1 in size."""

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        approximate(guarantee)
        must_be_users(data, 2, in_balls, "rows (x, y) with ‖x‖₂ ≤ 1 and |y| ≤ 1")
        if data.shape[1] < 2:
            raise InvalidInput("users", data.shape, "rows (x, y)", "Put the label in the last column.")
        if self.degree > MOST:
            raise InvalidInput("degree", self.degree, f"at most {MOST}", "A user reports its square times.")

    @property
    def others(self) -> int:
        """How many copies there are after the first."""
        return self.degree * (self.degree + 1)

    @property
    def weaker(self) -> float:
        """How many times the noise of the first copy the others have."""
        return self.others / 2

    def release(self, data: Array, plan: None) -> Release:
        exactly = theory.released.at(hinge_d=self.degree)  # privacy: dwang20.theorem5.1.8.privacy.corrected
        return replace(exactly, sensitivity=exactly.sensitivity * (1 + LONGER))

    def method(self, data: Array, plan: None, released: Released) -> OneReport:
        users, width = data.shape
        noise = float(released.parts[0].law.scale)
        return OneReport(
            self.asked, lambda reports: self.served(reports, noise),
            users=users, each=width * (1 + self.others), outputs=width - 1,
        )  # fmt: skip

    def asked(self, data: Array) -> Array:
        """The record, and again for every other copy, in units in which all noise is alike."""
        return np.hstack([data, np.tile(data / self.weaker, (1, self.others))])

    def served(self, reports: Array, noise: float) -> Array:
        """One pass of the intermediate gradient method over the users, (k, p)."""
        k, users, _ = reports.shape
        copies = reports.reshape(k, users, 1 + self.others, -1)
        p = copies.shape[-1] - 1
        search = IntermediateGradient(1 / self.smoothing, self.deviation(p, noise))
        return search.run(lambda w, t: self.gradient(copies[:, t], w), users - 1, k, p)

    def gradient(self, copies: Array, w: Array) -> Array:
        """Unbiased for P_d(y⟨w,x⟩)·yx, of copies (k, 1 + d(d+1), p + 1), if w does not depend on their noise."""
        d = self.degree
        first, rest = copies[:, 0], self.weaker * copies[:, 1:]
        margins = (rest[..., -1] * np.einsum("kcp,kp->kc", rest[..., :-1], w)).reshape(-1, d + 1, d)
        value = np.zeros(len(copies))
        for j, slope in enumerate(self.slope(2 * np.arange(d + 1) / d - 1)):
            up, down = (1 + margins[:, j, :j]) / 2, (1 - margins[:, j, j:]) / 2
            value += slope * math.comb(d, j) * up.prod(axis=1) * down.prod(axis=1)
        return np.asarray(value[:, None] * first[:, -1:] * first[:, :-1])

    def deviation(self, p: int, noise: float) -> float:
        """dwang20.theorem5.1.7.corrected with factors (1±y⟨w,x⟩)/2, half of those that are printed."""
        bound = theory.theorem7_corrected.evaluate(
            d=p, first_var=noise**2, copy_var=(self.weaker * noise) ** 2, hinge_d=self.degree
        )
        return float(bound) / 2**self.degree

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        assert isinstance(guarantee, ApproxDP)
        claim = self.published()
        noise = claim.evaluate(eps=guarantee.eps, delta=guarantee.delta, hinge_d=self.degree)
        return self.release(data, plan).with_noise(float(noise)), [claim]

    def published(self) -> Claim:
        """The claim that states the noise."""
        return theory.theorem8_privacy

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [theory.theorem8_privacy_corrected]

    def worst_pair(self) -> tuple[Array, Array]:
        """One user's record and its negative."""
        return np.array([[1.0, 1.0]]), np.array([[-1.0, -1.0]])

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), ApproxDP(1.0, 1e-2, relation=LOCAL), neighbour=another_row)


def in_balls(rows: Array) -> Array:
    """Which rows (x, y) have ‖x‖₂ ≤ 1 and |y| ≤ 1, up to rounding."""
    return np.asarray((np.linalg.norm(rows[:, :-1], axis=1) <= 1 + LONGER) & (np.abs(rows[:, -1]) <= 1))


def another_row(data: Array, rng: np.random.Generator) -> Array:
    """One user holds another record: of full length, or within."""
    found = data.copy()
    row = rng.standard_normal(data.shape[1] - 1)
    row *= rng.choice([1.0, rng.random()]) / np.linalg.norm(row)
    found[rng.integers(len(data))] = [*row, rng.choice([-1.0, 1.0, rng.uniform(-1, 1)])]
    return found
