"""Sparse linear regression from labels that users make private themselves; rows are public, and so is all else."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import LABEL_ONLY, ApproxDP
from dpcheck.estimators.base import seed_from, validate_data
from dpcheck.families.hard_thresholding import LabelPrivate, SparseRecords
from dpcheck.kernels.system_generator import SystemGenerator
from dpcheck.problems.losses import must_be_positive
from dpcheck.solver import SEEDED, Calibrated, on_grid, warn_of_seed
from dpcheck.solvers.local.label_ldp_iht import LabelLDPIHT
from dpcheck.solvers.local.label_ldp_lasso import LabelLDPLasso

Array = np.ndarray


@dataclass(repr=False, eq=False)
class LabelPrivateSparseRegression(RegressorMixin, BaseEstimator):
    """At most `nonzeros` coefficients, fitted to labels that are (epsilon, delta)-private before anybody sees them.

    A user clips her label to `target_bound` and adds noise (`privatize`). A server fits what it gets (`fit_reports`);
    `fit` does both. Neighbours differ in one label: rows are not hidden.

    Columns are scaled to mean 0 and deviation 1, as rows are public; in these units, and of `target_bound`,
    coefficients stay in the unit ball. server="iht" keeps the largest in each step; "lasso" keeps those that its
    penalty leaves, and of them the largest.
    """

    epsilon: float = 1.0
    delta: float = 1e-5
    _: KW_ONLY
    nonzeros: int = 10
    target_bound: float = 1.0
    server: str = "iht"
    steps: int = 50
    random_state: Any = None

    def fit(self, X: Any, y: Any) -> LabelPrivateSparseRegression:
        """Let each user make her label private, and fit the reports."""
        X, y = validate_data(self, X, y, dtype=float, y_numeric=True)
        return self.fit_reports(X, self.privatize(y))

    def guarantee(self) -> ApproxDP:
        """Of each label, by the parameters alone."""
        must_be_positive("epsilon", self.epsilon)
        if isinstance(self.delta, bool) or not isinstance(self.delta, float) or not 0 < self.delta < 1:
            raise InvalidInput("delta", self.delta, "a number above 0 and below 1", "Pass delta=1e-5.")
        return ApproxDP(float(self.epsilon), float(self.delta), relation=LABEL_ONLY)

    def privatize(self, y: Any) -> Array:
        """What users send of their labels: clipped, with Gaussian noise, on a grid below it."""
        labels = np.clip(np.asarray(column_or_1d(y), float), -self._bound, self._bound)
        if not np.all(np.isfinite(labels)):
            raise InvalidInput("labels", "some", "numbers", "A user without a label reports 0.")
        seed = seed_from(self.random_state)
        rng = SystemGenerator() if seed is None else np.random.default_rng(seed)
        deviation = self._calibrated().noise_std * self._bound
        return on_grid(labels + deviation * rng.standard_normal(len(labels)), deviation, None)

    def fit_reports(self, X: Any, reports: Any) -> LabelPrivateSparseRegression:
        """The server's side: it sees rows and reports, and no label."""
        X, reports = validate_data(self, X, reports, dtype=float, y_numeric=True)
        middle, spread = X.mean(axis=0), X.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        rows, done = (X - middle) / spread, self._calibrated()
        kept = min(self.nonzeros, X.shape[1])
        longest = max(float(np.linalg.norm(rows, 2)) ** 2 / len(rows), np.finfo(float).tiny)
        public = SparseRecords(rows, np.zeros(len(rows)), kept, 0.0, label_bound=1.0)
        w = self._solver(kept, 1 / longest).fitted(public, done.noise_std, reports[None] / self._bound)[0]
        w[np.argsort(-np.abs(w), kind="stable")[kept:]] = 0.0
        self.coef_ = self._bound * w / spread
        self.intercept_ = float(reports.mean() - self.coef_ @ middle)
        self.guarantee_, self.noise_std_, self.rests_on_ = self.guarantee(), done.noise_std * self._bound, done.rests_on
        self.n_iter_ = self.steps
        self.caveats_: tuple[str, ...] = ()
        if self.random_state is not None:
            self.caveats_ = (SEEDED,)
            warn_of_seed("random_state")
        return self

    def predict(self, X: Any) -> Array:
        """<x, w> + b."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=float, reset=False)
        return np.asarray(X @ self.coef_ + self.intercept_)

    def __getstate__(self) -> dict[str, Any]:
        """For a pickle or a copy: a fitted model goes without the seed, which would give its noise away."""
        state = dict(super().__getstate__())
        return state | {"random_state": None} if "coef_" in state else state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # the checks have a few dozen labels
        return tags

    @property
    def _bound(self) -> float:
        must_be_positive("target_bound", self.target_bound)
        return float(self.target_bound)

    def _solver(self, kept: int, step_size: float) -> LabelPrivate:
        if self.server not in ("iht", "lasso"):
            raise InvalidInput("server", self.server, '"iht" or "lasso"', "Leave it out for iht.")
        if self.server == "lasso":
            return LabelLDPLasso(steps=self.steps)
        return LabelLDPIHT(steps=self.steps, kept=kept, step_size=step_size)

    def _calibrated(self) -> Calibrated:
        """The noise of a label in [-1, 1], by an account of the theory's release: it depends on no record."""
        if isinstance(self.nonzeros, bool) or not isinstance(self.nonzeros, int | np.integer) or self.nonzeros < 1:
            raise InvalidInput("nonzeros", self.nonzeros, "a whole number >= 1", "Pass nonzeros=10 for example.")
        one = SparseRecords(np.ones((1, 1)), np.zeros(1), 1, 0.0, label_bound=1.0)
        return self._solver(1, 1.0).calibrated(one, self.guarantee())
