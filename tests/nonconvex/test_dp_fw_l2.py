"""DP-FW-L2: attacks from inside and outside, calibration, the loop, Gaussian widths, the gap and its bounds.

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
from dpcheck.bounds.language.guarantees import ApproxDP, GaussianDP, PureDP, gaussian_delta
from dpcheck.bounds.library.nonconvex import dp_fw_l2 as theory
from dpcheck.datasets import in_unit_ball, logistic_synthetic
from dpcheck.evidence.checks import exceeds
from dpcheck.evidence.nonconvex import dp_fw_l2 as solvers
from dpcheck.evidence.nonconvex.dp_fw_l2 import CASES, bounded_by, frank_wolfe_gap
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


def attack(mechanism: Any, pair: tuple[Any, Any], trials: int = 10_000, seed: int = 1, **more: Any) -> Any:
    return audit(mechanism, pair=pair, guarantee=CLAIMED, max_trials=trials, alpha=1e-6, seed=seed, **more)


def exact_epsilon(noise: float) -> float:
    """Of five noisy gradients, each 2/5 apart."""
    return GaussianDP(2 * math.sqrt(5) / (5 * noise)).epsilon(CLAIMED.delta)


# Privacy -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("c", "violated"), [(1.0, True), (8.0, False)])
def test_stated_noise_is_flagged_where_the_accountant_refutes_it(c: float, violated: bool) -> None:
    """False alarms: 1e-6."""
    solver, pair = replace(SHORT, c=c), SHORT.worst_pair()
    noise = solver.solve(pair[0], CLAIMED, 0, calibration="stated").noise_std
    assert violated is (exact_epsilon(noise) > CLAIMED.eps)
    assert attack(solver.mechanism(CLAIMED, "stated", transcript=True), pair, 20_000).violated is violated


def test_the_transcript_tells_what_the_accountant_says() -> None:
    """With a quarter of the noise: from inside, 0.9 of the exact ε at least; x_R alone tells less."""
    pair, found = SHORT.worst_pair(), {}
    for transcript in (True, False):
        mechanism = with_noise_times(0.25, SHORT, CLAIMED, transcript=transcript)
        found[transcript] = attack(mechanism, pair, 20_000, assume="gdp" if transcript else None).epsilon_lower
    exact = exact_epsilon(SHORT.solve(pair[0], CLAIMED, 0).noise_std / 4)
    assert 0.9 * exact < found[True] <= exact
    assert found[False] < 0.9 * found[True]


def test_an_eighth_of_the_noise_is_seen_in_the_iterate_alone() -> None:
    """False alarms: 1e-6. Vertices show signs, and only those before R."""
    assert not attack(SHORT.mechanism(CLAIMED), SHORT.worst_pair()).violated
    assert attack(with_noise_times(0.125, SHORT, CLAIMED), SHORT.worst_pair()).violated


# Calibration ---------------------------------------------------------------------------------------
@given(steps=st.integers(1, 60), n=st.integers(2, 80), level=st.floats(0.1, 4), delta=st.floats(1e-6, 0.1))
@settings(max_examples=15, deadline=None)
def test_certified_noise_is_exact_and_stated_noise_the_claims(steps: int, n: int, level: float, delta: float) -> None:
    problem = Problem(np.zeros((n, 2)), np.ones(n), Sigmoid(), constraint=L1Ball(1.0))
    solver, aim = DPFWL2(steps=steps), ApproxDP(level, delta)
    ratio = math.sqrt(steps) * 2 * 0.25 / (n * solver.solve(problem, aim, 0).noise_std)
    assert gaussian_delta(level, ratio) <= delta < gaussian_delta(level, 1.001 * ratio)
    stated = solver.solve(problem, aim, 0, calibration="stated")
    assert stated.noise_std == pytest.approx(0.25 * math.sqrt(8 * steps * math.log(1 / delta)) / (n * level))
    assert stated.rests_on[0] == "wangxu19.theorem4.privacy"


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
def test_widths_are_those_of_the_draws(held: int, **case: Any) -> None:
    """Five standard errors: false alarms 6e-7 for each example."""
    measured, allowed = solvers.width_by_draws(case | {"set": held})
    assert measured <= allowed


@given(
    n=st.integers(2, 30), d=st.integers(1, 5), radius=st.floats(0.01, 3), held=st.integers(0, 2), T=st.integers(1, 30),
    gamma=st.floats(0.02, 1), noise=st.floats(0, 2), seed=st.integers(0, 10**6),
)  # fmt: skip
@settings(max_examples=20, deadline=None)
def test_runs_keep_both_bounds(held: int, seed: int, **case: Any) -> None:
    """The mean less five standard errors; the direct bound is the smaller of the two."""
    here = {k: float(v) for k, v in case.items()} | {"set": float(held)}
    found = solvers.gaps_of(here, 100, seed)
    direct, proof = (bounded_by(claim)(here) for claim in (theory.theorem4_direct, theory.proof))
    assert not exceeds(float(found.mean() - 5 * found.std() / 10), direct)
    assert direct <= proof


def test_the_direct_bound_has_teeth_on_a_short_interval() -> None:
    """Most of it is noise there; without the term 2σG_C the runs would be far above it, and so above the printed s²."""
    case = CASES[3]
    found = solvers.gaps_of(case, 400, 0).mean()
    bound = bounded_by(theory.theorem4_direct)
    assert bound(case) / 10 < found < bound(case)
    assert bound(case | {"noise": 0.0}) < found


@pytest.mark.parametrize("s", [0.1, 0.01])
def test_the_counterexample_to_theorem_4_happens(s: float) -> None:
    """F(x) = x on [-s/2, s/2] with σ = 1: the mean gap is at least s·Φ(-1), by five standard errors, and not s²."""
    case = {"n": 4.0, "d": 1.0, "radius": s / 2, "set": 3.0, "T": 50.0, "gamma": 0.37, "noise": 1.0}
    found = solvers.gaps_of(case, 2000, 0)
    assert found.mean() - 5 * found.std() / math.sqrt(2000) > s * stats.norm.cdf(-1) * 0.99
    assert found.mean() > s**2


@given(
    n=st.integers(1, 6), d=st.integers(1, 8), radius=st.floats(0.1, 5), held=st.integers(0, 3),
    seed=st.integers(0, 10**6), share=st.floats(0, 0.99), converse=st.booleans(),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_the_gap_lies_between_two_multiples_of_the_gradient(held: int, converse: bool, **case: Any) -> None:
    measured, bound = solvers.gap_and_slope(case | {"set": held}, converse)
    assert measured <= bound


def test_a_linear_risk_attains_both() -> None:
    """F(x) = x on [-1, 1]: at 0 the gap is the radius times the slope; near 1 it is nearly the diameter times it."""
    case = {"n": 4.0, "d": 1.0, "radius": 1.0, "set": 3.0, "seed": 0.0}
    measured, bound = solvers.gap_and_slope(case | {"share": 0.0})
    assert measured == pytest.approx(bound)
    near = [solvers.gap_and_slope(case | {"share": 0.99, "seed": float(seed)}, converse=True) for seed in range(10)]
    assert max(measured / bound for measured, bound in near) > 0.99
