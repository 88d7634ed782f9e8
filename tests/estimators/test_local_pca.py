"""Local PCA as a transformer: scikit-learn's contract, the bounds on the rows, its guarantee, and an attack."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import parametrize_with_checks

import dpcheck as dp
from dpcheck.estimators import LocalPCA, SeededNoiseWarning
from dpcheck.solvers.local.ldp_pca_gauss import LdpPcaGauss
from dpcheck.testing.planting import planted

LINE = np.outer(np.linspace(-1, 1, 5000), [0.8, 0.6, 0.0])  # of norm at most 1, along one direction


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([LocalPCA(), LocalPCA(sparse=True)])
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_direction_is_found_in_any_unit_about_a_public_center(sparse: bool) -> None:
    for unit, center in ((1.0, 0.0), (1e3, [5.0, -2.0, 7.0])):
        model = LocalPCA(1, epsilon=4.0, sparse=sparse, data_norm=unit, center=center)
        found = model.fit(unit * LINE + np.array(center))
        assert abs(found.components_[0] @ [0.8, 0.6, 0.0]) > 0.95
        back = found.inverse_transform(found.transform(unit * LINE + np.array(center)))
        assert np.linalg.norm(back - unit * LINE - np.array(center), axis=1).max() < 0.4 * unit
        assert found.noise_std_ == pytest.approx(LocalPCA(1, epsilon=4.0).fit(LINE).noise_std_ * unit**2)


def test_guarantee_and_noise_are_the_solvers_own() -> None:
    model = make_pipeline(Normalizer(), LocalPCA(2, epsilon=2.0, delta=1e-6)).fit(LINE + 0.1)[-1]
    assert model.guarantee_ == dp.ApproxDP(2.0, 1e-6, relation=dp.LOCAL)
    assert model.rests_on_[0] == "dwang20.algorithm6.1.46.sensitivity"
    assert model.components_.shape == (2, 3)
    assert np.allclose(model.components_ @ model.components_.T, np.eye(2))
    assert model.get_feature_names_out().tolist() == ["localpca0", "localpca1"]


def test_an_attack_on_a_whole_fit_finds_a_planted_bug_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alpha 1e-6; one user, at e₁ or at e₂; with three tenths of the noise the direction tells."""
    pair = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    asked: dict[str, Any] = {"pair": pair, "max_trials": 20_000, "alpha": 1e-6, "seed": 0, "executor": 1}
    model = LocalPCA(1, epsilon=1.0, delta=1e-2)
    assert not dp.audit(model.mechanism(), guarantee=model.guarantee(), **asked).violated
    monkeypatch.setattr(LocalPCA, "_solver", lambda self, d: planted(0.3, LdpPcaGauss(k=self.n_components)))
    assert dp.audit(model.mechanism(), guarantee=model.guarantee(), **asked).violated


def test_no_record_makes_a_fit_fail_or_warn() -> None:
    for bad in (np.nan, np.inf, 1e308, "secret", None, 10**400):
        X = LINE[:20].astype(object)
        X[3, 1] = bad
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = LocalPCA().fit(X)
            assert np.isfinite(found.transform(X)).all()


def test_long_rows_are_clipped_or_refused() -> None:
    with pytest.raises(dp.InvalidInput, match="norm of row 0"):
        LocalPCA(rows="refuse", data_norm=0.5).fit(LINE)
    found = []
    for length in (1.0, 1e6):
        with pytest.warns(SeededNoiseWarning):
            found.append(LocalPCA(random_state=1).fit(length * np.sign(LINE[:, :1]) * [[0.8, 0.6, 0.0]]).components_)
    assert np.allclose(*found)


def test_fits_draw_anew_and_keep_no_seed() -> None:
    model = LocalPCA()
    assert not np.array_equal(model.fit(LINE).components_.copy(), clone(model).fit(LINE).components_)
    assert model.caveats_ == ()
    with pytest.warns(SeededNoiseWarning):
        seeded = LocalPCA(random_state=7).fit(LINE)
    assert seeded.caveats_
    for other in (pickle.loads(pickle.dumps(seeded)), copy.deepcopy(seeded)):
        assert other.random_state is None


WRONG: dict[str, list[Any]] = {"n_components": [4, 0, 1.5], "delta": [0.0, None], "epsilon": [-1], "data_norm": [0.0]}
WRONG |= {"center": [[1.0, 2.0], "x"], "rows": ["drop"], "sparse": ["yes"]}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_bad_settings_are_named(name: str, value: Any) -> None:
    with pytest.raises(dp.InvalidInput, match=name):
        LocalPCA(**{name: value}).fit(LINE[:20])
