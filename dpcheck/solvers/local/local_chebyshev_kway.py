"""All k-way disjunctions from noisy coefficients. Claims: bounds/library/local/local_chebyshev_kway.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import ClassVar

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from dpcheck.bounds.language.claim import Claim
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LOCAL, Guarantee, PureDP, Relation
from dpcheck.bounds.library.local import local_chebyshev_kway as theory
from dpcheck.bounds.privacy.release import Release, Released
from dpcheck.families.one_report import OneReport, mean_of_users
from dpcheck.families.user_numbers import must_be_pure, must_be_users
from dpcheck.kernels.method import ROUNDED, Array
from dpcheck.settings import count, fraction
from dpcheck.solver import Calibration, Example, Solver

LATTICE = 2.0**-30
MOST = 1 << 14  # coefficients


@lru_cache(maxsize=64)
def disjunction(k: int, gamma: float) -> tuple[float, ...]:
    """Coefficients of a polynomial that is 0 at 0 and within γ of 1 at 1..k, of the least such degree."""
    if k == 1:
        return (0.0, 1.0)
    edge = (k + 1) / (k - 1)
    r = math.ceil(math.acosh(1 / gamma) / math.acosh(edge))
    curve = Chebyshev.basis(r).convert(kind=Polynomial)(Polynomial([edge, -2 / (k - 1)]))
    found = 1 - curve / math.cosh(r * math.acosh(edge))
    return (0.0, *(float(c) for c in found.coef[1:]))


@lru_cache(maxsize=64)
def monomials(p: int, degree: int) -> Array:
    """Exponents of all monomials in p variables of degree 1..degree, (N, p)."""
    chosen = (c for i in range(1, degree + 1) for c in combinations_with_replacement(range(p), i))
    return np.array([np.bincount(c, minlength=p) for c in chosen])


@dataclass(frozen=True)
class LocalChebyshevKway(Solver):
    """Mean coefficients in y of p_k(Σ y_j x_j), of users with x in {0, 1}^p; `answer` evaluates a query.

    Certified noise takes the exact sensitivity Σ|c_i|p^i; the constant coefficient is 0 and not reported.
    """

    name: ClassVar[str] = "local_chebyshev_kway"
    relations: ClassVar[tuple[Relation, ...]] = (LOCAL,)
    minimises: ClassVar[bool] = False
    attributes: int = count(2)
    gamma: float = fraction(0.25)

    def must_suit(self, data: Array, guarantee: Guarantee, calibration: Calibration) -> None:
        must_be_pure(guarantee)
        must_be_users(data, 2, lambda rows: (rows == 0) | (rows == 1), "rows of 0 and 1")
        p, degree = np.shape(data)[1], len(disjunction(self.attributes, self.gamma)) - 1
        if math.comb(p + degree, degree) > MOST:
            raise InvalidInput("attributes", self.attributes, f"for at most {MOST} coefficients", "Lower it.")

    def sizes(self, p: int) -> Array:
        """c_i i!/a! of each monomial y^a."""
        c = np.array(disjunction(self.attributes, self.gamma))
        exponents = monomials(p, len(c) - 1)
        orders = exponents.sum(axis=1)
        ways = [math.factorial(sum(a)) / math.prod(map(math.factorial, a)) for a in exponents.tolist()]
        return np.asarray(c[orders] * np.array(ways))

    def release(self, data: Array, plan: None) -> Release:
        sizes = np.abs(self.sizes(data.shape[1]))
        exactly = theory.released.at(coefficient_l1=float(sizes.sum()))  # privacy: dwang20.theorem5.1.10.exact
        return Release(exactly.sensitivity + ROUNDED * LATTICE * len(sizes), exactly.law, relation=LOCAL)

    def method(self, data: Array, plan: None, released: Released) -> OneReport:
        each = len(self.sizes(data.shape[1]))
        return OneReport(self.reported, mean_of_users, users=len(data), each=each, outputs=each, lattice=LATTICE)

    def reported(self, data: Array) -> Array:
        """(n, N): a monomial counts where the user has all of its attributes."""
        needs = monomials(data.shape[1], len(disjunction(self.attributes, self.gamma)) - 1) > 0
        return np.asarray(self.sizes(data.shape[1]) * ((1 - data) @ needs.T == 0))

    def answer(self, w: Array, query: Array) -> Array:
        """The share of users who have one of the query's attributes, (rows of w,)."""
        asked = np.asarray(query) > 0
        if not 1 <= asked.sum() <= self.attributes:
            raise InvalidInput("query", query, f"1 to {self.attributes} attributes", "Raise `attributes`.")
        needs = monomials(len(asked), len(disjunction(self.attributes, self.gamma)) - 1) > 0
        return np.asarray(w @ ~np.any(needs & ~asked, axis=1))

    def stated(self, data: Array, guarantee: Guarantee, plan: None) -> tuple[Released, Sequence[Claim]]:
        claim, p = theory.theorem10_privacy, data.shape[1]
        degree = len(disjunction(self.attributes, self.gamma)) - 1
        largest = float(np.abs(self.sizes(p)).max())
        noise = claim.evaluate(
            coefficients=math.comb(p + degree, degree), bound_b=largest, eps=guarantee.parameters["eps"]
        )
        return self.release(data, plan).with_noise(float(noise)), [claim]

    def certifying(self, data: Array, plan: None) -> Sequence[Claim]:
        return [theory.theorem10_exact]

    def worst_pair(self) -> tuple[Array, Array]:
        """One user has no attribute, or all."""
        return np.zeros((1, 2)), np.ones((1, 2))

    @classmethod
    def example(cls) -> Example:
        return Example(cls(), PureDP(1.0, relation=LOCAL), neighbour=random_record)


def random_record(data: Array, rng: np.random.Generator) -> Array:
    """One record replaced by a random one."""
    found = data.copy()
    found[rng.integers(len(data))] = rng.integers(0, 2, data.shape[1])
    return found
