"""DP-GD: exact calibration for every notion, default steps.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, PureDP, gaussian_delta
from dpcheck.datasets import logistic_synthetic
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.losses import Huber, Logistic, Squared
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.dp_gd import DPGD
from dpcheck.testing.planting import flagged

CLAIMED = ApproxDP(1.0, 1e-2)
SHORT = DPGD(steps=10, step_size=0.5)


# Privacy -------------------------------------------------------------------------------------------
@given(n=st.integers(2, 30), row=st.floats(0.1, 10.0), radius=st.floats(0.1, 10.0), seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_one_step_pays_for_the_gradient_at_its_start_only(n: int, row: float, radius: float, seed: int) -> None:
    """At 0 a logistic slope is 1/2 and a residual the label: neighbours' gradients are no further apart, and may be."""
    data = logistic_synthetic(n, 2, seed)
    for loss, slope in ((Logistic(), 0.5), (Squared(), 1.0)):
        first = Problem(row * data.X, data.y, loss, row_bound=row, constraint=L2Ball(radius))
        apart = 2 * slope * row / n
        noise = [DPGD(steps=steps).solve(first, GaussianDP(1.0), 0).noise_std for steps in (1, 2)]
        assert noise[0] == pytest.approx(apart, rel=1e-3)  # a little more where gradients are in single precision
        assert noise[1] == pytest.approx(apart * math.sqrt(2) * first.data_lipschitz / (slope * row), rel=1e-3)
        at = first.replace(0, [row, 0.0], 1.0), first.replace(0, [row, 0.0], -1.0)
        gradients = [problem.gradient(np.zeros(2)) for problem in at]
        assert np.linalg.norm(gradients[0] - gradients[1]) == pytest.approx(apart)


def test_a_published_constant_below_what_the_accountant_asks_is_flagged() -> None:
    """False alarms: 1e-6. c = 8 is enough; with c = 1 the exact curve is broken, and seen to be."""
    pair, small = SHORT.worst_pair(), replace(SHORT, c=1.0)
    ratio = math.sqrt(10) * 2 / 5 / small.solve(pair[0], CLAIMED, 0, calibration="stated").noise_std
    assert gaussian_delta(1.0, ratio) > 5 * CLAIMED.delta
    assert flagged(small.mechanism(CLAIMED, "stated"), pair, CLAIMED)
    assert not flagged(SHORT.mechanism(CLAIMED, "stated"), pair, CLAIMED)


# Calibration ---------------------------------------------------------------------------------------
@given(steps=st.integers(1, 60), n=st.integers(2, 80), level=st.floats(0.1, 4), delta=st.floats(1e-6, 0.1))
@settings(max_examples=20, deadline=None)
def test_certified_noise_is_exact(steps: int, n: int, level: float, delta: float) -> None:
    problem = Problem(np.zeros((n, 1)), np.ones(n), Huber(0.7))
    noise = DPGD(steps=steps).solve(problem, ApproxDP(level, delta), 0).noise_std
    ratio = math.sqrt(steps) * 2 * 0.7 / (n * noise)
    assert gaussian_delta(level, ratio) <= delta < gaussian_delta(level, 1.001 * ratio)


def test_other_guarantees() -> None:
    problem = Problem(np.zeros((10, 1)), np.ones(10), Huber(0.7))
    for guarantee, noise in ((ZCDP(0.5), 0.28), (GaussianDP(2.0), 0.14)):
        assert DPGD(steps=4).solve(problem, guarantee, 0).noise_std == pytest.approx(noise)


def test_refusals_name_what_fails() -> None:
    problem = logistic_synthetic(6, 2, 0).problem(Logistic())
    with pytest.raises(HypothesisViolated, match="Lipschitz"):
        SHORT.solve(replace(problem, loss=Squared()), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="pure DP"):
        SHORT.solve(problem, PureDP(1.0), 0)
    with pytest.raises(HypothesisViolated, match="eps <= 1"):
        SHORT.solve(problem, ApproxDP(2.0, 1e-2), 0, calibration="stated")


def test_default_steps_follow_the_condition() -> None:
    problem = logistic_synthetic(200, 2, 0).problem(Logistic(), l2=0.05)
    steps = DPGD().default_steps(problem, CLAIMED)
    assert steps == math.ceil(6 * math.log(200**2 / (4 * math.log(100))))
    assert DPGD().gradients(problem, CLAIMED) == 200 * steps
    assert DPGD().default_steps(replace(problem, l2=0.0), CLAIMED) == 1000
