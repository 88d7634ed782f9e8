"""The estimators. Every parameter is public; where one is None, a rule of rules.py or a warning stands for it."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy import special
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from bounds.errors import InvalidInput
from dpcheck.estimators import rules
from dpcheck.estimators.base import PrivacyLeakWarning, PrivateLinear, Read
from dpcheck.losses import Array, Huber, Logistic, Loss, Squared, must_be_positive

Tags = Any


class PrivateLogisticRegression(ClassifierMixin, PrivateLinear):
    """Logistic regression with (epsilon, delta)-differential privacy; delta=0 is pure.

    Neighbours replace one record. `solver` is "auto" or any registered one ("dp_gd", "outpert_gd", "dp_svrg", ...),
    its settings in `solver_options`. Rows longer than `data_norm` are clipped or, with rows="refuse", an error.
    `classes` are the labels; None reads them off the data with a PrivacyLeakWarning, as does data_norm=None. More
    than two are fitted one against the rest, each with its share of the budget. The intercept is the weight of a
    constant feature `intercept_scaling`, which the bound on the rows takes into account. `l2` is the regulariser,
    `radius` the size of the ball that the weights (with the intercept's) stay in; None chooses both, and the number
    of steps, by rules that know n, d and the guarantee only.

    Fitted: coef_, intercept_, classes_, guarantee_, noise_std_ (the largest of its parts), rests_on_ (claims and
    accountants behind the noise), n_iter_, n_features_in_. If `random_state` is None the noise has fresh entropy.
    """

    _must_be_given: ClassVar[tuple[str, ...]] = ("data_norm", "classes")

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        *,
        solver: str = "auto",
        data_norm: float | None = 1.0,
        rows: str = "clip",
        classes: Any = None,
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        l2: float | None = None,
        radius: float | None = None,
        solver_options: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon, self.delta, self.solver = epsilon, delta, solver
        self.data_norm, self.rows, self.classes = data_norm, rows, classes
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.l2, self.radius, self.solver_options = l2, radius, solver_options
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # noise for a few dozen records leaves little of them
        return tags

    def _loss(self) -> Loss:
        return Logistic()

    def _targets(self, y: Any) -> Read:
        """1 for the class, -1 for the rest: one column for two classes, else one a class."""
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if self.classes is None:
            warnings.warn(
                "classes is None: they are read off the data, which the guarantee does not cover. "
                "Pass classes=(...), as publicly known.",
                PrivacyLeakWarning,
                stacklevel=4,
            )
        classes = np.unique(y if self.classes is None else np.asarray(self.classes))
        if len(classes) < 2:
            raise InvalidInput("classes", f"one class, {classes[0]!r}", "at least two", "It needs no classifier.")
        strange = ~np.isin(y, classes)
        if np.any(strange):
            first = int(strange.argmax())
            raise InvalidInput(f"label {first}", y[first], f"one of classes={classes.tolist()}", "Add it.")
        positive = classes[1:] if len(classes) == 2 else classes
        return Read(1.0, 1.0, np.where(y[:, None] == positive, 1.0, -1.0), classes)

    def _shaped(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        return coef, intercept

    def decision_function(self, X: Any) -> Array:
        """Log odds: one number a row for two classes, else one a class."""
        scores = self._decision(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> Array:
        """Probabilities, one column a class; one against the rest, normalised."""
        p = special.expit(self._decision(X))
        if p.shape[1] == 1:
            return np.column_stack([1 - p, p])
        total = p.sum(axis=1, keepdims=True)
        return np.divide(p, total, out=np.full_like(p, 1 / p.shape[1]), where=total > 0)

    def predict_log_proba(self, X: Any) -> Array:
        """Their logarithms."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """The likelier class."""
        scores = self._decision(X)
        return self.classes_[(scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)]


class PrivateSparseLogisticRegression(PrivateLogisticRegression):
    """The same over an l1 ball: solver="dp_fw_l1", or any that works over one; "auto" is DP-GD, projected."""

    ball: ClassVar[rules.Ball] = "l1"


class PrivateRegressor(RegressorMixin, PrivateLinear):
    """Base of the regressions: targets within `target_bound`, clipped or refused like the rows."""

    _must_be_given: ClassVar[tuple[str, ...]] = ("data_norm", "target_bound")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def _targets(self, y: Any) -> Read:
        y = column_or_1d(y, warn=True).astype(float)
        bound = self._given("target_bound", "largest target", lambda: float(np.abs(y).max()))
        worst = int(np.abs(y).argmax())
        if self.rows == "refuse" and abs(y[worst]) > bound:
            remedy = 'Scale the targets, raise target_bound or pass rows="clip".'
            raise InvalidInput(f"target {worst}", float(y[worst]), f"at most target_bound={bound} in size", remedy)
        return Read(1.0, bound, np.clip(y, -bound, bound)[:, None])

    def _shaped(self, coef: Array, intercept: Array) -> tuple[Array, float]:
        return coef[0], float(intercept[0])

    def predict(self, X: Any) -> Array:
        """<x, w> + b."""
        return self._decision(X)[:, 0]


class PrivateRidge(PrivateRegressor):
    """Least squares with (epsilon, delta)-differential privacy, delta > 0, over a ball of weights.

    Parameters are those of PrivateLogisticRegression, but `target_bound` for the size of the targets in place of the
    classes. A squared loss has a bounded gradient only over a bounded set: `radius` is never infinite.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        *,
        solver: str = "auto",
        data_norm: float | None = 1.0,
        target_bound: float | None = 1.0,
        rows: str = "clip",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        l2: float | None = None,
        radius: float | None = None,
        solver_options: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon, self.delta, self.solver = epsilon, delta, solver
        self.data_norm, self.target_bound, self.rows = data_norm, target_bound, rows
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.l2, self.radius, self.solver_options = l2, radius, solver_options
        self.random_state = random_state

    def _loss(self) -> Loss:
        return Squared()


class PrivateSparseRegression(PrivateRidge):
    """Least squares over an l1 ball: solver="dp_fw_l1", or any that works over one; "auto" is DP-GD, projected."""

    ball: ClassVar[rules.Ball] = "l1"


class PrivateHuber(PrivateRegressor):
    """Huber regression: residuals over `threshold` count linearly, so that one record pulls by so much at most.

    Parameters are those of PrivateRidge; delta=0 is pure.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        *,
        threshold: float = 1.0,
        solver: str = "auto",
        data_norm: float | None = 1.0,
        target_bound: float | None = 1.0,
        rows: str = "clip",
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        l2: float | None = None,
        radius: float | None = None,
        solver_options: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon, self.delta, self.threshold, self.solver = epsilon, delta, threshold, solver
        self.data_norm, self.target_bound, self.rows = data_norm, target_bound, rows
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.l2, self.radius, self.solver_options = l2, radius, solver_options
        self.random_state = random_state

    def _loss(self) -> Loss:
        must_be_positive("threshold", self.threshold)
        return Huber(float(self.threshold))
