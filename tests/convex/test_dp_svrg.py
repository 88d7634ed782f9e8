"""DP-SVRG: stated noise is flagged where the accountant refutes it; step sizes read off the data; calibration; utility.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.convex.dp_svrg_proof import contraction
from dpcheck.bounds.library.convex.variance_reduction import full_gradients
from dpcheck.bounds.privacy.sampled_gaussian import epsilon_bounds, without_replacement
from dpcheck.datasets import logistic_synthetic
from dpcheck.evidence.convex import dp_svrg as evidence
from dpcheck.kernels.running import run
from dpcheck.problems.extreme_pairs import bending_pair, turning_pair
from dpcheck.problems.losses import Huber, Linear, Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.dp_svrg import DPSVRG
from dpcheck.testing.planting import Tampered, flagged

CLAIMED = ApproxDP(1.0, 1e-2)
SHORT = DPSVRG(epochs=1, inner=5, step_size=4.0)


@pytest.mark.parametrize(("n", "inner", "c"), [(20, 5, 1.0), (20, 5, 400.0), (50, 20, 1.0), (8, 3, 300.0)])
def test_stated_noise_is_flagged_where_the_accountant_refutes_it(n: int, inner: int, c: float) -> None:
    """False alarms: 1e-6. The accountant's attack sees the steps after the first, where x has left the snapshot."""
    solver, pair = DPSVRG(epochs=1, inner=inner, step_size=4.0, c=c), turning_pair(n)
    done = solver.calibrated(pair[0], CLAIMED, "stated")
    attained = epsilon_bounds((without_replacement(2 / done.noise_std, inner - 1, 1, n),), CLAIMED.delta).low
    allowed = done.released.epsilon(CLAIMED.delta).high
    assert attained > 2 * CLAIMED.eps or allowed <= CLAIMED.eps  # clear cases only
    assert flagged(solver.mechanism(CLAIMED, "stated", transcript=True), pair, CLAIMED) is (attained > CLAIMED.eps)


def test_the_noise_that_the_full_gradients_alone_would_need_is_flagged() -> None:
    """False alarms: 1e-6."""
    pair = SHORT.worst_pair()
    without_draws = full_gradients(5).at(G=1.0, n=20).calibrated(CLAIMED)
    forgetful = Tampered(SHORT, CLAIMED, change=lambda released: released.with_noise(without_draws.law.scale))
    assert flagged(forgetful, pair, CLAIMED)
    assert not flagged(SHORT.mechanism(CLAIMED), pair, CLAIMED)


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


def test_the_noise_covers_the_dimension() -> None:
    """In one dimension sampled differences have one sign; in two they may turn round."""
    line, plane = (SHORT.calibrated(Problem(np.zeros((20, d)), np.ones(20), Logistic()), CLAIMED) for d in (1, 2))
    assert line.released.epsilon(1e-2).high <= 1.0 < plane.released.with_noise(line.noise_std).epsilon(1e-2).high
    assert line.rests_on[0] == plane.rests_on[0] == "dwang20.theorem3.1.1.corrected"


def test_defaults_are_those_of_the_utility_theorem() -> None:
    problem = logistic_synthetic(100, 2, 0).problem(Logistic(), l2=0.125)
    plan = DPSVRG().plan(problem, ApproxDP(1.0, 1e-2))
    assert (plan.step_size, plan.lengths[0]) == (1 / (48 * 0.25), 386)
    values = {"eta": plan.step_size, "L_smooth": 0.25, "mu": 0.125, "inner": plan.lengths[0]}
    assert float(contraction.subs({s: values[str(s)] for s in contraction.free_symbols})) < 0.5
    assert len(plan.lengths) == math.ceil(math.log2(100**2 / (4 * math.log(100))))


def test_refusals_name_what_fails() -> None:
    problem = logistic_synthetic(6, 2, 0).problem(Logistic())
    with pytest.raises(HypothesisViolated, match="eps <= "):
        replace(SHORT, c1=1.0).solve(problem, CLAIMED, 0, calibration="stated")
    with pytest.raises(InvalidInput, match=r"l2 is 0\.0"):
        DPSVRG().solve(problem, CLAIMED, 0)
    with pytest.raises(InvalidInput, match="smoothness of the losses"):
        DPSVRG().solve(Problem(np.ones((4, 1)), np.ones(4), Linear(), l2=0.1), CLAIMED, 0)


@pytest.mark.parametrize("batch", [1, 2])
def test_the_epoch_bound_has_teeth(batch: int) -> None:
    """Noise alone, near the minimiser: a bound without its noise term would be exceeded many times over."""
    case = {"n": 4, "d": 2, "seed": 3, "kappa": 1.0, "step": 0.75, "inner": 20, "noise": 1.0, "size": 0.0}
    measured, bound = evidence.one_epoch(case | {"batch": batch})
    assert evidence.one_epoch(case | {"noise": 0.0})[1] < measured / 10 < bound
