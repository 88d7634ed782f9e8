"""Local protocols that average users' outer products under Gaussian noise: what principal components are made of."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, Relation
from dpcheck.bounds.library.local import ldp_pca_gauss as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport, mean_of_users
from dpcheck.families.user_numbers import must_be_users
from dpcheck.kernels.method import Array
from dpcheck.settings import count, flag
from dpcheck.solver import Calibration, Example, Solver, approximate

ROOM = 1e-12  # of the norm, for how it is rounded


@dataclass(frozen=True)
class OuterProducts(Solver):
    """Each user sends the upper triangle of xxᵀ with noise, ‖x‖ ≤ 1; of their mean the server makes k directions.

    The output is (trials, k·d): direction after direction, the leading one first. Where `isometric`, entries off the
    diagonal are sent √2 times as large, for the two that they stand for: any two users' are no further apart than √2
    all the same, and their noise has half of the variance.
    """

    k: int = count(1)
    isometric: bool = flag()
    relations: ClassVar[tuple[Relation, ...]] = (LOCAL,)
    minimises: ClassVar[bool] = False
    printed: ClassVar[Claim]

    @abstractmethod
    def directions(self, covariances: Array, users: int, deviation: float) -> Array:
        """Of noisy covariances (trials, d, d), (trials, d, k); `deviation` is that of a user's noise."""

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_users(data, 2, lambda v: np.linalg.norm(v, axis=1) <= 1 + ROOM, "vectors of norm at most 1")
        if self.k > data.shape[1]:
            raise InvalidInput("k", self.k, f"at most d = {data.shape[1]}", "Ask for fewer directions.")

    def release(self, data: Array, plan: None) -> Release:
        return theory.released.at(r_outer=1 + 2 * ROOM)  # privacy: dwang20.algorithm6.1.46.sensitivity

    def method(self, data: Array, plan: None, released: Released) -> OneReport:
        users, d = data.shape
        deviation = float(released.parts[0].law.scale)
        weights = stands_for(d, self.isometric)

        def sent(rows: Array) -> Array:
            return upper_triangles(rows) * weights

        def server(reports: Array) -> Array:
            found = self.directions(symmetric(mean_of_users(reports) / weights, d), users, deviation)
            return oriented(found).transpose(0, 2, 1).reshape(len(found), -1)

        return OneReport(sent, server, users, len(weights), d * self.k)

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        promised = approximate(guarantee)
        noise = self.printed.evaluate(eps=promised.eps, delta=promised.delta)
        return self.release(data, plan).with_noise(float(noise)), [self.printed]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [theory.sensitivity]

    def worst_pair(self) -> tuple[Array, Array]:
        """A user moves from one coordinate vector to another."""
        return np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 0.0]])

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), neighbour=another_row)


def another_row(data: Array, rng: np.random.Generator) -> Array:
    """One user holds another vector of the unit ball."""
    found, row = data.copy(), rng.standard_normal(data.shape[1])
    found[rng.integers(len(data))] = row / np.linalg.norm(row) * rng.choice([1.0, rng.random()])
    return found


def stands_for(d: int, isometric: bool) -> Array:
    """What an entry of an upper triangle is sent times: √2 for the two that it stands for, or 1."""
    return np.where(np.equal(*np.triu_indices(d)), 1.0, math.sqrt(2) if isometric else 1.0)


def upper_triangles(rows: Array) -> Array:
    """Of each row's outer product, diagonal included, (users, d(d+1)/2)."""
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
    """‖sin Θ‖² of orthonormal bases (trials, d, k) and one (d, k): k - ‖VᵀW‖²."""
    return np.maximum(0.0, truth.shape[1] - (np.einsum("tdk,dj->tkj", bases, truth) ** 2).sum(axis=(1, 2)))
