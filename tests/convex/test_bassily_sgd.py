"""Mini-batch noisy SGD: privacy, calibration, single precision covered by the noise, convergence.

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
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, Guarantee, PureDP, gaussian_delta
from dpcheck.bounds.library.convex import bassily_sgd as theory
from dpcheck.bounds.privacy.sampled_gaussian import subsampled_gaussian_epsilon, subsampled_gaussian_noise
from dpcheck.datasets import logistic_synthetic
from dpcheck.kernels.gradient_steps import noisy_descent
from dpcheck.kernels.single_precision import single_error
from dpcheck.problems.losses import Huber, Linear, Logistic, Sigmoid, SmoothedHinge, Squared
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.bassily_sgd import BassilySGD
from dpcheck.testing.planting import with_noise_times
from dpcheck.theory.exponents import fitted

FALSE_ALARM = 1e-6
CLAIMED = ApproxDP(1.0, 1e-2)
SOLVER = BassilySGD(batch=5)
losses = st.one_of(
    st.sampled_from([Logistic(), Sigmoid()]), st.floats(0.1, 2).map(Huber), st.floats(0.1, 2).map(SmoothedHinge)
)


def attack(
    mechanism: Any, pair: tuple[Any, Any], guarantee: Guarantee = CLAIMED, trials: int = 25_000, seed: int = 1
) -> bool:
    found = audit(mechanism, pair=pair, guarantee=guarantee, max_trials=trials, alpha=FALSE_ALARM, seed=seed)
    return found.violated


# Privacy -------------------------------------------------------------------------------------------
def test_the_accountant_is_tight_here() -> None:
    """Batches of 5 out of 10, four steps: within a percent, so that no planted bug hides behind slack."""
    noise = subsampled_gaussian_noise(CLAIMED.eps, CLAIMED.delta, 10, 5, 4)
    tight = subsampled_gaussian_epsilon(noise, 10, 5, 4, CLAIMED.delta)
    assert 0.98 * CLAIMED.eps < tight.low <= tight.high <= CLAIMED.eps
    assert subsampled_gaussian_epsilon(noise / 2, 10, 5, 4, CLAIMED.delta).low > 2 * CLAIMED.eps


def test_noise_of_one_step_for_all_is_flagged() -> None:
    """False alarms: 1e-6."""
    pair, longer = SOLVER.worst_pair(), replace(SOLVER, steps=25)
    one, all_ = (subsampled_gaussian_noise(CLAIMED.eps, CLAIMED.delta, 10, 5, k) for k in (1, 25))
    assert not attack(longer.mechanism(CLAIMED), pair)
    assert attack(with_noise_times(one / all_, longer, CLAIMED), pair)  # T ignored


def test_published_noise_holds_for_its_own_number_of_steps_only() -> None:
    """It is for (n/m)^2 steps, here one. The accountant says that 400 break it, and the audit sees it (1e-6)."""
    pair, many = SOLVER.worst_pair(), BassilySGD(batch=10, steps=400)
    noise = many.solve(pair[0], CLAIMED, 0, calibration="stated").noise_std
    assert subsampled_gaussian_epsilon(10 * noise, 10, 10, 1, CLAIMED.delta).high < CLAIMED.eps
    assert subsampled_gaussian_epsilon(10 * noise, 10, 10, 400, CLAIMED.delta).low > 2 * CLAIMED.eps
    assert not attack(replace(many, steps=1).mechanism(CLAIMED, "stated"), pair)
    assert attack(many.mechanism(CLAIMED, "stated"), pair)


# Calibration ---------------------------------------------------------------------------------------
@given(level=st.floats(0.1, 1.0), delta=st.floats(1e-5, 0.1), size=st.integers(2, 60), batch=st.integers(1, 60))
@settings(max_examples=20, deadline=None)
def test_stated_noise_is_the_claims_own_and_certified_noise_is_below(
    level: float, delta: float, size: int, batch: int
) -> None:
    problem, guarantee = Problem(np.zeros((size, 1)), np.ones(size), Huber(0.7)), ApproxDP(level, delta)
    solver, m = BassilySGD(batch=batch), min(batch, size)
    stated, certified = (solver.solve(problem, guarantee, 0, calibration=c) for c in ("stated", "certified"))
    assert stated.steps == math.ceil((size / m) ** 2)
    assert stated.noise_std == theory.minibatch.evaluate(n=size, m=m, eps=level, delta=delta, L=0.7)
    assert certified.noise_std < stated.noise_std
    multiplier = certified.noise_std * m / 0.7
    assert subsampled_gaussian_epsilon(multiplier, size, m, stated.steps, delta).high <= level * (1 + 1e-9)
    assert subsampled_gaussian_epsilon(0.99 * multiplier, size, m, stated.steps, delta).high > level


@given(
    level=st.floats(0.1, 3.0), delta=st.floats(1e-5, 0.05), size=st.integers(6, 50), steps=st.integers(1, 50),
    more=st.floats(1.05, 3.0),
)  # fmt: skip
@settings(max_examples=15, deadline=None)
def test_noise_falls_with_eps_delta_and_n_and_grows_with_steps(
    level: float, delta: float, size: int, steps: int, more: float
) -> None:
    """The accountant answers to 1e-4."""
    here = subsampled_gaussian_noise(level, delta, size, 5, steps) * (1 + 2e-4)
    assert subsampled_gaussian_noise(level * more, delta, size, 5, steps) < here
    assert subsampled_gaussian_noise(level, delta * more, size, 5, steps) <= here
    assert subsampled_gaussian_noise(level, delta, 2 * size, 5, steps) <= here
    assert subsampled_gaussian_noise(level, delta, size, 5, 2 * steps) * (1 + 4e-4) >= here


@pytest.mark.parametrize("size", [5, 64, 65, 300])
def test_full_batches_are_gradient_descent_with_exact_noise(size: int) -> None:
    """n = m: one Gaussian mechanism a step, so the exact curve at sqrt(T) times 2L/n over the noise."""
    problem = logistic_synthetic(size, 2, 0).problem(Huber(0.5))
    found = BassilySGD(batch=size, steps=9).solve(problem, CLAIMED, 0)
    ratio = math.sqrt(9) * 2 * 0.5 / size / found.noise_std
    assert gaussian_delta(CLAIMED.eps, ratio) <= CLAIMED.delta < gaussian_delta(CLAIMED.eps, 1.01 * ratio)


def test_refusals_name_what_fails() -> None:
    problem = logistic_synthetic(6, 2, 0).problem(Logistic())
    for guarantee in (PureDP(1.0), ApproxDP(1.0, 0.0), ZCDP(0.5)):
        with pytest.raises(InvalidInput, match="must be ApproxDP with delta > 0"):
            SOLVER.solve(problem, guarantee, 0)
    with pytest.raises(HypothesisViolated, match="each loss is L-Lipschitz"):
        SOLVER.solve(replace(problem, loss=Squared()), CLAIMED, 0)
    with pytest.raises(HypothesisViolated, match="eps <= 1"):
        SOLVER.solve(problem, ApproxDP(2.0, 1e-2), 0, calibration="stated")


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
    single, double = (
        noisy_descent(
            problem, steps=1, step_size=1.0, noise_std=1.0, seed=seed, trials=50, start=start, precision=precision
        ).w
        for precision in ("auto", "double")
    )  # fmt: skip
    assert np.linalg.norm(single - double, axis=1).max() <= single_error(problem) + 1e-14 * radius


# Convergence ---------------------------------------------------------------------------------------
def risks(problem: Problem, solver: BassilySGD, level: float, seed: int, calibration: Any) -> np.ndarray:
    found = solver.solve(problem, ApproxDP(level, 1e-2), seed, trials=400, calibration=calibration)
    return problem.value(found.w) - problem.minimiser()[1]


@pytest.mark.parametrize("symbol", ["n", "eps"])
def test_measured_exponents_with_a_regulariser(symbol: str) -> None:
    """Full batches, as many steps: d/(n eps)^2 as in Table 1, with 99.9% intervals and a slack of 0.15.

    Exponents -1 and -3 are told apart.
    """
    grid = {"n": [(100, 0.5), (200, 0.5), (400, 0.5), (800, 0.5)], "eps": [(400, e) for e in (0.125, 0.25, 0.5, 1)]}[
        symbol
    ]
    samples = [
        risks(logistic_synthetic(k, 2, 7).problem(Logistic(), l2=0.1), BassilySGD(batch=k, steps=50), e, i, "stated")
        for i, (k, e) in enumerate(grid)
    ]
    points = [{"x": k * e} for k, e in grid]
    # The published noise holds log(n/delta): its own slow growth is taken out.
    scale = [math.log(k / 1e-2) for k, _ in grid]
    fit = fitted(points, [s / c for s, c in zip(samples, scale, strict=True)], ["x"], miss=1e-3, seed=0)
    low, _, high = fit.slopes["x"]
    assert low - 0.15 <= -2 <= high + 0.15
    for wrong in (-1, -3):
        assert not low - 0.15 <= wrong <= high + 0.15


@given(seed=st.integers(0, 10**6), l2=st.sampled_from([0.0, 0.1]))
@settings(max_examples=8, deadline=None)
def test_runs_without_noise_converge(seed: int, l2: float) -> None:
    """With its noise switched off it is SGD, and ends closer to the minimum than it began."""
    problem = logistic_synthetic(60, 2, seed).problem(Huber(0.5), l2=l2)
    quiet = with_noise_times(0.0, BassilySGD(batch=60, steps=200), CLAIMED)
    left = problem.value(quiet(problem, np.random.default_rng(seed), 2)) - problem.minimiser()[1]
    start = float(problem.value(np.zeros(2))) - problem.minimiser()[1]
    assert left.max() <= 0.3 * start + 1e-12


def test_step_sizes() -> None:
    problem = Problem(np.zeros((4, 3)), np.ones(4), Linear())
    np.testing.assert_allclose(
        BassilySGD(radius=2.0).step_sizes(problem, 0.5, 4), 2 / np.sqrt(np.arange(1, 5) * (1 + 3 * 0.25))
    )
    strong = replace(problem, loss=Huber(1.0), l2=0.5)
    np.testing.assert_allclose(BassilySGD().step_sizes(strong, 0.5, 4), [1 / 1.5, 1 / 1.5, 1 / 1.5, 0.5])
