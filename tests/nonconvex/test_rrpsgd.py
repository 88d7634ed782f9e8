"""Random-round private SGD: its transcript, the step size that leaks, the law of the round, its steps.

Every audit has a fixed seed and a false-alarm rate of 1e-6. The accountant covers the whole transcript, the solver
releases one iterate: a bug that halves the noise is told by an attacker who sees the transcript.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcheck.audits import audit
from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee
from dpcheck.bounds.library.nonconvex import rrpsgd as theory
from dpcheck.datasets import logistic_synthetic
from dpcheck.evidence.nonconvex.rrpsgd import leaking_step
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.losses import Huber, Logistic, Squared
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.rrpsgd import RandomRoundSGD
from dpcheck.testing.planting import with_noise_times

FALSE_ALARM = 1e-6
CLAIMED = ApproxDP(1.0, 1e-2)
SOLVER = RandomRoundSGD(start_gap=1.0)


def flagged(mechanism: Any, pair: tuple[Any, Any], guarantee: Guarantee = CLAIMED, trials: int = 25_000) -> bool:
    return audit(mechanism, pair=pair, guarantee=guarantee, max_trials=trials, alpha=FALSE_ALARM, seed=1).violated


# Privacy -------------------------------------------------------------------------------------------
def test_audit_of_the_transcript_on_the_worst_pair() -> None:
    """False alarms: 1e-6. Planted: halved noise, which is also a sensitivity of L where it is 2L."""
    pair = SOLVER.worst_pair()
    assert not flagged(SOLVER.mechanism(CLAIMED, transcript=True), pair)
    assert flagged(with_noise_times(0.5, SOLVER, CLAIMED, transcript=True), pair)


def test_a_step_size_read_off_the_data_is_refused_and_flagged() -> None:
    """Theorem 5's step size leaks: refused when certified; stated, the audit flags it (false alarms: 1e-6)."""
    mechanism, pair, guarantee = leaking_step()
    assert flagged(mechanism, pair, guarantee, trials=4000)
    public = replace(mechanism, solver=RandomRoundSGD(start_gap=0.5))
    assert not flagged(public, pair, guarantee, trials=4000)  # the same run with a public number
    with pytest.raises(InvalidInput, match="start_gap is data; it must be a public number"):
        mechanism.solver.solve(pair[0], guarantee, 0)
    with pytest.raises(InvalidInput, match="only through noisy answers"):
        mechanism.solver.mechanism(guarantee, "stated", transcript=True).log_density(np.ones((1, 16, 1)), pair[0])


def test_refusals_name_what_fails() -> None:
    problem = logistic_synthetic(6, 2, 0).problem(Logistic())
    with pytest.raises(HypothesisViolated, match="each loss is L-Lipschitz"):
        RandomRoundSGD().solve(replace(problem, loss=Squared()), CLAIMED, 0)
    with pytest.raises(HypothesisViolated, match="eps <= 1"):
        RandomRoundSGD().solve(problem, ApproxDP(2.0, 1e-2), 0, calibration="stated")
    held = replace(problem, loss=Squared(), constraint=L2Ball(1.0))
    assert RandomRoundSGD().solve(held, CLAIMED, 0).w.shape == (1, 2)
    with pytest.raises(InvalidInput, match="unbounded below"):
        RandomRoundSGD().solve(SOLVER.worst_pair()[0], CLAIMED, 0)


# The round -----------------------------------------------------------------------------------------
def rounds_run(calibration: Any, n: int = 4, trials: int = 40_000) -> np.ndarray:
    """How many steps each trial took: noise moves every one of them, and the trace counts as many."""
    problem = logistic_synthetic(n, 1, 0).problem(Logistic())
    found = SOLVER.solve(problem, CLAIMED, 5, trials=trials, calibration=calibration, trace=True)
    assert found.steps == n**2
    steps = np.count_nonzero(np.diff(found.trace.points[..., 0], axis=0), axis=0)
    np.testing.assert_array_equal(steps, found.trace.stops)
    return steps


def uniform_on(seen: np.ndarray, first: int, last: int) -> bool:
    """Whether rounds are uniform on first..last by the chi-square test, false alarms: 1e-6."""
    counts = np.bincount(seen, minlength=last + 1)
    outside = counts[:first].any() or len(counts) > last + 1
    return not outside and bool(stats.chisquare(counts[first:]).pvalue > FALSE_ALARM)


def test_the_law_of_the_round() -> None:
    """Uniform on 1..n^2 as published, on 0..n^2-1 when certified (w_(R-1)); laws off by one are told apart."""
    stated, certified = rounds_run("stated"), rounds_run("certified")
    assert uniform_on(stated, 1, 16)
    assert uniform_on(certified, 0, 15)
    assert not uniform_on(stated, 0, 15)
    assert not uniform_on(certified, 1, 16)


def test_a_run_that_cannot_move_stays_and_has_its_trace() -> None:
    problem = Problem(np.ones((3, 2)) / 2, np.zeros(3), Huber(1.0))
    found = RandomRoundSGD(start_gap="data").solve(problem, CLAIMED, 0, trials=2, calibration="stated", trace=True)
    np.testing.assert_array_equal(found.w, np.zeros((2, 2)))
    assert found.trace.points.shape == (10, 2, 2)
    np.testing.assert_array_equal(found.trace.asked_norms, np.zeros((9, 2)))


# The steps -----------------------------------------------------------------------------------------
def test_theorem_5_would_notice_a_step_size_without_its_n() -> None:
    """One coordinate of curvature 1, 400 runs, five standard errors. Planted: steps n times as long."""
    problem, solver = Problem(np.ones((30, 1)), np.linspace(0.6, 1.0, 30), Huber(1.0)), RandomRoundSGD()
    for gap, holds in ((None, True), (0.5 * 30**2, False)):
        found = RandomRoundSGD(start_gap=gap).solve(problem, CLAIMED, 0, trials=400)
        squares, deviation = problem.gradient(found.w)[:, 0] ** 2, math.sqrt(4 + found.noise_std**2)
        here = {"n": 30, "beta": 1.0, "D_F": solver.start_distance(problem), "sigma_g": deviation}
        bound = theory.theorem5_general.evaluate(**here, eta=solver.step_size(problem, found.noise_std))
        assert (squares.mean() - 5 * squares.std() / math.sqrt(len(squares)) <= bound) == holds


@given(seed=st.integers(0, 2**20), share=st.floats(0.05, 1.9))
@settings(max_examples=60, deadline=None)
def test_a_noisy_step_on_a_non_convex_quadratic_obeys_1(seed: int, share: float) -> None:
    """One step, F(w) - F(w⁺) for the gap: what is left out is F(w⁺) - F(ŵ)."""
    rng = np.random.default_rng(seed)
    curvatures = rng.uniform(-1, 1, size=3)
    smoothness = float(np.abs(curvatures).max())
    step = share / smoothness
    w, e, z = rng.normal(size=(3, 3))
    p, bend = curvatures * w, smoothness * step**2
    falls = float(np.sum(curvatures * (w**2 - (w - step * (p + e + z)) ** 2)) / 2)
    parts = {
        theory.first_gap: falls,
        theory.X_sum: (bend - step) * p @ e,
        theory.Y_sum: ((bend - step) * p + bend * e) @ z,
        theory.R_sum: bend / 2 * z @ z,
        theory.strayed_sum: bend / 2 * e @ e,
        theory.slope2_sum: p @ p,
        theory.eta: step,
        theory.beta: smoothness,
    }
    left, right = (float(side.subs(parts)) for side in theory.equation1.states.args)
    assert left <= right + 1e-9
