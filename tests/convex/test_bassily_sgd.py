"""Mini-batch noisy SGD: how many steps its noise is for, single precision covered by the noise, step sizes.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bugs planted beside it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.audits import audit
from dpcheck.bounds.language.errors import HypothesisViolated
from dpcheck.bounds.language.guarantees import ApproxDP, gaussian_delta
from dpcheck.bounds.library.convex import bassily_sgd as theory
from dpcheck.bounds.privacy.sampled_gaussian import subsampled_gaussian_epsilon, subsampled_gaussian_noise
from dpcheck.datasets import logistic_synthetic
from dpcheck.kernels.gradient_steps import noisy_descent
from dpcheck.kernels.single_precision import single_error
from dpcheck.problems.losses import Huber, Linear, Logistic, SmoothedHinge
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.bassily_sgd import BassilySGD
from dpcheck.testing.planting import with_noise_times

CLAIMED = ApproxDP(1.0, 1e-2)
PAIR = BassilySGD(batch=5).worst_pair()


def flagged(mechanism: Any) -> bool:
    found = audit(mechanism, pair=PAIR, guarantee=CLAIMED, max_trials=25_000, alpha=1e-6, seed=1)
    return found.violated


# Privacy -------------------------------------------------------------------------------------------
def test_noise_of_one_step_for_all_is_flagged() -> None:
    """False alarms: 1e-6."""
    longer = BassilySGD(batch=5, steps=25)
    one, all_ = (subsampled_gaussian_noise(CLAIMED.eps, CLAIMED.delta, 10, 5, k) for k in (1, 25))
    assert not flagged(longer.mechanism(CLAIMED))
    assert flagged(with_noise_times(one / all_, longer, CLAIMED))  # T ignored


def test_published_noise_holds_for_its_own_number_of_steps_only() -> None:
    """It is for (n/m)^2 steps, here one. The accountant says that 400 break it, and the audit sees it (1e-6)."""
    many = BassilySGD(batch=10, steps=400)
    noise = many.solve(PAIR[0], CLAIMED, 0, calibration="stated").noise_std
    assert subsampled_gaussian_epsilon(10 * noise, 10, 10, 1, CLAIMED.delta).high < CLAIMED.eps
    assert subsampled_gaussian_epsilon(10 * noise, 10, 10, 400, CLAIMED.delta).low > 2 * CLAIMED.eps
    assert not flagged(replace(many, steps=1).mechanism(CLAIMED, "stated"))
    assert flagged(many.mechanism(CLAIMED, "stated"))


@pytest.mark.parametrize("size", [5, 64, 65, 300])
def test_full_batches_are_gradient_descent_with_exact_noise(size: int) -> None:
    """n = m: one Gaussian mechanism a step, so the exact curve at sqrt(T) times 2L/n over the noise."""
    problem = logistic_synthetic(size, 2, 0).problem(Huber(0.5))
    found = BassilySGD(batch=size, steps=9).solve(problem, CLAIMED, 0)
    ratio = math.sqrt(9) * 2 * 0.5 / size / found.noise_std
    assert gaussian_delta(CLAIMED.eps, ratio) <= CLAIMED.delta < gaussian_delta(CLAIMED.eps, 1.01 * ratio)


def test_published_noise_is_refused_above_one() -> None:
    with pytest.raises(HypothesisViolated, match="eps <= 1"):
        BassilySGD(batch=5).solve(PAIR[0], ApproxDP(2.0, 1e-2), 0, calibration="stated")


# Single precision ----------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [20, 200, 400])
def test_noise_covers_single_precision(size: int) -> None:
    """Gradients off by e each are 2L/n + 2e apart: the exact curve still holds there, and would not without cover."""
    problem, steps = logistic_synthetic(size, 2, 0).problem(Logistic()), 4
    guarantee, solver = ApproxDP(0.05, 1e-6), BassilySGD(batch=size, steps=steps)
    done = solver.calibrated(problem, guarantee)
    assert solver.method(problem, done.plan, done.released).single  # so single precision is what runs
    noise, apart = done.noise_std, 2 / size + 2 * single_error(problem)
    plain = subsampled_gaussian_noise(guarantee.eps, guarantee.delta, size, size, steps) / size
    assert noise == pytest.approx(plain * (1 + size * single_error(problem)), rel=1e-6)
    assert noise / plain - 1 > 1e-7
    for sigma, holds in ((noise, True), (plain / (1 + 1e-8), False)):
        assert (gaussian_delta(guarantee.eps, math.sqrt(steps) * apart / sigma) <= guarantee.delta) == holds


def test_no_cover_where_double_precision_runs() -> None:
    """Losses without a single-precision form, sampled batches, too many records; published noise is as it is."""
    size, steps = 200, 4
    plain = subsampled_gaussian_noise(CLAIMED.eps, CLAIMED.delta, size, size, steps) / size
    logistic = logistic_synthetic(size, 2, 0).problem(Logistic())
    full, half = BassilySGD(batch=size, steps=steps), BassilySGD(batch=100, steps=steps)
    many = logistic_synthetic(5000, 2, 0).problem(Logistic())
    rows = [
        (full, replace(logistic, loss=SmoothedHinge(0.5)), plain),
        (half, logistic, subsampled_gaussian_noise(CLAIMED.eps, CLAIMED.delta, size, 100, steps) / 100),
        (BassilySGD(batch=5000, steps=steps), many, plain * size / 5000),
    ]
    for solver, problem, due in rows:
        done = solver.calibrated(problem, CLAIMED)
        assert done.noise_std == pytest.approx(due, rel=5e-6)  # the cover would be 2e-5 and more
        assert not solver.method(problem, done.plan, done.released).single
    printed = theory.minibatch.evaluate(n=size, m=size, eps=CLAIMED.eps, delta=CLAIMED.delta, L=1.0)
    assert full.calibrated(logistic, CLAIMED, "stated").noise_std == printed
    done = full.calibrated(logistic, CLAIMED)
    assert not full.method(logistic, done.plan, done.released.with_noise_times(1e-3)).single  # too little to hide it


@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([8, 64, 65, 400]), radius=st.floats(0.1, 30))
@settings(max_examples=20, deadline=None)
def test_the_computed_gradients_are_as_close_as_the_cover_assumes(seed: int, size: int, radius: float) -> None:
    """One step with and without single precision on the same noise: they differ by at most eta times the error."""
    problem = logistic_synthetic(size, 3, seed % 1000).problem(Logistic())
    start = np.random.default_rng(seed).standard_normal(3)
    start *= radius / np.linalg.norm(start)
    options: dict[str, Any] = {"steps": 1, "step_size": 1.0, "noise_std": 1.0, "seed": seed, "trials": 50}
    single, double = (noisy_descent(problem, start=start, precision=p, **options).w for p in ("auto", "double"))
    assert np.linalg.norm(single - double, axis=1).max() <= single_error(problem) + 1e-14 * radius


def test_step_sizes() -> None:
    problem = Problem(np.zeros((4, 3)), np.ones(4), Linear())
    np.testing.assert_allclose(
        BassilySGD(radius=2.0).step_sizes(problem, 0.5, 4), 2 / np.sqrt(np.arange(1, 5) * (1 + 3 * 0.25))
    )
    strong = replace(problem, loss=Huber(1.0), l2=0.5)
    np.testing.assert_allclose(BassilySGD().step_sizes(strong, 0.5, 4), [1 / 1.5, 1 / 1.5, 1 / 1.5, 0.5])
