"""Private mixtures as an estimator: scikit-learn's contract, what it finds, bounds, its guarantee, and an attack."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.mixture import GaussianMixture
from sklearn.utils.estimator_checks import parametrize_with_checks

import dpcheck as dp
from dpcheck.estimators import PrivateGaussianMixture, SeededNoiseWarning
from dpcheck.solvers.latent.clipped_dp_em import ClippedDPEM
from dpcheck.testing.planting import planted

CENTRES = np.array([[-0.5, -0.3], [0.5, -0.3], [0.0, 0.6]])


def clusters(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return CENTRES[rng.choice(3, n, p=[0.5, 0.3, 0.2])] + 0.1 * rng.standard_normal((n, 2))


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([PrivateGaussianMixture(), PrivateGaussianMixture(2, covariance_type="diag")])
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_components_are_found_in_any_unit_about_a_public_center(kind: str) -> None:
    X = clusters(20_000)
    for unit, center in ((1.0, 0.0), (1e3, [5.0, -2.0])):
        rows = unit * X + np.array(center)
        model = PrivateGaussianMixture(3, 1.0, covariance_type=kind, data_norm=2 * unit, center=center, random_state=0)
        found = model.fit(rows)
        gaps = np.linalg.norm((found.means_ - np.array(center))[:, None] / unit - CENTRES, axis=2)
        assert gaps.min(axis=0).max() < 0.03
        assert sorted(found.weights_) == pytest.approx([0.2, 0.3, 0.5], abs=0.03)
        exact = GaussianMixture(3, covariance_type=kind, n_init=2, random_state=0).fit(rows)
        assert found.covariances_.shape == exact.covariances_.shape
        assert exact.score(rows) - found.score(rows) < 0.05
        assert (found.predict(rows) == found.predict_proba(rows).argmax(axis=1)).all()
    assert found.sample(5)[0].shape == (5, 2)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_attack_on_a_whole_fit_finds_a_planted_bug_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alpha 1e-6; a record from one side to the other; with a twentieth of the noise the parameters tell."""
    X = np.array([[-1.0], [-1.0], [1.0]])
    other = X.copy()
    other[0] = 1.0
    asked: dict[str, Any] = {"pair": (X, other), "max_trials": 4000, "alpha": 1e-6, "seed": 0, "executor": 1}
    model = PrivateGaussianMixture(1, epsilon=1.0, delta=1e-2, rounds=1)
    assert not dp.audit(model.mechanism(), guarantee=model.guarantee(), **asked).violated
    monkeypatch.setattr(PrivateGaussianMixture, "_solver", lambda self, n: planted(0.05, ClippedDPEM(k=1, rounds=1)))
    assert dp.audit(model.mechanism(), guarantee=model.guarantee(), **asked).violated


def test_guarantee_and_what_it_rests_on_are_the_solvers_own() -> None:
    model = PrivateGaussianMixture(2, epsilon=2.0, delta=1e-6).fit(clusters(500))
    assert model.guarantee_ == dp.ApproxDP(2.0, 1e-6)
    assert model.rests_on_[0] == "dwang20.section7.2.6.clipped"
    assert model.caveats_ == ()


def test_no_record_makes_a_fit_fail_or_warn() -> None:
    for bad in (np.nan, np.inf, 1e308, "secret", None, 10**400):
        X = clusters(60).astype(object)
        X[3, 1] = bad
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = PrivateGaussianMixture(2).fit(X)
            assert np.isfinite(found.score_samples(X)).all()


def test_long_rows_are_clipped_or_refused() -> None:
    with pytest.raises(dp.InvalidInput, match="norm of row"):
        PrivateGaussianMixture(rows="refuse", data_norm=0.2).fit(clusters(50))
    found = []
    for length in (1.0, 1e6):
        X = length * np.sign(clusters(50)[:, :1]) * [[0.8, 0.6]]
        with pytest.warns(SeededNoiseWarning):
            found.append(PrivateGaussianMixture(2, random_state=1).fit(X).means_)
    assert np.allclose(*found)


def test_fits_draw_anew_and_keep_no_seed() -> None:
    X, model = clusters(200), PrivateGaussianMixture(2)
    assert not np.array_equal(model.fit(X).means_.copy(), clone(model).fit(X).means_)
    with pytest.warns(SeededNoiseWarning):
        seeded = PrivateGaussianMixture(2, random_state=7).fit(X)
    assert seeded.caveats_
    for other in (pickle.loads(pickle.dumps(seeded)), copy.deepcopy(seeded)):
        assert other.random_state is None


WRONG: dict[str, list[Any]] = {"n_components": [30, 0, 1.5], "delta": [0.0, None], "epsilon": [-1], "data_norm": [0.0]}
WRONG |= {"center": [[1.0, 2.0, 3.0], "x"], "rows": ["drop"], "covariance_type": ["tied"], "rounds": [0]}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_bad_settings_are_named(name: str, value: Any) -> None:
    with pytest.raises(dp.InvalidInput, match=name):
        PrivateGaussianMixture(**{name: value}).fit(clusters(20))
