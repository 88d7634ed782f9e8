"""DP-FW-L2 for the population risk: ranges of its losses, what refutes Theorem 4.2.5, defaults, the loop, refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.audits import audit
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.library.nonconvex import glm_risk
from dpcheck.datasets import in_unit_ball
from dpcheck.evidence.nonconvex import dp_fw_l2_glm as evidence
from dpcheck.families.glm_losses import Biweight, SquaredLogistic
from dpcheck.problems.constraints import L1Ball, L2Ball
from dpcheck.problems.losses import Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_fw_l2_glm import DPFWL2GLM
from dpcheck.testing.planting import with_noise_times

CLAIMED = ApproxDP(1.0, 1e-2)
losses = st.one_of(st.just(SquaredLogistic()), st.floats(0.5, 5).map(Biweight))


def logistic(n: int, seed: int = 0) -> Problem:
    """Labels by a logistic model in the unit disc."""
    rng = np.random.default_rng(seed)
    X = in_unit_ball(rng, n, 2)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-5 * X @ [0.8, 0.6])), 1.0, -1.0)
    return Problem(X, y, SquaredLogistic(), constraint=L2Ball(1.0))


# Losses --------------------------------------------------------------------------------------------
@given(loss=losses, reach=st.floats(0.05, 6), label=st.floats(0.1, 3), seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_ranges_of_derivatives_are_kept_and_reached(loss: Any, reach: float, label: float, seed: int) -> None:
    m = np.linspace(-reach, reach, 801)[:, None]
    y = np.array([-1.0, 1.0]) if loss.labels == "sign" else np.linspace(-label, label, 401)
    slopes, bends = loss.derivative(m, y), loss.second_derivative(m, y)
    most = loss.derivative_bound(reach, label)
    assert np.abs(slopes).max() <= most * (1 + 1e-9)
    assert np.abs(slopes).max() >= 0.99 * most
    low, high = loss.curvature_range(reach, label)
    assert low - 1e-9 <= bends.min() <= low + 0.02 * (high - low)
    assert high - 0.02 * (high - low) <= bends.max() <= high + 1e-9
    at, step = np.random.default_rng(seed).uniform(-reach, reach, 5)[:, None], 1e-5
    by_differences = (loss.value(at + step, y) - loss.value(at - step, y)) / (2 * step)
    np.testing.assert_allclose(loss.derivative(at, y), by_differences, atol=1e-5)


def test_the_squared_logistic_loss_is_that_of_the_link() -> None:
    m = np.linspace(-3, 3, 7)
    link = 1 / (1 + np.exp(-m))
    np.testing.assert_allclose(SquaredLogistic().value(m, 1.0), (link - 1) ** 2)
    np.testing.assert_allclose(SquaredLogistic().value(m, -1.0), link**2)


# What refutes and what stays -----------------------------------------------------------------------
def test_a_link_in_the_class_is_twice_as_steep_and_bent_as_printed() -> None:
    """σ(s) = ½ - e^(-(s+1)) at s = -1 with y = 1: the 2 of a square, in both constants."""
    case = {"A": 1.0, "r": 1.0, "p": 0.5 - math.exp(-1)}
    for claim, order in ((glm_risk.equation50, 1), (glm_risk.hessian, 2)):
        found, printed = evidence.constant(case, claim, order)
        assert found == pytest.approx(2 * printed, rel=1e-3)


def test_no_algorithm_learns_the_two_points() -> None:
    """The numbers of the counterexamples to Theorem 4.2.5: what n records tell, and what a wrong sign costs."""
    for n in (1, 4, 100, 10**6):
        p, q = 0.5 + 0.25 / math.sqrt(n), 0.5 - 0.25 / math.sqrt(n)
        divergence = n * (p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q)))
        wrong = (1 - math.sqrt(divergence / 2)) / 2  # Pinsker
        assert wrong >= 0.09
        assert wrong / (16 * n) >= 1 / (200 * n)
    loss, xi = Biweight(4.0), np.linspace(-1, 1, 20_001)
    density = np.cos(math.pi * xi / 2) ** 2
    for n in (1, 100):
        shift = 1 / (math.pi * math.sqrt(n))
        grid = np.linspace(-1, 1 + shift, 40_001)
        roots = [np.cos(math.pi * (grid - s) / 2) * (np.abs(grid - s) <= 1) for s in (0.0, shift)]
        hellinger2 = float(((roots[0] - roots[1]) ** 2).sum() * (grid[1] - grid[0]))
        assert n * hellinger2 <= 0.26  # so that the total variation of n records is at most about 1/2
        costs = [float(((loss.value(s, xi) - loss.value(0.0, xi)) * density).sum() * (xi[1] - xi[0]))
                 for s in np.linspace(shift / 2, 2, 50)]  # fmt: skip
        assert min(costs) >= 1 / (400 * n)
        assert min(costs) * 0.245 >= 1 / (2000 * n)


# The solver ----------------------------------------------------------------------------------------
def test_defaults_are_those_of_the_theorem() -> None:
    problem = logistic(300)
    solver = DPFWL2GLM()
    done = solver.calibrated(problem, CLAIMED)
    assert done.plan == round(300 / math.sqrt(2 * math.log(100)))
    assert solver.method(problem, done.plan, done.released).gamma == pytest.approx(
        (2 * math.log(100)) ** 0.25 / math.sqrt(300), rel=0.02
    )
    assert done.noise_std < solver.calibrated(problem, CLAIMED, "stated").noise_std / 5  # the class has C_σ(B+1) = 2


def test_the_population_risk_falls_with_n_and_stays_in_the_ball() -> None:
    """Five standard errors, fixed seeds: 3,000 records against 100, on fresh records of the same law."""
    fresh = logistic(5000, seed=9)
    found = {n: DPFWL2GLM().solve(logistic(n), CLAIMED, 1, trials=40).w for n in (100, 3000)}
    risks = {n: fresh.value(w) for n, w in found.items()}
    error = math.hypot(*(r.std() / math.sqrt(40) for r in risks.values()))
    assert risks[3000].mean() < risks[100].mean() - 5 * error
    assert all(np.linalg.norm(w, axis=1).max() <= 1 + 1e-9 for w in found.values())


def test_an_eighth_of_the_noise_is_flagged() -> None:
    """False alarms: 1e-6."""
    solver = DPFWL2GLM(steps=8, step_size=0.3)
    asked = {"pair": solver.worst_pair(), "guarantee": CLAIMED, "max_trials": 20_000, "alpha": 1e-6, "seed": 1}
    assert not audit(solver.mechanism(CLAIMED), **asked).violated
    assert audit(with_noise_times(0.125, solver, CLAIMED), **asked).violated


def test_refusals_name_what_fails() -> None:
    problem = logistic(20)
    with pytest.raises(InvalidInput, match="SquaredLogistic or Biweight"):
        DPFWL2GLM().solve(replace(problem, loss=Sigmoid()), CLAIMED, 0)
    for held in (L2Ball(2.0), L1Ball(1.0)):
        with pytest.raises(InvalidInput, match=r"L2Ball\(1\.0\)"):
            DPFWL2GLM().solve(replace(problem, constraint=held), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="no regulariser"):
        DPFWL2GLM().solve(replace(problem, l2=0.1), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="at most 1"):
        DPFWL2GLM().solve(replace(problem, row_bound=2.0), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="Beyond it the loss is flat"):
        DPFWL2GLM().solve(replace(problem, loss=Biweight(1.5)), CLAIMED, 0)
