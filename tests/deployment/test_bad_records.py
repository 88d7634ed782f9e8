"""With rows="clip" no record, whatever it holds, makes a fit fail, warn or name it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.estimators import (
    PrivateHuber,
    PrivateLogisticRegression,
    PrivateRidge,
    PrivateSparseLogisticRegression,
    PrivateSparseRegression,
)

CLASSIFIERS = [PrivateLogisticRegression, PrivateSparseLogisticRegression]
REGRESSORS = [PrivateRidge, PrivateHuber, PrivateSparseRegression]
N = 12
BAD_ROWS = [np.nan, np.inf, -np.inf, 1e308, "secret", None, {"a": 1}, 10**400]
BAD_LABELS = [np.nan, np.inf, "secret", None, 12345.678, [1], {"a": 1}]


def table(bad: Any = 0.5) -> Any:
    X = np.arange(2.0 * N).reshape(N, 2) / N
    if isinstance(bad, float):
        X[3, 1] = bad
        return X
    return np.array([[bad if (i, j) == (3, 1) else X[i, j] for j in range(2)] for i in range(N)], dtype=object)


def labels(bad: Any = 1) -> Any:
    y = np.empty(N, object)
    y[:] = [i % 2 for i in range(N)]
    y[3] = bad
    return y


def quietly(kind: Any, X: Any, y: Any, **settings: Any) -> Any:
    settings |= {"classes": (0, 1)} if kind in CLASSIFIERS else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return kind(**settings).fit(X, y)


@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)
def test_no_record_makes_a_fit_fail(kind: Any) -> None:
    for bad in BAD_ROWS:
        assert np.isfinite(quietly(kind, table(bad), np.arange(N) % 2).coef_).all()
    for bad in BAD_LABELS:
        assert np.isfinite(quietly(kind, table(), labels(bad)).coef_).all()


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize("classes", [(0, 1), (0, 1, 2)])
def test_bad_records_are_one_and_the_same(kind: Any, classes: tuple[int, ...]) -> None:
    """A row of zeros with the first class, or 0: the same noise gives the same fit."""
    model = kind(**({"classes": classes} if kind in CLASSIFIERS else {}))
    y = np.arange(N) % 2
    fixed = table()
    fixed[3] = 0.0
    zero = np.where(np.arange(N) == 3, 0, y)
    fits = [
        (fixed, zero),
        (table(np.nan), y),
        (table("secret"), y),
        (table(), labels("secret")),
        (table(), labels(None)),
    ]
    found = [model.mechanism()(data, np.random.default_rng(0), 3) for data in fits]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_labels_of_another_kind_are_all_unknown() -> None:
    model = quietly(PrivateLogisticRegression, table(), np.array(["a"] * N))
    assert np.isfinite(model.coef_).all()


def test_entries_over_their_bound_are_clipped() -> None:
    X = np.tile([0.9, 0.1], (N, 1))
    settings = {"solver": "dp_fw_l1", "radius": 1.0, "solver_options": {"entry_bound": 0.5}, "fit_intercept": False}
    quietly(PrivateSparseLogisticRegression, X, np.arange(N) % 2, **settings)
    with pytest.raises(InvalidInput, match="entry_bound") as refused:
        quietly(PrivateSparseLogisticRegression, X, np.arange(N) % 2, rows="refuse", **settings)
    assert "0.9" not in str(refused.value)


def test_refusing_is_for_those_who_ask() -> None:
    for X, y in ((table(np.nan), np.arange(N) % 2), (table(), labels("secret"))):
        with pytest.raises(ValueError):  # noqa: PT011 - scikit-learn's own, or ours
            quietly(PrivateLogisticRegression, X, y, rows="refuse")
