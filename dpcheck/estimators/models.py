"""The estimators. Every parameter is public; where one is None, a rule of rules.py or a warning stands for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.estimators import rules
from dpcheck.estimators.base import PrivateLinear, Read, as_numbers, found, largest, warn_of_leak
from dpcheck.problems.losses import Array, Huber, Logistic, Loss, Squared, must_be_positive
from dpcheck.problems.problem import ROUNDING, Problem
from dpcheck.problems.softmax import softmax_problem
from dpcheck.solver import Solver
from dpcheck.solvers.finding import solver_named

Tags = Any
MULTI_CLASS = ("auto", "softmax", "one_vs_rest")
THRESHOLDING = "dp_ight"


@dataclass(repr=False, eq=False, kw_only=True)
class PrivateLogisticRegression(ClassifierMixin, PrivateLinear):
    """Logistic regression with (epsilon, delta)-differential privacy; delta=0 is pure.

    Neighbours replace one record. `solver` is "auto" or any registered one ("dp_gd", "outpert_gd", "dp_svrg", ...),
    its settings in `solver_options`. Rows longer than `data_norm` are clipped or, with rows="refuse", an error (which
    tells of the data); rows and labels that are none (NaN, text, an unknown class) become a row of zeros with the first
    class, or an error. `classes` are the labels; None reads them off the data with a PrivacyLeakWarning, as does
    data_norm=None. The intercept is the weight of a constant feature `intercept_scaling`, which the bound on the rows
    takes into account. `l2` is the regulariser, `radius` the size of the ball that the weights (with the intercept's)
    stay in; None chooses both, and the number of steps, by rules that know n, d and the guarantee only.

    More than two classes are fitted together (`multi_class="softmax"`: one release, whose gradients are at most
    sqrt(2) data_norm) or one against the rest ("one_vs_rest": each with its share of the budget). "auto" is softmax
    where the solver takes it: dp_gd, dp_sgd, bassily_sgd, dp_accmd, dp_fw_l1, dp_lssgd, dp_lsadam, outpert_gd.

    Fitted: coef_, intercept_, classes_, guarantee_, noise_std_ (the largest of its parts), rests_on_ (claims and
    accountants behind the noise), solver_ and plan_ (what the rules chose), multi_class_, n_iter_, n_features_in_,
    caveats_ (what takes the guarantee away). If `random_state` is None the noise has entropy of the operating system;
    a whole number is for tests, with a SeededNoiseWarning: who knows it takes the noise off. No sample weights: the
    sensitivity counts every record once. What a search or a cross-validation finds is not covered.
    """

    classes: Any = None
    multi_class: str = "auto"

    _must_be_given: ClassVar[tuple[str, ...]] = ("data_norm", "classes")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # noise for a few dozen records leaves little of them
        return tags

    def fit(self, X: Any, y: Any) -> Any:
        """Fit privately. Raises InvalidInput on bad settings and, with rows="refuse", on rows over the bound."""
        super().fit(X, y)
        self.multi_class_ = self._multi_class(found(self.solver_), len(self.classes_))
        return self

    def _loss(self) -> Loss:
        return Logistic()

    def _targets(self, y: Any) -> Read:
        """1 for the class, -1 for the rest: one column for two classes, else one a class."""
        y = column_or_1d(y, warn=True)
        if self.classes is None:
            check_classification_targets(y)
            assert_all_finite(y)
            warn_of_leak("classes is None: they are read off the data", "classes=(...), as publicly known.")
        classes = np.unique(y) if self.classes is None else named(self.classes)
        if len(classes) < 2:
            shown = f"one class, {classes.tolist()[0]!r}" if len(classes) else "empty"
            raise InvalidInput("classes", shown, "at least two", "Pass classes=(...), all that there may be.")
        places = places_of(y, classes)
        strange = places < 0
        if self.rows == "refuse" and np.any(strange):
            first = int(strange.argmax())
            raise InvalidInput(f"label {first}", "none of them", f"one of classes={classes.tolist()}", "Add it.")
        columns = np.arange(1, 2) if len(classes) == 2 else np.arange(len(classes))
        return Read(1.0, 1.0, np.where(places[:, None] == columns, 1.0, -1.0), strange, classes)

    def _some_label(self) -> Any:
        return named(self.classes)[:1]

    def _multi_class(self, kind: type[Solver], classes: int) -> str:
        """How several classes are fitted; two need no choice."""
        if self.multi_class not in MULTI_CLASS:
            raise InvalidInput("multi_class", self.multi_class, f"one of {MULTI_CLASS}", 'Leave it out for "auto".')
        if classes == 2:
            return "binary"
        if self.multi_class == "softmax" and not kind.multiclass:
            limit = f'"one_vs_rest" or "auto" with solver={kind.name!r}'
            raise InvalidInput("multi_class", "softmax", limit, "That solver takes no loss of several scores.")
        return "softmax" if self.multi_class != "one_vs_rest" and kind.multiclass else "one_vs_rest"

    def _problems(self, kind: type[Solver], X: Any, read: Read, row_bound: float) -> Sequence[Problem]:
        if self._multi_class(kind, len(read.classes)) != "softmax":
            return super()._problems(kind, X, read, row_bound)
        return [softmax_problem(X, read.places, len(read.classes), row_bound=row_bound)]

    def _shaped(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        return coef, intercept

    def decision_function(self, X: Any) -> Array:
        """Log odds: one number a row for two classes, else a score a class."""
        scores = self._decision(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> Array:
        """Probabilities, one column a class; those of one against the rest are normalised."""
        scores = self._decision(X)
        if self.multi_class_ == "softmax":
            return np.asarray(special.softmax(scores, axis=1))
        p = special.expit(scores)
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
    """The same over an l1 ball: solver="dp_fw_l1", or any that works over one.

    "auto" is DP-GD, projected, and dp_fw_l1 with delta=0.
    """

    ball: ClassVar[rules.Ball] = "l1"


@dataclass(repr=False, eq=False, kw_only=True)
class PrivateRegressor(RegressorMixin, PrivateLinear):
    """Base of the regressions: targets within `target_bound`, clipped or refused like the rows."""

    target_bound: float | None = 1.0

    _must_be_given: ClassVar[tuple[str, ...]] = ("data_norm", "target_bound")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def _targets(self, y: Any) -> Read:
        y = as_numbers(column_or_1d(y, warn=True))
        bad = ~np.isfinite(y)
        y = np.where(bad, 0.0, y)
        bound = self._given("target_bound", "largest target", lambda: largest(np.abs(y)))
        worst = int(np.abs(y).argmax())
        if self.rows == "refuse" and abs(y[worst]) > bound * (1 + ROUNDING):
            remedy = 'Scale the targets, raise target_bound or pass rows="clip".'
            raise InvalidInput(f"target {worst}", "too large", f"at most target_bound={bound} in size", remedy)
        return Read(1.0, bound, np.clip(y, -bound, bound)[:, None], bad)

    def _some_label(self) -> Any:
        return np.zeros(1)

    def _shaped(self, coef: Array, intercept: Array) -> tuple[Array, float]:
        return coef[0], float(intercept[0])

    def predict(self, X: Any) -> Array:
        """<x, w> + b."""
        return self._decision(X)[:, 0]


class PrivateRidge(PrivateRegressor):
    """Least squares with (epsilon, delta)-differential privacy, delta > 0, over a ball of weights.

    Parameters are those of PrivateLogisticRegression, but `target_bound` for the size of the targets in place of the
    classes. A squared loss has a bounded gradient only over a bounded set: `radius` is never infinite, and solvers
    that do not project (outpert_gd, dp_lssgd, dp_lsadam, dp_srm) refuse.
    """

    def _loss(self) -> Loss:
        return Squared()


@dataclass(repr=False, eq=False, kw_only=True)
class PrivateSparseRegression(PrivateRidge):
    """Least squares over an l1 ball, or with at most `nonzeros` weights.

    Over the ball "auto" is DP-GD, projected, and dp_fw_l1 with delta=0: here, unlike over an l2 ball, there is a pure
    solver. With `nonzeros` the fit is DP-IGHT, delta > 0: steps along noisy gradients, of which the largest weights are
    kept, the intercept's among them. Its loss is Huber's with the threshold `target_bound`, so that no record pulls by
    more. Columns should be of like size: by default a step is half of what would do for uncorrelated ones that fill
    `data_norm`.
    """

    nonzeros: int | None = None

    ball: ClassVar[rules.Ball] = "l1"

    def _solver_name(self) -> str:
        if self.nonzeros is None:
            return super()._solver_name()
        if self.solver not in ("auto", THRESHOLDING):
            limit = f'"auto" or {THRESHOLDING!r} with nonzeros'
            raise InvalidInput("solver", self.solver, limit, "Leave out one of the two.")
        return THRESHOLDING

    def _kind(self) -> type[Solver]:
        kind = solver_named(THRESHOLDING) if self._solver_name() == THRESHOLDING else super()._kind()
        assert kind is not None
        return kind

    def _problems(self, kind: type[Solver], X: Any, read: Read, row_bound: float) -> Sequence[Problem]:
        if kind.name != THRESHOLDING:
            return super()._problems(kind, X, read, row_bound)
        size = read.label_bound
        return [Problem(X, y, Huber(size), row_bound=row_bound, label_bound=size) for y in read.columns]

    def _fit_plan(self, setting: rules.FitSetting) -> rules.FitPlan:
        if self.nonzeros is None:
            return super()._fit_plan(setting)
        if self.radius is not None:
            raise InvalidInput("radius", self.radius, "None with nonzeros", "They are what the weights are held to.")
        return rules.thresholded(setting, self.nonzeros, self.l2, self.solver_options)


@dataclass(repr=False, eq=False, kw_only=True)
class PrivateHuber(PrivateRegressor):
    """Huber regression: residuals over `threshold` count linearly, so that one record pulls by so much at most.

    Other parameters are those of PrivateRidge; delta=0 is pure.
    """

    threshold: float = 1.0

    def _loss(self) -> Loss:
        must_be_positive("threshold", self.threshold)
        return Huber(float(self.threshold))


def named(classes: Any) -> np.ndarray:
    """The classes a user gives, in order; a set will do."""
    if isinstance(classes, str | bytes) or not isinstance(classes, Iterable):
        raise InvalidInput("classes", classes, "all labels that there may be", "Pass classes=(0, 1) for example.")
    return np.unique(np.asarray(list(classes)))


def places_of(y: Any, classes: np.ndarray) -> NDArray[np.int64]:
    """Which class each label is, -1 for none of them."""
    if all(labels.dtype.kind in "iuf" for labels in (y, classes)) or y.dtype.kind == classes.dtype.kind == "U":
        at = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        return np.where(classes[at] == y, at, -1)
    known = {label: i for i, label in enumerate(classes.tolist())}

    def place(label: Any) -> int:
        try:
            return known.get(label, -1)
        except TypeError:  # no key, so no class
            return -1

    return np.array([place(label) for label in y.tolist()], int)
