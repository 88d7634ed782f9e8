"""DP-PMD: mirror steps against their optimality conditions; stated noise flagged, certified not; its explicit bounds.

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

from dpcheck.audits import audit
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, Guarantee, gaussian_delta, smallest_epsilon
from dpcheck.bounds.privacy.exact import least_noise
from dpcheck.bounds.privacy.laws import Gaussian
from dpcheck.bounds.privacy.random_iterate import gaussian_iterate_delta, iterate_noise
from dpcheck.bounds.privacy.release import Release
from dpcheck.datasets import in_unit_ball
from dpcheck.evidence.checks import exceeds
from dpcheck.evidence.nonconvex.dp_pmd import explicit_bound, geometry
from dpcheck.kernels.running import run
from dpcheck.problems.constraints import Box, L1Ball, L2Ball
from dpcheck.problems.extreme_pairs import FAR
from dpcheck.problems.losses import Huber, Sigmoid
from dpcheck.problems.mirror import mirror_of
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_pmd import DPPMD, MirrorSteps

CLAIMED = ApproxDP(1.0, 1e-2)
SIX = DPPMD(steps=6)
sets = {"kind": st.integers(0, 3), "radius": st.floats(0.3, 4), "q": st.floats(1.1, 2.0), "d": st.integers(1, 6)}


def flagged(
    mechanism: Any, pair: tuple[Any, Any], guarantee: Guarantee = CLAIMED, trials: int = 10_000, seed: int = 1
) -> bool:
    return audit(mechanism, pair=pair, guarantee=guarantee, max_trials=trials, alpha=1e-6, seed=seed).violated


def random_problem(seed: int, constraint: Any, n: int = 6, d: int = 2) -> Problem:
    rng = np.random.default_rng(seed)
    return Problem(in_unit_ball(rng, n, d), rng.choice([-1.0, 1.0], n), Sigmoid(), constraint=constraint)


def exact_epsilon(noise: float, n: int, steps: int, delta: float) -> float:
    """Of x_R if R can be told, for gradients 2/n apart."""
    return smallest_epsilon(lambda e: gaussian_iterate_delta(e, 2 / (n * noise), steps), delta)


# The steps -----------------------------------------------------------------------------------------
@given(**sets, seed=st.integers(0, 10**6), l1=st.floats(0, 1), size=st.floats(0.1, 20))
@settings(max_examples=60, deadline=None)
def test_steps_satisfy_their_optimality_conditions(
    kind: int, radius: float, q: float, d: int, seed: int, l1: float, size: float
) -> None:
    """<grad w(u) - z, v - u> + l1 (|v| - |u|) >= 0 for every v of the set characterises the step u."""
    where, rng = geometry(kind, radius, q), np.random.default_rng(seed)
    mirror = mirror_of(where, d)
    z = size / radius * rng.standard_normal((5, d))
    u = mirror.step(z, l1)
    assert np.all(where.contains(u, tol=1e-9 * max(1.0, radius)))
    v = where.project(2 * radius * rng.standard_normal((200, d)))
    v = np.concatenate([v, np.where(np.eye(d) > 0, where.reach(d), 0.0), 0.5 * u + 0.5 * v[:5]])
    slope = mirror.gradient(u) - z
    ahead = np.einsum("kd,vkd->vk", slope, v[:, None] - u)
    ahead += l1 * (np.abs(v).sum(axis=1)[:, None] - np.abs(u).sum(axis=1))
    assert ahead.min() >= -1e-6 * (1 + np.abs(slope).max() * radius)


@given(**sets, seed=st.integers(0, 10**6), size=st.floats(0.1, 5))
@settings(max_examples=60, deadline=None)
def test_generators_have_modulus_one(kind: int, radius: float, q: float, d: int, seed: int, size: float) -> None:
    """<grad w(x) - grad w(y), x - y> >= ||x - y||^2 in the set's norm; half as strong a generator would fail."""
    where, rng = geometry(kind, radius, q), np.random.default_rng(seed)
    mirror = mirror_of(where, d)
    x, y = mirror.step(size * rng.standard_normal((2, 20, d)).reshape(40, d) / radius, 0.0).reshape(2, 20, d)
    inner = np.einsum("kd,kd->k", mirror.gradient(x) - mirror.gradient(y), x - y)
    assert np.all(inner >= mirror.norm(x - y) ** 2 * (1 - 1e-7) - 1e-12)


def test_the_modulus_is_attained() -> None:
    """On an l2 ball everywhere; so w/2 would break the test above."""
    mirror = mirror_of(L2Ball(3.0), 2)
    x = np.array([[0.5, 1.0]])
    assert (mirror.gradient(x) * x).sum() == pytest.approx(float(mirror.norm(x)[0]) ** 2)


@given(**sets, seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_dual_norms_and_their_mean_squares(kind: int, radius: float, q: float, d: int, seed: int) -> None:
    """<v, x> <= ||v||* ||x||; E||b||*^2 is at most what dual_square says, by five standard errors."""
    where, rng = geometry(kind, radius, q), np.random.default_rng(seed)
    mirror = mirror_of(where, d)
    v, x = rng.standard_normal((2, 2000, d))
    assert np.all(np.abs(np.einsum("kd,kd->k", v, x)) <= mirror.dual_norm(v) * mirror.norm(x) * (1 + 1e-9))
    squares = mirror.dual_norm(v) ** 2
    slack = 5 * squares.std() / math.sqrt(len(squares))
    assert squares.mean() - slack <= mirror.dual_square() <= 1.5 * squares.mean() + slack


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
    assert flagged(solver.mechanism(guarantee, "stated", transcript=True), pair, guarantee) is (exact > level)


def test_the_transcript_reaches_the_exact_epsilon() -> None:
    """The hockey-stick divergence of the transcript, from its own likelihood ratios; x_R alone tells less."""
    first, second = SIX.worst_pair()
    seen: Any = SIX.mechanism(CLAIMED, transcript=True)
    runs = seen(first, np.random.default_rng(0), 100_000)
    ratio = seen.log_density(runs, first) - seen.log_density(runs, second)
    noise = SIX.solve(first, CLAIMED, 0).noise_std
    exact = exact_epsilon(noise, 5, 6, 0.05)
    reached = smallest_epsilon(lambda e: float(-np.expm1(np.minimum(e - ratio, 0.0)).mean()), 0.05)
    assert 0.9 * exact < reached < 1.1 * exact


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
@given(steps=st.integers(2, 200), n=st.integers(2, 50), level=st.floats(0.1, 3), delta=st.floats(1e-6, 0.1))
@settings(max_examples=20, deadline=None)
def test_certified_noise_is_exact_for_the_released_iterate(steps: int, n: int, level: float, delta: float) -> None:
    """Below what T-1 full gradients would need, above what the last 1/T of all runs needs."""
    problem, guarantee = random_problem(0, L2Ball(1.0), n), ApproxDP(level, delta)
    per_unit = DPPMD(steps=steps).solve(problem, guarantee, 0).noise_std * n / (2 * problem.data_lipschitz)
    assert per_unit <= least_noise(guarantee, steps=steps - 1)
    profile = np.mean([0.0] + [gaussian_delta(level, math.sqrt(k) / per_unit) for k in range(1, steps)])
    assert profile <= delta
    if steps <= 64:  # else blocks of R are rounded up
        less = np.mean([0.0] + [gaussian_delta(level, 1.001 * math.sqrt(k) / per_unit) for k in range(1, steps)])
        assert less > delta
    stated = DPPMD(steps=steps, c=3.0).solve(problem, guarantee, 0, calibration="stated")
    assert stated.noise_std == pytest.approx(
        problem.data_lipschitz * math.sqrt(3 * steps * math.log(1 / delta)) / (n * level)
    )
    assert stated.rests_on[0] == "wangxu19.theorem5.privacy"


def test_other_guarantees_and_defaults() -> None:
    problem = random_problem(0, L1Ball(1.0), 100)
    noise = DPPMD(steps=5).solve(problem, ZCDP(0.5), 0).noise_std
    assert noise == pytest.approx(2 * 2 * problem.data_lipschitz / 100)
    assert iterate_noise(ZCDP(0.5), 5) == pytest.approx(2.0)
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
@given(
    **sets, n=st.integers(2, 8), seed=st.integers(0, 10**6), T=st.integers(2, 12), noise=st.floats(0, 1),
    l1=st.floats(0, 0.5),
)  # fmt: skip
@settings(max_examples=12, deadline=None)
def test_runs_keep_the_explicit_bound(**case: Any) -> None:
    assert not exceeds(*explicit_bound(case))


def test_the_bound_has_teeth() -> None:
    """Noise alone: without its second term the bound would be exceeded."""
    case = {"n": 5, "d": 3, "seed": 1, "T": 12, "noise": 1.0, "kind": 0, "radius": 4.0, "q": 1.5, "l1": 0.0}
    measured, bound = explicit_bound(case)
    assert explicit_bound(case | {"noise": 0.0})[1] < measured < bound
