"""Gaussian mixtures, fitted privately: scikit-learn's GaussianMixture from noisy clipped statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import DensityMixin
from sklearn.mixture import GaussianMixture
from sklearn.utils.validation import check_is_fitted

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import number
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.estimators.base import seed_from
from dpcheck.estimators.centered_rows import CenteredRows
from dpcheck.families.mixtures import SHAPES, Mixture
from dpcheck.kernels.blocks import seed_of
from dpcheck.problems.losses import Array, must_be_positive
from dpcheck.solver import SEEDED, warn_of_seed
from dpcheck.solvers.latent.clipped_dp_em import ClippedDPEM, unflattened

FAR = 1e100


@dataclass(repr=False, eq=False)
class PrivateGaussianMixture(DensityMixin, CenteredRows):
    """k Gaussian components in d dimensions, (epsilon, delta)-private: neighbours replace one row, n is public.

    Rows farther than `data_norm` from `center` are clipped to it or, with rows="refuse", an error (which tells of the
    data); rows that are none become the center. Both are public, and may be rough: ten times too large costs little.
    `covariance_type` is "full", "diag" or "spherical". `rounds` of EM and `reach`, the clipping in deviations of a
    component, are chosen from n, d, k and the guarantee unless given. `random_state` is for tests.

    Fitted: weights_, means_, covariances_ as scikit-learn has them for the type, guarantee_, rests_on_, n_iter_,
    solver_, caveats_. No start is read off the data without noise, and no fit is compared with another.
    """

    n_components: int = 1
    epsilon: float = 1.0
    delta: float = 1e-5
    _: KW_ONLY
    covariance_type: str = "full"
    data_norm: float = 1.0
    center: Any = 0.0
    rows: str = "clip"
    rounds: int | None = None
    reach: float | None = None
    random_state: Any = None

    _fitted: ClassVar[str] = "means_"

    def fit(self, X: Any, y: Any = None) -> PrivateGaussianMixture:
        """Fit privately. Raises InvalidInput on bad settings and, with rows="refuse", on rows over the bound."""
        guarantee, seed = self.guarantee(), seed_from(self.random_state)
        rows = self._records(self._given(X, reset=True))
        solver = self._solver(len(rows))
        found = solver.solution(rows, guarantee, seed)
        (self.weights_,), (self.means_,), (full,) = self._in_units(unflattened(found.w, solver.k, rows.shape[1]))
        self.covariances_ = self._formed(full)
        self.guarantee_, self.rests_on_, self.solver_ = guarantee, found.rests_on, solver.name
        self.n_iter_, self.caveats_ = found.steps, found.caveats
        if self.random_state is not None:
            self.caveats_ = (SEEDED, *self.caveats_)
            warn_of_seed("random_state")
        return self

    def predict(self, X: Any) -> Array:
        """The component that each row most likely is of."""
        return np.asarray(self._mixture().predict(self._placed(X)))

    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """The same of the rows that it is fitted to: a row's own label is not private."""
        return self.fit(X).predict(X)

    def predict_proba(self, X: Any) -> Array:
        """How likely each row is of each component, (rows, n_components)."""
        return np.asarray(self._mixture().predict_proba(self._placed(X)))

    def score_samples(self, X: Any) -> Array:
        """The log density at each row."""
        return np.asarray(self._mixture().score_samples(self._placed(X)))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log density."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """New rows and their components: post-processing of what is private."""
        rows, components = self._mixture().sample(n_samples)
        return np.asarray(rows), np.asarray(components)

    def guarantee(self) -> ApproxDP:
        """What `fit` gives, by the parameters alone."""
        must_be_positive("epsilon", self.epsilon)
        remedy = "Pass delta=1e-5: the noise is Gaussian."
        delta = number("delta", self.delta, "above 0 and below 1", remedy, lambda found: 0 < found < 1)
        return ApproxDP(float(self.epsilon), delta)

    def mechanism(self) -> Callable[[Any, np.random.Generator, int], Array]:
        """The whole fit, as an audit wants it: (X, rng, trials) -> weights, means and covariances, one row a run."""
        guarantee = self.guarantee()

        def fitted(X: Any, rng: np.random.Generator, trials: int) -> Array:
            rows = self._records(self._centred(np.asarray(X)))
            return self._solver(len(rows)).solution(rows, guarantee, seed_of(rng), trials=trials).w

        return fitted

    def _solver(self, n: int) -> ClippedDPEM:
        k = self.n_components
        if n < 2:
            raise InvalidInput("rows", f"{n} sample", "two or more", "One row is no mixture.")
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= n:
            raise InvalidInput("n_components", k, f"a whole number from 1 to the {n} rows", "Ask for fewer.")
        if self.covariance_type not in SHAPES:
            raise InvalidInput("covariance_type", self.covariance_type, " or ".join(SHAPES), "Leave it out for full.")
        return ClippedDPEM(k=int(k), covariances=self.covariance_type, rounds=self.rounds, reach=self.reach)

    def _in_units(self, found: Mixture) -> Mixture:
        """In the data's own units, about the center."""
        unit = float(self.data_norm)
        return Mixture(found.weights, found.means * unit + np.asarray(self.center, float), found.covariances * unit**2)

    def _formed(self, full: Array) -> Array:
        if self.covariance_type == "full":
            return full
        diagonals = np.diagonal(full, axis1=1, axis2=2)
        return diagonals.copy() if self.covariance_type == "diag" else diagonals.mean(axis=1)

    def _mixture(self) -> GaussianMixture:
        """scikit-learn's own mixture with these parameters: densities and samples are its."""
        check_is_fitted(self)
        found = GaussianMixture(len(self.weights_), covariance_type=self.covariance_type)
        found.weights_, found.means_, found.covariances_ = self.weights_, self.means_, self.covariances_
        if self.covariance_type == "full":
            roots = np.linalg.cholesky(self.covariances_)
            found.precisions_cholesky_ = np.linalg.inv(roots).swapaxes(1, 2)
        else:
            found.precisions_cholesky_ = 1 / np.sqrt(self.covariances_)
        return found

    def _placed(self, X: Any) -> Array:
        """Rows to be judged, where they lie; so far out that densities vanish, no farther than numbers reach."""
        check_is_fitted(self)
        return np.clip(self._given(X, reset=False), -FAR, FAR) + np.asarray(self.center, float)
