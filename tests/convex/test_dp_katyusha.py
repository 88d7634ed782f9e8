"""DP-Katyusha: as printed it is flagged, with certified noise not; parameters of both cases; utility.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.privacy.sampled_gaussian import epsilon_bounds, without_replacement
from dpcheck.evidence.convex import dp_katyusha as evidence
from dpcheck.problems.losses import Logistic
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.dp_katyusha import DPKatyusha
from dpcheck.testing.planting import flagged

CLAIMED = ApproxDP(1.0, 1e-2)
SHORT = DPKatyusha(epochs=1, inner=5, step_size=10.0)


@pytest.mark.parametrize(("epochs", "inner"), [(1, 1), (2, 3)])
def test_as_printed_it_is_flagged(epochs: int, inner: int) -> None:
    """False alarms: 1e-6. No noise: the output takes few values, and different ones on the two datasets."""
    printed = DPKatyusha(epochs, inner, 1.0, noised=False)
    pair = printed.worst_pair()
    assert flagged(printed.mechanism(CLAIMED, "stated"), pair, CLAIMED, trials=2000)
    if inner == 1:
        values = [np.unique(printed.solve(p, CLAIMED, 0, trials=50, calibration="stated").w) for p in pair]
        assert [len(v) for v in values] == [1, 1]
        assert values[0] != values[1]
    with pytest.raises(InvalidInput, match="noised is False"):
        printed.solve(pair[0], CLAIMED, 0)


def test_stated_noise_is_flagged_where_the_accountant_refutes_it() -> None:
    """False alarms: 1e-6. The certified noise on the same pair is not (tests/test_conformance.py)."""
    pair = SHORT.worst_pair()
    noise = SHORT.calibrated(pair[0], CLAIMED, "stated").noise_std
    assert epsilon_bounds((without_replacement(2 / noise, 4, 1, 20),), CLAIMED.delta).low > 2 * CLAIMED.eps
    assert flagged(SHORT.mechanism(CLAIMED, "stated"), pair, CLAIMED)


@given(n=st.integers(2, 200), kappa=st.floats(1, 2000))
@settings(max_examples=60, deadline=None)
def test_parameters_are_the_theorems_and_meet_3_29(n: int, kappa: float) -> None:
    problem = Problem(np.zeros((n, 1)), np.ones(n), Logistic(), l2=0.25 / kappa)
    plan = DPKatyusha(epochs=1).plan(problem, CLAIMED)
    eta, theta = plan.step_size, plan.theta
    assert 0.25 * theta + 0.25 * theta / (1 - theta) <= 1 / eta * (1 + 1e-9)
    assert plan.growth == 1 + eta * problem.l2
    assert not plan.restart
    if n <= kappa:
        assert plan.lengths[0] == max(1, 3 * n // 4)
        assert eta == pytest.approx(math.sqrt(1 / (3 * problem.l2 * plan.lengths[0] * 0.25)))
    else:
        assert (plan.lengths[0], eta, theta) == (math.ceil(0.75 * kappa), 2 / (3 * 0.25), 0.5)


def test_more_epochs_where_the_condition_is_worse() -> None:
    problems = [Problem(np.zeros((50, 1)), np.ones(50), Logistic(), l2=0.25 / k) for k in (100, 10_000)]
    few, many = (len(DPKatyusha().plan(p, ApproxDP(1.0, 1e-3)).lengths) for p in problems)
    assert many > 5 * few


def test_the_epoch_bound_has_teeth() -> None:
    """From the minimiser the left side is all noise: more than a twentieth of the bound, whose rest is nothing."""
    case = {"n": 10, "d": 2, "seed": 3, "kappa": 20.0, "noise": 1.0, "size": 0.0}
    measured, bound = evidence.one_epoch(case)
    assert bound / 20 < measured < bound
    assert evidence.one_epoch(case | {"noise": 0.0})[1] < 1e-6 * bound
