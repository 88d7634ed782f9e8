"""Covariances and principal components of records that a curator holds, as scikit-learn has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.covariance import EmpiricalCovariance
from sklearn.utils.validation import check_array, check_is_fitted

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import number
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.estimators.base import seed_from
from dpcheck.estimators.centered_rows import CenteredRows
from dpcheck.families.covariances import CovarianceSolver, semidefinite
from dpcheck.families.outer_products import leading, oriented, symmetric
from dpcheck.kernels.blocks import seed_of
from dpcheck.problems.losses import Array, must_be_positive
from dpcheck.solver import SEEDED, warn_of_seed
from dpcheck.solvers.matrix.naive_gaussian_cov import NaiveGaussianCov
from dpcheck.solvers.matrix.wishart_difference import WishartDifferenceCov


@dataclass(repr=False, eq=False)
class _Noisy(CenteredRows):
    """Base: the mean outer product of rows about a public center, with noise; everything else is post-processing."""

    epsilon: float = 1.0
    delta: float = 1e-5
    _: KW_ONLY
    data_norm: float = 1.0
    center: Any = 0.0
    rows: str = "clip"
    random_state: Any = None

    def guarantee(self) -> Guarantee:
        """What `fit` gives, by the parameters alone."""
        must_be_positive("epsilon", self.epsilon)
        remedy = "Pass delta=1e-5, or 0 for pure privacy."
        delta = number("delta", self.delta, "at least 0 and below 1", remedy, lambda found: 0 <= found < 1)
        return ApproxDP(float(self.epsilon), delta) if delta else PureDP(float(self.epsilon))

    def mechanism(self) -> Callable[[Any, np.random.Generator, int], Array]:
        """The whole fit, as an audit wants it: (X, rng, trials) -> what is fitted, one row a run."""
        guarantee = self.guarantee()

        def fitted(X: Any, rng: np.random.Generator, trials: int) -> Array:
            records = self._records(self._centred(np.asarray(X)))
            found = self._solver().solution(records, guarantee, seed_of(rng), trials=trials).w
            return self._made(symmetric(found, records.shape[1])).reshape(trials, -1)

        return fitted

    def _noisy(self, X: Any) -> Array:
        """The noisy matrix, in the square of the data's unit. Everything that meets the records is here."""
        guarantee, seed = self.guarantee(), seed_from(self.random_state)
        records = self._records(self._given(X, reset=True))
        solver, unit = self._solver(), float(self.data_norm) ** 2
        found = solver.solution(records, guarantee, seed)
        self.guarantee_, self.rests_on_, self.solver_ = guarantee, found.rests_on, solver.name
        self.noise_std_, self.caveats_ = found.noise_std * unit, found.caveats
        if self.random_state is not None:
            self.caveats_ = (SEEDED, *self.caveats_)
            warn_of_seed("random_state")
        return symmetric(found.w, records.shape[1])

    def _made(self, noisy: Array) -> Array:
        """Of noisy matrices of rows in units of their bound, (k, d, d), what is fitted, one row each."""
        raise NotImplementedError

    def _solver(self) -> CovarianceSolver:
        """By the guarantee; for delta = 0 the noise whose error grows least with the features, from four of them on."""
        return NaiveGaussianCov(isometric=True) if self.guarantee().parameters.get("delta") else WishartDifferenceCov()


@dataclass(repr=False, eq=False)
class PrivateCovariance(_Noisy, EmpiricalCovariance):
    """The second moments of rows about a public `center`, (epsilon, delta)-private; with delta=0 purely.

    Neighbours replace one record; n is public. Rows longer than `data_norm` about the center are clipped or, with
    rows="refuse", an error (which tells of the data); rows that are none become the center. If the center is the mean,
    this is the covariance. Noise is Gaussian or, for delta=0, the difference of two Wishart matrices. Negative
    eigenvalues, which noise makes, become 0 (post-processing), but with `semidefinite=False`: that is unbiased.
    `random_state` is for tests.

    Fitted: covariance_, location_ (the center), guarantee_, noise_std_, rests_on_, solver_, caveats_. `mahalanobis`,
    `score`, `error_norm` and `get_precision` are scikit-learn's, of these.
    """

    _: KW_ONLY
    semidefinite: bool = True

    store_precision: ClassVar[bool] = False  # what scikit-learn's methods ask for
    assume_centered: ClassVar[bool] = True
    _fitted: ClassVar[str] = "covariance_"

    def fit(self, X: Any, y: Any = None) -> PrivateCovariance:
        """Fit privately. Raises InvalidInput on bad settings and, with rows="refuse", on rows over the bound."""
        if not isinstance(self.semidefinite, bool | np.bool_):
            raise InvalidInput("semidefinite", self.semidefinite, "True or False", "Leave it out for True.")
        noisy = self._made(self._noisy(X))
        self.covariance_ = noisy[0] * float(self.data_norm) ** 2
        self.location_ = np.broadcast_to(np.asarray(self.center, float), len(self.covariance_)).copy()
        return self

    def _made(self, noisy: Array) -> Array:
        return semidefinite(noisy) if self.semidefinite else noisy


@dataclass(repr=False, eq=False)
class PrivatePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Noisy):
    """The leading directions of rows about a public `center`, (epsilon, delta)-private; with delta=0 purely.

    Those of the matrix that PrivateCovariance releases, with the same settings.

    Fitted: components_ (n_components, features), explained_variance_ (at least 0), mean_ (the center), guarantee_,
    noise_std_ (of an entry of the matrix), rests_on_, solver_, caveats_.
    """

    _: KW_ONLY
    n_components: int = 1
    _fitted: ClassVar[str] = "components_"

    def fit(self, X: Any, y: Any = None) -> PrivatePCA:
        """Fit privately. Raises InvalidInput on bad settings and, with rows="refuse", on rows over the bound."""
        k = self.n_components
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise InvalidInput("n_components", k, "a whole number >= 1", "Ask for as many directions as you need.")
        noisy = self._noisy(X)
        self.components_ = self._made(noisy)[0]
        values = np.einsum("kd,de,ke->k", self.components_, noisy[0], self.components_)
        self.explained_variance_ = np.maximum(values, 0.0) * float(self.data_norm) ** 2
        self.mean_ = np.broadcast_to(np.asarray(self.center, float), self.components_.shape[1]).copy()
        return self

    def transform(self, X: Any) -> Array:
        """Coordinates along the directions, (rows, n_components); those of a row that is none are 0."""
        check_is_fitted(self)
        return self._given(X, reset=False) @ self.components_.T

    def inverse_transform(self, X: Any) -> Array:
        """The points of the subspace with these coordinates."""
        check_is_fitted(self)
        return np.asarray(check_array(X, dtype=float) @ self.components_ + self.mean_)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _made(self, noisy: Array) -> Array:
        return oriented(leading(noisy, int(self.n_components))).transpose(0, 2, 1)

    def _records(self, X: Array) -> Array:
        if self.n_components > X.shape[1]:
            limit = f"a whole number from 1 to the {X.shape[1]} features"
            raise InvalidInput("n_components", self.n_components, limit, "Ask for as many directions as you need.")
        return super()._records(X)
