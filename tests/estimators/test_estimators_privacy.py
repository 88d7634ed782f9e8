"""The estimators' privacy: nothing looks at the data unasked, guarantees are the solvers' own, fits are attacked."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

import dpcheck as dp
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.estimators import (
    PrivacyLeakWarning,
    PrivateHuber,
    PrivateLogisticRegression,
    PrivateRidge,
    PrivateSparseLogisticRegression,
    PrivateSparseRegression,
    base,
)
from dpcheck.problems import problem as problems
from dpcheck.solvers.finding import solvers
from dpcheck.testing.planting import planted

FALSE_ALARM = 1e-6
# Solvers that are quick on a few hundred rows.
QUICK = ("dp_gd", "outpert_gd", "dp_sgd", "bassily_sgd", "dp_accmd")


# Looking at the data --------------------------------------------------------------------------------
def test_defaults_that_look_at_the_data_say_so() -> None:
    X, y = np.array([[3.0, 4.0], [0.0, 1.0]] * 5), np.array([0, 1] * 5)
    with pytest.warns(PrivacyLeakWarning, match="classes"):
        PrivateLogisticRegression().fit(X, y)
    with pytest.warns(PrivacyLeakWarning, match="data_norm"):
        PrivateLogisticRegression(data_norm=None, classes=(0, 1)).fit(X, y)
    with pytest.warns(PrivacyLeakWarning, match="target_bound"):
        PrivateHuber(target_bound=None).fit(X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PrivateLogisticRegression(data_norm=None).fit(X, y)
        PrivateRidge(data_norm=None, target_bound=None).fit(X, y)
    assert [w.filename for w in caught if w.category is PrivacyLeakWarning] == [__file__] * 4  # where the user called


def test_a_mechanism_may_not_look() -> None:
    for model in (PrivateLogisticRegression(), PrivateRidge(target_bound=None), PrivateHuber(data_norm=None)):
        with pytest.raises(InvalidInput, match="must be given"):
            model.mechanism()


def test_classes_may_be_absent_but_not_unknown() -> None:
    X = np.eye(3)
    found = PrivateLogisticRegression(classes=("a", "b", "c")).fit(X, ["a", "b", "a"])
    assert found.coef_.shape == (3, 3)
    with pytest.raises(InvalidInput, match="label 2 is none"):
        PrivateLogisticRegression(classes=("a", "b"), rows="refuse").fit(X, ["a", "b", "z"])


SILENT = [
    *(PrivateLogisticRegression(classes=(0, 1), solver=name) for name in ("auto", "outpert_gd", "dp_sgd", "rrpsgd")),
    *(PrivateLogisticRegression(classes=(0, 1), solver=name) for name in ("dp_svrg", "dp_pgd", "dp_lssgd", "dp_accmd")),
    PrivateLogisticRegression(classes=(0, 1, 2)),
    PrivateLogisticRegression(classes=(0, 1, 2), multi_class="one_vs_rest"),
    PrivateLogisticRegression(delta=0.0, classes=(0, 1)),
    PrivateSparseLogisticRegression(classes=(0, 1), solver="dp_fw_l1"),
    PrivateRidge(),
    PrivateRidge(target_bound=3.0, data_norm=7.0, solver="dp_fw_l2"),
    PrivateSparseRegression(),
    PrivateSparseRegression(delta=0.0),
    PrivateSparseRegression(nonzeros=2),
    PrivateHuber(),
    PrivateHuber(delta=0.0),
]


@pytest.mark.parametrize("model", SILENT)
def test_settings_depend_on_the_records_only_through_their_number(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Same n and d, other rows and labels: the same noise, steps, ball, regulariser and intercept's scaling.

    So radius=None, l2=None, intercept_scaling=None and the number of steps need no warning, and give none.
    """
    facts: list[Any] = []
    release = base.PrivateLinear._release

    def watched(self: Any, *args: Any, **more: Any) -> Any:
        done = release(self, *args, **more)
        facts.append((done.scaling, done.plan))
        return done

    monkeypatch.setattr(base.PrivateLinear, "_release", watched)
    rng = np.random.default_rng(0)
    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale, labels in ((0.01, 1), (100.0, 2)):
            model.fit(rng.standard_normal((30, 4)) * scale, rng.integers(0, labels, 30))
            seen.append((model.noise_std_, model.n_iter_, model.guarantee_, model.rests_on_, model.solver_))
    assert seen[0] == seen[1]
    assert facts[0] == facts[1]


# The guarantee --------------------------------------------------------------------------------------
@pytest.mark.parametrize("solver", QUICK)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_fit_is_the_solvers_own_run(solver: str, fit_intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guarantee, noise, claims and weights are those the solver gives on the bounded rows."""
    seen = []
    kind = solvers()[solver]
    solve = kind.solution

    def watched(self: Any, problem: Any, guarantee: Any, *args: Any, **more: Any) -> Any:
        run = solve(self, problem, guarantee, *args, **more)
        seen.append((problem, guarantee, more, run))
        return run

    monkeypatch.setattr(kind, "solution", watched)
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


def test_noise_is_fresh_unless_seeded() -> None:
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    np.random.seed(0)  # noqa: NPY002 - the global state must not make the noise predictable
    first = PrivateLogisticRegression(classes=(0, 1)).fit(X, y)
    np.random.seed(0)  # noqa: NPY002
    second = PrivateLogisticRegression(classes=(0, 1)).fit(X, y)
    assert not np.array_equal(first.coef_, second.coef_)
    model = PrivateLogisticRegression(classes=(0, 1), random_state=3)
    assert not np.array_equal(model.fit(X, y).coef_, first.coef_)


# Attacks on the whole fit ---------------------------------------------------------------------------
@pytest.fixture
def unclipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: rows are taken as they come, and the problem's own guard is gone too."""
    monkeypatch.setattr(base, "clipping", lambda norms, data_norm, d: np.ones(len(norms)))
    monkeypatch.setattr(problems, "check_rows", lambda X, y, row_bound: None)


def attacked(model: Any, length: float, targets: tuple[float, float], seed: int = 1) -> bool:
    """Whether an audit (false-alarm rate 1e-6) flags the fit on rows of this length, one label of four turned."""
    X = length * np.array([[1.0], [0.0], [0.0], [0.0]])
    y = np.array([targets[1], targets[0], targets[1], targets[0]])
    pair = (X, y), (X, np.array([targets[0], *y[1:]]))
    found = dp.audit(
        model.mechanism(), pair=pair, guarantee=model.guarantee(), max_trials=10_000, alpha=FALSE_ALARM, seed=seed
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
    monkeypatch.setattr(base, "made", lambda kind, options: planted(1 / 3, kind(**options)))
    assert attacked(model, 1.0, targets)


def test_a_pure_sparse_fit_is_flagged_with_little_noise_only(monkeypatch: pytest.MonkeyPatch) -> None:
    model = PrivateSparseLogisticRegression(2.0, 0.0, classes=(0, 1), fit_intercept=False, radius=1.0)
    assert not attacked(model, 1.0, (0, 1))
    assert not attacked(model, 10.0, (0, 1))
    monkeypatch.setattr(base, "made", lambda kind, options: planted(1 / 5, kind(**options)))
    assert attacked(model, 1.0, (0, 1))
