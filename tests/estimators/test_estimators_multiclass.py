"""Several classes: fitted together by softmax or one against the rest, with the budget of one release either way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

pytest.importorskip("sklearn")
from sklearn.datasets import load_digits

import dpcheck as dp
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.exact import least_noise
from dpcheck.datasets import digits
from dpcheck.estimators import PrivateLogisticRegression, PrivateSparseLogisticRegression, base, rules
from dpcheck.problems import problem as problems
from dpcheck.problems.softmax import SoftmaxProblem
from dpcheck.solvers.finding import solvers
from dpcheck.testing.planting import planted

FALSE_ALARM = 1e-6
THREE = {"classes": ("a", "b", "c"), "random_state": 0}
X = np.vstack([np.eye(3), -np.eye(3)] * 5)
Y = np.array(["a", "b", "c", "b", "c", "a"] * 5)


# How classes are fitted -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "name", sorted(n for n, kind in solvers().items() if base.fits_models(kind) and n != "dp_fw_l1")
)
def test_auto_is_softmax_where_the_solver_takes_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def watched(self: Any, kind: Any, records: Any, parts: int, seed: Any, trials: int) -> Any:
        seen.append((type(records), parts))
        run = dp.Solution(np.zeros((trials, records.d)), self.guarantee(), 1.0, (), 1)
        return run, rules.FitPlan(0.0, dp.WholeSpace())

    monkeypatch.setattr(base.PrivateLinear, "_solve", watched)
    model = PrivateLogisticRegression(solver=name, **THREE).fit(X, Y)
    if solvers()[name].multiclass:
        assert model.multi_class_ == "softmax"
        assert seen == [(SoftmaxProblem, 1)]
    else:
        assert model.multi_class_ == "one_vs_rest"
        assert seen == [(problems.Problem, 3)] * 3


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_softmax_weights_are_the_solvers_own(fit_intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    kind = solvers()["dp_gd"]
    solve = kind.solution

    def watched(self: Any, problem: Any, guarantee: Any, *args: Any, **more: Any) -> Any:
        seen.append((problem, guarantee, solve(self, problem, guarantee, *args, **more)))
        return seen[-1][2]

    monkeypatch.setattr(kind, "solution", watched)
    model = PrivateLogisticRegression(0.7, 1e-4, fit_intercept=fit_intercept, **THREE).fit(2 * X, Y)
    [(problem, guarantee, run)] = seen
    assert guarantee == model.guarantee_ == dp.ApproxDP(0.7, 1e-4)
    assert np.array_equal(problem.y, np.searchsorted(["a", "b", "c"], Y))
    W = run.w[0].reshape(3, -1)
    assert np.array_equal(model.coef_, W[:, :3])
    constant = problem.X[0, 3] if fit_intercept else 0.0
    assert np.allclose(model.intercept_, constant * W[:, 3] if fit_intercept else 0.0)
    assert np.allclose(problem.X[:, :3], X)  # clipped
    assert np.array_equal(problem.predicted(run.w[0], problem.X), np.searchsorted(["a", "b", "c"], model.predict(X)))


@pytest.mark.parametrize("how", ["softmax", "one_vs_rest"])
def test_probabilities_and_predictions_agree(how: str) -> None:
    model = PrivateLogisticRegression(5.0, multi_class=how, **THREE).fit(X, Y)
    p, scores = model.predict_proba(X), model.decision_function(X)
    assert p.shape == scores.shape == (30, 3)
    assert np.allclose(p.sum(axis=1), 1)
    assert np.array_equal(np.array(["a", "b", "c"])[p.argmax(axis=1)], model.predict(X))
    odds = special.softmax(scores, axis=1) if how == "softmax" else special.expit(scores)
    assert np.allclose(p, odds / odds.sum(axis=1, keepdims=True))
    assert np.allclose(np.exp(model.predict_log_proba(X)), p)


def test_two_classes_are_binary_whatever_is_asked() -> None:
    fits = [
        PrivateLogisticRegression(classes=(0, 1), multi_class=how, random_state=0).fit(X, Y == "a")
        for how in ("auto", "softmax", "one_vs_rest")
    ]
    assert [m.multi_class_ for m in fits] == ["binary"] * 3
    assert np.array_equal(fits[0].coef_, fits[1].coef_)
    assert np.array_equal(fits[0].coef_, fits[2].coef_)


def test_a_sparse_model_keeps_all_classes_in_one_ball() -> None:
    for solver in ("auto", "dp_fw_l1"):
        model = PrivateSparseLogisticRegression(5.0, solver=solver, radius=2.0, fit_intercept=False, **THREE).fit(X, Y)
        assert model.multi_class_ == "softmax"
        assert np.abs(model.coef_).sum() <= 2.0 + 1e-9


def test_softmax_that_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"multi_class is softmax.*one_vs_rest.*dp_svrg"):
        PrivateLogisticRegression(solver="dp_svrg", multi_class="softmax", **THREE).fit(X, Y)
    with pytest.raises(InvalidInput, match="multi_class is ovr"):
        PrivateLogisticRegression(multi_class="ovr", **THREE).fit(X, Y)


def test_softmax_predicts_better_than_one_against_the_rest() -> None:
    """Why it is the default: sqrt(2) in place of the sqrt(10) that ten parts of the budget cost. Fixed seeds."""
    raw = load_digits()
    rows = raw.data / 64
    scores = [
        np.mean(
            [
                PrivateLogisticRegression(1.0, classes=range(10), multi_class=how, random_state=i)
                .fit(rows, raw.target)
                .score(rows, raw.target)
                for i in range(3)
            ]
        )
        for how in ("one_vs_rest", "softmax")
    ]
    assert scores[1] > scores[0] + 0.1


# The budget -----------------------------------------------------------------------------------------
DP_GD_RESTS_ON = ("dwang20.section3.1.5.dp_gd", "account: exact composition of Gaussian noise")


def test_softmax_has_the_noise_of_one_release() -> None:
    raw = digits()
    y = np.arange(len(raw.X)) % 3
    model = PrivateLogisticRegression(1.0, 1e-5, classes=(0, 1, 2), random_state=0).fit(raw.X, y)
    assert model.rests_on_ == DP_GD_RESTS_ON
    bound = np.hypot(1.0, 64**-0.25) * 2 / len(raw.X)
    assert model.n_iter_ > 1
    assert model.noise_std_ == pytest.approx(
        math.sqrt(2) * least_noise(model.guarantee_, steps=model.n_iter_) * bound, rel=1e-3
    )


def test_one_against_the_rest_splits_the_budget() -> None:
    raw = digits()
    y = np.arange(len(raw.X)) % 3
    model = PrivateLogisticRegression(1.0, 1e-5, classes=(0, 1, 2), multi_class="one_vs_rest", random_state=0)
    model.fit(raw.X, y)
    assert model.coef_.shape == (3, 64)
    assert model.rests_on_ == (*DP_GD_RESTS_ON, "guarantees.compose")
    assert np.allclose(model.predict_proba(raw.X).sum(axis=1), 1)
    # Three runs of T steps have the noise that 3 T steps need; planted: the whole budget for each is less.
    bound = np.hypot(1.0, 64**-0.25) * 2 / len(raw.X)
    assert model.noise_std_ > 0.8 * least_noise(model.guarantee_, steps=3 * model.n_iter_) * bound
    assert model.noise_std_ > 1.3 * least_noise(model.guarantee_, steps=model.n_iter_) * bound
    split = PrivateLogisticRegression(
        1.0,
        1e-5,
        classes=(0, 1, 2),
        multi_class="one_vs_rest",
        solver="dp_sgd",
        solver_options={"batch": 1797, "steps": 4},
        random_state=0,
    ).fit(raw.X, y)  # sampled steps have no Gaussian share: epsilon and delta by three each
    alone = least_noise(dp.ApproxDP(1 / 3, 1e-5 / 3), steps=4) * bound
    assert split.noise_std_ == pytest.approx(alone, rel=0.05)


@given(epsilon=st.floats(0.05, 10.0), delta=st.just(0.0) | st.floats(1e-9, 0.1), parts=st.integers(2, 12))
@settings(max_examples=60, deadline=None)
def test_shares_of_the_budget_compose_to_it(epsilon: float, delta: float, parts: int) -> None:
    whole = dp.ApproxDP(epsilon, delta) if delta else dp.PureDP(epsilon)
    for share in rules.shares(whole, parts):
        together = dp.compose([share] * parts, how="textbook" if not isinstance(share, dp.GaussianDP) else "tight")
        if isinstance(share, dp.GaussianDP):
            assert float(together.profile(epsilon)) <= delta * (1 + 1e-6)
            assert float(dp.GaussianDP(share.mu * parts**0.5 * 1.01).profile(epsilon)) > delta  # and no less noise
        else:
            assert share.eps * parts <= epsilon * (1 + 1e-12)
            assert share.parameters.get("delta", 0.0) * parts <= delta * (1 + 1e-12)


# Attacks --------------------------------------------------------------------------------------------
@pytest.fixture
def unclipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: rows are taken as they come, and the problem's own guard is gone too."""
    monkeypatch.setattr(base, "clipping", lambda norms, data_norm, d: np.ones(len(norms)))
    monkeypatch.setattr(problems, "check_rows", lambda X, y, row_bound: None)


def attacked(model: Any, length: float) -> bool:
    """Whether an audit (false-alarm rate 1e-6) flags the fit: one row of four turns round, at W = 0 its gradient."""
    rows, y = np.array([[length], [0.0], [0.0], [0.0]]), np.array([0, 1, 2, 0])
    pair = (rows, y), (-rows, y)
    options = {"max_trials": 10_000, "alpha": FALSE_ALARM, "seed": 1}
    return bool(dp.audit(model.mechanism(), pair=pair, guarantee=model.guarantee(), **options).violated)


MODELS = [
    PrivateLogisticRegression(2.0, 1e-2, classes=(0, 1, 2), fit_intercept=False),
    PrivateLogisticRegression(2.0, 0.0, classes=(0, 1, 2), fit_intercept=False),
    PrivateLogisticRegression(2.0, 1e-2, classes=(0, 1, 2), solver="dp_lssgd", solver_options={"steps": 2}),
    PrivateLogisticRegression(2.0, 1e-2, classes=(0, 1, 2), multi_class="one_vs_rest"),
]


@pytest.mark.parametrize("model", MODELS)
def test_a_fit_is_not_flagged_whatever_the_rows(model: Any) -> None:
    assert not attacked(model, 1.0)
    assert not attacked(model, 10.0)


@pytest.mark.usefixtures("unclipped")
@pytest.mark.parametrize("model", MODELS)
def test_rows_that_are_not_clipped_are_flagged(model: Any) -> None:
    assert attacked(model, 20.0)


@pytest.mark.parametrize("model", MODELS)
def test_a_quarter_of_the_noise_is_flagged(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "made", lambda kind, options: planted(1 / 4, kind(**options)))
    assert attacked(model, 1.0)
