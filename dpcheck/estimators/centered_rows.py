"""Rows about a public center, within a public bound: what estimators of second moments share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.estimators.base import as_numbers, bounded, not_finite, validate_data
from dpcheck.problems.losses import Array, must_be_positive
from dpcheck.problems.rows import row_norms


class CenteredRows(BaseEstimator):
    """Base: parameters `center`, `data_norm`, `rows` and `random_state`, and how rows are read by them."""

    center: Any
    data_norm: float
    rows: str
    random_state: Any
    _fitted: ClassVar[str]  # an attribute that a fitted model has

    def _given(self, X: Any, *, reset: bool) -> Array:
        """Rows about the center; zeros for those that are none."""
        if self.rows == "clip":
            X = validate_data(self, X, dtype=None, reset=reset, ensure_all_finite=False)
        else:
            X = validate_data(self, X, dtype="numeric", reset=reset)
        return self._centred(X)

    def _centred(self, X: Any) -> Array:
        try:
            center = np.asarray(self.center, float)
            fine = center.shape in ((), (X.shape[1],)) and bool(np.isfinite(center).all())
        except (TypeError, ValueError):
            fine = False
        if not fine:
            raise InvalidInput("center", self.center, f"a number, or {X.shape[1]} of them", "It must be public.")
        X = as_numbers(X)
        with np.errstate(over="ignore"):  # a row that is too long to be moved is none
            X = X - center
        return np.where(not_finite(X, row_norms(X))[:, None], 0.0, X)

    def _records(self, X: Array) -> Array:
        """Rows of the unit ball."""
        must_be_positive("data_norm", self.data_norm)
        return np.asarray(bounded(X, float(self.data_norm), self.rows)) / float(self.data_norm)

    def __getstate__(self) -> dict[str, Any]:
        """For a pickle or a copy: a fitted model goes without the seed, which would give its noise away."""
        state = dict(super().__getstate__())
        return state | {"random_state": None} if self._fitted in state else state

    def __sklearn_tags__(self) -> Any:
        """With rows="clip" every record is taken, whatever it holds."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = self.rows == "clip"
        return tags
