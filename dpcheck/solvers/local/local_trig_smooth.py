"""Smooth queries from trigonometric features. Claims: bounds/library/local/local_trig_smooth.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP, Relation
from dpcheck.bounds.library.local import local_trig_smooth as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport, mean_of_users
from dpcheck.families.user_numbers import must_be_pure, must_be_users
from dpcheck.kernels.method import ROUNDED, Array
from dpcheck.settings import count
from dpcheck.solver import Calibration, Example, Solver

LATTICE = 2.0**-30
MOST = 1 << 14  # features


@dataclass(frozen=True)
class LocalTrigSmooth(Solver):
    """The mean of Π cos(v_j arccos x_j), v in {0..t-1}^p, of users with x in [-1, 1]^p, one row each.

    `answer` makes of a released row the mean of a smooth function. Noise as printed is for half the range.
    """

    name: ClassVar[str] = "local_trig_smooth"
    relations: ClassVar[tuple[Relation, ...]] = (LOCAL,)
    minimises: ClassVar[bool] = False
    degree: int = count(4)

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_pure(guarantee)
        must_be_users(data, 2, lambda rows: np.abs(rows) <= 1, "rows in [-1, 1]^p")
        if self.degree < 2:
            raise InvalidInput("degree", self.degree, "at least 2", "One feature is 1 for everybody.")
        if self.degree ** np.shape(data)[1] > MOST:
            raise InvalidInput("degree", self.degree, f"at most {MOST} features t^p", "Lower it.")

    def release(self, data: Array, plan: None) -> Release:
        exactly = theory.released.at(trig_t=self.degree, d=data.shape[1])
        rounded = ROUNDED * LATTICE * self.degree ** data.shape[1]
        return Release(exactly.sensitivity + rounded, exactly.law, relation=LOCAL)

    def method(self, data: Array, plan: None, released: Released) -> OneReport:
        each = self.degree ** data.shape[1]
        return OneReport(self.features, mean_of_users, users=len(data), each=each, outputs=each, lattice=LATTICE)

    def features(self, data: Array) -> Array:
        """(n, t^p), a product over the axes."""
        angles = np.arccos(data)
        axes = [np.cos(angles[:, [j]] * np.arange(self.degree)) for j in range(data.shape[1])]
        return np.asarray(reduce(lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(len(data), -1), axes))

    def answer(self, w: Array, f: Callable[[Array], Array], p: int) -> Array:
        """The mean of f over the users, (rows of w,), by interpolating f at Chebyshev nodes."""
        t = self.degree
        angles = (np.arange(t) + 0.5) * np.pi / t
        nodes = np.stack(np.meshgrid(*[np.cos(angles)] * p, indexing="ij"), -1).reshape(-1, p)
        weights = np.cos(np.outer(np.arange(t), angles)) * np.where(np.arange(t) == 0, 1, 2)[:, None] / t
        return np.asarray(w @ (reduce(np.kron, [weights] * p) @ f(nodes)))

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        claim = theory.theorem11_privacy
        noise = claim.evaluate(trig_t=self.degree, d=data.shape[1], eps=guarantee.parameters["eps"])
        return self.release(data, plan).with_noise(float(noise)), [claim]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [theory.theorem11_privacy_corrected]

    def worst_pair(self) -> tuple[Array, Array]:
        """One user moves from the corner to where the sum of her features is least."""
        return np.array([[1.0]]), np.array([[np.cos(min(np.pi, 3 * np.pi / (2 * self.degree - 1)))]])

    @classmethod
    def example(cls) -> Example:
        return Example(cls(degree=2), PureDP(1.0, relation=LOCAL), neighbour=random_record)


def random_record(data: Array, rng: np.random.Generator) -> Array:
    """One record replaced by a uniform one."""
    found = data.copy()
    found[rng.integers(len(data))] = rng.uniform(-1, 1, data.shape[1])
    return found
