"""Sparse precision matrices from noisy second moments: the graphical lasso of scikit-learn, and what its solvers share.

A release is the upper triangle of S̃ = S + N, row by row, diagonal included: noise is drawn once for an entry and its
mirror image. All else is made of S̃: it is rounded to a public grid, repaired, and solved. Without repair the problem
may have no minimiser: where S̃ + ρI is not positive definite, negative eigenvalues of S̃ are put to 0, or it is refused.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.claim import Claim, lambdified
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.matrix.sicov_cov_wishart_approx import enough
from dpcheck.bounds.privacy.release import Released
from dpcheck.families.one_report import OneReport
from dpcheck.families.outer_products import ROOM, another_row
from dpcheck.families.user_numbers import must_be_users
from dpcheck.kernels.method import Array, Method, State
from dpcheck.kernels.one_answer import OneAnswer
from dpcheck.kernels.wishart import packed, unpacked
from dpcheck.settings import flag, one_of, positive
from dpcheck.solver import Calibration, Example, Solver, on_grid

REPAIRS = ("project", "refuse")
ROUNDS = 500  # of scikit-learn's coordinate descent, at most
CLOSE = 1e-5  # its duality gap at the end
SHORT = 1 + 2 * ROOM  # squared norms of records, for how they are rounded


def moments(rows: Array) -> Array:
    """The upper triangle of Σxxᵀ/n."""
    return packed((rows.T @ rows / len(rows))[None])[0]


def exact_moments(rows: Array) -> Array:
    """The same to two roundings, whatever the number of rows."""
    first, second = np.triu_indices(rows.shape[1])
    return np.array([math.fsum(rows[:, i] * rows[:, j]) for i, j in zip(first, second, strict=True)]) / len(rows)


def may_lack_a_minimiser(matrices: Array, rho: float) -> Array:
    """Where S̃ + ρI is not positive definite, (k,): only then can the problem be without one."""
    return np.asarray(np.linalg.eigvalsh(matrices)[:, 0] <= -rho * (1 - 1e-9))


def lacks_a_minimiser(matrices: Array, rho: float) -> Array:
    """Where it surely has none, (k,): an entry of the diagonal below -ρ, or an eigenvalue below -ρd."""
    d = matrices.shape[1]
    low = np.diagonal(matrices, axis1=1, axis2=2).min(axis=1)
    return np.asarray((low <= -rho) | (np.linalg.eigvalsh(matrices)[:, 0] <= -rho * d))


def positive_part(matrices: Array) -> Array:
    """With negative eigenvalues put to 0."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.maximum(values, 0.0)[:, None]) @ vectors.transpose(0, 2, 1))


def repaired(matrices: Array, rho: float, repair: str) -> Array:
    """Matrices whose problem has a minimiser; what is made of S̃ alone costs no privacy."""
    bad = may_lack_a_minimiser(matrices, rho)
    if not bad.any():
        return matrices
    if repair == "refuse":
        limit = "positive definite once rho is added to its diagonal: the minimiser may not exist"
        raise InvalidInput("noisy second moments", "some", limit, 'Use repair="project", more records or a larger rho.')
    found = matrices.copy()
    found[bad] = positive_part(matrices[bad])
    return found


def precisions(matrices: Array, rho: float, gap: float = CLOSE) -> Array:
    """Minimisers of -log det Θ + ⟨S, Θ⟩ + ρ‖Θ‖₁, diagonal included, of matrices with S + ρI positive definite.

    scikit-learn leaves the diagonal out of the penalty, which for Θ > 0 is the same as adding ρ to that of S. Where no
    entry off the diagonal exceeds ρ the solution is diagonal (Witten, Friedman and Simon 2011), and needs no descent.
    """
    d = matrices.shape[1]
    found = np.zeros_like(matrices)
    diagonal = np.arange(d)
    found[:, diagonal, diagonal] = 1 / (matrices[:, diagonal, diagonal] + rho)
    off = np.abs(matrices * (1 - np.eye(d))).max(axis=(1, 2))
    for i in np.flatnonzero(off > rho):
        found[i] = by_coordinate_descent(matrices[i] + rho * np.eye(d), rho, gap)
    return found


def sturdy(matrices: Array, rho: float) -> Array:
    """The same, with a penalty that is raised where scikit-learn fails; at one above all entries nothing can."""
    with contextlib.suppress(InvalidInput):
        return precisions(matrices, rho)
    found = np.empty_like(matrices)
    for i, matrix in enumerate(matrices):
        penalty = rho
        while True:
            try:
                found[i] = precisions(matrix[None], penalty)[0]
                break
            except InvalidInput:
                penalty *= 4
    return found


def by_coordinate_descent(matrix: Array, rho: float, gap: float) -> Array:
    """scikit-learn's solution, symmetric; refused where it fails on this matrix."""
    from sklearn.covariance import graphical_lasso
    from sklearn.exceptions import ConvergenceWarning

    unit = float(np.diagonal(matrix).max())  # Θ for (S, ρ) is that for (S/u, ρ/u), over u
    refusal = InvalidInput("rho", rho, "large enough for scikit-learn's graphical lasso here", "Raise it.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = graphical_lasso(matrix / unit, rho / unit, tol=gap, enet_tol=min(1e-4, gap), max_iter=ROUNDS)[1]
    except FloatingPointError:
        raise refusal from None
    if not np.all(np.isfinite(found)):
        raise refusal
    return np.asarray((found + found.T) / (2 * unit))


def distance_bound(matrix: Array, theta: Array, rho: float) -> float:
    """How far Θ is from the minimiser at most, in Frobenius norm: its duality gap, and the curvature 1/(2β²).

    β bounds both: the minimiser's eigenvalues are at most d/ρ.
    """
    d = len(matrix)
    inverse = np.linalg.inv(theta)
    dual = matrix + np.clip((inverse + inverse.T) / 2 - matrix, -rho, rho)
    signs, logs = zip(*(np.linalg.slogdet(m) for m in (theta, dual)), strict=True)
    if min(signs) <= 0:
        return math.inf
    value = -logs[0] + float((matrix * theta).sum()) + rho * float(np.abs(theta).sum())
    gap = max(0.0, value - (logs[1] + d)) + 1e-13 * (abs(value) + d)
    return math.sqrt(2 * gap) * max(d / rho, float(np.linalg.norm(theta, 2)))


@dataclass(frozen=True, eq=False)
class NoisyMatrix(OneAnswer):
    """One noisy upper triangle, rounded to a public grid, and what `made` makes of it."""

    made: Callable[[Array], Array] = lambda triangles: triangles
    noise: float = 0.0

    def output(self, state: State) -> Array:
        """Made at the end, so that densities of answers, which ask for none, do not wait for it."""
        (answer,) = state
        return self.made(answer if self.lattice else on_grid(answer, self.noise, None))

    def grain(self, scale: float) -> float:
        return 0.0  # what it is made of has been rounded


@dataclass(frozen=True, eq=False)
class SummedReports(OneReport):
    """Users' noisy upper triangles, added up by the server, and what `made` makes of the sum."""

    made: Callable[[Array], Array] = lambda triangles: triangles

    def output(self, state: State) -> Array:
        return self.made(state[0])


def sum_of_users(reports: Array) -> Array:
    """(k, users, each) to (k, each)."""
    return np.asarray(reports.sum(axis=1))


@dataclass(frozen=True)
class PrecisionMatrix(Solver):
    """A sparse precision matrix of records in the unit ball: (trials, d(d+1)/2), the upper triangle of Θ̂.

    `rho` is the penalty, on the diagonal too. `repair` says what becomes of noisy moments whose problem may have no
    minimiser: "project" puts their negative eigenvalues to 0, and raises the penalty fourfold as long as scikit-learn
    fails on what is left; "refuse" raises InvalidInput, by S̃ alone.
    """

    rho: float = positive(0.1)
    repair: str = one_of(*REPAIRS)
    minimises: ClassVar[bool] = False

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_users(data, 2, lambda v: np.linalg.norm(v, axis=1) <= 1 + ROOM, "vectors of norm at most 1")

    def solved(self, triangles: Array, d: int) -> Array:
        """The upper triangles of the minimisers for these noisy moments."""
        matrices = repaired(unpacked(triangles, d), self.rho, self.repair)
        return packed(precisions(matrices, self.rho) if self.repair == "refuse" else sturdy(matrices, self.rho))

    def shifted(self, triangles: Array, released: Released) -> Array:
        """The noisy moments; overridden where the mean of the noise is known and taken off."""
        return triangles

    def method(self, data: Array, plan: Any, released: Released) -> Method:
        d = data.shape[1]
        return NoisyMatrix(
            moments, d * (d + 1) // 2, noise=float(released.parts[0].law.scale),
            made=lambda triangles: self.solved(self.shifted(triangles, released), d),
        )  # fmt: skip

    @abstractmethod
    def certifying(self, data: Array, plan: Any) -> Sequence[Claim]: ...

    def worst_pair(self) -> tuple[Array, Array]:
        """A record moves from one coordinate vector to another."""
        return np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 0.0]])

    @classmethod
    def example(cls) -> Example:
        """With a penalty above what noise puts off the diagonal, so that runs cost little."""
        return Example(cls(rho=1e3), neighbour=another_row)


@dataclass(frozen=True)
class WithWishart(PrecisionMatrix):
    """With positive definite noise, so that S̃ is positive semidefinite, as printed.

    `centred` takes the mean of the noise, mcI, off S̃: post-processing, which leaves a matrix that may need repair.
    """

    centred: bool = flag()

    def shifted(self, triangles: Array, released: Released) -> Array:
        law = released.parts[0].law
        mean = float(law.degrees) * float(law.scale) * np.eye(int(law.side))  # type: ignore[union-attr]
        return triangles - packed(mean[None]) if self.centred else triangles


def printed_degrees(d: int, guarantee: ApproxDP) -> int:
    """m of Theorem 6.3.6, rounded up."""
    return math.ceil(lambdified(enough)(d, guarantee.delta, guarantee.eps))
