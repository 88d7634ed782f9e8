"""Covariance and PCA as scikit-learn has them: its contract, bounds on rows, guarantees, attacks."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import dpcheck as dp
from dpcheck.estimators import PrivateCovariance, PrivatePCA, SeededNoiseWarning
from dpcheck.solvers.matrix.naive_gaussian_cov import NaiveGaussianCov
from dpcheck.solvers.matrix.wishart_difference import WishartDifferenceCov
from dpcheck.testing.planting import planted

LINE = np.outer(np.linspace(-1, 1, 5000), [0.8, 0.6, 0.0])  # of norm at most 1, along one direction
BOTH = [PrivateCovariance, PrivatePCA]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [PrivateCovariance(), PrivateCovariance(delta=0.0, semidefinite=False), PrivatePCA(), PrivatePCA(delta=0.0)]
)
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("delta", [1e-5, 0.0])
def test_what_is_found_scales_with_the_unit_about_a_public_center(delta: float) -> None:
    for unit, center in ((1.0, 0.0), (1e3, [5.0, -2.0, 7.0])):
        X = unit * LINE + np.array(center)
        found = PrivatePCA(epsilon=2.0, delta=delta, data_norm=unit, center=center).fit(X)
        assert abs(found.components_[0] @ [0.8, 0.6, 0.0]) > 0.99
        assert found.explained_variance_[0] == pytest.approx(unit**2 / 3, rel=0.05)
        back = found.inverse_transform(found.transform(X))
        assert np.linalg.norm(back - X, axis=1).max() < 0.2 * unit
        moments = PrivateCovariance(epsilon=2.0, delta=delta, data_norm=unit, center=center).fit(X)
        assert np.abs(moments.covariance_ - unit**2 * LINE.T @ LINE / len(LINE)).max() < 0.02 * unit**2
        assert moments.noise_std_ == pytest.approx(found.noise_std_)
        assert np.array_equal(moments.location_, np.broadcast_to(center, 3))


@pytest.mark.parametrize("delta", [1e-5, 0.0])
def test_matrices_are_symmetric_and_semidefinite_unless_asked_otherwise(delta: float) -> None:
    X = LINE[:50]
    repaired, raw = (
        np.array([PrivateCovariance(0.2, delta, semidefinite=s).fit(X).covariance_ for _ in range(30)])
        for s in (True, False)
    )
    assert np.array_equal(raw, raw.swapaxes(1, 2))
    assert np.allclose(repaired, repaired.swapaxes(1, 2))
    assert np.all(np.linalg.eigvalsh(repaired)[:, 0] > -1e-12 * np.abs(repaired).max(axis=(1, 2)))
    least = np.linalg.eigvalsh(raw)[:, 0]
    assert np.any(least < 0)  # of a matrix of rank 1 under such noise; one fit in ten has none


def test_guarantees_and_solvers_are_named() -> None:
    approximate, pure = PrivatePCA(2.0, 1e-6, n_components=2).fit(LINE), PrivatePCA(2.0, 0.0).fit(LINE)
    assert approximate.guarantee_ == dp.ApproxDP(2.0, 1e-6)
    assert approximate.rests_on_[0] == "dwang20.equation6.16.sensitivity"
    assert pure.guarantee_ == dp.PureDP(2.0)
    assert pure.rests_on_[:2] == ("dwang20.lemma6.3.2.difference.sensitivity", "dwang20.lemma6.3.2.difference")
    assert approximate.caveats_ == pure.caveats_ == ()
    assert approximate.get_feature_names_out().tolist() == ["privatepca0", "privatepca1"]
    assert np.allclose(approximate.components_ @ approximate.components_.T, np.eye(2))


def test_scikit_learns_own_methods_work_on_it() -> None:
    X = np.random.default_rng(0).normal(scale=0.2, size=(5000, 3))
    found = PrivateCovariance(2.0, data_norm=1.0).fit(X)
    assert found.mahalanobis(X).mean() == pytest.approx(3, rel=0.1)
    assert found.error_norm(np.cov(X.T)) < 0.02
    assert np.isfinite(found.score(X))


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("delta", [1e-2, 0.0])
def test_an_attack_on_a_whole_fit_finds_a_planted_bug_alone(
    kind: Any, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alpha 1e-6; a record at e₁ or at e₂, alone; with a quarter of the noise what is fitted tells."""
    pair = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    asked: dict[str, Any] = {"pair": pair, "max_trials": 20_000, "alpha": 1e-6, "seed": 0, "executor": 1}
    model = kind(epsilon=1.0, delta=delta)
    assert not dp.audit(model.mechanism(), guarantee=model.guarantee(), **asked).violated
    solver = NaiveGaussianCov(isometric=True) if delta else WishartDifferenceCov()
    monkeypatch.setattr(kind, "_solver", lambda self: planted(0.25, solver))
    assert dp.audit(model.mechanism(), guarantee=model.guarantee(), **asked).violated


@pytest.mark.parametrize("kind", BOTH)
def test_no_record_makes_a_fit_fail_or_warn(kind: Any) -> None:
    for bad in (np.nan, np.inf, 1e308, "secret", None, 10**400):
        X = LINE[:20].astype(object)
        X[3, 1] = bad
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kind().fit(X)


@pytest.mark.parametrize("kind", BOTH)
def test_long_rows_are_clipped_or_refused(kind: Any) -> None:
    with pytest.raises(dp.InvalidInput, match="norm of row 0"):
        kind(rows="refuse", data_norm=0.5).fit(LINE)
    found = []
    for length in (1.0, 1e6):
        with pytest.warns(SeededNoiseWarning):
            model = kind(random_state=1).fit(length * np.sign(LINE[:, :1]) * [[0.8, 0.6, 0.0]])
        found.append(model.covariance_ if kind is PrivateCovariance else model.components_)
    assert np.allclose(*found)


@pytest.mark.parametrize("kind", BOTH)
def test_fits_draw_anew_and_keep_no_seed(kind: Any) -> None:
    model = kind()
    first = model.fit(LINE)
    assert not np.array_equal(vars(first)[kind._fitted].copy(), vars(clone(model).fit(LINE))[kind._fitted])
    with pytest.warns(SeededNoiseWarning):
        seeded = kind(random_state=7).fit(LINE)
    assert seeded.caveats_
    for other in (pickle.loads(pickle.dumps(seeded)), copy.deepcopy(seeded)):
        assert other.random_state is None


WRONG: dict[str, list[Any]] = {"delta": [-0.1, 1.0, None], "epsilon": [-1], "data_norm": [0.0]}
WRONG |= {"center": [[1.0, 2.0], "x"], "rows": ["drop"]}
ALL = [(kind, name, value) for kind in BOTH for name, values in WRONG.items() for value in values]
ALL += [(PrivatePCA, "n_components", value) for value in (4, 0, 1.5)] + [(PrivateCovariance, "semidefinite", "yes")]


@pytest.mark.parametrize(("kind", "name", "value"), ALL)
def test_bad_settings_are_named(kind: Any, name: str, value: Any) -> None:
    with pytest.raises(dp.InvalidInput, match=name):
        kind(**{name: value}).fit(LINE[:20])
