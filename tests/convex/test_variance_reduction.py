"""Variance-reduced steps: against a plain loop, their density and cost; proximal steps; refusals."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.privacy.laws import Gaussian, WithoutReplacement
from dpcheck.bounds.privacy.release import Release
from dpcheck.datasets import logistic_synthetic
from dpcheck.kernels import transcripts
from dpcheck.kernels.method import Asked
from dpcheck.kernels.variance_reduction import (
    Epochs,
    ReducedSteps,
    composite_minimum,
    proximal,
    reduced_descent,
    reduced_steps,
)
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.losses import Huber, Logistic
from dpcheck.problems.problem import Problem

METHODS = {
    "svrg": Epochs((7, 7, 7), 0.3),
    "katyusha": Epochs((6, 6), 0.4, theta=0.4, growth=1.1, restart=False),
    "svrgpp": Epochs((4, 8, 16), 0.2, restart=False),
}


def plain_loop(problem: Problem, plan: Epochs, l1: float, picks: Any = None, answers: Any = None) -> Any:
    """One run, written out record by record: the last snapshot and, for each step, x, x~ and what was asked.

    `picks` are the records drawn, None for all; a step moves by what it asked or, if given, by its answer.
    """
    data = replace(problem, l2=0.0)
    x = snap = np.zeros(problem.d)
    drawn, path = iter([] if picks is None else picks), []
    for length in plan.lengths:
        full = np.mean([slope(data, snap, i) for i in range(problem.n)], axis=0)
        x = snap if plan.restart else x
        total, weights = np.zeros(problem.d), 0.0
        for j in range(length):
            y = plan.theta * x + (1 - plan.theta) * snap
            if picks is None:
                v = np.mean([slope(data, y, i) for i in range(problem.n)], axis=0)
            else:
                i = next(drawn)
                v = slope(data, y, i) - slope(data, snap, i) + full
            path.append((y, snap, v))
            moved = x - plan.step_size * (v if answers is None else answers[len(path) - 1])
            moved = np.sign(moved) * np.maximum(np.abs(moved) - plan.step_size * l1, 0)
            x = moved / (1 + plan.step_size * problem.l2)
            total, weights = total + plan.growth**j * x, weights + plan.growth**j
        snap = plan.theta * total / weights + (1 - plan.theta) * snap
    return snap, path


def slope(problem: Problem, w: np.ndarray, i: int) -> np.ndarray:
    """The gradient of one record's loss."""
    return problem.loss.derivative(problem.X[i] @ w, problem.y[i]) * problem.X[i]


# The loop ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("l1", [0.0, 0.05])
def test_full_batches_without_noise_are_the_plain_loop(method: str, l1: float) -> None:
    problem = logistic_synthetic(9, 3, 1).problem(Huber(0.3), l2=0.1)
    plan = replace(METHODS[method], batch=9)
    done = reduced_descent(problem, plan, noise_std=0.0, seed=0, trials=2, l1=l1)
    expected, _ = plain_loop(problem, plan, l1)
    np.testing.assert_allclose(done.w, [expected, expected], atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_drawn_records_without_noise_are_the_plain_loop(method: str) -> None:
    """The records drawn are read off the trace: each answer is that of exactly one record, and they differ by trial."""
    problem, plan = logistic_synthetic(6, 2, 2).problem(Logistic(), l2=0.2), METHODS[method]
    done = reduced_descent(problem, plan, noise_std=0.0, seed=3, trials=3, trace=True)
    assert done.trace is not None
    found = []
    for k in range(3):
        answers = done.trace.answers[:, k]
        each = [plain_loop(problem, plan, 0.0, [i] * plan.steps, answers)[1] for i in range(problem.n)]
        gaps = np.array([[np.abs(each[i][t][2] - v).max() for i in range(problem.n)] for t, v in enumerate(answers)])
        assert gaps.min(axis=1).max() < 1e-12
        found.append(gaps.argmin(axis=1))
        np.testing.assert_allclose(done.w[k], plain_loop(problem, plan, 0.0, found[k])[0], atol=1e-12)
    assert len({tuple(picks) for picks in found}) == 3


# What is kept between steps --------------------------------------------------------------------------
class Stale(ReducedSteps):
    """Planted: the full gradient of the first snapshot is kept for ever."""

    def asked_of(self, data: Problem, k: int) -> Asked:
        ask, first = super().asked_of(data, k), self.start(k)[1]
        return lambda state, t, drawn: ask((state[0], first), t, drawn)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("batch", [1, 2, 4])
def test_the_density_is_that_of_the_plain_loop(method: str, batch: int) -> None:
    """All batches enumerated, record by record; a method that forgets to renew its snapshot has another density."""
    plan = replace(METHODS[method], lengths=(2, 2), step_size=4.0, batch=batch)
    problem = logistic_synthetic(4, 2, 3).problem(Logistic(), l2=0.1)
    released = Release(1.0, Gaussian(0.5), WithoutReplacement(batch, 4), plan.steps)
    trace = reduced_descent(problem, plan, noise_std=0.5, seed=1, trials=3, trace=True).trace
    assert trace is not None
    answers = trace.answers.transpose(1, 0, 2)
    steps = reduced_steps(problem, plan)
    found = transcripts.log_density(steps, released, problem, answers)
    expected = [plain_log_density(problem, plan, own) for own in answers]
    np.testing.assert_allclose(found - found[0], np.subtract(expected, expected[0]), atol=1e-9)
    if batch < 4:
        stale = Stale(plan, steps.begin, steps.constraint, steps.l2)
        wrong = transcripts.log_density(stale, released, problem, answers)
        assert np.abs(wrong - wrong[0] - (found - found[0])).max() > 1e-3


def plain_log_density(problem: Problem, plan: Epochs, answers: np.ndarray) -> float:
    """Of one transcript, up to a constant."""
    data, total = replace(problem, l2=0.0), 0.0
    _, path = plain_loop(problem, plan, 0.0, None, answers)
    for (y, snap, _), answer in zip(path, answers, strict=True):
        full = np.mean([slope(data, snap, i) for i in range(data.n)], axis=0)
        moved = np.array([slope(data, y, i) - slope(data, snap, i) for i in range(data.n)])
        means = [moved[list(batch)].mean(axis=0) + full for batch in combinations(range(data.n), plan.batch)]
        total += math.log(np.mean([math.exp(-np.sum((answer - mean) ** 2) / (2 * 0.5**2)) for mean in means]))
    return total


@pytest.mark.parametrize("batch", [1, 3])
def test_a_full_gradient_is_taken_once_an_epoch(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slopes evaluated: n a snapshot and one a drawn record, in every trial."""
    counted, plain = [], Logistic.derivative
    monkeypatch.setattr(Logistic, "derivative", lambda *given: counted.append(np.size(given[1])) or plain(*given))
    problem = logistic_synthetic(50, 2, 0).problem(Logistic())
    reduced_descent(problem, Epochs((10,) * 3, 0.1, batch=batch), noise_std=1.0, seed=0, trials=7)
    assert sum(counted) == 7 * (3 * 50 + 30 * batch)


# Proximal steps and the objective ------------------------------------------------------------------
@given(x=st.floats(-4, 4), l1=st.floats(0, 2), l2=st.floats(0, 2), eta=st.floats(0.05, 3), ball=st.booleans())
@settings(max_examples=60, deadline=None)
def test_proximal_steps_minimise(x: float, l1: float, l2: float, eta: float, ball: bool) -> None:
    settings_ = {"constraint": L2Ball(1.0)} if ball else {}
    problem = Problem([[1.0]], [1.0], Logistic(), l2=l2, **settings_)
    found = float(proximal(problem, 0.0 if ball else l1, np.array([[x]]), eta)[0, 0])
    low, high = (-1.0, 1.0) if ball else (-6.0, 6.0)
    best = optimize.minimize_scalar(
        lambda w: (w - x) ** 2 / (2 * eta) + (0.0 if ball else l1) * abs(w) + l2 / 2 * w**2,
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert abs(found - best.x) < 1e-4


@given(seed=st.integers(0, 1000), l1=st.floats(0.01, 0.3), l2=st.sampled_from([0.0, 0.1]))
@settings(max_examples=10, deadline=None)
def test_composite_minimum_is_a_minimum(seed: int, l1: float, l2: float) -> None:
    """The same as a smooth problem in the positive and negative parts."""
    problem = logistic_synthetic(12, 3, seed).problem(Huber(0.5), l2=l2)
    least = composite_minimum(problem, l1)
    fit = optimize.minimize(
        lambda z: float(problem.value(z[:3] - z[3:])) + l1 * z.sum(),
        np.zeros(6),
        jac=lambda z: np.tile(problem.gradient(z[:3] - z[3:]), 2) * np.repeat([1, -1], 3) + l1,
        method="L-BFGS-B",
        bounds=[(0, None)] * 6,
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    assert abs(least - fit.fun) < 1e-8


# Refusals ------------------------------------------------------------------------------------------
def test_batches_beyond_the_data_and_l1_over_a_set_are_refused() -> None:
    with pytest.raises(InvalidInput, match="batch is 7"):
        reduced_steps(logistic_synthetic(6, 2, 0).problem(Logistic()), Epochs((3,), 0.1, batch=7))
    problem = Problem(np.ones((3, 1)), np.ones(3), Logistic(), constraint=L2Ball(1.0))
    with pytest.raises(InvalidInput, match=r"l1 is 0\.1"):
        reduced_descent(problem, Epochs((2,), 0.1), noise_std=0.0, seed=0, trials=1, l1=0.1)


def test_stated_noise_needs_no_other_library_file() -> None:
    """The symbols of a plan are known whatever was imported before: alone in a process, DP-SVRG had no `batch`."""
    alone = """
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.datasets import logistic_synthetic
from dpcheck.problems.losses import Logistic
from dpcheck.solvers.convex.dp_svrg import DPSVRG
problem = logistic_synthetic(40, 2, 0).problem(Logistic())
DPSVRG(1, 4, 0.1, c1=1e9).solve(problem, ApproxDP(0.5, 1e-5), 0, calibration="stated")
"""
    subprocess.run([sys.executable, "-c", alone], check=True)
