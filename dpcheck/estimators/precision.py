"""A sparse precision matrix of records, privately: the graphical lasso on noisy second moments, as an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import number
from dpcheck.bounds.language.guarantees import LOCAL, REPLACE_ONE, ApproxDP, Guarantee, PureDP
from dpcheck.estimators.base import seed_from
from dpcheck.estimators.centered_rows import CenteredRows
from dpcheck.families.precision_matrices import PrecisionMatrix
from dpcheck.kernels.blocks import seed_of
from dpcheck.kernels.wishart import unpacked
from dpcheck.problems.losses import Array, must_be_positive
from dpcheck.solver import SEEDED, warn_of_seed
from dpcheck.solvers.matrix.sicov_cov_gaussian import SicovCovGaussian
from dpcheck.solvers.matrix.sicov_cov_laplace import SicovCovLaplace
from dpcheck.solvers.matrix.sicov_cov_wishart_approx import SicovCovWishartApprox
from dpcheck.solvers.matrix.sicov_ldp_gaussian import SicovLdpGaussian

NOISES = ("gaussian", "wishart", "laplace")


@dataclass(repr=False, eq=False)
class PrivateGraphicalLasso(CenteredRows):
    """scikit-learn's graphical lasso on noisy second moments about `center`: which features depend on which.

    (epsilon, delta)-private, one record replaced; with delta = 0 the noise is Laplace's, drawn exactly. `local=True`
    asks of each user a noisy outer product instead. `center` and `data_norm` are public: second moments about a center
    that is not the mean are no covariance. Rows longer than `data_norm` about it are clipped or, with rows="refuse", an
    error (which tells of the data); rows that are none become the center. `alpha` is the penalty of every entry, the
    diagonal's too, for rows of norm at most 1. Noisy moments without a minimiser are projected on semidefinite
    matrices, and the penalty is raised fourfold as long as scikit-learn fails on them. `random_state` is for tests.

    Fitted: precision_, covariance_ (its inverse; both in the data's unit), location_ (the center), guarantee_,
    noise_std_ (the scale of the noise on an entry, in the data's squared unit), rests_on_, solver_, caveats_.
    """

    alpha: float = 0.05
    epsilon: float = 1.0
    delta: float = 1e-5
    _: KW_ONLY
    noise: str | None = None
    local: bool = False
    data_norm: float = 1.0
    center: Any = 0.0
    rows: str = "clip"
    random_state: Any = None
    _fitted: ClassVar[str] = "precision_"

    def fit(self, X: Any, y: Any = None) -> PrivateGraphicalLasso:
        """Fit privately. Raises InvalidInput on bad settings and, with rows="refuse", on rows over the bound."""
        guarantee, solver, seed = self.guarantee(), self._solver(), seed_from(self.random_state)
        records = self._records(self._given(X, reset=True))
        found = solver.solution(records, guarantee, seed)
        unit = float(self.data_norm) ** 2
        self.precision_ = unpacked(found.w, records.shape[1])[0] / unit
        self.covariance_ = np.linalg.inv(self.precision_)
        self.location_ = np.broadcast_to(np.asarray(self.center, float), records.shape[1]).copy()
        self.guarantee_, self.rests_on_, self.solver_ = guarantee, found.rests_on, solver.name
        self.noise_std_ = found.noise_std * unit
        self.caveats_ = found.caveats
        if self.random_state is not None:
            self.caveats_ = (SEEDED, *self.caveats_)
            warn_of_seed("random_state")
        return self

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log likelihood of rows under a normal law with this precision. It is not private."""
        check_is_fitted(self)
        rows = self._given(X, reset=False)
        spread = float(np.einsum("ni,ij,nj->", rows, self.precision_, rows)) / len(rows)
        d = len(self.precision_)
        return float(np.linalg.slogdet(self.precision_)[1] - spread - d * np.log(2 * np.pi)) / 2

    def guarantee(self) -> Guarantee:
        """What `fit` gives, by the parameters alone."""
        must_be_positive("epsilon", self.epsilon)
        remedy = "Pass delta=1e-5, or 0 for pure privacy by Laplace noise."
        delta = number("delta", self.delta, "at least 0 and below 1", remedy, lambda found: 0 <= found < 1)
        relation = LOCAL if self._flag() else REPLACE_ONE
        if delta == 0:
            return PureDP(float(self.epsilon), relation=relation)
        return ApproxDP(float(self.epsilon), delta, relation=relation)

    def mechanism(self) -> Callable[[Any, np.random.Generator, int], Array]:
        """The whole fit, as an audit wants it: (X, rng, trials) -> upper triangles of precisions, one row a run."""
        guarantee, solver = self.guarantee(), self._solver()

        def fitted(X: Any, rng: np.random.Generator, trials: int) -> Array:
            records = self._records(self._centred(np.asarray(X)))
            return solver.solution(records, guarantee, seed_of(rng), trials=trials).w

        return fitted

    def _flag(self) -> bool:
        if not isinstance(self.local, bool | np.bool_):
            raise InvalidInput("local", self.local, "True or False", "Leave it out for False.")
        return bool(self.local)

    def _solver(self) -> PrecisionMatrix:
        """By noise, guarantee and who is trusted; what does not go together is refused."""
        must_be_positive("alpha", self.alpha)
        pure, local, rho = isinstance(self.guarantee(), PureDP), self._flag(), float(self.alpha)
        noise = ("laplace" if pure else "gaussian") if self.noise is None else self.noise
        if noise not in NOISES:
            raise InvalidInput("noise", self.noise, f"None or one of {', '.join(NOISES)}", "Leave it out.")
        if pure != (noise == "laplace") or (local and noise != "gaussian"):
            limit = 'delta = 0 with "laplace" noise, delta > 0 with the others; local=True with "gaussian"'
            raise InvalidInput("noise", noise, limit, "Leave `noise` out.")
        if local:
            return SicovLdpGaussian(rho=rho, isometric=True)
        if noise == "gaussian":
            return SicovCovGaussian(rho=rho, isometric=True)
        return SicovCovLaplace(rho=rho) if pure else SicovCovWishartApprox(rho=rho, centred=True)
