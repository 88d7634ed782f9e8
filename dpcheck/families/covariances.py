"""Covariances of records in the unit ball, released centrally: what the solvers share.

A matrix is sent as its upper triangle, each entry once, and comes out as one: `symmetric` makes it whole. Noise is
drawn once for an entry and its mirror image. What is made of the noisy matrix sees nothing else of the records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import REPLACE_ONE, Guarantee, Relation
from dpcheck.bounds.library.matrix import naive_gaussian_cov as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.outer_products import ROOM, another_row, stands_for, symmetric
from dpcheck.kernels.method import ROUNDED, Array, State
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.settings import flag
from dpcheck.solver import Calibration, Example, Solver, approximate

CLEAR = np.repeat(np.eye(2), 60, axis=0)  # an example whose covariance stands out of noise and threshold
BLOCK = 1024  # records summed by one product


@dataclass(frozen=True, eq=False)
class MadeOf(OneAnswer):
    """One answer, of which `made` makes the output, (k, width) to (k, width)."""

    made: Callable[[Array], Array] = np.asarray

    def update(self, state: State, answer: Array, t: int) -> State:
        return (self.made(answer),)


@dataclass(frozen=True)
class CovarianceSolver(Solver):
    """Base: rows in the unit ball, and a noisy mean of their outer products.

    Where `isometric`, entries off the diagonal get their noise √2 times as large as they stand, for the two that they
    stand for: as private, and half of the variance on them.
    """

    isometric: bool = flag()
    relations: ClassVar[tuple[Relation, ...]] = (REPLACE_ONE,)
    minimises: ClassVar[bool] = False

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_records(data)

    # Of noisy covariances, (k, d, d), the number of records and the deviation of an entry's noise, those that are
    # released; None for the noisy ones themselves.
    made: ClassVar[Callable[..., Array] | None] = None

    def asking(self, data: Array, deviation: float, lattice: float = 0.0) -> MadeOf:
        """The method: the triangle of the mean, and what is made of the noisy one."""
        n, d = data.shape
        weights = stands_for(d, self.isometric)

        def made(answer: Array) -> Array:
            if self.isometric:
                answer /= weights
            if self.made is None:
                return answer
            return triangles_of(self.made(symmetric(answer, d), n, deviation))

        width = len(weights)
        return MadeOf(lambda x: mean_triangle(x) * weights, width, lattice=lattice, made=made)

    def worst_pair(self) -> tuple[Array, Array]:
        """A record moves from one coordinate vector to another."""
        return np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 0.0]])

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), neighbour=another_row)


@dataclass(frozen=True)
class GaussianCovariance(CovarianceSolver):
    """Those with Gaussian noise; `printed` is the claim that publishes it."""

    printed: ClassVar[Claim]

    def release(self, data: Array, plan: None) -> Release:
        # privacy: dwang20.equation6.16.sensitivity, of the isometric triangle too, whose norm is the matrix's
        return theory.released.at(r_outer=1 + 2 * ROOM, n=len(data))

    def method(self, data: Array, plan: None, released: Released) -> MadeOf:
        return self.asking(data, float(released.parts[0].law.scale))

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        promised = approximate(guarantee)
        noise = self.printed.evaluate(eps=promised.eps, delta=promised.delta, n=len(data))
        return self.release(data, plan).with_noise(float(noise)), [self.printed]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [theory.sensitivity]


def must_be_records(data: Array) -> None:
    """Refuse anything but rows in the unit ball; the refusal names no value."""
    good = isinstance(data, np.ndarray) and data.ndim == 2 and data.size > 0 and np.issubdtype(data.dtype, np.number)
    if not good:
        raise InvalidInput("records", type(data).__name__, "an array with one row a record", "Use np.asarray(rows).")
    if not np.all(np.isfinite(data)) or not np.all(np.linalg.norm(data, axis=1) <= 1 + ROOM):
        raise InvalidInput("records", "some", "vectors of norm at most 1", "Clip them to the public bound.")


def mean_triangle(rows: Array) -> Array:
    """The upper triangle of the mean outer product; `off_by` bounds what rounding makes of an entry.

    Products of blocks, added with what each addition rounds off carried along (Neumaier).
    """
    d = rows.shape[1]
    total, carried = np.zeros((d, d)), np.zeros((d, d))
    for first in range(0, len(rows), BLOCK):
        part = np.asarray(rows[first : first + BLOCK], float)
        block = part.T @ part
        new = total + block
        carried += np.where(np.abs(total) >= np.abs(block), (total - new) + block, (block - new) + total)
        total = new
    return np.asarray(((total + carried) / len(rows))[np.triu_indices(d)])


def off_by(radius: float = 1.0) -> float:
    """More than rounding moves an entry of `mean_triangle`, of rows of this norm at most."""
    return (BLOCK + 16) * 2.0**-53 * radius**2


def triangles_of(matrices: Array) -> Array:
    """The other way round."""
    rows, columns = np.triu_indices(matrices.shape[1])
    return np.asarray(matrices[:, rows, columns])


def semidefinite(matrices: Array) -> Array:
    """The nearest positive semidefinite matrices: negative eigenvalues become 0. Post-processing."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.maximum(values, 0.0)[:, None, :]) @ vectors.transpose(0, 2, 1))


def thresholded(covariances: Array, at: float) -> Array:
    """Entries up to the threshold become 0, then negative eigenvalues do (Algorithm 6.2.48, lines 2 and 3)."""
    return semidefinite(np.where(np.abs(covariances) > at, covariances, 0.0))


def threshold(gamma: float, records: int, d: int, deviation: float) -> float:
    """γ√(log p/n) + 4σ√(log p), σ the deviation of an entry of the noisy covariance."""
    return (gamma / math.sqrt(records) + 4 * deviation) * math.sqrt(math.log(d)) if d > 1 else 0.0


def nuclear_lattice(n: int, d: int) -> float:
    """A power of two on which the mean of n outer products, of d × d, is rounded where delta is 0.

    What rounding adds to the nuclear norm is 2^-8 of 2/n or, of very many records, as much as doubles make it.
    """
    finest = min(2.0**-16, 2.0**-8 / (ROUNDED * d**1.5)) * 2 / n
    return math.ldexp(1.0, math.frexp(max(finest, 4 * off_by()))[1])
