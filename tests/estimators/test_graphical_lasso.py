"""The private graphical lasso as an estimator: scikit-learn's contract, the bounds on the rows, an attack."""

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
from dpcheck.estimators import PrivateGraphicalLasso, SeededNoiseWarning
from dpcheck.families.precision_matrices import precisions
from dpcheck.solvers.matrix.sicov_cov_gaussian import SicovCovGaussian
from dpcheck.testing.planting import planted

CHAIN = np.repeat(np.array([[0.6, 0.55, 0.0], [-0.6, -0.55, 0.0], [0.0, 0.1, 0.8], [0.0, 0.1, -0.8]]), 2000, axis=0)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([PrivateGraphicalLasso(), PrivateGraphicalLasso(noise="wishart")])
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("how", [{}, {"noise": "wishart"}, {"delta": 0.0}])
def test_it_finds_which_features_depend_in_any_unit_about_a_public_center(how: dict[str, Any]) -> None:
    truth = precisions((CHAIN.T @ CHAIN / len(CHAIN))[None], 0.05, 1e-9)[0]
    for unit, center in ((1.0, 0.0), (1e3, [5.0, -2.0, 7.0])):
        model = PrivateGraphicalLasso(epsilon=4.0, data_norm=unit, center=center, **how)
        found = model.fit(unit * CHAIN + np.array(center))
        assert np.linalg.norm(found.precision_ * unit**2 - truth) < 0.05 * np.linalg.norm(truth)
        assert np.array_equal(np.abs(found.precision_) > 0, np.abs(truth) > 0)
        assert np.allclose(found.covariance_ @ found.precision_, np.eye(3))
        assert found.location_.tolist() == np.broadcast_to(center, 3).tolist()


def test_guarantee_and_noise_are_the_solvers_own() -> None:
    model = PrivateGraphicalLasso(epsilon=2.0, delta=1e-6).fit(CHAIN)
    assert model.guarantee_ == dp.ApproxDP(2.0, 1e-6)
    assert model.rests_on_[0] == "dwang20.equation6.98.moments.least"
    assert PrivateGraphicalLasso(delta=0.0).fit(CHAIN).guarantee_ == dp.PureDP(1.0)
    local = PrivateGraphicalLasso(local=True).fit(CHAIN)
    assert local.guarantee_.relation == dp.LOCAL
    assert local.solver_ == "sicov_ldp_gaussian"


def test_an_attack_on_a_whole_fit_finds_a_planted_bug_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alpha 1e-6; one record at e₁ or at e₂, a penalty that leaves a diagonal; three tenths of the noise."""
    pair = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    asked: dict[str, Any] = {"pair": pair, "max_trials": 20_000, "alpha": 1e-6, "seed": 0, "executor": 1}
    model = PrivateGraphicalLasso(alpha=1e3, epsilon=1.0, delta=1e-2)
    assert not dp.audit(model.mechanism(), guarantee=model.guarantee(), **asked).violated
    monkeypatch.setattr(PrivateGraphicalLasso, "_solver", lambda self: planted(0.3, SicovCovGaussian(rho=self.alpha)))
    assert dp.audit(model.mechanism(), guarantee=model.guarantee(), **asked).violated


def test_no_record_makes_a_fit_fail_or_warn() -> None:
    for bad in (np.nan, np.inf, 1e308, "secret", None, 10**400):
        X = CHAIN[::400].astype(object)
        X[3, 1] = bad
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isfinite(PrivateGraphicalLasso().fit(X).precision_).all()


def test_long_rows_are_clipped_or_refused() -> None:
    with pytest.raises(dp.InvalidInput, match="norm of row 0"):
        PrivateGraphicalLasso(rows="refuse", data_norm=0.5).fit(CHAIN)


def test_fits_draw_anew_and_keep_no_seed() -> None:
    model = PrivateGraphicalLasso()
    assert not np.array_equal(model.fit(CHAIN).precision_.copy(), clone(model).fit(CHAIN).precision_)
    assert model.caveats_ == ()
    with pytest.warns(SeededNoiseWarning):
        seeded = PrivateGraphicalLasso(random_state=7).fit(CHAIN)
    assert seeded.caveats_
    for other in (pickle.loads(pickle.dumps(seeded)), copy.deepcopy(seeded)):
        assert other.random_state is None


WRONG: list[dict[str, Any]] = [
    {"alpha": 0.0}, {"delta": None}, {"delta": 1.0}, {"epsilon": -1}, {"data_norm": 0.0}, {"center": "x"},
    {"rows": "drop"}, {"local": "yes"}, {"noise": "cauchy"}, {"noise": "laplace"}, {"noise": "wishart", "delta": 0.0},
    {"noise": "wishart", "local": True},
]  # fmt: skip


@pytest.mark.parametrize("how", WRONG, ids=str)
def test_bad_settings_are_named(how: dict[str, Any]) -> None:
    with pytest.raises(dp.InvalidInput, match=next(iter(how))):
        PrivateGraphicalLasso(**how).fit(CHAIN[:20])
