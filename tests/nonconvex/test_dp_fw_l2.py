"""DP-FW-L2: attacks from inside and outside, defaults, the loop, Gaussian widths, the counterexample to Theorem 4.

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
from scipy import stats

from dpcheck.audits import audit
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, GaussianDP, PureDP
from dpcheck.datasets import in_unit_ball, logistic_synthetic
from dpcheck.evidence.nonconvex import dp_fw_l2 as solvers
from dpcheck.evidence.nonconvex.dp_fw_l2 import CASES, direct_bound, frank_wolfe_gap
from dpcheck.problems.constraints import Box, L1Ball, L2Ball, Simplex, WholeSpace
from dpcheck.problems.losses import Logistic, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_fw_l2 import DPFWL2, gaussian_width
from dpcheck.testing.planting import with_noise_times

CLAIMED = ApproxDP(1.0, 1e-2)
SHORT = DPFWL2(steps=5, step_size=0.5)
sets = st.one_of(
    st.floats(0.1, 3).map(L2Ball), st.floats(0.1, 3).map(L1Ball), st.floats(0.1, 3).map(lambda r: Box(-r, r))
)


def flagged(mechanism: Any) -> bool:
    pair = SHORT.worst_pair()
    return audit(mechanism, pair=pair, guarantee=CLAIMED, max_trials=20_000, alpha=1e-6, seed=1).violated


# Privacy -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("c", "violated"), [(1.0, True), (8.0, False)])
def test_stated_noise_is_flagged_where_the_accountant_refutes_it(c: float, violated: bool) -> None:
    """False alarms: 1e-6. The account is of five noisy gradients, each 2/5 apart."""
    solver = replace(SHORT, c=c)
    noise = solver.solve(SHORT.worst_pair()[0], CLAIMED, 0, calibration="stated").noise_std
    assert violated is (GaussianDP(2 * math.sqrt(5) / (5 * noise)).epsilon(CLAIMED.delta) > CLAIMED.eps)
    assert flagged(solver.mechanism(CLAIMED, "stated", transcript=True)) is violated


def test_an_eighth_of_the_noise_is_seen_in_the_iterate_alone() -> None:
    """False alarms: 1e-6. Vertices show signs, and only those before R."""
    assert not flagged(SHORT.mechanism(CLAIMED))
    assert flagged(with_noise_times(0.125, SHORT, CLAIMED))


# Defaults and refusals -----------------------------------------------------------------------------
def test_defaults_are_those_of_the_corrected_theorem() -> None:
    problem = logistic_synthetic(3000, 3, 0).problem(Sigmoid(), constraint=L2Ball(1.0))
    steps = DPFWL2().default_steps(problem, CLAIMED)
    L, width = problem.smoothness, gaussian_width(L2Ball(1.0), 3)
    noise = 0.25 * math.sqrt(8 * math.log(100)) / 3000
    assert steps == round(2 * math.sqrt(2 * L * 0.5) / (2 * width * noise))
    assert DPFWL2().gamma(problem, steps) == pytest.approx(math.sqrt(2 * 0.5 / (L * steps)) / 2)
    assert DPFWL2().gamma(problem, 1) == 1.0  # never out of the set


def test_refusals_name_what_fails() -> None:
    problem = logistic_synthetic(6, 2, 0).problem(Logistic(), constraint=L2Ball(1.0))
    for held in (WholeSpace(), Simplex(), Box(-1.0, 2.0)):
        with pytest.raises(InvalidInput, match="symmetric about 0"):
            SHORT.solve(replace(problem, constraint=held), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="no regulariser"):
        SHORT.solve(replace(problem, l2=0.1), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="pure DP"):
        SHORT.solve(problem, PureDP(1.0), 0)


# The loop ------------------------------------------------------------------------------------------
@given(seed=st.integers(0, 10**6), d=st.integers(1, 4), held=sets, gamma=st.floats(0.01, 1), noise=st.floats(0, 2))
@settings(max_examples=20, deadline=None)
def test_iterates_stay_in_the_set_and_the_gap_is_that_of_the_definition(
    seed: int, d: int, held: Any, gamma: float, noise: float
) -> None:
    rng = np.random.default_rng(seed)
    problem = Problem(in_unit_ball(rng, 6, d), rng.choice([-1.0, 1.0], 6), Sigmoid(), constraint=held)
    points = solvers.all_steps(problem, gamma, 7, noise, seed, 5).points
    assert np.all(held.contains(points))
    assert np.all(frank_wolfe_gap(problem, points) >= -1e-12)
    # No point of the set has a larger <grad, x - v> than the gap says.
    x = points[3]
    v = held.project(3 * rng.standard_normal((200, d)))
    reached = np.einsum("kd,kvd->kv", problem.gradient(x), x[:, None] - v)
    assert np.all(reached <= frank_wolfe_gap(problem, x)[:, None] + 1e-12)


def test_rounds_are_uniform_and_the_release_is_x_R() -> None:
    """Chi-square, false alarms: 1e-6; planted: a law that never draws the first round."""
    found = DPFWL2(steps=6, step_size=0.5).solve(SHORT.worst_pair()[0], CLAIMED, 3, trials=20_000, trace=True)
    R = found.trace.stops + 1
    np.testing.assert_allclose(found.w, found.trace.points[R - 1, np.arange(len(R))], atol=1e-8)
    assert stats.chisquare(np.bincount(R, minlength=7)[1:]).pvalue > 1e-6
    assert stats.chisquare(np.bincount(R[R > 1], minlength=7)[1:]).pvalue < 1e-6


def test_without_noise_the_gap_falls_to_0() -> None:
    """Frank-Wolfe on a sigmoid risk over a ball, whose minimiser lies on its rim."""
    problem = logistic_synthetic(60, 3, 1).problem(Sigmoid(), constraint=L2Ball(0.5))
    gaps = frank_wolfe_gap(problem, solvers.all_steps(problem, 0.05, 300, 0.0, 0, 1).points[:, 0])
    assert gaps[-2] < 1e-3 * gaps[0]


# Widths and bounds ---------------------------------------------------------------------------------
@given(d=st.integers(1, 40), radius=st.floats(0.1, 5), held=st.integers(0, 2), seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_widths_are_those_of_the_draws(d: int, radius: float, held: int, seed: int) -> None:
    """Five standard errors: false alarms 6e-7 for each example."""
    of = (L2Ball(radius), L1Ball(radius), Box(-radius, radius))[held]
    b = np.random.default_rng(seed).standard_normal((4000, d))
    tops = -np.einsum("kd,kd->k", b, of.linear_minimiser(b))
    assert abs(tops.mean() - gaussian_width(of, d)) <= 5 * tops.std() / math.sqrt(4000) + 1e-9


def test_the_direct_bound_has_teeth_on_a_short_interval() -> None:
    """Most of it is noise there; without the term 2σG_C the runs would be far above it, and so above the printed s²."""
    case = CASES[3]
    found = solvers.gaps_of(case, 400, 0).mean()
    assert direct_bound(case) / 10 < found < direct_bound(case)
    assert direct_bound(case | {"noise": 0.0}) < found


@pytest.mark.parametrize("s", [0.1, 0.01])
def test_the_counterexample_to_theorem_4_happens(s: float) -> None:
    """F(x) = x on [-s/2, s/2] with σ = 1: the mean gap is at least s·Φ(-1), by five standard errors, and not s²."""
    case = {"n": 4.0, "d": 1.0, "radius": s / 2, "set": 3.0, "T": 50.0, "gamma": 0.37, "noise": 1.0}
    found = solvers.gaps_of(case, 2000, 0)
    assert found.mean() - 5 * found.std() / math.sqrt(2000) > s * stats.norm.cdf(-1) * 0.99
    assert found.mean() > s**2
