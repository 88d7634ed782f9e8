"""Local protocols that average users' outer products under Gaussian noise: what principal components are made of."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee
from dpcheck.bounds.library.local import ldp_pca_gauss as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport
from dpcheck.settings import count
from dpcheck.solver import Calibration, Example, Solver, approximate

Array = np.ndarray
ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class OuterProducts(Solver):
    """Each user sends the upper triangle of xxᵀ with noise; of their mean the server makes k directions.

    The output is (trials, d·k): direction after direction, each with its largest entry positive.
    """

    k: int = count(1)

    relations: ClassVar = (LOCAL,)
    minimises: ClassVar[bool] = False
    printed: ClassVar[Claim] = theory.theorem2_privacy

    @abstractmethod
    def components(self, covariances: Array, users: int, deviation: float) -> Array:
        """Of noisy covariances (trials, d, d), (trials, d, k); `deviation` is that of a user's noise."""

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        rows = np.asarray(data, float)
        if rows.ndim != 2 or rows.size == 0 or not np.all(np.linalg.norm(rows, axis=1) <= ROUNDING):
            raise InvalidInput("records", rows.shape, "rows of norm at most 1", "Scale or clip each user's row.")
        if self.k > rows.shape[1]:
            raise InvalidInput("k", self.k, f"at most d = {rows.shape[1]}", "Ask for fewer directions.")

    def release(self, data: Array, plan: None) -> Release:
        return theory.released  # privacy: dwang20.algorithm6.1.46.sensitivity.corrected

    def method(self, data: Array, plan: None, released: Released) -> OneReport:
        users, d = np.shape(data)
        deviation = float(released.parts[0].law.scale)

        def server(reports: Array) -> Array:
            found = self.components(symmetric(reports.mean(axis=1), d), users, deviation)
            return oriented(found).transpose(0, 2, 1).reshape(len(found), -1)

        return OneReport(upper_triangles, server, users, d * (d + 1) // 2, d * self.k)

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        promised = approximate(guarantee)
        noise = self.printed.evaluate(eps=promised.eps, delta=promised.delta)
        return theory.released.with_noise(float(noise)), [self.printed]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [theory.sensitivity_corrected]

    def worst_pair(self) -> tuple[Array, Array]:
        """One user moves from a coordinate vector to another."""
        return np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), neighbour=other_row)


def other_row(data: Array, rng: np.random.Generator) -> Array:
    """A neighbour: one user's row is another point of the ball."""
    rows, row = np.array(data, float), rng.standard_normal(np.shape(data)[1])
    rows[rng.integers(len(rows))] = row / np.linalg.norm(row) * rng.choice([rng.random(), 1 - 1e-12])
    return rows


def upper_triangles(data: Array) -> Array:
    """Of each row's outer product, diagonal included, (users, d(d+1)/2)."""
    rows = np.asarray(data, float)
    first, second = np.triu_indices(rows.shape[1])
    return rows[:, first] * rows[:, second]


def symmetric(triangles: Array, d: int) -> Array:
    """Upper triangles (k, d(d+1)/2) as symmetric matrices (k, d, d)."""
    first, second = np.triu_indices(d)
    found = np.empty((len(triangles), d, d))
    found[:, first, second] = triangles
    found[:, second, first] = triangles
    return found


def leading(matrices: Array, k: int) -> Array:
    """The k leading eigenvectors of symmetric matrices, largest first, (trials, d, k)."""
    return np.asarray(np.linalg.eigh(matrices)[1][:, :, : -k - 1 : -1])


def oriented(vectors: Array) -> Array:
    """Columns with the sign that makes their largest entry positive: an eigenvector has none of its own."""
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None], axis=1)
    return vectors * np.where(largest < 0, -1.0, 1.0)


def subspace_distance2(bases: Array, truth: Array) -> Array:
    """‖sin Θ‖² of bases (trials, d, k) and one (d, k): k - ‖VᵀW‖²."""
    return truth.shape[1] - (np.einsum("tdk,dj->tkj", bases, truth) ** 2).sum(axis=(1, 2))
