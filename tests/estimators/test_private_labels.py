"""Sparse regression from private labels: scikit-learn's contract, its sides, its privacy, and its error's corridor."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import dpcheck as dp  # noqa: E402
from dpcheck.bounds.library.local import label_ldp_iht, ldp_minimax_lower  # noqa: E402
from dpcheck.estimators import LabelPrivateSparseRegression  # noqa: E402
from dpcheck.families.hard_thresholding import generated  # noqa: E402


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([LabelPrivateSparseRegression(), LabelPrivateSparseRegression(server="lasso")])
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::dpcheck.estimators.SeededNoiseWarning")
@pytest.mark.parametrize("server", ["iht", "lasso"])
def test_it_finds_the_coefficients_among_many_in_their_own_units(server: str) -> None:
    rng = np.random.default_rng(0)
    X = 5 + 3 * rng.standard_normal((20_000, 60))
    y = 0.1 * X[:, 7] - 0.05 * X[:, 30] + rng.uniform(-0.1, 0.1, len(X))
    model = LabelPrivateSparseRegression(4.0, 1e-5, nonzeros=2, target_bound=2.0, server=server, random_state=1).fit(
        X, y
    )
    assert set(np.flatnonzero(model.coef_)) == {7, 30}
    assert model.coef_[7] > 0 > model.coef_[30]
    assert model.score(X, y) > 0.2
    assert model.guarantee_ == dp.ApproxDP(4.0, 1e-5, relation=dp.LABEL_ONLY)
    assert "dwang20.theorem5.3.6.any_label.corrected" in model.rests_on_


def test_the_server_needs_no_label_and_fresh_noise_differs() -> None:
    X, model = np.random.default_rng(0).standard_normal((500, 3)), LabelPrivateSparseRegression(nonzeros=1)
    first, second = (model.privatize(np.zeros(500)) for _ in range(2))
    assert not np.any(first == second)
    assert np.count_nonzero(clone(model).fit_reports(X, first).coef_) == 1
    assert pickle.loads(pickle.dumps(clone(model).set_params(random_state=3))).random_state == 3


def test_reports_keep_the_guarantee_and_half_the_noise_does_not() -> None:
    """False alarms: 1e-6, of either audit."""
    claimed = dp.ApproxDP(1.0, 1e-2, relation=dp.LABEL_ONLY)

    def reports(label: Any, rng: np.random.Generator, trials: int, bound: float = 1.0) -> np.ndarray:
        model = LabelPrivateSparseRegression(1.0, 1e-2, target_bound=bound, random_state=int(rng.integers(1 << 30)))
        clipped = np.clip(label, -bound, bound)  # beside a smaller bound the label stands as it is: the planted bug
        return (model.privatize(np.full(trials, clipped)) + label - clipped)[:, None]

    settings: dict[str, Any] = {"pair": (1.0, -1.0), "guarantee": claimed, "max_trials": 100_000, "alpha": 1e-6}
    assert not dp.audit(reports, **settings).violated
    assert dp.audit(lambda label, rng, k: reports(label, rng, k, 0.5), **settings).violated


def test_its_error_lies_between_what_nobody_beats_and_what_is_proved() -> None:
    """The document's generator with ‖θ*‖ = 1 and C = √s*, where the printed noise is the one needed, at ε = 1/2, the
    largest of the lower bound; constants are those of the proofs. Planted: a server that says 0."""
    n, d, s, noise, eps, delta = 400_000, 25, 1, 1.0, 0.5, 1e-3
    data, truth = generated(n, d, s, noise, seed=4)
    bound = float(data.labels[1])
    model = LabelPrivateSparseRegression(eps, delta, nonzeros=8 * s, target_bound=bound).fit(data.X, data.y)
    error = float(np.linalg.norm(model.coef_ - truth))
    at = {"n": n, "d": d, "s_star": s, "noise_C": noise, "eps": eps, "delta": delta}
    least = ldp_minimax_lower.theorem7.evaluate(**at, rip=0.1, wide=math.log(d / s)) / 20_000
    most = label_ldp_iht.theorem6.evaluate(**at, T=50, truth=1.0, c=450.0, eta=1.0, rip=0.1)
    assert least < error**2
    assert error < min(most, 0.5)
    assert np.linalg.norm(0 * model.coef_ - truth) > 0.5


BAD = {
    "epsilon": 0.0, "delta": 1.0, "nonzeros": 0, "target_bound": -1.0, "server": "ols", "steps": 0, "random_state": -1,
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_settings_are_refused(name: str) -> None:
    with pytest.raises(dp.InvalidInput, match=name):
        LabelPrivateSparseRegression(**{name: BAD[name]}).fit(np.eye(4), np.zeros(4))
