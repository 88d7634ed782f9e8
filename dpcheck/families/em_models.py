"""The three latent models of dwang20, section 7.2: their records, and what gradient EM asks of each.

GMM: y = zβ* + v. MRM: y = z⟨β*, x⟩ + v. RMC: y = ⟨β*, x⟩ + v with covariates missing. z is a sign. Gradients are those
of (7.45), (7.47) and (7.49), in units of 1/σ². Posterior weights are Bayes', 2w - 1 = tanh u; as printed, w(u/2), β* is
no fixed point (bounds/library/latent/gradient_em.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.families.robust_means import must_be_rows
from dpcheck.kernels.method import Array

Posterior = Literal["bayes", "printed"]
LARGEST = 1e50  # numbers beyond are taken for it: their products are still numbers


@dataclass(frozen=True, eq=False)
class LatentRecords(ABC):
    """n records of a model with parameter β in ℝᵈ, and σ, which is known. Numbers may be of any finite size."""

    sd: float = 1.0
    posterior: Posterior = "bayes"

    def __post_init__(self) -> None:
        if not 0 < self.sd < np.inf:
            raise InvalidInput("sd", self.sd, "a finite number > 0", "It is the deviation of v.")
        if self.posterior not in ("bayes", "printed"):
            raise InvalidInput("posterior", self.posterior, "bayes or printed", "Leave it out for bayes.")

    @property
    @abstractmethod
    def n(self) -> int: ...

    @property
    @abstractmethod
    def d(self) -> int: ...

    @abstractmethod
    def gradients(self, W: Array) -> Array:
        """∇q_i(β; β) for each record and each β of W (k, d), (n, k, d)."""

    @classmethod
    @abstractmethod
    def drawn(cls, n: int, truth: Array, rng: np.random.Generator, sd: float = 1.0) -> LatentRecords:
        """n records of the model."""

    def sign(self, u: Array) -> Array:
        """2w - 1, the mean of the sign z given the record."""
        return np.asarray(np.tanh(u if self.posterior == "bayes" else u / 2))

    @staticmethod
    def held(values: object, *, rows: bool) -> Array:
        found = np.clip(must_be_rows(values), -LARGEST, LARGEST)
        return found if rows else found[:, 0]


@dataclass(frozen=True, eq=False)
class SignedMixture(LatentRecords):
    """Rows Y (n, d) about β* or -β*, as likely (7.44)."""

    Y: Array = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "Y", self.held(self.Y, rows=True))

    @property
    def n(self) -> int:
        return len(self.Y)

    @property
    def d(self) -> int:
        return int(self.Y.shape[1])

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        """The rows, so that datasets can be compared."""
        return np.array(self.Y, dtype)

    def gradients(self, W: Array) -> Array:
        return self.terms(W) - W

    def terms(self, W: Array) -> Array:
        """f_i(β) = (2w - 1)y_i, whose mean is EM's next β, (n, k, d)."""
        return self.sign(self.Y @ W.T / self.sd**2)[:, :, None] * self.Y[:, None]

    @classmethod
    def drawn(cls, n: int, truth: Array, rng: np.random.Generator, sd: float = 1.0) -> SignedMixture:
        """n records of the model."""
        return cls(sd, Y=rng.choice([-1.0, 1.0], (n, 1)) * truth + sd * rng.standard_normal((n, len(truth))))


@dataclass(frozen=True, eq=False)
class Regressions(LatentRecords):
    """Rows X (n, d) and labels y (n,) of one of two lines, β* or -β* (7.46)."""

    X: Array = field(kw_only=True)
    y: Array = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        X, y = self.held(self.X, rows=True), self.held(self.y, rows=False)
        if len(X) != len(y):
            raise InvalidInput("labels", len(y), f"one a row, {len(X)}", "Give each record its label.")
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)

    @property
    def n(self) -> int:
        return len(self.X)

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    def gradients(self, W: Array) -> Array:
        fitted = self.X @ W.T
        slopes = self.sign(self.y[:, None] * fitted / self.sd**2) * self.y[:, None] - fitted
        return np.asarray(slopes[:, :, None] * self.X[:, None])

    @classmethod
    def drawn(cls, n: int, truth: Array, rng: np.random.Generator, sd: float = 1.0) -> Regressions:
        """n records of the model."""
        X = rng.standard_normal((n, len(truth)))
        return cls(sd, X=X, y=rng.choice([-1.0, 1.0], n) * (X @ truth) + sd * rng.standard_normal(n))


@dataclass(frozen=True, eq=False)
class MissingCovariates(Regressions):
    """Rows X and labels y of one line (7.48), with covariates that are missing where `seen` (n, d) is 0."""

    seen: Array = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        seen = self.held(self.seen, rows=True)
        if seen.shape != self.X.shape or not np.all((seen == 0) | (seen == 1)):
            raise InvalidInput("seen", f"shape {seen.shape}", f"zeros and ones, {self.X.shape}", "Mark what is there.")
        object.__setattr__(self, "seen", seen)
        object.__setattr__(self, "X", self.X * seen)

    def gradients(self, W: Array) -> Array:
        """y m - Kβ with m and K of (7.50) and (7.51)."""
        gap = self.y[:, None] - self.X @ W.T
        spread = self.sd**2 + (1 - self.seen) @ (W.T**2)
        lost = (1 - self.seen)[:, None] * W  # (1-z)⊙β
        m = self.X[:, None] + (gap / spread)[:, :, None] * lost
        whole, part = np.einsum("nkd,kd->nk", m, W), np.einsum("nkd,nkd->nk", m, lost)
        K_times = lost + m * whole[:, :, None] - (1 - self.seen)[:, None] * m * part[:, :, None]
        return np.asarray(self.y[:, None, None] * m - K_times)

    @classmethod
    def drawn(
        cls, n: int, truth: Array, rng: np.random.Generator, sd: float = 1.0, missing: float = 0.1
    ) -> MissingCovariates:
        """n records of the model, each covariate missing with this probability."""
        X = rng.standard_normal((n, len(truth)))
        seen = 1.0 * (rng.random(X.shape) >= missing)
        return cls(sd, X=X, y=X @ truth + sd * rng.standard_normal(n), seen=seen)


def gradient_em(records: LatentRecords, start: Array, steps: int, step_size: float = 1.0) -> Array:
    """β after each step without privacy, (steps + 1, d); at step size 1 it is EM for mixtures."""
    path = [np.asarray(start, float)]
    for _ in range(steps):
        path.append(path[-1] + step_size * records.gradients(path[-1][None])[:, 0].mean(axis=0))
    return np.array(path)


def must_be_latent(data: object, kind: type[LatentRecords] = LatentRecords) -> None:
    """Refuse other data."""
    if not isinstance(data, kind):
        raise InvalidInput("data", type(data).__name__, kind.__name__, "See dpcheck/families/em_models.py.")


# Neighbours --------------------------------------------------------------------------------------------
def another_record(data: LatentRecords, rng: np.random.Generator) -> LatentRecords:
    """One record is another, of any size and direction."""
    i = int(rng.integers(data.n))

    def anything(size: int) -> Array:
        return np.asarray(rng.choice([-1, 1], size) * 10 ** rng.uniform(-3, 9, size))

    if isinstance(data, SignedMixture):
        return replace(data, Y=_with(data.Y, i, anything(data.d)))
    assert isinstance(data, Regressions)
    changed = replace(data, X=_with(data.X, i, anything(data.d)), y=_with(data.y, i, anything(1)[0]))
    if isinstance(data, MissingCovariates):
        assert isinstance(changed, MissingCovariates)
        return replace(changed, seen=_with(data.seen, i, rng.integers(0, 2, data.d)))
    return changed


def _with(rows: Array, i: int, row: Array | float) -> Array:
    found = rows.copy()
    found[i] = row
    return found


def turned_line(n: int, d: int) -> tuple[MissingCovariates, MissingCovariates]:
    """Nothing is missing, and one record's gradient turns round in every coordinate; no sign z stands in its way."""
    small = np.full((n, d), 1e-3)
    one = MissingCovariates(X=small, y=np.full(n, -1e9), seen=np.ones((n, d)))
    return one, replace(one, y=_with(one.y, 0, 1e9))


def turned_mixture(n: int) -> tuple[SignedMixture, SignedMixture]:
    """(2w - 1)y never points away from β, but for any β with entries above 0 its signs may be (-, +) or (+, -)."""
    Y = np.full((n, 2), 1e9)
    return SignedMixture(Y=_with(Y, 0, np.array([-1e5, 1e9]))), SignedMixture(Y=_with(Y, 0, np.array([1e9, -1e5])))
