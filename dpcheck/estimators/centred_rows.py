"""Rows about a public center, as estimators of second moments read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.estimators.base import as_numbers, not_finite, validate_data
from dpcheck.problems.losses import Array
from dpcheck.problems.rows import row_norms


class CentredRows:
    """What estimators with a `center` and `rows` share."""

    center: Any
    rows: str

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
