"""DP-GD-SO: its quadratic step against brute force, runs that leave a saddle inside a ball, refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.families.trust_region_runs import noisy_run
from dpcheck.kernels.running import run
from dpcheck.problems.constraints import L2Ball
from dpcheck.problems.losses import Sigmoid
from dpcheck.problems.problem import Problem
from dpcheck.problems.saddles import saddle
from dpcheck.solvers.nonconvex.dp_gd_so_constrained import DPGDSOConstrained, InBall, Plan, curved_steps

CLAIMED = ApproxDP(1.0, 1e-5)


@given(seed=st.integers(0, 10**6), d=st.integers(1, 3), slope=st.floats(0.0, 1.0), radius=st.floats(0.2, 2))
@settings(max_examples=40, deadline=None)
def test_quadratic_steps_are_allowed_and_the_best(seed: int, d: int, slope: float, radius: float) -> None:
    """Against 4000 points: none is lower; in the ball, and on the allowed side."""
    rng = np.random.default_rng(seed)
    H, g = rng.standard_normal((8, d, d)), rng.standard_normal((8, d))
    H = H + H.transpose(0, 2, 1)
    points = radius * rng.uniform(-1, 1, (4000, d))
    points = points[np.linalg.norm(points, axis=1) <= radius]
    w = points[:8]
    h, q = curved_steps(w, g, H, radius, slope)
    assert np.linalg.norm(w + h, axis=1).max() <= radius * (1 + 1e-9)
    assert np.all(np.einsum("kd,kd->k", g, h) <= slope + 1e-9)
    gaps = points[None] - w[:, None]
    values = np.einsum("kpi,kij,kpj->kp", gaps, H, gaps)
    values[np.einsum("kd,kpd->kp", g, gaps) > slope] = 0.0
    assert np.all(q <= np.minimum(values.min(axis=1), 0.0) + 1e-7)


def test_runs_leave_a_saddle_and_stop_inside_the_ball() -> None:
    """A saddle of sigmoid losses in the unit ball. Planted: where Hessians are not read, runs stop at the saddle."""
    free = saddle("sigmoid")
    assert isinstance(free.problem, Problem)
    problem = Problem(4 * free.problem.X, free.problem.y, Sigmoid(), l2=0.016, constraint=L2Ball(1.0), row_bound=4.0)
    at, rho = free.at / 4, problem.hessian_lipschitz
    assert np.abs(problem.gradient(at[None])).max() < 1e-12
    alpha, rounds = 0.004, 300
    deep = math.sqrt(rho * alpha) / 2
    plan = Plan(rounds, 0.01, 0.02, 0.01, alpha, deep)  # longer steps than the theorem's, which take a million rounds

    def ends(start: np.ndarray, depth: float) -> np.ndarray:
        method = InBall(start, rounds, 1.0, replace(plan, deep=depth))
        return run(method, noisy_run(rounds, 1e-6, 1e-6), problem, seed=0, trials=4).w

    np.testing.assert_allclose(ends(at, math.inf), np.tile(at, (4, 1)))
    w = ends(at, deep)
    assert np.linalg.norm(w, axis=1).max() <= 1 + 1e-9
    assert np.all(problem.value(w) < problem.value(at[None]) - 0.01)
    least = problem.minimiser()[0]
    np.testing.assert_allclose(ends(least, deep), np.tile(least, (4, 1)))  # there it stops at once


def test_sets_other_than_balls_are_refused() -> None:
    with pytest.raises(InvalidInput, match="l2 ball"):
        DPGDSOConstrained().solve(Problem([[1.0]], [1.0], Sigmoid()), CLAIMED)


def test_parameters_are_those_of_the_proof() -> None:
    problem = Problem([[1.0]], [1.0], Sigmoid(), constraint=L2Ball(0.5))  # D = 1, G = 1/4
    plan = DPGDSOConstrained(aim=0.04, share=0.5).plan(problem, CLAIMED)
    bent = math.sqrt(0.125 * 0.01) / 2
    assert plan.theta == pytest.approx(0.5 * bent / 0.125)
    assert plan.slope == pytest.approx(0.5**2 * bent**2 / (18 * 0.125))
    assert plan.pace == pytest.approx(0.005 / problem.smoothness)


def in_units(scale: float, seed: int = 0) -> tuple[Problem, DPGDSOConstrained]:
    """The same losses where parameters are counted in units of 1/scale."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((30, 3)), np.sign(rng.standard_normal(30))
    X /= np.linalg.norm(X, axis=1)[:, None]
    problem = Problem(scale * X, y, Sigmoid(), l2=0.01 * scale**2, constraint=L2Ball(2 / scale), row_bound=scale)
    return problem, DPGDSOConstrained(steps=20, aim=0.2, start=tuple(np.array([1.0, 0.5, -0.5]) / scale))


@pytest.mark.parametrize("scale", [0.125, 8.0])
def test_units_of_parameters_change_nothing(scale: float) -> None:
    """Runs with common noise end at the same place. Planted: an α that does not carry its unit."""
    problem, solver = in_units(1.0)
    other, same = in_units(scale)

    def ends(here: DPGDSOConstrained, data: Problem, units: float) -> np.ndarray:
        return units * here.solve(data, CLAIMED, rng=0, trials=20).w

    expected = ends(solver, problem, 1.0)
    assert np.linalg.norm(expected - np.array(solver.start), axis=1).min() > 0.1
    np.testing.assert_allclose(ends(same, other, scale), expected, atol=1e-6)
    assert same.plan(other, CLAIMED) == solver.plan(problem, CLAIMED)
    without = replace(same, aim=same.aim * min(scale, 1 / scale))
    assert np.abs(ends(without, other, scale) - expected).max() > 1e-3
