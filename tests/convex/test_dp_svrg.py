"""DP-SVRG: stated noise is flagged where the accountant refutes it; step sizes read off the data; calibration; utility.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.library.convex.dp_svrg import equation5_corrected
from dpcheck.bounds.library.convex.variance_reduction import full_gradients
from dpcheck.bounds.privacy.sampled_gaussian import epsilon_bounds, without_replacement
from dpcheck.datasets import logistic_synthetic
from dpcheck.evidence.convex import dp_svrg as evidence
from dpcheck.kernels.running import run
from dpcheck.problems.extreme_pairs import bending_pair, opposite_pair, turning_pair
from dpcheck.problems.losses import Huber, Linear, Logistic, Sigmoid, Squared
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.dp_svrg import DPSVRG
from dpcheck.testing.planting import Tampered, flagged, with_noise_times

CLAIMED = ApproxDP(1.0, 1e-2)
SHORT = DPSVRG(epochs=1, inner=5, step_size=4.0)


# Privacy -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("n", "inner", "c"), [(20, 5, 1.0), (20, 5, 400.0), (50, 5, 1.0), (50, 20, 1.0), (8, 3, 1.0), (8, 3, 300.0)]
)
def test_stated_noise_is_flagged_where_the_accountant_refutes_it(n: int, inner: int, c: float) -> None:
    """False alarms: 1e-6. The accountant's attack sees the steps after the first, where x has left the snapshot."""
    solver, pair = DPSVRG(epochs=1, inner=inner, step_size=4.0, c=c), turning_pair(n)
    done = solver.calibrated(pair[0], CLAIMED, "stated")
    attained = epsilon_bounds((without_replacement(2 / done.noise_std, inner - 1, 1, n),), CLAIMED.delta).low
    allowed = done.released.epsilon(CLAIMED.delta).high
    assert attained > 2 * CLAIMED.eps or allowed <= CLAIMED.eps  # clear cases only
    assert flagged(solver.mechanism(CLAIMED, "stated", transcript=True), pair, CLAIMED) is (attained > CLAIMED.eps)


def test_certified_noise_is_not_flagged_and_planted_bugs_are() -> None:
    """False alarms: 1e-6. Planted: a fifth of the noise; the noise that the full gradients alone would need."""
    pair = SHORT.worst_pair()
    for transcript in (False, True):
        assert not flagged(SHORT.mechanism(CLAIMED, transcript=transcript), pair, CLAIMED)
        assert flagged(with_noise_times(0.2, SHORT, CLAIMED, transcript=transcript), pair, CLAIMED)
    assert not flagged(SHORT.mechanism(CLAIMED), opposite_pair(20), CLAIMED)
    without_draws = full_gradients(5).at(G=1.0, n=20).calibrated(CLAIMED)
    forgetful = Tampered(SHORT, CLAIMED, change=lambda released: released.with_noise(without_draws.law.scale))
    assert flagged(forgetful, pair, CLAIMED)


def test_two_epochs_of_certified_noise() -> None:
    """False alarms: 1e-6."""
    solver = DPSVRG(epochs=2, inner=4, step_size=2.0)
    assert not flagged(solver.mechanism(CLAIMED, transcript=True), turning_pair(10), CLAIMED)
    assert flagged(with_noise_times(0.2, solver, CLAIMED, transcript=True), turning_pair(10), CLAIMED)


def test_step_sizes_read_off_the_data_are_flagged() -> None:
    """False alarms: 1e-6. The same noise with a fixed step is not flagged: it is the step size that leaks."""
    assert flagged(*evidence.adapting())
    assert not flagged(*evidence.adapting(adaptive=False))
    adaptive, (problem, _) = DPSVRG(epochs=2, inner=3, step_size=0.1, adaptive=True), bending_pair(20)
    with pytest.raises(InvalidInput, match="not private"):
        adaptive.solve(problem, CLAIMED, 0)
    seen = adaptive.mechanism(CLAIMED, "stated", transcript=True)
    with pytest.raises(InvalidInput, match="only through noisy answers"):
        seen.log_density(seen(problem, np.random.default_rng(0), 2), problem)


def test_adaptive_steps_are_barzilai_and_borweins() -> None:
    """A quadratic of curvature 1 + l2: after the first epoch every step is 1 / (m (1 + l2)), before it as given."""
    problem, solver = Problem([[1.0]], [0.5], Huber(10.0), l2=0.25), DPSVRG(2, 3, 0.1, adaptive=True)
    done = solver.calibrated(problem, CLAIMED, "stated")
    method = solver.method(problem, done.plan, done.released)
    trace = run(method, done.released.with_noise(0.2), problem, seed=0, trials=4, trace=True).trace
    for t, eta in ((0, 0.1), (1, 0.1), (3, 1 / (3 * 1.25)), (4, 1 / (3 * 1.25))):
        led = (trace.points[t] - eta * trace.answers[t]) / (1 + eta * 0.25)
        np.testing.assert_allclose(trace.points[t + 1], led, rtol=1e-9)


# Calibration ---------------------------------------------------------------------------------------
def test_stated_noise_counts_every_step() -> None:
    problem = Problem(np.zeros((9, 2)), np.ones(9), Huber(0.7))
    done = DPSVRG(4, 6, 1.0, c=3.0).calibrated(problem, ApproxDP(0.8, 1e-3), "stated")
    assert done.noise_std == pytest.approx(0.7 * math.sqrt(3.0 * 4 * 6 * math.log(1e3)) / (9 * 0.8))
    assert (done.released.steps, done.rests_on) == (24, ("dwang20.theorem3.1.1",))


def test_the_noise_covers_the_dimension() -> None:
    """In one dimension sampled differences have one sign; in two they may turn round."""
    line, plane = (SHORT.calibrated(Problem(np.zeros((20, d)), np.ones(20), Logistic()), CLAIMED) for d in (1, 2))
    assert line.released.epsilon(1e-2).high <= 1.0 < plane.released.with_noise(line.noise_std).epsilon(1e-2).high
    assert line.rests_on == plane.rests_on
    assert line.rests_on[0] == "dwang20.theorem3.1.1.corrected"


def test_defaults_are_those_of_the_utility_theorem() -> None:
    problem = logistic_synthetic(100, 2, 0).problem(Logistic(), l2=0.125)
    plan = DPSVRG().plan(problem, ApproxDP(1.0, 1e-2))
    assert plan.step_size == 1 / (48 * 0.25)
    assert plan.lengths[0] == 386
    values = {"eta": plan.step_size, "L_smooth": 0.25, "mu": 0.125, "inner": plan.lengths[0]}
    left = equation5_corrected.states.lhs
    left = left.subs({s: values[str(s)] for s in left.free_symbols})
    assert float(left) < 0.5
    assert len(plan.lengths) == math.ceil(math.log2(100**2 / (4 * math.log(100))))


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


def test_what_is_released_lies_on_a_public_grid() -> None:
    problem = logistic_synthetic(20, 2, 0).problem(Logistic(), l2=0.1)
    found = DPSVRG(2, 10, 0.5).solve(problem, CLAIMED, 0, trials=5)
    grid = 2.0 ** (math.frexp(0.5 * found.noise_std / (10 * 1.05))[1] - 30)
    np.testing.assert_array_equal(found.w, np.rint(found.w / grid) * grid)


# Utility -------------------------------------------------------------------------------------------
def test_the_epoch_bound_has_teeth() -> None:
    """Noise alone, near the minimiser: a bound without its noise term would be exceeded many times over."""
    case = {"n": 4, "d": 2, "seed": 3, "kappa": 1.0, "step": 0.5, "inner": 20, "noise": 1.0, "size": 0.0}
    measured, bound = evidence.one_epoch(case)
    quiet = evidence.one_epoch(case | {"noise": 0.0})[1]
    assert quiet < measured / 10 < bound


@pytest.mark.parametrize("constant", [2, 4])
def test_the_variance_needs_4_l_not_2(constant: int) -> None:
    """One loss L/2 x^2 among zeros, x = 1 and x~ = -1: above 2L(g + g~) and below 4L(g + g~)."""
    problem = Problem(np.vstack([[[1.0]], np.zeros((4, 1))]), np.zeros(5), Huber(10.0), label_bound=1.0)
    variance = evidence.gradient_variance(problem, np.array([1.0]), np.array([-1.0]))
    gaps = 2 * float(problem.value(np.array([1.0])))
    assert (variance <= constant * gaps) is (constant == 4)
