"""DP-PMD: the l2 geometry, stated noise that is flagged, what x_R alone tells, its explicit bound.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcheck.audits import audit
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, smallest_epsilon
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.random_iterate import gaussian_iterate_delta
from dpcheck.bounds.privacy.release import Release
from dpcheck.datasets import in_unit_ball
from dpcheck.evidence.nonconvex.dp_pmd import explicit_bound
from dpcheck.kernels.running import run
from dpcheck.problems.constraints import Box, L1Ball, L2Ball
from dpcheck.problems.extreme_pairs import FAR
from dpcheck.problems.losses import Huber, Sigmoid
from dpcheck.problems.mirror import mirror_of
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_pmd import DPPMD, MirrorSteps

CLAIMED = ApproxDP(1.0, 1e-2)
SIX = DPPMD(steps=6)


def random_problem(seed: int, constraint: Any, n: int = 6, d: int = 2) -> Problem:
    rng = np.random.default_rng(seed)
    return Problem(in_unit_ball(rng, n, d), rng.choice([-1.0, 1.0], n), Sigmoid(), constraint=constraint)


def exact_epsilon(noise: float, n: int, steps: int, delta: float) -> float:
    """Of x_R if R can be told, for gradients 2/n apart."""
    return smallest_epsilon(lambda e: gaussian_iterate_delta(e, 2 / (n * noise), steps), delta)


# The steps -----------------------------------------------------------------------------------------
def test_the_l2_geometry_is_projected_descent() -> None:
    problem = random_problem(0, L2Ball(0.7))
    method, released = MirrorSteps(mirror_of(problem.constraint, 2), 3.0, 5), Release(1.0, Gaussian(0.2), steps=5)
    trace = run(method, released, problem, seed=3, trials=4, trace=True).trace
    assert trace is not None
    for before, answer, after in zip(trace.points, trace.answers, trace.points[1:], strict=False):
        np.testing.assert_allclose(after, problem.constraint.project(before - 3.0 * 0.7**2 * answer), atol=1e-12)


# Privacy -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("level", "steps", "c"), [(3.0, 12, 1.0), (3.0, 12, 8.0), (2.0, 6, 0.3), (1.0, 3, 6.0)])
def test_stated_noise_is_flagged_where_the_accountant_refutes_it(level: float, steps: int, c: float) -> None:
    """False alarms: 1e-6. The exact epsilon of x_R decides; clear cases only."""
    solver, guarantee = DPPMD(steps=steps, c=c), ApproxDP(level, 1e-2)
    pair = solver.worst_pair()
    noise = solver.solve(pair[0], guarantee, 0, calibration="stated").noise_std
    exact = exact_epsilon(noise, 5, steps, 1e-2)
    assert exact > 2 * level or exact <= level
    seen: Any = solver.mechanism(guarantee, "stated", transcript=True)
    found = audit(seen, pair=pair, guarantee=guarantee, max_trials=10_000, alpha=1e-6, seed=1)
    assert found.violated is (exact > level)


def test_the_iterate_alone_reaches_it_where_other_records_tell_the_round() -> None:
    """400 records, all but one of which move x_R by 1/8 a step along the other axis, many times the noise."""
    rows = np.vstack([[1.0, 0.0], np.tile([0.0, 1.0], (399, 1))])
    first = Problem(rows, np.full(400, -FAR), Huber(1.0), label_bound=FAR, constraint=L2Ball(100.0))
    found = SIX.solve(first, CLAIMED, 0, trials=40_000)
    taken = np.rint(-found.w[:, 1] * 8 * 400 / 399)  # R - 1
    assert set(taken) == set(range(6))
    spread = np.maximum(taken, 1) * (found.noise_std / 8) ** 2
    ratio = -2 * found.w[:, 0] * taken / (8 * 400) / spread  # means -k/(8n) and k/(8n), variance k sigma^2/64
    exact = exact_epsilon(found.noise_std, 400, 6, 0.05)
    reached = smallest_epsilon(lambda e: float(-np.expm1(np.minimum(e - ratio, 0.0)).mean()), 0.05)
    assert 0.9 * exact < reached < 1.1 * exact


# Calibration ---------------------------------------------------------------------------------------
def test_default_steps_and_the_set_is_kept() -> None:
    problem = random_problem(0, L1Ball(1.0), 100)
    found = DPPMD(l1=0.01).solve(problem, ApproxDP(1.0, 1e-3), 0, trials=3)
    mirror = mirror_of(problem.constraint, 2)
    wanted = 100 * math.sqrt(4 * problem.smoothness / (mirror.dual_square() * math.log(1e3))) / problem.data_lipschitz
    assert found.steps == round(wanted)
    assert np.all(problem.constraint.contains(found.w))


def test_refusals_name_what_fails() -> None:
    problem = random_problem(0, L2Ball(1.0))
    with pytest.raises(InvalidInput, match="L2Ball, LqBall, L1Ball or Simplex"):
        SIX.solve(replace(problem, constraint=Box(-1.0, 1.0)), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="at least 2"):
        DPPMD(steps=1).solve(problem, CLAIMED, 0)


# Utility -------------------------------------------------------------------------------------------
def test_the_bound_has_teeth() -> None:
    """Noise alone: without its second term the bound would be exceeded."""
    case = {"n": 5, "d": 3, "seed": 1, "T": 12, "noise": 1.0, "kind": 0, "radius": 4.0, "q": 1.5, "l1": 0.0}
    measured, bound = explicit_bound(case)
    assert explicit_bound(case | {"noise": 0.0})[1] < measured < bound
