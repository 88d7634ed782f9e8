"""Multi-class logistic regression: a loss of one score a class, and its Problem with all weights in one vector."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.problems.losses import Array, Labels, Loss
from dpcheck.problems.parted_rows import PartedLabels
from dpcheck.problems.problem import Problem, numbers, rows_to_pass


@dataclass(frozen=True)
class Softmax(Loss):
    """Cross entropy -log p_y of p = softmax(scores); labels are 0 to classes - 1, scores have a last axis of classes.

    Its gradient in the scores is p - e_y, of norm below √2: p_y = 0 and one other p = 1 come near it. Its Hessian is
    diag(p) - pp', whose eigenvalues lie in [0, 1/2]: p = (1/2, 1/2, 0, ...) attains both. `margin_bound` bounds the
    norm of the scores of a record, which is at most ‖W‖ ‖x‖.

    >>> Softmax(3).derivative_bound(math.inf), Softmax(3).curvature_range(math.inf)
    (1.4142135623730951, (0.0, 0.5))
    """

    classes: int = 2
    labels: ClassVar[Labels] = "real"
    separable: ClassVar[bool] = True
    multiclass: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.classes, bool) or not isinstance(self.classes, int) or self.classes < 2:
            raise InvalidInput("classes", self.classes, "a whole number >= 2", "Count the different labels.")

    def value(self, margin: Any, y: Any) -> Any:
        scores = np.asarray(margin, float)
        return special.logsumexp(scores, axis=-1) - _picked(scores, y)

    def derivative(self, margin: Any, y: Any) -> Any:
        slopes = special.softmax(np.asarray(margin, float), axis=-1)
        index = np.broadcast_to(np.asarray(y, int), slopes.shape[:-1])[..., None]
        np.put_along_axis(slopes, index, np.take_along_axis(slopes, index, -1) - 1, -1)
        return slopes

    def second_derivative(self, margin: Any, y: Any) -> Any:
        p = special.softmax(np.asarray(margin, float), axis=-1)
        return p[..., None] * (np.eye(self.classes) - p[..., None, :])

    def derivative_bound(self, margin_bound: float, label_bound: float = 1.0) -> float:
        """√(a² + ab) with 1 - p_y ≤ a and p_j ≤ b: scores of norm M differ by at most √2 M, pair by pair.

        ‖p - e_y‖² = (1 - p_y)² + Σ_(j≠y) p_j², and the sum is at most max p_j (1 - p_y). Attained at M = 0, where
        it is √((k-1)/k), at infinity, and for two classes everywhere.
        """
        apart, others = math.sqrt(2.0) * margin_bound, math.log(self.classes - 1)
        a, b = float(special.expit(apart + others)), float(special.expit(apart - others))
        return math.sqrt(a * a + a * b)

    def curvature_range(self, margin_bound: float, label_bound: float = 1.0) -> tuple[float, float]:
        return 0.0, 0.5


def _picked(scores: Array, y: Any) -> Array:
    """The score of the label."""
    index = np.broadcast_to(np.asarray(y, int), scores.shape[:-1])[..., None]
    return np.take_along_axis(scores, index, -1)[..., 0]


@dataclass(frozen=True, eq=False)
class SoftmaxProblem(Problem):
    """Minimise the mean cross entropy of scores W x + l2/2 ||W||^2; w holds the rows of W, class by class.

    A record's gradient is (p - e_y) x', of norm at most √2 ||x||; its Hessian is at most ||x||²/2. Two records, with
    x and nearly -x, have gradients 2√2 apart where W tells them apart: so sharp is the sensitivity 2 G / n.

    >>> p = softmax_problem([[1.0, 0.0], [0.0, 1.0]], [0, 2], classes=3)
    >>> p.d, round(p.data_lipschitz, 4), p.smoothness
    (6, 1.4142, 0.5)
    """

    multiclass: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.loss, Softmax):  # others are refused below
            if not isinstance(self.y, PartedLabels):
                must_be_classes(numbers("labels", self.y), self.classes)
            object.__setattr__(self, "label_bound", float(self.classes - 1))
        super().__post_init__()

    @property
    def classes(self) -> int:
        assert isinstance(self.loss, Softmax)
        return self.loss.classes

    @property
    def d(self) -> int:
        return int(self.X.shape[1]) * self.classes

    def scores(self, W: Array, rows: Array) -> Array:
        """One score a record and class, (..., n, classes), of weights (..., d)."""
        by_class = np.asarray(W, float).reshape(*np.shape(W)[:-1], self.classes, rows.shape[-1])
        return np.matmul(rows, np.swapaxes(by_class, -1, -2))

    def value(self, W: Array) -> Any:
        W = np.asarray(W, float)
        losses = self.loss.value(self.scores(W, self.X), self.y).mean(axis=-1)
        return losses + self.l2 / 2 * np.einsum("...i,...i->...", W, W)

    def gradient(self, W: Array, out: Array | None = None, margins: Array | None = None) -> Array:
        W = np.asarray(W, float)
        if W.size == self.d and (rows := rows_to_pass(self.X)):
            return self._by_blocks(rows, W, out)
        slopes = self.loss.derivative(self.scores(W, self.X), self.y)
        found = np.matmul(np.swapaxes(slopes, -1, -2), self.X).reshape(W.shape) / self.n
        if out is None:
            return self._regularised(found, W)
        out[...] = found
        return self._regularised(out, W)

    def gradient_at(self, W: Array, index: Any) -> Array:
        W, index = np.asarray(W, float), np.asarray(index)
        index = index[:, None] if index.ndim == 1 else index
        rows = self.X[index]
        slopes = self.loss.derivative(self.scores(W, rows), self.y[index])
        found = np.matmul(np.swapaxes(slopes, -1, -2), rows).reshape(W.shape) / index.shape[1]
        return self._regularised(found, W)

    def hessian(self, w: Array) -> Array:
        bend = self.loss.second_derivative(self.scores(w, self.X), self.y)
        full = np.einsum("nij,na,nb->iajb", bend, self.X, self.X).reshape(self.d, self.d) / self.n
        return np.asarray(full + self.l2 * np.eye(self.d))

    def _separates(self, w: Array) -> bool:
        scores = self.scores(w, self.X)
        own = _picked(scores, self.y)[:, None]
        return bool(np.all(np.sum(scores >= own, axis=1) == 1))

    def predicted(self, W: Array, rows: Array) -> Array:
        """The class of the largest score, (..., records)."""
        return np.asarray(self.scores(W, rows).argmax(axis=-1))


def must_be_classes(y: Array, classes: int) -> None:
    """Refuse other labels."""
    wrong = (y < 0) | (y != np.round(y)) | (y >= classes)
    if np.any(wrong):
        limit = f"a whole number from 0 to {classes - 1}"
        raise InvalidInput(f"label {int(wrong.argmax())}", "another", limit, "Recode the labels.")


def softmax_problem(X: Any, y: Any, classes: int, **settings: Any) -> SoftmaxProblem:
    """The problem of classifying rows of norm at most `row_bound` (1 unless given); labels 0 to classes - 1.

    Settings are Problem's (l2, constraint, row_bound). Solvers that take it say so: `Solver.multiclass`.
    """
    return SoftmaxProblem(X, y, Softmax(classes), **settings)
