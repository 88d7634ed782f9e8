"""Principal components of users who send their own noisy outer products, as a transformer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import number
from dpcheck.bounds.language.guarantees import LOCAL, ApproxDP
from dpcheck.estimators.base import seed_from
from dpcheck.estimators.centered_rows import CenteredRows
from dpcheck.families.outer_products import OuterProducts
from dpcheck.kernels.blocks import seed_of
from dpcheck.problems.losses import Array, must_be_positive
from dpcheck.solver import SEEDED, warn_of_seed
from dpcheck.solvers.local.ldp_pca_gauss import LdpPcaGauss
from dpcheck.solvers.local.ldp_sparse_pca_fps import LdpSparsePcaFps


@dataclass(repr=False, eq=False)
class LocalPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CenteredRows):
    """The leading directions of records about `center`, (epsilon, delta)-private to each user by her own noise.

    Any two records are neighbours, and the server is trusted with nothing: of a row x it sees the outer product of
    x - center with noise on every entry. `center` is public, one number or one a feature. Rows longer than `data_norm`
    about it are clipped or, with rows="refuse", an error (which tells of the data); rows that are none become the
    center. `sparse=True` asks for directions with few features. `random_state` is for tests.

    Fitted: components_ (n_components, features), guarantee_, noise_std_ (of an entry, in the data's squared unit),
    rests_on_, solver_, caveats_. Reports of all users, d (d + 1) / 2 numbers each, are in memory at once.
    """

    n_components: int = 1
    epsilon: float = 1.0
    delta: float = 1e-5
    _: KW_ONLY
    sparse: bool = False
    data_norm: float = 1.0
    center: Any = 0.0
    rows: str = "clip"
    random_state: Any = None
    _fitted: ClassVar[str] = "components_"

    def fit(self, X: Any, y: Any = None) -> LocalPCA:
        """Fit privately. Raises InvalidInput on bad settings and, with rows="refuse", on rows over the bound."""
        guarantee, seed = self.guarantee(), seed_from(self.random_state)
        users = self._records(self._given(X, reset=True))
        solver = self._solver(users.shape[1])
        found = solver.solution(users, guarantee, seed)
        self.components_ = found.w.reshape(solver.k, -1)
        self.guarantee_, self.rests_on_, self.solver_ = guarantee, found.rests_on, solver.name
        self.noise_std_ = found.noise_std * float(self.data_norm) ** 2
        self.caveats_ = found.caveats
        if self.random_state is not None:
            self.caveats_ = (SEEDED, *self.caveats_)
            warn_of_seed("random_state")
        return self

    def transform(self, X: Any) -> Array:
        """Coordinates along the directions, (rows, n_components); those of a row that is none are 0."""
        check_is_fitted(self)
        return self._given(X, reset=False) @ self.components_.T

    def inverse_transform(self, X: Any) -> Array:
        """The points of the subspace with these coordinates."""
        check_is_fitted(self)
        return np.asarray(check_array(X, dtype=float) @ self.components_ + self.center)

    def guarantee(self) -> ApproxDP:
        """What `fit` gives each user, by the parameters alone."""
        must_be_positive("epsilon", self.epsilon)
        remedy = "Pass delta=1e-5: the noise is Gaussian."
        delta = number("delta", self.delta, "above 0 and below 1", remedy, lambda found: 0 < found < 1)
        return ApproxDP(float(self.epsilon), delta, relation=LOCAL)

    def mechanism(self) -> Callable[[Any, np.random.Generator, int], Array]:
        """The whole fit, as an audit wants it: (X, rng, trials) -> directions, one row a run."""
        guarantee = self.guarantee()

        def fitted(X: Any, rng: np.random.Generator, trials: int) -> Array:
            users = self._records(self._centred(np.asarray(X)))
            return self._solver(users.shape[1]).solution(users, guarantee, seed_of(rng), trials=trials).w

        return fitted

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _solver(self, d: int) -> OuterProducts:
        k = self.n_components
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= d:
            limit = f"a whole number from 1 to the {d} features"
            raise InvalidInput("n_components", k, limit, "Ask for as many directions as you need.")
        if not isinstance(self.sparse, bool | np.bool_):
            raise InvalidInput("sparse", self.sparse, "True or False", "Leave it out for False.")
        return (LdpSparsePcaFps if self.sparse else LdpPcaGauss)(k=int(k), isometric=True)
