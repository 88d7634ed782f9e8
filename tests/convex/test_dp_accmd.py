"""DP-AccMD: as printed it is flagged, repaired not; the loop against plain projected steps; its explicit bound.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, gaussian_delta
from dpcheck.datasets import in_unit_ball
from dpcheck.evidence.convex import dp_accmd as evidence
from dpcheck.problems.constraints import L1Ball, L2Ball
from dpcheck.problems.losses import Logistic, Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solvers.convex.dp_accmd import AcceleratedMirrorSteps, DPAccMD, PrintedSteps
from dpcheck.testing.planting import flagged, with_noise_times

CLAIMED = ApproxDP(1.0, 1e-2)


def over_ball(n: int, d: int, R: float, seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    return Problem(in_unit_ball(rng, n, d), rng.choice([-1.0, 1.0], n), Logistic(), constraint=L2Ball(R))


# Privacy -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("steps", [1, 2])
def test_as_printed_it_is_flagged_whatever_its_noise(steps: int) -> None:
    """False alarms: 1e-6. With c = 8 the noise would be enough for all gradients, were they noisy."""
    printed = DPAccMD(steps=steps, repaired=False, c=8.0)
    pair = printed.worst_pair()
    assert flagged(printed.mechanism(CLAIMED, "stated"), pair, CLAIMED)
    if steps == 1:  # x_1 = x_0: the output does not depend on any noise
        found = [printed.solve(p, CLAIMED, 0, trials=50, calibration="stated").w for p in pair]
        assert [len(np.unique(w)) for w in found] == [1, 1]
        assert found[0][0] != found[1][0]
    with pytest.raises(InvalidInput, match="repaired is False"):
        printed.solve(pair[0], CLAIMED, 0)


def test_repaired_it_is_not_flagged_as_stated_and_a_third_of_its_noise_is() -> None:
    """False alarms: 1e-6. The certified noise: tests/test_conformance.py."""
    solver = DPAccMD(steps=2, c=8.0)
    assert not flagged(solver.mechanism(CLAIMED, "stated"), solver.worst_pair(), CLAIMED)
    assert flagged(with_noise_times(1 / 3, solver, CLAIMED, "stated"), solver.worst_pair(), CLAIMED)


# Calibration ---------------------------------------------------------------------------------------
@given(steps=st.integers(1, 30), n=st.integers(2, 50), level=st.floats(0.1, 3))
@settings(max_examples=20, deadline=None)
def test_certified_noise_is_exact_for_that_many_full_gradients(steps: int, n: int, level: float) -> None:
    problem, guarantee = over_ball(n, 2, 1.0), ApproxDP(level, 1e-3)
    found = DPAccMD(steps=steps).solve(problem, guarantee, 0)
    ratio = math.sqrt(steps) * 2 * problem.data_lipschitz / (n * found.noise_std)
    assert gaussian_delta(level, ratio) <= 1e-3 < gaussian_delta(level, 1.001 * ratio)
    stated = DPAccMD(steps=steps, c=3.0).calibrated(problem, guarantee, "stated").noise_std
    assert stated == pytest.approx(problem.data_lipschitz * math.sqrt(3 * steps * math.log(1e3)) / (n * level))


def test_refusals_name_what_fails() -> None:
    ball = over_ball(5, 2, 1.0)
    with pytest.raises(InvalidInput, match="an l2 ball"):
        DPAccMD(steps=2).solve(Problem(ball.X, ball.y, Logistic()), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="an l2 ball"):
        DPAccMD(steps=2).solve(Problem(ball.X, ball.y, Logistic(), constraint=L1Ball(1.0)), CLAIMED, 0)
    with pytest.raises(HypothesisViolated, match="convex"):
        DPAccMD(steps=2).solve(Problem(ball.X, ball.y, Sigmoid(), constraint=L2Ball(1.0)), CLAIMED, 0)


# The loop ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("repaired", [True, False])
@given(
    g=st.tuples(st.floats(-2, 2), st.floats(-2, 2)),
    x=st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
    k=st.integers(0, 9),
)
@settings(max_examples=15, deadline=None)
def test_steps_minimise_what_the_algorithm_says(repaired: bool, g: Any, x: Any, k: int) -> None:
    """Lines 6 and 8 over a ball of radius R, by a general optimiser: the projected steps are their minimisers."""
    R, L = 1.5, 0.7
    method = (AcceleratedMirrorSteps if repaired else PrintedSteps)(10, 2, L, R)
    g, x = np.array(g), np.array(x) * R / 2
    smooth = L * (2 * R) ** 2
    alpha = (k + 2) / (4 * (smooth if repaired else L))
    ball = L2Ball(R)
    inside = [{"type": "ineq", "fun": lambda w: R**2 - w @ w}]

    def y_target(y: np.ndarray) -> float:
        return (smooth if repaired else smooth / 2) * float((y - x) @ (y - x)) / R**2 + float(g @ (y - x))

    def z_target(z: np.ndarray) -> float:
        return float((z - x) @ (z - x)) / (2 * R**2) + alpha * float(g @ (z - x))

    for target, found in (
        (y_target, ball.project(x - method.y_step * g)),
        (z_target, ball.project(x - method.etas[k] * g)),
    ):
        best = optimize.minimize(target, x, constraints=inside, options={"ftol": 1e-14, "maxiter": 300})
        assert target(found) <= best.fun + 1e-7


# Utility -------------------------------------------------------------------------------------------
def test_the_bound_has_teeth() -> None:
    """After many steps with noise 1, its first term alone would be exceeded."""
    case = {"n": 5, "d": 3, "seed": 1, "T": 60, "noise": 1.0, "radius": 5.0}
    measured, bound = evidence.explicit(case)
    assert evidence.explicit(case | {"noise": 0.0})[1] < measured < bound
