"""Problem: data, loss, regulariser and constraint set, with the constants that the theorems ask for.
Constants are derived from the loss and the public bounds (row, label, set), never from the rows themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from scipy import optimize

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.problems.constraints import Box, Constraint, WholeSpace
from dpcheck.problems.losses import Array, Loss, SignLoss, must_be_positive, must_be_regulariser
from dpcheck.problems.parted_rows import PartedLabels, PartedRows
from dpcheck.problems.rows import BoundedRows, largest_entries, row_norms

# Norms of rows scaled to the bound may exceed it by rounding.
ROUNDING = 1e-12
HESSIAN_NUMBERS = 1 << 20  # weighted rows that are held at once


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise F(w) = mean_i phi(<x_i, w>, y_i) + l2/2 ||w||^2 over the constraint set.

    Every row has norm at most `row_bound`; labels are -1 or 1, or at most `label_bound` in size, as the
    loss asks. Raises InvalidInput where the data break this.

    >>> from dpcheck.problems.losses import Logistic
    >>> p = Problem([[1.0, 0.0], [0.0, 1.0]], [1, -1], Logistic(), l2=0.1)
    >>> p.n, p.d, p.smoothness, p.strong_convexity, p.data_lipschitz, p.lipschitz
    (2, 2, 0.35, 0.1, 1.0, inf)
    """

    X: Array
    y: Array
    loss: Loss
    l2: float = 0.0
    constraint: Constraint = field(default_factory=WholeSpace)
    row_bound: float = 1.0
    label_bound: float = 1.0
    multiclass: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss) or self.loss.multiclass != self.multiclass:
            limit = "Softmax" if self.multiclass else "a loss of one margin"
            remedy = "Use softmax_problem(X, y, classes) for labels of several classes, Problem for the others."
            raise InvalidInput("loss", type(self.loss).__name__, limit, remedy)
        must_be_positive("row_bound", self.row_bound)
        must_be_positive("label_bound", self.label_bound)
        must_be_regulariser(self.l2)
        if not isinstance(self.constraint, Constraint):
            raise InvalidInput("constraint", self.constraint, "a set of points", "Pass L2Ball(1.0) for example.")
        X, y = table(self.X), numbers("labels", self.y)
        check_rows(X, y, self.row_bound)
        check_labels(y, self.loss, self.label_bound)
        for name, value in (("X", X), ("y", y)):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)
        self.constraint.reach(self.d)  # a set of another dimension is refused here

    @property
    def n(self) -> int:
        return len(self.X)

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def parted(self) -> bool:
        """Whether the records stay in partitions, which send sums alone."""
        return isinstance(cast(Any, self.X), PartedRows)

    @property
    def diameter(self) -> float:
        """Of the constraint set; infinite for the whole space."""
        return self.constraint.diameter(self.d)

    @property
    def data_lipschitz(self) -> float:
        """Of each record's loss without the regulariser: the G of a clipped or per-record gradient."""
        return self.row_bound * self.loss.derivative_bound(self._margin_bound, self._label_bound)

    @property
    def lipschitz(self) -> float:
        """Of each record's loss with the regulariser, over the constraint set; infinite if unbounded."""
        return self.lipschitz_within(math.inf)

    def lipschitz_within(self, radius: float) -> float:
        """The same over the part of the constraint set with ||w|| <= radius (003, Theorem 2, local form)."""
        reach = min(radius, self.constraint.reach(self.d))
        return self.loss.gradient_bound(self.row_bound, reach, self._label_bound, self.l2)

    @property
    def curvature(self) -> tuple[float, float]:
        """Least and largest eigenvalue of a record's Hessian phi'' x x' + l2 I; x = 0 and x' v = 0 give l2."""
        low, high = self.loss.curvature_range(self._margin_bound, self._label_bound)
        row = float(self.row_bound) * float(self.row_bound)  # infinite where ** would raise
        return self.l2 + min(0.0, low) * row, self.l2 + max(0.0, high) * row

    @property
    def smoothness(self) -> float:
        """Lipschitz constant of each record's gradient."""
        low, high = self.curvature
        return max(-low, high)

    @property
    def hessian_lipschitz(self) -> float:
        """Lipschitz constant of each record's Hessian, in the operator norm; may be infinite."""
        return self.row_bound**3 * self.loss.third_derivative_bound(self._margin_bound, self._label_bound)

    @property
    def strong_convexity(self) -> float:
        """The mu with which each record's loss is mu-strongly convex; 0 if there is none."""
        return max(0.0, self.curvature[0])

    @property
    def convex(self) -> bool:
        """Whether each record's loss, with the regulariser, is convex."""
        return self.loss.convex or self.curvature[0] >= 0

    @property
    def _margin_bound(self) -> float:
        return self.row_bound * self.constraint.reach(self.d)

    @property
    def _label_bound(self) -> float:
        return 1.0 if self.loss.labels == "sign" else self.label_bound

    @cached_property
    def _signed(self) -> Array:
        """Rows times labels: a sign loss depends on nothing else."""
        return np.ascontiguousarray(self.X * self.y[:, None])

    @cached_property
    def _averaging(self) -> Array:
        """The rows that phi' multiplies, with the mean's 1/n folded in."""
        return (self._signed if isinstance(self.loss, SignLoss) else self.X) / self.n

    def value(self, W: Array) -> Any:
        """F at each point of W, shape (..., d) -> (...)."""
        W = np.asarray(W, float)
        losses = self.loss.value(W @ self.X.T, self.y).mean(axis=-1)
        return losses + self.l2 / 2 * np.einsum("...i,...i->...", W, W)

    def gradient(self, W: Array, out: Array | None = None, margins: Array | None = None) -> Array:
        """Gradient of F at each point of W, shape (..., d), by two matrix products for all trials.

        A loop may pass a buffer for the `margins`, shape (..., n), to save its allocation.
        """
        W = np.asarray(W, float)
        if W.size == self.d and (rows := rows_to_pass(self.X)):
            return self._by_blocks(rows, W, out)
        if isinstance(self.loss, SignLoss):
            margins = np.matmul(W, self._signed.T, out=margins)
            slopes = self.loss.slope(margins, out=margins if margins.ndim else None)
        else:
            slopes = self.loss.derivative(np.matmul(W, self.X.T, out=margins), self.y)
        return self._regularised(np.matmul(slopes, self._averaging, out=out), W)

    def _by_blocks(self, rows: BoundedRows | PartedRows, W: Array, out: Array | None) -> Array:
        """The gradient at one point: each row is read once."""
        w = W.reshape(-1, rows.shape[1]) if self.multiclass else W.ravel()
        found = rows.pass_over(w, self.loss.derivative, cast(Any, self.y)).reshape(W.shape)
        return self._regularised(np.divide(found, self.n, out=out), W)

    def _regularised(self, out: Array, W: Array) -> Array:
        if self.l2 > 0:
            out += self.l2 * W
        return out

    def gradient_at(self, W: Array, index: Any) -> Array:
        """Per trial, the mean gradient of the records in `index`, of shape (k,) or (k, m), at W, shape (k, d)."""
        W, index = np.asarray(W, float), np.asarray(index)
        rows, labels = self.X[index], self.y[index]
        if index.ndim == 1:
            slopes = self.loss.derivative(np.einsum("kd,kd->k", rows, W), labels)
            out = slopes[:, None] * rows
        else:
            slopes = self.loss.derivative(np.einsum("kmd,kd->km", rows, W), labels)
            out = np.einsum("km,kmd->kd", slopes, rows) / index.shape[1]
        return self._regularised(out, W)

    def hessian(self, w: Array) -> Array:
        """Second derivative of F at one point, shape (d, d)."""
        bend = self.loss.second_derivative(self.X @ w, self.y)
        return (self.X.T * bend) @ self.X / self.n + self.l2 * np.eye(self.d)

    def hessians(self, W: Array, index: Any = None) -> Array:
        """Second derivatives at each point of W, (k, d, d), of all records or of those in `index`, (k,) or (k, m)."""
        W = np.asarray(W, float)
        if index is None:
            bend, rows = self.loss.second_derivative(W @ self.X.T, self.y), self.X
            at_once = max(1, HESSIAN_NUMBERS // rows.size)
            parts = [(rows.T * bend[i : i + at_once, None]) @ rows for i in range(0, len(W), at_once)]
            found = np.concatenate([np.empty((0, self.d, self.d)), *parts]) / self.n
        else:
            places = np.reshape(index, (len(W), -1))
            drawn = self.X[places]
            bend = self.loss.second_derivative(np.einsum("kmd,kd->km", drawn, W), self.y[places])
            found = (drawn * bend[..., None]).transpose(0, 2, 1) @ drawn / places.shape[1]
        return np.asarray(found + self.l2 * np.eye(self.d))

    def replace(self, i: int, x: Sequence[float] | Array, y: float) -> Problem:
        """The neighbouring problem whose record i is (x, y)."""
        if not 0 <= i < self.n:
            raise InvalidInput("record", i, f"an index from 0 to {self.n - 1}", "Records are counted from 0.")
        row, features = numbers("x", x), int(self.X.shape[1])
        if row.shape != (features,):
            raise InvalidInput("x", row, f"a row of {features} numbers", "Match the dimension of the data.")
        X, labels = self.X.copy(), self.y.copy()
        X[i], labels[i] = row, y
        return self.with_data(X, labels)

    def with_data(self, X: Any, y: Any) -> Problem:
        """The same problem on other records."""
        return replace(self, X=X, y=y)

    def minimiser(self) -> tuple[Array, float]:
        """A minimiser and its value, to about 1e-10 in value.

        Convex problems carry a certificate: a vanishing gradient, or over a bounded set a Frank-Wolfe gap.
        If F is not convex, the best stationary point from a fixed set of starts. Raises InvalidInput where
        there is no minimiser or the accuracy is not reached.
        """
        starts = [np.zeros(self.d)]
        if not self.convex:
            rng = np.random.default_rng(0)
            starts += list(rng.standard_normal((15, self.d)) * rng.choice([0.3, 3.0, 10.0], (15, 1)))
        solve = self._free_minimiser if isinstance(self.constraint, WholeSpace) else self._held_minimiser
        found = [solve(start) for start in starts]
        best = min(found, key=lambda w: float(self.value(w)))
        return best, float(self.value(best))

    def _free_minimiser(self, w: Array) -> Array:
        at_zero = self.gradient(np.zeros(self.d))
        if self.smoothness == 0 and np.any(at_zero != 0):
            raise no_minimiser("F is linear, so unbounded below")
        options = {"maxiter": 5000, "gtol": 1e-9, "ftol": 1e-15}
        fit = optimize.minimize(self.value, w, jac=self.gradient, method="L-BFGS-B", options=options)
        w = self._newton(fit.x)
        if self.l2 == 0 and self.loss.separable and self._separates(w):
            raise no_minimiser("the data are separable")
        size = float(np.linalg.norm(self.gradient(w)))
        if size > 1e-7 * max(1.0, self.row_bound):
            raise InvalidInput("gradient at the end", size, "below 1e-7", "Add l2 > 0 or rescale the data.")
        return w

    def _separates(self, w: Array) -> bool:
        """Whether w tells every label, so that a longer w has a smaller loss."""
        return bool(np.all(self._signed @ w > 0))

    def _newton(self, w: Array) -> Array:
        """Newton steps as long as they lower the gradient: they double the digits of a good start."""
        gradient = self.gradient(w)
        for _ in range(50):
            step = np.linalg.lstsq(self.hessian(w), gradient, rcond=1e-13)[0]
            trial = self.gradient(w - step)
            if not np.linalg.norm(trial) < np.linalg.norm(gradient) or self.value(w - step) > self.value(w) + 1e-12:
                break
            w, gradient = w - step, trial
        return w

    def _held_minimiser(self, w: Array) -> Array:
        """Accelerated projected gradient, restarted when it turns uphill, until the gap is certified small."""
        w = self.constraint.project(w)
        if isinstance(self.constraint, Box):
            w = self._box_start(w)
        # 1/L from the data themselves: nothing here is private. The worst phi'' is over all margins, because
        # extrapolated points may lie outside the set.
        low, high = self.loss.curvature_range(math.inf, self._label_bound)
        bend = max(abs(low), high) * float(np.linalg.norm(self.X, 2)) ** 2 / self.n + self.l2
        step = 1 / bend if bend > 0 else 1e6
        ahead, weight = w, 1.0
        for round_ in range(100_000):
            gradient = self.gradient(ahead)
            new = self.constraint.project(ahead - step * gradient)
            if (ahead - new) @ (new - w) > 0 or not self.convex:
                weight = 1.0
            heavier = (1 + math.sqrt(1 + 4 * weight**2)) / 2
            ahead = new + (weight - 1) / heavier * (new - w)
            moved, w, weight = float(np.linalg.norm(new - w)), new, heavier
            if round_ % 10 == 0 and self._gap(w) <= 1e-11:
                return w
            if not self.convex and moved <= 1e-12:
                return w
        gap = self._gap(w)
        if gap > 1e-8:
            raise InvalidInput("duality gap at the end", gap, "below 1e-8", "Add l2 > 0 or rescale the data.")
        return w

    def _box_start(self, w: Array) -> Array:
        assert isinstance(self.constraint, Box)
        low, high = (np.broadcast_to(side, (self.d,)) for side in (self.constraint.low, self.constraint.high))
        options = {"maxiter": 5000, "gtol": 1e-12, "ftol": 1e-15}
        limits = optimize.Bounds(low, high)
        fit = optimize.minimize(self.value, w, jac=self.gradient, method="L-BFGS-B", bounds=limits, options=options)
        return self.constraint.project(fit.x)

    def _gap(self, w: Array) -> float:
        """Frank-Wolfe gap <g, w - v>: for convex F at least F(w) - min F (Jaggi 2013)."""
        gradient = self.gradient(w)
        return float(gradient @ (w - self.constraint.linear_minimiser(gradient)))


def rows_to_pass(X: Any) -> BoundedRows | PartedRows | None:
    """X itself, where a gradient at one point is a pass over its rows, in blocks or in partitions."""
    return X if isinstance(X, BoundedRows | PartedRows) else None


def largest_entry(X: Any) -> float:
    """Of all rows, in size; of rows in partitions what their reader cuts them to."""
    return X.entry_bound if isinstance(X, PartedRows) else float(largest_entries(X).max())


def table(X: Any) -> Array:
    """The rows as a matrix of their own; refuses none, ragged and non-finite ones."""
    held = rows_to_pass(X)
    if held and np.all(np.isfinite(held.norms)):
        return cast(Array, X)  # it answers as one
    rows = floats("X", X)
    if rows.size == 0 or rows.ndim != 2:
        raise InvalidInput("shape of X", rows.shape, "(n, d) with n, d >= 1", "Pass one row a record.")
    return numbers("X", rows)


def numbers(what: str, values: Any) -> Array:
    """Finite floats; labels in partitions are read there. Messages name a place and never what is there (private)."""
    if isinstance(values, PartedLabels):
        return cast(Array, values)
    array = np.array(floats(what, values))
    if not np.all(np.isfinite(array)):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InvalidInput(f"{what} at {where}", "no number", "finite", "Drop or impute such records.")
    return array


def floats(what: str, values: Any) -> Array:
    """As an array; numpy's own message would quote what is no number."""
    with suppress(TypeError, ValueError, OverflowError):
        return np.asarray(values, dtype=float)
    limit = "numbers, d of them in each row" if what == "X" else "numbers"
    raise InvalidInput(what, "of unequal length, or no numbers", limit, "Pad rows, and code what is no number.")


def check_rows(X: Array, y: Array, row_bound: float) -> None:
    """One label a row, and no row above the bound."""
    if y.shape != (len(X),):
        raise InvalidInput("shape of y", y.shape, f"({len(X)},), one label a row", "Match the two.")
    held = rows_to_pass(X)
    norms = held.norms if held else row_norms(X)
    worst = int(norms.argmax())
    if norms[worst] > row_bound * (1 + ROUNDING):
        limit = f"at most row_bound={row_bound}"
        raise InvalidInput(f"norm of row {worst}", "too large", limit, "Scale or clip the rows.")


def check_labels(y: Array, loss: Loss, label_bound: float) -> None:
    """Labels as the loss asks; those in partitions were recoded by their reader."""
    if isinstance(y, PartedLabels):
        return
    sign = loss.labels == "sign"
    bad = (np.abs(y) != 1) if sign else (np.abs(y) > label_bound * (1 + ROUNDING))
    if np.any(bad):
        first = int(bad.argmax())
        limit = "-1 or 1" if sign else f"at most label_bound={label_bound} in size"
        raise InvalidInput(f"label {first}", "neither" if sign else "too large", limit, "Recode or scale the labels.")


def no_minimiser(why: str) -> InvalidInput:
    """The error of a problem whose infimum is not attained."""
    return InvalidInput("minimiser", why, "attained", "Add l2 > 0 or a bounded constraint set.")
