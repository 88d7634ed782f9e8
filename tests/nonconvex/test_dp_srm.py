"""DP-SRM: stated noise is flagged where the accountant refutes it, certified noise never; law, sensitivity, utility.

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
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.datasets import logistic_synthetic
from dpcheck.kernels.recursive_momentum import MomentumPlan, recursive_momentum
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.extreme_pairs import opposite_pair
from dpcheck.problems.losses import Huber, Linear, Logistic, Sigmoid, Squared
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_srm import DPSRM
from dpcheck.testing.planting import with_noise_times

CLAIMED = ApproxDP(1.0, 1e-2)
# zeta/n0 far below gamma G: linear losses attain the whole sensitivity. Runs to the end: every estimator is seen.
SHORT = DPSRM(10, 1, 1, momentum=0.5, aim=1e-4, slowing=1.0, last=True)


def found(mechanism: Any, pair: tuple[Any, Any], trials: int = 20_000, **options: Any) -> Any:
    return audit(mechanism, pair=pair, guarantee=CLAIMED, max_trials=trials, alpha=1e-6, seed=1, **options)


# Privacy -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("n", "steps", "batch"), [(100, 10, 1), (60, 4, 1), (20, 30, 2), (20, 10, 20), (30, 12, 3)])
def test_stated_noise_is_flagged_where_the_accountant_refutes_it(n: int, steps: int, batch: int) -> None:
    """False alarms: 1e-6. Small batches and few steps have little noise; that is where Theorem 4.5.4 leads."""
    solver, pair = replace(SHORT, steps=steps, batch=batch, first_batch=batch), opposite_pair(n)
    true = solver.calibrated(pair[0], CLAIMED, "stated").released.epsilon(CLAIMED.delta)
    assert true.low > 2 * CLAIMED.eps or true.high <= CLAIMED.eps  # clear cases only
    mechanism = solver.mechanism(CLAIMED, "stated", transcript=True)
    assert found(mechanism, pair, 6000).violated is (true.low > CLAIMED.eps)


@pytest.mark.parametrize("batch", [1, 20])
def test_certified_noise_is_not_flagged_and_half_of_it_is(batch: int) -> None:
    """False alarms: 1e-6. The transcript shows half the noise; the released iterate, seen beside it, shows less."""
    solver = replace(SHORT, batch=batch, first_batch=batch)
    pair = solver.worst_pair()
    whole = found(solver.mechanism(CLAIMED, transcript=True), pair)
    last = found(solver.mechanism(CLAIMED), pair)
    drawn = found(replace(solver, last=False).mechanism(CLAIMED), pair)
    assert not whole.violated
    assert not last.violated
    assert not drawn.violated
    assert drawn.epsilon_lower <= last.epsilon_lower < whole.epsilon_lower
    assert found(with_noise_times(0.5, solver, CLAIMED, transcript=True), pair).violated


def test_clipping_bounds_what_a_record_can_do() -> None:
    """False alarms: 1e-6. Large fixed steps with clips; planted: the clip of changes left out of the noise."""
    pair = opposite_pair(10)
    solver = DPSRM(8, 2, 2, 0.3, aim=1.0, slowing=1.0, step_size=5.0, clips=(0.5, 0.1), last=True)
    assert not found(solver.mechanism(CLAIMED, transcript=True), pair, 5000).violated
    unclipped = replace(solver, clips=None)
    clipped, honest = (one.calibrated(pair[0], CLAIMED).noise_std for one in (solver, unclipped))
    assert clipped < honest / 2
    assert found(with_noise_times(clipped / honest, unclipped, CLAIMED, transcript=True), pair, 5000).violated


# The method ----------------------------------------------------------------------------------------
def test_without_noise_it_finds_a_stationary_point() -> None:
    problem = logistic_synthetic(60, 3, 1).problem(Sigmoid(), l2=0.01)
    plan = MomentumPlan(4000, 60, 60, 0.5, 1.0, 1 / (2 * problem.smoothness))
    done = recursive_momentum(problem, plan, sigmas=(0.0, 0.0), seed=0, trials=2, last=True)
    assert np.linalg.norm(problem.gradient(done.w), axis=1).max() < 1e-3


def test_steps_are_no_longer_than_the_sensitivity_allows() -> None:
    """All T steps, after v_0 to v_(T-1); v_T is let out and leads nowhere."""
    problem = logistic_synthetic(20, 3, 1).problem(Logistic())
    solver = DPSRM(30, 2, 4, 0.2, aim=0.05, slowing=2.0, last=True)
    done = solver.solve(problem, CLAIMED, 0, trials=50, trace=True)
    lengths = np.linalg.norm(np.diff(done.trace.points, axis=0), axis=2)
    assert lengths.max() <= 0.05 / (2.0 * problem.smoothness) * (1 + 1e-12)
    assert lengths[:30].min() > 0
    assert np.all(lengths[30] == 0)
    assert done.trace.answers.shape == (31, 50, 3)
    assert done.steps == 30


def test_the_released_iterate_is_uniform_on_the_first_t() -> None:
    """Of four, w_0 included and w_4 not: counts within six deviations (false alarms: 1e-8)."""
    problem = logistic_synthetic(20, 3, 1).problem(Logistic())
    done = replace(SHORT, steps=4, last=False).solve(problem, CLAIMED, 0, trials=4000, trace=True)
    counts = np.bincount(done.trace.stops, minlength=5)
    assert counts[4] == 0
    assert np.abs(counts[:4] - 1000).max() < 6 * math.sqrt(750)
    assert np.all((done.w == 0).all(axis=1) == (done.trace.stops == 0))


# Calibration ---------------------------------------------------------------------------------------
@given(n=st.integers(2, 60), steps=st.integers(1, 40), part=st.floats(0.01, 1), level=st.floats(0.3, 3))
@settings(max_examples=6, deadline=None)
def test_certified_noise_counts_every_estimator(n: int, steps: int, part: float, level: float) -> None:
    batch = max(1, round(part * n))
    solver, problem = DPSRM(steps, batch, n, 0.3, 0.1, 1.0), Problem(np.zeros((n, 2)), np.ones(n), Huber(0.7))
    released = solver.calibrated(problem, ApproxDP(level, 1e-3)).released
    first, later = released.parts
    assert (first.steps, later.steps) == (1, steps)
    assert first.law.scale / later.law.scale == pytest.approx(0.7 / (0.7 * 0.1 + 0.3 * 0.7))  # G over what v reaches
    assert (first.sensitivity, later.sensitivity) == pytest.approx((1.4 / n, 2 * (0.07 + 0.21) / batch))
    less = released.with_noise_times(0.9).epsilon(1e-3)
    assert released.epsilon(1e-3).high <= level * (1 + 1e-9) < less.high


def test_defaults_are_those_of_the_utility_theorem() -> None:
    problem = logistic_synthetic(400, 5, 0).problem(Logistic())
    aim = ApproxDP(1.0, 1e-3)
    plan, (zeta, n0) = DPSRM().plan(problem, aim), DPSRM().aimed(problem, aim)
    gap = math.log(2)  # a logistic loss at 0
    assert zeta == pytest.approx((0.25 * gap * 5 * math.log(1000)) ** 0.25 / math.sqrt(400))
    assert n0 == max(1.0, 0.25 * gap / zeta)
    assert plan.steps == math.ceil(4 * n0 * 0.25 * gap / zeta**2)
    assert plan.first_batch == min(400, math.ceil(1 / (zeta * 0.25 * gap)))
    assert DPSRM().gradients(problem, aim) == plan.first_batch + 2 * plan.batch * plan.steps


def test_refusals_name_what_fails() -> None:
    problem = logistic_synthetic(6, 2, 0).problem(Logistic())
    for guarantee in (PureDP(1.0), ApproxDP(1.0, 0.0)):
        with pytest.raises(InvalidInput, match="must be ApproxDP with delta > 0"):
            SHORT.solve(problem, guarantee, 0)
    many = Problem(np.zeros((2000, 1)), np.ones(2000), Huber(1.0))
    for solver, data, error, words in (
        (SHORT, replace(problem, loss=Squared()), HypothesisViolated, "Lipschitz"),
        (SHORT, replace(problem, constraint=L2Ball(1.0)), InvalidInput, "constraint"),
        (SHORT, Problem(np.ones((4, 1)), np.ones(4), Linear()), InvalidInput, "smoothness"),
        (replace(SHORT, batch=7), problem, InvalidInput, "batch is 7"),
        (DPSRM(4, 3, 5, 0.5, 0.1, 1.0), many, InvalidInput, "at most 1/n"),
    ):
        with pytest.raises(error, match=words):
            solver.solve(data, CLAIMED, 0)


def test_what_certified_noise_rests_on() -> None:
    problem = logistic_synthetic(6, 2, 0).problem(Logistic())
    for solver, claim in (
        (SHORT, "lwang21.equation4.9.4"),
        (replace(SHORT, step_size=1.0), "lwang21.section4.6.fixed_step.corrected"),
        (replace(SHORT, step_size=1.0, clips=(1.0, 0.1)), "lwang21.section4.5.clipping"),
    ):
        assert solver.calibrated(problem, CLAIMED).rests_on[:2] == ("lwang21.equation4.9.2", claim)


def test_strict_allows_what_the_theorem_covers() -> None:
    """One record in 20, 300 steps at eps = 10 meet both conditions; the same at eps = 1 does not."""
    solver = replace(SHORT, steps=300, strict=True)
    problem = opposite_pair(20)[0]
    assert solver.solve(problem, ApproxDP(10.0, 1e-2), 0, calibration="stated").noise_std > 0
    with pytest.raises(HypothesisViolated):
        solver.solve(problem, CLAIMED, 0, calibration="stated")


# Theory against runs -------------------------------------------------------------------------------
def test_too_few_steps_leave_the_start() -> None:
    """Theorem 4.5.4 with T as printed: T steps of zeta/(n0 L) lead C1/L away, so the slope at the start is left."""
    G, n, level = 20.0, 10**6, 1.0
    gap = G**2 / 2
    zeta = math.sqrt(G) * (gap * math.log(100)) ** 0.25 / math.sqrt(n * level)
    n0, steps = gap / zeta, math.ceil(gap / zeta**2)
    assert steps * zeta / n0 == pytest.approx(1.0, rel=1e-3)
    problem = Problem(np.ones((2, 1)), np.full(2, G), Huber(G), label_bound=G)
    few = 2000  # the same length in fewer, longer steps: the path is what counts
    plan = MomentumPlan(few, 2, 2, 0.5, steps * zeta / n0 / few, 1e9)
    done = recursive_momentum(problem, plan, sigmas=(0.0, 0.0), seed=0, trials=20)
    assert np.abs(problem.gradient(done.w)).min() >= G - 1 - 1e-6 > 100 * zeta
