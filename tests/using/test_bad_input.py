"""Bad input gets one typed error that names the value, the limit and a remedy; nothing is half-done."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.audits import audit, replace_one
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput, UnknownName
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from dpcheck.bounds.privacy import exact as accounting
from dpcheck.bounds.registry import library
from dpcheck.datasets import logistic_synthetic
from dpcheck.kernels.noise import gaussian, l2_laplace, laplace
from dpcheck.problems.losses import Logistic, Sigmoid, SmoothedHinge
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.bassily_sgd import BassilySGD
from dpcheck.solvers.convex.outpert_gd import OutputPerturbationGD
from dpcheck.solvers.nonconvex.rrpsgd import RandomRoundSGD

GOOD = Problem([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], [1, -1, 1], Logistic())
POINT = {"n": 100, "d": 2, "eps": 1.0, "delta": 1e-3, "L": 1.0, "beta": 1.0, "mu": 0.1}


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def evaluated(**change: Any) -> Any:
    return library["zhang17.theorem2.approx"].evaluate(**POINT | change)


def problem(X: Any = ((1.0, 0.0), (0.0, 1.0)), y: Any = (1, -1), **others: Any) -> Problem:
    return Problem(X, y, **{"loss": Logistic()} | others)


def attacked(mechanism: Any, **change: Any) -> Any:
    options = {"pair": (0.0, 1.0), "guarantee": PureDP(1.0), "max_trials": 1000}
    return audit(mechanism, **options | change)


def noisy(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
    return data + rng.laplace(size=trials)


# what is wrong: (call, words for the value, words for the limit)
CASES: dict[str, tuple[Callable[[], Any], str, str]] = {
    # epsilon
    "pure, eps = 0": (lambda: PureDP(0.0), "0", "> 0|positive"),
    "pure, eps < 0": (lambda: PureDP(-1.0), "-1", "eps|epsilon"),
    "pure, eps NaN": (lambda: PureDP(math.nan), "nan", "finite|number"),
    "pure, eps infinite": (lambda: PureDP(math.inf), "inf", "finite"),
    "approximate, eps < 0": (lambda: ApproxDP(-0.5, 1e-5), "-0.5", "eps"),
    "approximate, eps NaN": (lambda: ApproxDP(math.nan, 1e-5), "nan", "finite|number"),
    "zCDP, rho < 0": (lambda: ZCDP(-1.0), "-1", "rho"),
    "Gaussian DP, mu NaN": (lambda: GaussianDP(math.nan), "nan", "mu"),
    "Renyi, order 1": (lambda: RenyiDP(1.0, 1.0), "1", "alpha"),
    "claim, eps = 0": (lambda: evaluated(eps=0), "0", "finite"),
    "claim, eps < 0": (lambda: evaluated(eps=-1), "-1", ">= 0"),
    "claim, eps NaN": (lambda: evaluated(eps=math.nan), "nan", "finite"),
    "claim, eps a word": (lambda: evaluated(eps="one"), "one", "a number"),
    "accountant, eps < 0": (lambda: accounting.gaussian_sigma(-1.0, 1e-5), "-1", "eps"),
    "solver, eps NaN": (lambda: OutputPerturbationGD().solve(GOOD, PureDP(math.nan)), "nan", "finite|number"),
    # delta
    "approximate, delta < 0": (lambda: ApproxDP(1.0, -1e-9), "-1e-09", r"\[0, 1\)"),
    "approximate, delta = 1": (lambda: ApproxDP(1.0, 1.0), "1.0", r"\[0, 1\)"),
    "approximate, delta NaN": (lambda: ApproxDP(1.0, math.nan), "nan", r"\[0, 1\)"),
    "claim, delta = 1": (lambda: evaluated(delta=1.0), "1.0", "< 1"),
    "conversion, delta = 2": (lambda: ZCDP(1.0).epsilon(2.0), "2.0", r"\[0, 1\)"),
    "accountant, delta = 1": (lambda: accounting.gaussian_sigma(1.0, 1.0), "1.0", "1"),
    # no records
    "problem, n = 0": (lambda: problem([], []), r"\(0,\)", "n, d >= 1"),
    "problem, no columns": (lambda: problem(np.zeros((3, 0)), [1, 1, 1]), r"\(3, 0\)", "n, d >= 1"),
    "neighbours, n = 0": (lambda: replace_one(low=0, high=1, n=0), "0", ">= 1"),
    "claim, n = 0": (lambda: evaluated(n=0), "0", "whole number >= 1"),
    "generator, n = 0": (lambda: logistic_synthetic(0, 3, seed=0), "0", ">= 1"),
    # rows and records
    "ragged rows": (lambda: problem([[1.0, 0.0], [1.0]], [1, -1]), "of unequal length", "d of them in each row"),
    "one label too few": (lambda: problem(y=[1]), r"\(1,\)", "one label a row"),
    "NaN in a row": (lambda: problem([[0.0, math.nan], [0.0, 1.0]]), r"X at \(0, 1\)", "finite"),
    "infinity in a row": (lambda: problem([[0.0, 1.0], [-math.inf, 1.0]]), r"X at \(1, 0\)", "finite"),
    "NaN label": (lambda: problem(y=[1, math.nan]), r"labels at \(1,\)", "finite"),
    "record outside the bound": (lambda: problem([[3.0, 4.0], [0.0, 1.0]]), "row 0 is too large", "row_bound=1.0"),
    "neighbour outside the bound": (lambda: GOOD.replace(0, [2.0, 0.0], 1), "row 0 is too large", "row_bound=1.0"),
    "pair outside the domain": (
        lambda: attacked(noisy, pair=(np.array([0.0]), np.array([7.0])), neighbours=replace_one(low=0, high=1, n=1)),
        "7",
        "neighbours",
    ),
    "label 0": (lambda: problem(y=[1, 0]), "label 1", "-1 or 1"),
    "label 2": (lambda: problem(y=[2, 1], loss=Sigmoid()), "label 0", "-1 or 1"),
    "label a half": (lambda: problem(y=[1, 0.5], loss=SmoothedHinge(0.5)), "label 1", "-1 or 1"),
    # names and hypotheses
    "unknown claim": (lambda: library["zhang17.lemma99"], "zhang17.lemma99", "known claim"),
    "hypothesis on numbers": (lambda: evaluated(mu=2.0), "2.0", "μ ≤ β"),
    "hypothesis on losses": (
        lambda: OutputPerturbationGD().solve(problem(loss=Sigmoid()), PureDP(1.0)),
        "Sigmoid",
        "convex",
    ),
    # trials
    "solver, no trials": (lambda: OutputPerturbationGD().solve(GOOD, PureDP(1.0), 0, trials=0), "0", ">= 1"),
    "bassily, no trials": (lambda: BassilySGD().solve(GOOD, ApproxDP(1.0, 1e-3), 0, trials=0), "0", ">= 1"),
    "rrpsgd, no trials": (lambda: RandomRoundSGD().solve(GOOD, ApproxDP(1.0, 1e-3), 0, trials=0), "0", ">= 1"),
    "solver, half a trial": (lambda: OutputPerturbationGD().solve(GOOD, PureDP(1.0), 0, trials=0.5), "0.5", ">= 1"),
    "audit, no trials": (lambda: attacked(noisy, max_trials=0), "0", "integer >="),
    "noise, no trials": (lambda: l2_laplace(rng(), 1.0, 0, 3), "0", "whole number >= 1"),
    "noise, no scale": (lambda: laplace(rng(), 0.0, 5), "0.0", "> 0"),
    "noise, NaN scale": (lambda: gaussian(rng(), math.nan, 5), "nan", "> 0"),
    # mechanisms
    "mechanism, one output for all": (lambda: attacked(lambda d, r, k: d), r"\(\)", "one output per trial"),
    "mechanism, one output too many": (
        lambda: attacked(lambda d, r, k: d + r.laplace(size=k + 1)),
        r"\(\d+,\)",
        "one output per trial",
    ),
    "mechanism, trials last": (
        lambda: attacked(lambda d, r, k: d + r.laplace(size=(2, k))),
        r"\(2, \d+\)",
        "one output per trial",
    ),
    "mechanism, NaN": (lambda: attacked(lambda d, r, k: np.full(k, np.nan)), "NaN", "a number"),
    "mechanism, no function": (lambda: attacked(3), "3", "callable"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_error_names_value_limit_and_remedy(case: str) -> None:
    call, value, limit = CASES[case]
    with pytest.raises(InvalidInput) as caught:
        call()
    error = caught.value
    text = str(error)
    assert isinstance(error, ValueError)
    assert re.search(value, text), f"{text!r} does not show the value"
    assert re.search(limit, text), f"{text!r} does not name the limit"
    assert error.remedy.endswith((".", "?"))
    assert error.remedy in text
    assert "\n" not in text
    assert len(text) < 400


def test_types_tell_the_kind_of_mistake() -> None:
    with pytest.raises(UnknownName):
        library["zhang17.lemma99"]
    with pytest.raises(KeyError):
        library["zhang17.lemma99"]
    with pytest.raises(HypothesisViolated):
        evaluated(mu=2.0)


def test_long_values_are_cut() -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluated(eps=np.full(1000, -1.0))
    assert len(str(caught.value)) < 300


def test_the_mechanism_is_not_run_on_bad_arguments() -> None:
    """Nothing half-done: the arguments are checked before the first trial."""
    calls = []

    def counted(data: float, rng: np.random.Generator, trials: int) -> np.ndarray:
        calls.append(trials)
        return noisy(data, rng, trials)

    for change in ({"max_trials": 0}, {"guarantee": "eps = 1"}, {"alpha": 0.0}, {"seed": -1}):
        with pytest.raises(InvalidInput):
            attacked(counted, **change)
    assert calls == []
    attacked(counted)
    assert calls


def test_data_are_not_shared_with_the_caller() -> None:
    """A problem that was checked stays as it was checked."""
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    made = problem(X)
    X[0, 0] = math.nan
    assert np.all(np.isfinite(made.X))
    with pytest.raises(ValueError, match="read-only"):
        made.X[0, 0] = 7.0


@settings(deadline=None, max_examples=100)
@given(st.floats(allow_nan=True, allow_infinity=True), st.floats(allow_nan=True, allow_infinity=True))
def test_every_number_is_a_guarantee_or_an_error(eps: float, delta: float) -> None:
    try:
        made = ApproxDP(eps, delta)
    except InvalidInput:
        assert not (0 < eps < math.inf and 0 <= delta < 1)
    else:
        assert 0 <= made.eps < math.inf
        assert 0 <= made.delta < 1


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(sorted(POINT)), st.floats(allow_nan=True, allow_infinity=True))
def test_evaluate_gives_a_finite_number_or_an_error(name: str, value: float) -> None:
    try:
        found = evaluated(**{name: value})
    except InvalidInput as caught:
        found = caught
    if isinstance(found, InvalidInput):
        assert name in str(found)
    else:
        assert math.isfinite(found)
        assert value >= 0
