"""Adapters against the real libraries (tools/check-adapters), and what needs no library at all.

Set DPCHECK_ADAPTERS=required to turn a missing library from a skip into a failure.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.adapters import estimator

EXAMPLES = Path(__file__).parents[2] / "examples"
HOW = "run tools/check-adapters"


def library(name: str) -> Any:
    """A library, or the reason why its tests do not run here."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if os.environ.get("DPCHECK_ADAPTERS") == "required":
            raise
        return pytest.skip(f"{name} does not import here ({error}): {HOW}")


def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / f"audit_{name}.py"))


def right_and_wrong(results: tuple[dp.AuditResult, dp.AuditResult], tight: bool = True) -> None:
    """Of a mechanism that uses up its epsilon a pass names its power; of one that is not tight, why there is none."""
    right, wrong = results
    assert not right.violated
    assert np.isfinite(right.detectable_epsilon) == tight
    assert tight or right.would_catch.startswith("no number: ")
    assert wrong.violated


# Anything with fit --------------------------------------------------------------------------------
class Seeded:
    """A noisy mean with scikit-learn's face."""

    def __init__(self, scale: float = 1.0, random_state: int | None = None) -> None:
        self.scale, self.random_state = scale, random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"scale": self.scale, "random_state": self.random_state}

    def set_params(self, **params: Any) -> Seeded:
        vars(self).update(params)
        return self

    def fit(self, X: np.ndarray, y: Any = None) -> Seeded:
        rng = np.random.default_rng(self.random_state)
        self.coef_ = X.mean(axis=0) + rng.laplace(scale=self.scale / len(X), size=X.shape[1])
        self.intercept_ = 0.0
        return self


class Unseeded:
    """The same from numpy's global state."""

    def fit(self, X: np.ndarray) -> Unseeded:
        self.mean_ = float(X.mean() + np.random.laplace(scale=1 / len(X)))  # noqa: NPY002
        return self


def test_estimator_example() -> None:
    right_and_wrong(example("estimator")["main"](3_000))


@pytest.mark.parametrize(("scale", "broken"), [(1.0, False), (0.4, True)])
def test_seeded_estimators_replay(scale: float, broken: bool) -> None:
    near = dp.replace_one(low=0, high=1, n=4, d=1)
    mechanism = estimator.fitted(Seeded(scale))
    results = [
        dp.audit(mechanism, neighbours=near, guarantee=dp.PureDP(1.0), max_trials=3000, alpha=1e-6) for _ in "ab"
    ]
    assert results[0].violated is broken
    assert results[0].epsilon_lower == results[1].epsilon_lower
    assert results[0].health == ()


def test_unseeded_estimators_say_so_and_replay() -> None:
    mechanism = estimator.fitted(Unseeded(), ("mean_",))
    call: dict[str, Any] = {"pair": (np.zeros(4), np.ones(4)), "guarantee": dp.PureDP(1.0), "max_trials": 2000}
    first, second = (dp.audit(mechanism, **call) for _ in "ab")
    assert first.violated
    assert first.epsilon_lower == second.epsilon_lower
    assert any("global state" in message for message in first.health)


def test_a_plain_regression_is_not_private() -> None:
    """A real estimator of scikit-learn: deterministic, so any change of a label shows."""
    linear = library("sklearn.linear_model")
    X, y = np.arange(4.0)[:, None], np.zeros(4)
    pair = (X, y), (X, y + np.eye(4)[3])
    result = dp.audit(estimator.fitted(linear.Ridge()), pair=pair, guarantee=dp.PureDP(1.0), max_trials=400)
    assert result.violated
    assert "deterministic" in result.health[0]


def test_what_a_function_makes_of_a_fitted_model_is_released() -> None:
    double = estimator.fitted(Seeded(), lambda model: 2 * model.coef_)
    plain = estimator.fitted(Seeded(), "coef_")
    X = np.zeros((4, 1))
    assert np.array_equal(double(X, np.random.default_rng(0), 3), 2 * plain(X, np.random.default_rng(0), 3))


def test_bad_estimators_are_named() -> None:
    with pytest.raises(dp.InvalidInput, match="an estimator with fit"):
        estimator.fitted(3)
    with pytest.raises(dp.InvalidInput, match="Pass an instance"):
        estimator.fitted(Seeded)
    lost = estimator.fitted(Seeded(), ("theta_",))
    with pytest.raises(dp.DpcheckError, match=r"\['coef_', 'intercept_'\]"):
        dp.audit(lost, pair=(np.zeros((4, 1)), np.ones((4, 1))), guarantee=dp.PureDP(1.0), max_trials=100)


# OpenDP -------------------------------------------------------------------------------------------
def test_opendp_example() -> None:
    library("opendp.prelude")
    right, wrong = example("opendp")["main"](4_000)
    right_and_wrong((right, wrong))
    assert str(right.guarantee) == "PureDP(eps=1; add/remove-one)"
    assert any(message.startswith("ignores its rng") for message in right.health)


def test_opendp_maps_become_guarantees() -> None:
    odp = library("opendp.prelude")
    odp.enable_features("contrib")
    adapter = dp.adapters.opendp
    number = odp.atom_domain(T=float, nan=False), odp.absolute_distance(T=float)
    gauss = odp.m.make_gaussian(*number, scale=1.0)
    assert adapter.measurement(gauss).guarantee(1.0) == dp.ZCDP(0.5)
    smooth = odp.c.make_zCDP_to_approxDP(gauss)
    claim = adapter.measurement(smooth).guarantee(1.0, delta=1e-6)
    fixed = adapter.measurement(odp.c.make_fix_delta(smooth, delta=1e-6)).guarantee(1.0)
    assert claim == fixed
    assert isinstance(claim, dp.ApproxDP)
    with pytest.raises(dp.InvalidInput, match="privacy profile"):
        adapter.measurement(smooth).guarantee(1.0)
    with pytest.raises(dp.InvalidInput, match="an opendp Measurement"):
        adapter.measurement(3)
    assert adapter.measurement(odp.m.make_laplace(*number, scale=2.0)).guarantee(1.0) == dp.PureDP(0.5)


def test_opendp_bits_in_a_test_suite() -> None:
    """Randomised response, whose coins are OpenDP's own: passes as it is, caught when sold as too private."""
    odp = library("opendp.prelude")
    odp.enable_features("contrib")
    mechanism = dp.adapters.opendp.measurement(odp.m.make_randomized_response_bool(prob=0.75))
    call: dict[str, Any] = {"pair": (False, True), "max_trials": 2000}
    claim = mechanism.guarantee(1)
    assert claim.epsilon(0.0) == pytest.approx(np.log(3))
    assert not dp.assert_private(mechanism, guarantee=claim, **call).violated
    with pytest.raises(dp.PrivacyViolation):
        dp.assert_private(mechanism, guarantee=dp.PureDP(0.5), **call)


# diffprivlib --------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore")
def test_diffprivlib_examples() -> None:
    library("diffprivlib.models")
    made = example("diffprivlib")
    right_and_wrong(made["audit_mechanism"](5_000))
    right_and_wrong(made["audit_model"](400), tight=False)  # counts, means and variances have a third each


@pytest.mark.filterwarnings("ignore")
def test_diffprivlib_is_seeded_and_states_its_guarantee() -> None:
    kinds = library("diffprivlib.mechanisms")
    adapter = dp.adapters.diffprivlib
    gauss = adapter.mechanism(kinds.Gaussian, epsilon=0.5, delta=1e-3, sensitivity=1.0)
    assert gauss.guarantee() == dp.ApproxDP(0.5, 1e-3)
    draws = [gauss(0.0, np.random.default_rng(4), 50) for _ in "ab"]
    assert draws[0] == draws[1]
    assert not dp.assert_private(gauss, pair=(0.0, 1.0), guarantee=gauss.guarantee(), max_trials=3000).violated
    with pytest.raises(dp.PrivacyViolation):
        dp.assert_private(gauss, pair=(0.0, 10.0), guarantee=gauss.guarantee(), max_trials=3000)
    for wrong in (3, dict):
        with pytest.raises(dp.InvalidInput, match="must be"):
            adapter.mechanism(wrong)
        with pytest.raises(dp.InvalidInput, match="must be"):
            adapter.model(wrong)
    with pytest.raises(dp.InvalidInput, match="left out"):
        adapter.mechanism(kinds.Laplace, epsilon=1.0, sensitivity=1.0, random_state=0)


@pytest.mark.filterwarnings("ignore")
def test_diffprivlib_models_replay_and_spend_no_global_budget() -> None:
    models = library("diffprivlib.models")
    accountant = library("diffprivlib.accountant").BudgetAccountant.load_default(None)
    before = len(accountant)
    build = dp.adapters.diffprivlib.model(models.StandardScaler, ("mean_",), epsilon=1.0, bounds=(0, 1))
    X = np.linspace(0, 1, 6)[:, None]
    first, second = (build(X, np.random.default_rng(0), 5) for _ in "ab")
    assert np.array_equal(first, second)
    assert len(np.unique(first)) > 1
    assert len(accountant) == before


@pytest.mark.filterwarnings("ignore")
def test_diffprivlib_tools_and_choosers() -> None:
    """A mean with half the noise is flagged, and a choice by more than its epsilon; each is kept as it is."""
    kinds, tools = library("diffprivlib.mechanisms"), library("diffprivlib.tools")
    adapter = dp.adapters.diffprivlib
    pair = np.array([0.0, 0.0, 1.0, 1.0]), np.array([1.0, 0.0, 1.0, 1.0])
    call: dict[str, Any] = {"max_trials": 1500, "alpha": 1e-6}
    for epsilon, broken in ((1.0, False), (3.0, True)):
        mean = adapter.tool(tools.mean, epsilon=epsilon, bounds=(0, 1))
        assert dp.audit(mean, pair=pair, guarantee=dp.PureDP(1.0), **call).violated is broken
        chosen = adapter.mechanism(
            kinds.PermuteAndFlip,
            of_data=lambda data: {"utility": [int(np.sum(data == item)) for item in (0, 1)]},
            epsilon=epsilon,
            sensitivity=1,
        )
        assert dp.audit(chosen, pair=pair, guarantee=dp.PureDP(1.0), **call).violated is broken
    for wrong in (np.mean, 3, kinds.Laplace):
        with pytest.raises(dp.InvalidInput, match=r"a function of diffprivlib\.tools"):
            adapter.tool(wrong)
    assert adapter.mechanism(kinds.Uniform, delta=0.1, sensitivity=1.0).guarantee() == dp.ApproxDP(0.0, 0.1)


@pytest.mark.filterwarnings("ignore")
def test_diffprivlib_is_whole_after_a_replay() -> None:
    kinds = library("diffprivlib.mechanisms")
    mean = dp.adapters.diffprivlib.mechanism(kinds.LaplaceTruncated, epsilon=1.0, sensitivity=1.0, lower=0, upper=1)
    assert dp.replay(mean, (0.0, 1.0), dp.PureDP(1.0)).kept
    assert len(mean(0.0, np.random.default_rng(0), 3)) == 3


@pytest.mark.parametrize(("name", "call"), [("opendp", "measurement"), ("diffprivlib", "mechanism")])
def test_a_missing_library_is_named(name: str, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [m for m in sys.modules if m.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(dp.MissingDependency, match=r"pip install 'dpcheck\[adapters\]'"):
        getattr(getattr(dp.adapters, name), call)(dict)
