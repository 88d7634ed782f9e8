"""Softmax regression: derivatives, the constants derived for it, and the binary case against logistic regression."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.errors import InvalidInput
from dpcheck.losses import Logistic
from dpcheck.problems import Problem
from dpcheck.softmax import Softmax, SoftmaxProblem, softmax_problem

cases = st.fixed_dictionaries(
    {"n": st.integers(1, 6), "features": st.integers(1, 4), "classes": st.integers(2, 5), "seed": st.integers(0, 10**6)}
)


def drawn(case: dict[str, int], l2: float = 0.0) -> tuple[SoftmaxProblem, np.ndarray]:
    rng = np.random.default_rng(case["seed"])
    X = rng.standard_normal((case["n"], case["features"]))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    problem = softmax_problem(X, rng.integers(0, case["classes"], case["n"]), case["classes"], l2=l2)
    return problem, 3 * rng.standard_normal((4, problem.d))


@given(case=cases, l2=st.sampled_from([0.0, 0.3]))
@settings(max_examples=40, deadline=None)
def test_derivatives_match_differences(case: dict[str, int], l2: float) -> None:
    problem, W = drawn(case, l2)
    h, eye = 1e-5, np.eye(problem.d)
    up, down = (np.stack([problem.value(W + s * h * e) for e in eye], axis=1) for s in (1, -1))
    assert problem.gradient(W) == pytest.approx((up - down) / (2 * h), abs=1e-7)
    bend = np.stack([(problem.gradient(W[0] + h * e) - problem.gradient(W[0] - h * e)) / (2 * h) for e in eye])
    assert problem.hessian(W[0]) == pytest.approx(bend, abs=1e-7)
    every = np.tile(np.arange(problem.n), (len(W), 1))
    assert problem.gradient_at(W, every) == pytest.approx(problem.gradient(W))
    assert problem.gradient(W, out=np.empty_like(W)) == pytest.approx(problem.gradient(W))


@given(case=cases)
@settings(max_examples=60, deadline=None)
def test_derived_constants_bound_every_record(case: dict[str, int]) -> None:
    """‖gradient‖ ≤ √2‖x‖, Hessian between 0 and ‖x‖²/2."""
    problem, W = drawn(case)
    for i in range(problem.n):
        size = np.linalg.norm(problem.X[i])
        gradients = problem.gradient_at(W, np.full(len(W), i))
        assert np.all(np.linalg.norm(gradients, axis=1) <= math.sqrt(2) * size * (1 + 1e-12))
        one = softmax_problem(problem.X[i : i + 1], problem.y[i : i + 1], problem.classes)
        low, high = np.linalg.eigvalsh(one.hessian(W[0]))[[0, -1]]
        assert low >= -1e-12
        assert high <= size**2 / 2 + 1e-12
    assert problem.data_lipschitz == math.sqrt(2)
    assert problem.smoothness == 0.5


def test_the_constants_are_attained() -> None:
    problem = softmax_problem([[1.0]], [0], 3)
    assert np.linalg.norm(problem.gradient(np.array([-40.0, 40.0, -40.0]))) == pytest.approx(math.sqrt(2))
    assert np.linalg.eigvalsh(problem.hessian(np.array([0.0, 0.0, -60.0])))[-1] == pytest.approx(0.5)


@given(case=cases)
@settings(max_examples=20, deadline=None)
def test_two_classes_are_logistic_regression(case: dict[str, int]) -> None:
    problem, W = drawn({**case, "classes": 2})
    binary = Problem(problem.X, 2 * problem.y - 1, Logistic())
    zero, one = np.split(W, 2, axis=1)
    assert problem.value(W) == pytest.approx(binary.value(one - zero))
    assert problem.gradient(W) == pytest.approx(np.hstack([-binary.gradient(one - zero), binary.gradient(one - zero)]))
    assert np.array_equal(problem.predicted(W, problem.X), ((one - zero) @ problem.X.T > 0).astype(int))


def test_the_minimiser_is_stationary() -> None:
    problem, _ = drawn({"n": 6, "features": 2, "classes": 3, "seed": 1}, l2=0.1)
    w, least = problem.minimiser()
    assert np.linalg.norm(problem.gradient(w)) < 1e-7
    assert least <= float(problem.value(np.zeros(problem.d)))


@pytest.mark.parametrize("label", [-1.0, 0.5, 3.0])
def test_labels_must_name_a_class(label: float) -> None:
    with pytest.raises(InvalidInput, match=f"label is {label}"):
        softmax_problem([[1.0], [1.0]], [0.0, label], 3)


@pytest.mark.parametrize("classes", [1, 2.5, True])
def test_classes_must_be_counted(classes: int) -> None:
    with pytest.raises(InvalidInput, match="classes"):
        Softmax(classes)
