"""The scikit-learn face: its contract, the bounds on the data, the guarantee, and attacks on the whole fit."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sklearn = pytest.importorskip("sklearn")
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import dpcheck as dp  # noqa: E402
from benchmarks import utility  # noqa: E402
from bounds.accounting import least_noise  # noqa: E402
from bounds.errors import HypothesisViolated, InvalidInput, UnknownName  # noqa: E402
from dpcheck import problems  # noqa: E402
from dpcheck.datasets import diabetes, digits, logistic_synthetic  # noqa: E402
from dpcheck.estimators import (  # noqa: E402
    PrivacyLeakWarning,
    PrivateHuber,
    PrivateLogisticRegression,
    PrivateRidge,
    PrivateSparseLogisticRegression,
    PrivateSparseRegression,
    base,
    rules,
)
from dpcheck.registry import solvers  # noqa: E402
from dpcheck.solvers.convex.dp_gd import DPGD  # noqa: E402

FALSE_ALARM = 1e-6
ESTIMATORS = [
    PrivateLogisticRegression(),
    PrivateLogisticRegression(delta=0.0),
    PrivateSparseLogisticRegression(),
    PrivateRidge(),
    PrivateSparseRegression(),
    PrivateHuber(),
    PrivateHuber(delta=0.0),
]
# Solvers that are quick on a few hundred rows.
QUICK = ("dp_gd", "outpert_gd", "dp_sgd", "bassily_sgd", "dp_accmd")


# The contract ---------------------------------------------------------------------------------------
# No check is excepted. Two tags are set: the scores on the checks' small data may be poor, as noise that hides one
# record of a few dozen leaves little of the others.
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_scores_in_cross_validation() -> None:
    data = logistic_synthetic(3000, 3, seed=1, strength=6.0)
    model = PrivateLogisticRegression(epsilon=2.0, classes=(-1, 1), random_state=0)
    assert cross_val_score(model, data.X, data.y, cv=3).mean() > 0.85


# Bounds on the data ---------------------------------------------------------------------------------
@given(
    rows=st.lists(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2), min_size=1, max_size=8),
    bound=st.floats(1e-3, 1e3),
)
@settings(max_examples=200, deadline=None)
def test_clipped_rows_are_within_the_bound_and_others_untouched(rows: list[list[float]], bound: float) -> None:
    X = np.array(rows)
    norms = np.linalg.norm(X, axis=1)
    found = base.bounded(X, bound, "clip")
    assert np.all(np.linalg.norm(found, axis=1) <= bound * (1 + 1e-15))
    assert np.array_equal(found[norms <= bound], X[norms <= bound])
    assert np.all(np.einsum("ij,ij->i", found, X) >= 0)  # scaled, not turned


def test_refused_rows_and_targets_are_named() -> None:
    X, y = np.array([[0.5, 0.0], [3.0, 4.0]]), np.array([0.5, -2.0])
    model = PrivateLogisticRegression(rows="refuse", classes=(0, 1))
    with pytest.raises(InvalidInput, match=r"norm of row 1 is 5\.0; it must be at most data_norm=1"):
        model.fit(X, [0, 1])
    with pytest.raises(InvalidInput, match=r"target 1 is -2\.0; it must be at most target_bound=1"):
        PrivateRidge(rows="refuse", data_norm=5.0).fit(X, y)
    model.set_params(data_norm=5.0).fit(X, [0, 1])  # within the bound


@given(factor=st.floats(1.0, 1e3), seed=st.integers(0, 100))
@settings(max_examples=20, deadline=None)
def test_length_over_the_bound_changes_nothing(factor: float, seed: int) -> None:
    X = logistic_synthetic(20, 2, seed).X
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.arange(20) % 2
    fits = [PrivateLogisticRegression(classes=(0, 1), random_state=seed).fit(scale * X, y) for scale in (1.0, factor)]
    assert np.allclose(fits[0].coef_, fits[1].coef_, rtol=1e-6)


# Looking at the data --------------------------------------------------------------------------------
def test_defaults_that_look_at_the_data_say_so() -> None:
    X, y = np.array([[3.0, 4.0], [0.0, 1.0]] * 5), np.array([0, 1] * 5)
    with pytest.warns(PrivacyLeakWarning, match="classes"):
        PrivateLogisticRegression().fit(X, y)
    with pytest.warns(PrivacyLeakWarning, match="data_norm"):
        PrivateLogisticRegression(data_norm=None, classes=(0, 1)).fit(X, y)
    with pytest.warns(PrivacyLeakWarning, match="target_bound"):
        PrivateHuber(target_bound=None).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PrivateLogisticRegression(classes=(0, 1)).fit(X, y)
        PrivateRidge().fit(X, y)


def test_a_mechanism_may_not_look() -> None:
    for model in (PrivateLogisticRegression(), PrivateRidge(target_bound=None), PrivateHuber(data_norm=None)):
        with pytest.raises(InvalidInput, match="must be given"):
            model.mechanism()


def test_classes_may_be_absent_but_not_unknown() -> None:
    X = np.eye(3)
    found = PrivateLogisticRegression(classes=("a", "b", "c")).fit(X, ["a", "b", "a"])
    assert found.coef_.shape == (3, 3)
    with pytest.raises(InvalidInput, match="label 2 is z"):
        PrivateLogisticRegression(classes=("a", "b")).fit(X, ["a", "b", "z"])


@pytest.mark.parametrize("solver", [None, "outpert_gd", "dp_sgd"])
def test_settings_depend_on_the_records_only_through_their_number(solver: str | None) -> None:
    """Same n and d, other rows and labels: the same noise and steps."""
    model = PrivateLogisticRegression(classes=(0, 1), solver=solver or "auto", random_state=0)
    rng = np.random.default_rng(0)
    fits = [model.fit(rng.standard_normal((60, 4)) * scale, rng.integers(0, 2, 60)) for scale in (0.01, 100.0)]
    facts = [(m.noise_std_, m.n_iter_, m.guarantee_, m.rests_on_) for m in fits]
    assert facts[0] == facts[1]


# The guarantee --------------------------------------------------------------------------------------
@pytest.mark.parametrize("solver", QUICK)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_fit_is_the_solvers_own_run(solver: str, fit_intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guarantee, noise, claims and weights are those the solver gives on the bounded rows."""
    seen = []
    kind = solvers()[solver]
    solve = kind.solve

    def watched(self: Any, problem: Any, guarantee: Any, *args: Any, **more: Any) -> Any:
        run = solve(self, problem, guarantee, *args, **more)
        seen.append((problem, guarantee, more, run))
        return run

    monkeypatch.setattr(kind, "solve", watched)
    rng = np.random.default_rng(0)
    X, y = 5 * rng.standard_normal((40, 3)), np.arange(40) % 2
    model = PrivateLogisticRegression(
        0.7, 1e-4, solver=solver, data_norm=2.0, classes=(0, 1), fit_intercept=fit_intercept, random_state=1
    ).fit(X, y)
    [(problem, guarantee, more, run)] = seen
    assert model.guarantee_ == guarantee == dp.ApproxDP(0.7, 1e-4)
    assert more.get("calibration", "certified") == "certified"
    assert (model.noise_std_, model.rests_on_) == (run.noise_std, run.rests_on)
    assert np.all(np.linalg.norm(problem.X, axis=1) <= problem.row_bound * (1 + 1e-12))
    constant = problem.X[0, 3] if fit_intercept else 0.0
    assert problem.row_bound == pytest.approx(np.hypot(2.0, constant))
    assert np.allclose(model.coef_[0], run.w[0, :3])
    assert np.allclose(model.intercept_, constant * run.w[0, 3] if fit_intercept else 0.0)
    assert np.allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_)


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


def test_many_classes_split_the_budget() -> None:
    raw = digits()
    y = np.arange(len(raw.X)) % 3
    model = PrivateLogisticRegression(1.0, 1e-5, classes=(0, 1, 2), random_state=0).fit(raw.X, y)
    assert model.coef_.shape == (3, 64)
    assert model.rests_on_ == ("accounting.least_noise", "guarantees.compose")
    assert np.allclose(model.predict_proba(raw.X).sum(axis=1), 1)
    # Three runs of T steps have the noise that 3 T steps need; planted: the whole budget for each is less.
    bound = np.hypot(1.0, 64**-0.25) * 2 / len(raw.X)
    assert model.noise_std_ > 0.8 * least_noise(model.guarantee_, steps=3 * model.n_iter_) * bound
    assert model.noise_std_ > 1.3 * least_noise(model.guarantee_, steps=model.n_iter_) * bound
    split = PrivateLogisticRegression(
        1.0, 1e-5, classes=(0, 1, 2), solver="dp_sgd", solver_options={"batch": 1797, "steps": 4}, random_state=0
    ).fit(raw.X, y)  # sampled steps have no Gaussian share: epsilon and delta by three each
    alone = least_noise(dp.ApproxDP(1 / 3, 1e-5 / 3), steps=4) * bound
    assert split.noise_std_ == pytest.approx(alone, rel=0.05)


def test_noise_is_fresh_unless_seeded() -> None:
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    np.random.seed(0)  # noqa: NPY002 - the global state must not make the noise predictable
    first = PrivateLogisticRegression(classes=(0, 1)).fit(X, y)
    np.random.seed(0)  # noqa: NPY002
    second = PrivateLogisticRegression(classes=(0, 1)).fit(X, y)
    assert not np.array_equal(first.coef_, second.coef_)
    for state in (3, np.random.RandomState(3), np.random.default_rng(3)):
        model = PrivateLogisticRegression(classes=(0, 1), random_state=state)
        assert not np.array_equal(model.fit(X, y).coef_, first.coef_)


# Attacks on the whole fit ---------------------------------------------------------------------------
@pytest.fixture
def unclipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: rows are taken as they come, and the problem's own guard is gone too."""
    monkeypatch.setattr(base, "clipped", lambda X, norms, data_norm: X)
    monkeypatch.setattr(problems, "check_rows", lambda X, y, row_bound: None)


def attacked(model: Any, length: float, targets: tuple[float, float], seed: int = 1) -> bool:
    """Whether an audit (false-alarm rate 1e-6) flags the fit on rows of this length, one label of four turned."""
    X = length * np.array([[1.0], [0.0], [0.0], [0.0]])
    y = np.array([targets[1], targets[0], targets[1], targets[0]])
    pair = (X, y), (X, np.array([targets[0], *y[1:]]))
    found = dp.audit(
        model.mechanism(), pair=pair, guarantee=model.guarantee(), max_trials=20_000, alpha=FALSE_ALARM, seed=seed
    )
    return bool(found.violated)


SIGNS = [
    PrivateLogisticRegression(2.0, 0.0, classes=(0, 1), fit_intercept=False),
    PrivateLogisticRegression(2.0, 1e-2, classes=(0, 1)),
]
MODELS = [
    *((model, (0, 1)) for model in SIGNS),
    (PrivateRidge(2.0, 1e-2, fit_intercept=False), (-1.0, 1.0)),
    (PrivateHuber(2.0, 0.0, fit_intercept=False), (-1.0, 1.0)),
]


@pytest.mark.parametrize(("model", "targets"), MODELS)
def test_a_fit_is_not_flagged_on_its_worst_pair_whatever_the_rows(model: Any, targets: tuple[float, float]) -> None:
    assert not attacked(model, 1.0, targets)
    assert not attacked(model, 10.0, targets)


@pytest.mark.usefixtures("unclipped")
@pytest.mark.parametrize(("model", "targets"), MODELS)
def test_rows_that_are_not_clipped_are_flagged(model: Any, targets: tuple[float, float]) -> None:
    assert not attacked(model, 1.0, targets)
    assert attacked(model, 10.0, targets)


@pytest.mark.parametrize(("model", "targets"), MODELS)
def test_a_third_of_the_noise_is_flagged(
    model: Any, targets: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "made", lambda kind, options: kind(**options, noise_factor=1 / 3))
    assert attacked(model, 1.0, targets)


# Defaults and errors --------------------------------------------------------------------------------
def test_more_budget_predicts_better() -> None:
    data = digits()
    scores = [
        np.mean([
            PrivateLogisticRegression(e, classes=(-1, 1), random_state=i).fit(data.X, data.y).score(data.X, data.y)
            for i in range(5)
        ])
        for e in (0.02, 0.5, 20.0)
    ]  # fmt: skip
    assert scores[0] < scores[1] < scores[2]
    assert scores[2] > 0.85


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_the_default_predicts_no_worse_than_a_peer_did(delta: float) -> None:
    """Fixed seeds; the peer's figures are those that benchmarks/utility.py measures beside ours."""
    found = utility.ours(utility.split(*utility.breast_cancer(), seed=0), seeds=20, delta=delta)
    means = [np.mean(found[epsilon]) for epsilon in utility.EPSILONS]
    assert all(ours >= theirs for ours, theirs in zip(means, utility.EARLIER["breast_cancer"], strict=True))


def test_regressions_learn() -> None:
    data = diabetes()
    for model in (PrivateRidge(20.0), PrivateHuber(20.0), PrivateHuber(50.0, 0.0), PrivateSparseRegression(20.0)):
        assert model.set_params(random_state=0).fit(data.X, data.y).score(data.X, data.y) > 0.2


def test_sparse_weights_stay_in_their_ball() -> None:
    data = digits()
    model = PrivateSparseLogisticRegression(5.0, classes=(-1, 1), radius=2.0, random_state=0).fit(data.X, data.y)
    constant = 64**-0.25
    assert np.abs(model.coef_).sum() + abs(model.intercept_[0]) / constant <= 2.0 + 1e-6


def test_every_convex_solver_is_named_and_none_other() -> None:
    assert set(QUICK) <= set(solvers())
    with pytest.raises(UnknownName, match="one of auto, bassily_sgd"):
        PrivateLogisticRegression(solver="dp_svgr", classes=(0, 1)).fit(np.eye(2), [0, 1])


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        ({"epsilon": 0.0}, "epsilon is 0.0"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"delta": 1.0}, "delta is 1.0"),
        ({"delta": -0.1}, "delta is -0.1"),
        ({"data_norm": -1.0}, "data_norm is -1.0"),
        ({"rows": "drop"}, "rows is drop"),
        ({"radius": 0.0}, "radius is 0.0"),
        ({"l2": -1.0}, "l2 is -1.0"),
        ({"intercept_scaling": 0.0}, "intercept_scaling is 0.0"),
        ({"classes": (1,)}, "classes is one class"),
        ({"solver_options": {"noise_factor": 0.5}}, "noise_factor.*among those of dp_gd"),
        ({"solver_options": {"steps": 0}}, "steps is 0"),
        ({"solver": "dp_sgd", "delta": 0.0}, "guarantee is PureDP"),
        ({"solver": "outpert_gd", "radius": 1.0}, "constraint"),
        ({"random_state": -1}, "seed is -1"),
    ],
)
def test_bad_settings_are_named(settings_: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        PrivateLogisticRegression(**({"classes": (0, 1)} | settings_)).fit(np.eye(2), [0, 1])


def test_a_squared_loss_has_no_pure_solver() -> None:
    with pytest.raises(HypothesisViolated, match="Lipschitz"):
        PrivateRidge(delta=0.0).fit(np.eye(2), [0.0, 1.0])


def test_solvers_to_come_need_only_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new file in dpcheck/solvers is enough: the ball of a sparse model reaches it."""

    class Later(DPGD):
        name = "dp_fw_l1"

    assert not inspect.isabstract(Later)
    monkeypatch.setattr(base, "solvers", lambda: {**solvers(), "dp_fw_l1": Later})
    model = PrivateSparseLogisticRegression(5.0, solver="dp_fw_l1", classes=(0, 1), radius=1.0, random_state=0)
    model.set_params(solver_options={"steps": 2}).fit(np.eye(4), [0, 1, 0, 1])
    assert np.abs(model.coef_).sum() <= 1 + 1e-9
