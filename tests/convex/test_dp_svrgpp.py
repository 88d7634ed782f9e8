"""DP-SVRG++: stated noise flagged where the accountant refutes it, certified not; its epochs; utility.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import HypothesisViolated
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.privacy.sampled_gaussian import epsilon_bounds, without_replacement
from dpcheck.evidence.convex import dp_svrgpp as evidence
from dpcheck.problems.losses import Huber, Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.dp_svrgpp import DPSVRGpp
from dpcheck.testing.planting import flagged, with_noise_times

CLAIMED = ApproxDP(1.0, 1e-2)
SHORT = DPSVRGpp(epochs=1, inner=3, step_size=4.0)


# Privacy -------------------------------------------------------------------------------------------
def test_stated_noise_is_flagged_where_the_accountant_refutes_it() -> None:
    """False alarms: 1e-6."""
    pair = SHORT.worst_pair()
    noise = SHORT.calibrated(pair[0], CLAIMED, "stated").noise_std
    assert epsilon_bounds((without_replacement(2 / noise, 5, 1, 20),), CLAIMED.delta).low > 2 * CLAIMED.eps
    assert flagged(SHORT.mechanism(CLAIMED, "stated"), pair, CLAIMED)


@pytest.mark.parametrize("solver", [SHORT, DPSVRGpp(epochs=2, inner=1, step_size=4.0)])
def test_certified_noise_is_not_flagged_and_a_fifth_of_it_is(solver: DPSVRGpp) -> None:
    """False alarms: 1e-6."""
    for transcript in (False, True):
        assert not flagged(solver.mechanism(CLAIMED, transcript=transcript), solver.worst_pair(), CLAIMED)
        less = with_noise_times(0.2, solver, CLAIMED, transcript=transcript)
        assert flagged(less, solver.worst_pair(), CLAIMED)


# Calibration ---------------------------------------------------------------------------------------
@given(epochs=st.integers(1, 6), inner=st.integers(1, 5), level=st.floats(0.2, 2), c=st.floats(0.5, 20))
@settings(max_examples=15, deadline=None)
def test_epochs_double_and_all_their_steps_count(epochs: int, inner: int, level: float, c: float) -> None:
    problem = Problem(np.zeros((9, 2)), np.ones(9), Huber(0.7))
    solver = DPSVRGpp(epochs, inner, 1.0, c=c)
    assert solver.plan(problem, CLAIMED).lengths == tuple(2**s * inner for s in range(1, epochs + 1))
    found = solver.solve(problem, ApproxDP(level, 1e-3), 0, calibration="stated", trace=True)
    assert found.steps == len(found.trace.answers) == (2 ** (epochs + 1) - 2) * inner
    assert found.noise_std == pytest.approx(0.7 * math.sqrt(c * 2**epochs * inner * math.log(2e3)) / (9 * level))


def test_the_condition_on_eps_is_checked_when_its_constant_is_given() -> None:
    problem = Problem(np.zeros((9, 2)), np.ones(9), Logistic())
    DPSVRGpp(2, 3, 1.0, c1=7.0).solve(problem, CLAIMED, 0, calibration="stated")  # 7 * 4 * 3 / 81 > 1
    with pytest.raises(HypothesisViolated, match=r"theorem3\.1\.4"):
        DPSVRGpp(2, 3, 1.0, c1=6.0).solve(problem, CLAIMED, 0, calibration="stated")


def test_cost_counts_snapshots_and_two_gradients_a_step() -> None:
    problem = Problem(np.zeros((9, 2)), np.ones(9), Logistic())
    assert DPSVRGpp(3, 2).gradients(problem, CLAIMED) == 3 * 9 + 2 * (4 + 8 + 16)


# Utility -------------------------------------------------------------------------------------------
def test_the_bound_has_teeth() -> None:
    """Without its noise term it would be exceeded: many epochs from near the minimiser, noise of 1."""
    case = {"n": 5, "d": 3, "seed": 1, "T": 5, "inner": 4, "noise": 1.0, "size": 0.0, "l1": 0.3, "l2": 0.3}
    measured, bound = evidence.all_epochs(case)
    assert evidence.all_epochs(case | {"noise": 0.0})[1] < measured < bound
