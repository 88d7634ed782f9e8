"""Datasets: scaled as stated, the same at every call, and useful."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
import pytest

from dpcheck.bounds.language.errors import InvalidInput, MissingDependency
from dpcheck.datasets import Dataset
from dpcheck.datasets import embedded as datasets
from dpcheck.problems.losses import Logistic, Squared

EMBEDDED = [
    (datasets.breast_cancer, 569, 30, Logistic()),
    (datasets.wine, 178, 13, Logistic()),
    (datasets.digits, 1797, 64, Logistic()),
    (datasets.diabetes, 442, 10, Squared()),
]


@pytest.mark.parametrize(("load", "n", "d", "loss"), EMBEDDED)
def test_embedded_data_make_a_problem(load: Callable[[], Dataset], n: int, d: int, loss: Logistic | Squared) -> None:
    data = load()
    p = data.problem(loss, l2=1e-3)  # refuses rows above norm 1 and bad labels
    assert (p.n, p.d, p.row_bound) == (n, d, 1.0)
    assert np.linalg.norm(data.X, axis=1).max() > 0.4  # not scaled to nothing
    np.testing.assert_array_equal(load().X, data.X)
    w, least = p.minimiser()
    assert np.linalg.norm(p.gradient(w)) < 1e-8
    assert least < 0.9 * p.value(np.zeros(d))


@pytest.mark.parametrize(
    ("limits", "loader"),
    [
        (datasets.BREAST_CANCER_LIMITS, "load_breast_cancer"),
        (datasets.WINE_LIMITS, "load_wine"),
        (datasets.DIABETES_LIMITS, "load_diabetes"),
    ],
)
def test_limits_hold_the_data(limits: tuple[tuple[float, float], ...], loader: str) -> None:
    options = {"scaled": False} if loader == "load_diabetes" else {}
    raw = datasets.sklearn_data(loader, **options).data
    low, high = np.array(limits).T
    assert raw.shape[1] == len(limits)
    assert np.all((low <= raw) & (raw <= high))
    assert np.all(np.ptp(raw, axis=0) >= 0.5 * (high - low))


def test_scaling_looks_at_one_record_alone() -> None:
    raw = datasets.sklearn_data("load_wine").data
    whole = datasets.within(raw, datasets.WINE_LIMITS)
    np.testing.assert_array_equal(datasets.within(raw[:1], datasets.WINE_LIMITS), whole[:1])


@pytest.mark.parametrize("generate", [datasets.logistic_synthetic, datasets.linear_synthetic])
def test_generators_are_bounded_and_seeded(generate: Callable[[int, int, int], Dataset]) -> None:
    data = generate(500, 4, 7)
    data.problem(Squared())
    np.testing.assert_array_equal(generate(500, 4, 7).X, data.X)
    np.testing.assert_array_equal(generate(500, 4, 7).y, data.y)
    assert not np.array_equal(generate(500, 4, 8).X, data.X)
    norms = np.linalg.norm(data.X, axis=1)
    assert norms.max() <= 1
    assert (norms**4).mean() == pytest.approx(0.5, abs=0.08)  # uniform in the ball: ||x||^d is uniform


def test_generators_follow_their_models() -> None:
    data = datasets.logistic_synthetic(20_000, 3, 0)
    w, _ = data.problem(Logistic()).minimiser()
    assert np.linalg.norm(w) == pytest.approx(3 * math.sqrt(3), rel=0.05)
    line = datasets.linear_synthetic(20_000, 3, 0)
    w, least = line.problem(Squared()).minimiser()
    assert np.linalg.norm(w) == pytest.approx(1.0, rel=0.02)
    assert least == pytest.approx(0.1**2 / 2, rel=0.05)


@pytest.mark.parametrize("bad", [{"n": 0}, {"d": 0}, {"noise": -1.0}, {"noise": math.nan}])
def test_bad_input_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        datasets.linear_synthetic(**{"n": 5, "d": 2, "seed": 0, **bad})  # type: ignore[arg-type]


def test_missing_scikit_learn_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingDependency, match=r"dpcheck\[verify\]"):
        datasets.wine()
