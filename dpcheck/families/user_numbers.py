"""What solvers of local protocols share: users' numbers, or vectors, within public bounds, and noise for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP, Relation
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.kernels.method import ROUNDED
from dpcheck.settings import positive
from dpcheck.solver import Calibration, Solver

Array = np.ndarray


@dataclass(frozen=True)
class NumbersOfUsers(Solver):
    """Base: each user sends a number of [0, upper] with Laplace noise of her own, by the claim that names its scale."""

    upper: float = positive(1.0)
    published: ClassVar[Claim]
    released: ClassVar[Release]
    columns: ClassVar[int | None]  # axes of the data beyond the users' own
    relations: ClassVar[tuple[Relation, ...]] = (LOCAL,)
    minimises: ClassVar[bool] = False

    @property
    def lattice(self) -> float:
        """The public grid of the reports."""
        return lattice_under(self.upper)

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_pure(guarantee)
        must_be_users(data, self.columns, lambda v: (v >= 0) & (v <= self.upper), f"numbers in [0, {self.upper:g}]")

    def release(self, data: Array, plan: None) -> Release:
        return self.released.at(b_user=self.upper + ROUNDED * self.lattice)  # privacy: `published` of each

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        noise = self.published.evaluate(b_user=self.upper, eps=guarantee.parameters["eps"])
        return self.release(data, plan).with_noise(float(noise)), [self.published]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [self.published]


def must_be_pure(guarantee: Guarantee) -> None:
    """Refuse other notions: the reports of these protocols are calibrated to pure privacy."""
    if not isinstance(guarantee, PureDP):
        raise InvalidInput("guarantee", str(guarantee), "PureDP", "Pure privacy implies the others.")


def must_be_users(data: Any, width: int | None, held: Any, limit: str) -> None:
    """Refuse anything but one row a user, of numbers that are `held(rows)`; the refusal names no value."""
    shape = "one number a user" if width is None else "one row a user"
    good = isinstance(data, np.ndarray) and data.ndim == (1 if width is None else 2) and len(data) > 0
    if not good or not np.issubdtype(data.dtype, np.number):
        raise InvalidInput("users", type(data).__name__, f"an array with {shape}", "Use np.asarray(values, float).")
    if not np.all(np.isfinite(data)) or not np.all(held(data)):
        raise InvalidInput("users", "some", limit, "Clip them to the public bounds.")


def lattice_under(bound: float) -> float:
    """A power of two, 2^-30 of the bound or less, on which noise is drawn exactly."""
    return math.ldexp(1.0, math.frexp(bound)[1] - 31)
