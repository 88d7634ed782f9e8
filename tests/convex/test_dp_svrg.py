"""DP-SVRG: stated noise is flagged where the accountant refutes it, certified noise never; calibration; utility.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it.
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
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.bounds.privacy.reduced_gaussian import reduced_epsilon
from dpcheck.bounds.privacy.sampled_gaussian import epsilon_bounds, without_replacement
from dpcheck.bounds.registry import library
from dpcheck.datasets import logistic_synthetic
from dpcheck.evidence.checks import exceeds
from dpcheck.evidence.convex import dp_svrg as solvers
from dpcheck.evidence.convex.dp_svrg import adapting
from dpcheck.problems.extreme_pairs import bending_pair, opposite_pair, turning_pair
from dpcheck.problems.losses import Huber, Linear, Logistic, Sigmoid, Squared
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.dp_svrg import DPSVRG

CLAIMED = ApproxDP(1.0, 1e-2)
SHORT = DPSVRG(epochs=1, inner=5, step_size=4.0)


def flagged(
    mechanism: Any, pair: tuple[Any, Any], guarantee: Guarantee = CLAIMED, trials: int = 20_000, seed: int = 1
) -> bool:
    return audit(mechanism, pair=pair, guarantee=guarantee, max_trials=trials, alpha=1e-6, seed=seed).violated


# Privacy -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("n", "inner", "c"), [(20, 5, 1.0), (20, 5, 400.0), (50, 5, 1.0), (50, 20, 1.0), (8, 3, 1.0), (8, 3, 300.0)]
)
def test_stated_noise_is_flagged_where_the_accountant_refutes_it(n: int, inner: int, c: float) -> None:
    """False alarms: 1e-6. The accountant's attack sees the steps after the first, where x has left the snapshot."""
    solver, pair = DPSVRG(epochs=1, inner=inner, step_size=4.0, c=c), turning_pair(n)
    noise = solver.solve(pair[0], CLAIMED, 0, calibration="stated").noise_std
    attained = epsilon_bounds((without_replacement(2 / noise, inner - 1, 1, n),), CLAIMED.delta).low
    allowed = reduced_epsilon(noise, n, 1, inner, CLAIMED.delta, dimension=1).high
    assert attained > 2 * CLAIMED.eps or allowed <= CLAIMED.eps  # clear cases only
    assert flagged(solver.mechanism(CLAIMED, "stated", transcript=True), pair) is (attained > CLAIMED.eps)


def test_certified_noise_is_not_flagged_and_planted_bugs_are() -> None:
    """False alarms: 1e-6. Planted: a fifth of the noise; the noise that the full gradients alone would need."""
    pair = SHORT.worst_pair()
    for transcript in (False, True):
        assert not flagged(SHORT.mechanism(CLAIMED, transcript=transcript), pair)
        assert flagged(SHORT.mechanism(CLAIMED, noise_factor=0.2, transcript=transcript), pair)
    assert not flagged(SHORT.mechanism(CLAIMED), opposite_pair(20))
    noise = SHORT.solve(pair[0], CLAIMED, 0).noise_std
    only_full = reduced_epsilon(noise, 20, 20, 5, CLAIMED.delta)  # all that a proof without sampling would count
    assert only_full.high < 0.5 * CLAIMED.eps


def test_two_epochs_of_certified_noise() -> None:
    """False alarms: 1e-6."""
    solver = DPSVRG(epochs=2, inner=4, step_size=2.0)
    assert not flagged(solver.mechanism(CLAIMED, transcript=True), turning_pair(10))
    assert flagged(solver.mechanism(CLAIMED, noise_factor=0.2, transcript=True), turning_pair(10))


def test_step_sizes_read_off_the_data_are_flagged() -> None:
    """False alarms: 1e-6. The same noise with a fixed step is not flagged: it is the step size that leaks."""
    mechanism, pair, guarantee = adapting()
    assert flagged(mechanism, pair, guarantee)
    assert not flagged(*adapting(adaptive=False))
    with pytest.raises(InvalidInput, match="not private"):
        DPSVRG(epochs=2, inner=3, step_size=0.1, adaptive=True).solve(bending_pair(20)[0], CLAIMED, 0)


# Calibration ---------------------------------------------------------------------------------------
@given(
    level=st.floats(0.1, 3), delta=st.floats(1e-4, 0.1), n=st.integers(2, 40), inner=st.integers(1, 30),
    epochs=st.integers(1, 4), c=st.floats(0.1, 50),
)  # fmt: skip
@settings(max_examples=10, deadline=None)
def test_stated_noise_is_the_claims_own(level: float, delta: float, n: int, inner: int, epochs: int, c: float) -> None:
    problem = Problem(np.zeros((n, 2)), np.ones(n), Huber(0.7))
    found = DPSVRG(epochs, inner, 1.0, c=c).solve(problem, ApproxDP(level, delta), 0, calibration="stated")
    assert found.noise_std == pytest.approx(0.7 * math.sqrt(c * epochs * inner * math.log(1 / delta)) / (n * level))
    assert found.rests_on == ("dwang20.theorem3.1.1",)
    assert found.steps == epochs * inner


def test_the_noise_covers_the_dimension() -> None:
    """In one dimension sampled differences have one sign; in two they may turn round."""
    one, two = (Problem(np.zeros((20, d)), np.ones(20), Logistic()) for d in (1, 2))
    line, plane = (SHORT.solve(p, CLAIMED, 0).noise_std for p in (one, two))
    assert line < plane
    assert reduced_epsilon(line, 20, 1, 5, 1e-2, dimension=1).high <= 1.0 < reduced_epsilon(line, 20, 1, 5, 1e-2).high


def test_defaults_are_those_of_the_utility_theorem() -> None:
    problem = logistic_synthetic(100, 2, 0).problem(Logistic(), l2=0.125)
    plan = DPSVRG().plan(problem, ApproxDP(1.0, 1e-2))
    assert plan.step_size == 1 / (48 * 0.25)
    assert plan.epochs[0] == 386
    held = library["dwang20.equation3.5.corrected"]
    values = {"eta": plan.step_size, "L_smooth": 0.25, "mu": 0.125, "inner": plan.epochs[0]}
    left = held.states.lhs.subs({s: values[str(s)] for s in held.states.lhs.free_symbols})
    assert float(left) < 0.5
    assert len(plan.epochs) == math.ceil(math.log2(100**2 / (4 * math.log(100))))


def test_refusals_name_what_fails() -> None:
    problem = logistic_synthetic(6, 2, 0).problem(Logistic())
    for guarantee in (PureDP(1.0), ApproxDP(1.0, 0.0)):
        with pytest.raises(InvalidInput, match="must be ApproxDP with delta > 0"):
            SHORT.solve(problem, guarantee, 0)
    for loss, words in ((Squared(), "Lipschitz"), (Sigmoid(), "convex")):
        with pytest.raises(HypothesisViolated, match=words):
            SHORT.solve(replace(problem, loss=loss), CLAIMED, 0)
    with pytest.raises(HypothesisViolated, match="eps <= "):
        replace(SHORT, c1=1.0).solve(problem, CLAIMED, 0, calibration="stated")
    with pytest.raises(InvalidInput, match=r"l2 is 0\.0"):
        DPSVRG().solve(problem, CLAIMED, 0)
    with pytest.raises(InvalidInput, match="smoothness of the losses"):
        DPSVRG().solve(Problem(np.ones((4, 1)), np.ones(4), Linear(), l2=0.1), CLAIMED, 0)
    for bad in ({"epochs": 0}, {"inner": 1.5}, {"step_size": -1.0}, {"l1": -0.1}, {"c": 0.0}, {"c1": -1.0}):
        with pytest.raises(InvalidInput, match=next(iter(bad))):
            DPSVRG(**bad)


def test_what_is_released_lies_on_a_public_grid() -> None:
    problem = logistic_synthetic(20, 2, 0).problem(Logistic(), l2=0.1)
    found = DPSVRG(2, 10, 0.5).solve(problem, CLAIMED, 0, trials=5)
    grid = 2.0 ** (math.frexp(0.5 * found.noise_std / (10 * 1.05))[1] - 30)
    np.testing.assert_array_equal(found.w, np.rint(found.w / grid) * grid)


# Utility -------------------------------------------------------------------------------------------
@given(
    n=st.integers(2, 8), d=st.integers(1, 3), seed=st.integers(0, 10**6), kappa=st.floats(1, 5),
    step=st.floats(0.05, 0.9), inner=st.integers(1, 40), noise=st.floats(0, 1), size=st.floats(0, 3),
)  # fmt: skip
@settings(max_examples=15, deadline=None)
def test_an_epoch_keeps_equation_3_28(**case: Any) -> None:
    measured, bound = solvers.one_epoch(case)
    assert not exceeds(measured, bound)


def test_the_epoch_bound_has_teeth() -> None:
    """Noise alone, near the minimiser: a bound without its noise term would be exceeded many times over."""
    case = {"n": 4, "d": 2, "seed": 3, "kappa": 1.0, "step": 0.5, "inner": 20, "noise": 1.0, "size": 0.0}
    measured, bound = solvers.one_epoch(case)
    quiet = solvers.one_epoch(case | {"noise": 0.0})[1]
    assert quiet < measured / 10 < bound


@pytest.mark.parametrize("constant", [2, 4])
def test_the_variance_needs_4_l_not_2(constant: int) -> None:
    """One loss L/2 x^2 among zeros, x = 1 and x~ = -1: above 2L(g + g~) and below 4L(g + g~)."""
    problem = Problem(np.vstack([[[1.0]], np.zeros((4, 1))]), np.zeros(5), Huber(10.0), label_bound=1.0)
    variance = solvers.gradient_variance(problem, np.array([1.0]), np.array([-1.0]))
    gaps = 2 * float(problem.value(np.array([1.0])))
    assert (variance <= constant * gaps) is (constant == 4)
