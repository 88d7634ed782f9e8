"""DP-FW-L1: exact laws of its selections; certified never flagged, planted bugs are; iterates; its explicit bound.

Every audit has a fixed seed and a false-alarm rate of 1e-6, and flags the bug planted beside it.
"""

from __future__ import annotations

import itertools
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
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, smallest_epsilon
from dpcheck.bounds.privacy.laws import Selected
from dpcheck.bounds.privacy.random_iterate import averaged
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.privacy.selections import bounded_range_deltas, reached_delta, selection_epsilon, two_point_deltas
from dpcheck.evidence.checks import exceeds
from dpcheck.evidence.nonconvex import dp_fw_l1 as solvers
from dpcheck.evidence.nonconvex.dp_fw_l1 import bounded_entries
from dpcheck.kernels.selection import Noise, select, selection_logs
from dpcheck.problems.constraints import Box, L1Ball, L2Ball, Simplex
from dpcheck.problems.extreme_pairs import balanced_pair
from dpcheck.problems.losses import Sigmoid, Squared
from dpcheck.problems.polytopes import corners_of
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_fw_l1 import DPFWL1
from dpcheck.testing.planting import with_noise_times

CLAIMED = ApproxDP(1.0, 1e-2)
EIGHT = DPFWL1(steps=8, step_size=0.3)
KINDS: tuple[Noise, ...] = ("gumbel", "exponential", "laplace")
SETS = [L1Ball(1.5), Simplex(), Box(-0.5, 1.0)]


def flagged(
    mechanism: Any, pair: tuple[Any, Any], guarantee: Guarantee = CLAIMED, trials: int = 10_000, seed: int = 1
) -> bool:
    return audit(mechanism, pair=pair, guarantee=guarantee, max_trials=trials, alpha=1e-6, seed=seed).violated


# Selections ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS)
def test_selections_follow_their_law(kind: Noise) -> None:
    """Chi-square over 5 candidates, 1e-6; the law of another temperature would not pass."""
    scores = np.array([[0.0, 0.3, -0.2, 1.0, 0.9]])
    law = np.exp(selection_logs(scores, 1.2, 0.3, kind))[0]
    assert law.sum() == pytest.approx(1.0, abs=1e-9)
    drawn = select(np.repeat(scores, 60_000, axis=0), 1.2, 0.3, np.random.default_rng(0), kind)
    counts = np.bincount(drawn, minlength=5)
    assert stats.chisquare(counts, 60_000 * law).pvalue > 1e-6
    other = np.exp(selection_logs(scores, 1.35, 0.3, kind))[0]
    assert stats.chisquare(counts, 60_000 * other).pvalue < 1e-6


def test_the_exponential_mechanism_has_its_weights() -> None:
    scores = np.array([[0.0, 1.0, -2.0]])
    weights = np.exp(0.8 * scores / (2 * 0.5))
    np.testing.assert_allclose(np.exp(selection_logs(scores, 0.8, 0.5, "gumbel")), weights / weights.sum())


def test_permute_and_flip_of_two() -> None:
    """The better of two wins outright or the worse one's coin fails: 1 - w/2, with w = e^-gap."""
    law = np.exp(selection_logs(np.array([[0.0, -1.5]]), 1.0, 0.5, "exponential"))[0]
    np.testing.assert_allclose(law, [1 - math.exp(-1.5) / 2, math.exp(-1.5) / 2])


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6), m=st.integers(2, 6), spread=st.floats(0.1, 5), eps=st.floats(0.1, 3))
@settings(max_examples=15, deadline=None)
def test_selections_are_private_by_their_exact_law(kind: Noise, **case: Any) -> None:
    measured, bound = solvers.worst_loss(case, kind)
    assert not exceeds(measured, bound)
    if kind == "gumbel":
        assert not exceeds(*solvers.worst_loss(case, kind, ranged=True))


def test_noise_for_half_the_sensitivity_would_be_seen() -> None:
    """Scores that move apart by 1 each: the law with scale sensitivity/eps, a known slip, loses 2 eps."""
    far = np.array([[5.0, 0.0], [4.0, 1.0]])
    for kind in KINDS:
        loss = np.abs(np.diff(selection_logs(far, 1.0, 0.5, kind), axis=0)).max()
        assert loss > 1.5


# Accounting ----------------------------------------------------------------------------------------
@given(eps0=st.floats(0.05, 1.5), share=st.floats(0.02, 0.98), steps=st.integers(2, 12), at=st.floats(0.05, 3))
@settings(max_examples=25, deadline=None)
def test_the_recursion_is_above_every_fixed_pair_and_below_zcdp(
    eps0: float, share: float, steps: int, at: float
) -> None:
    upper = bounded_range_deltas(eps0, steps, at)
    counts = np.arange(steps + 1)
    assert np.all(two_point_deltas(eps0, share, counts, at) <= upper + 1e-12)
    by_zcdp = np.array([ZCDP(k * eps0**2 / 8).profile(at) if k else 0.0 for k in counts])
    assert np.all(upper <= by_zcdp * (1 + 1e-3) + 1e-6)


@pytest.mark.parametrize("steps", [5, 20, 49])
def test_certified_selections_are_nearly_all_that_is_allowed(steps: int) -> None:
    """Pairs with one t for all steps reach three quarters of delta; the adversary that chooses t anew, more."""
    eps0 = selection_epsilon(CLAIMED, steps)
    reached = max(averaged(lambda k, s=s: two_point_deltas(eps0, s, k, 1.0), steps) for s in np.linspace(0.1, 0.9, 17))
    assert 0.0075 < reached <= 0.01
    assert eps0 > 4 / math.sqrt(8 * steps * math.log(100))  # the stated eps0 is a quarter of it, or less


def test_the_stated_selections_leak_for_large_eps_only() -> None:
    """delta at eps = 316 is above the stated 0.01; at eps = 1 there is room for five times as large an eps0."""
    stated = [eps / math.sqrt(8 * 1000 * math.log(100)) for eps in (316.2, 1.0)]
    assert reached_delta(stated[0], 1000, 316.2) > 0.02
    assert stated[1] < selection_epsilon(CLAIMED, 1000) / 5


def test_other_guarantees() -> None:
    assert selection_epsilon(PureDP(1.0), 5) == 0.25
    assert selection_epsilon(ZCDP(0.5), 5) == 1.0
    assert selection_epsilon(ZCDP(0.5), 5, bounded_range=False) == 0.5
    with pytest.raises(InvalidInput, match="PureDP, ApproxDP or ZCDP"):
        selection_epsilon(GaussianDP(1.0), 5)


# Privacy -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS)
def test_certified_selections_are_not_flagged_and_a_fifth_of_the_noise_is(kind: Noise) -> None:
    """False alarms: 1e-6. x_R alone, which shows as much as the selections up to it."""
    solver = replace(EIGHT, selection=kind)
    assert not flagged(solver.mechanism(CLAIMED), solver.worst_pair())
    assert flagged(with_noise_times(0.2, solver, CLAIMED), solver.worst_pair())


def test_stated_selections_are_not_flagged_where_the_accountant_allows_them() -> None:
    """False alarms: 1e-6. A tenth of the noise is flagged: eps0 then is more than the certified one."""
    claimed = EIGHT.calibrated(EIGHT.worst_pair()[0], CLAIMED, "stated").released.parts[0]
    stated = 2 * claimed.sensitivity / claimed.law.scale
    assert stated == pytest.approx(1 / math.sqrt(64 * math.log(100)))
    assert stated < selection_epsilon(CLAIMED, 8) < 10 * stated
    assert not flagged(EIGHT.mechanism(CLAIMED, "stated"), EIGHT.worst_pair())
    assert flagged(with_noise_times(0.05, EIGHT, CLAIMED, "stated"), EIGHT.worst_pair())


def test_random_pairs_are_not_flagged() -> None:
    """False alarms: 1e-6."""
    for where in SETS:
        first = bounded_entries(3, 6, 2, where)
        solver = replace(EIGHT, entry_bound=1.0)
        pair = first, first.replace(0, [1.0, -1.0], 1.0)
        assert not flagged(solver.mechanism(CLAIMED, transcript=True), pair, trials=3000)


def test_a_sensitivity_in_the_wrong_norm_is_flagged() -> None:
    """False alarms: 1e-6. Rows of l-infinity norm 1 treated as if their entries were at most 1/4."""
    first, second = balanced_pair(5)
    solver = replace(EIGHT, entry_bound=1.0)
    assert solver.release(first, 8).sensitivity == pytest.approx(2 / 5)
    with pytest.raises(InvalidInput, match=r"entry_bound=0\.25"):
        replace(EIGHT, entry_bound=0.25).solve(first, CLAIMED, 0)
    assert flagged(with_noise_times(0.25, solver, CLAIMED), (first, second))


def test_the_transcript_reaches_the_exact_epsilon() -> None:
    """From its own likelihood ratios; the exact law of the pair is binomial."""
    first, second = EIGHT.worst_pair()
    seen: Any = EIGHT.mechanism(CLAIMED, transcript=True)
    runs = seen(first, np.random.default_rng(0), 100_000)
    ratio = seen.log_density(runs, first) - seen.log_density(runs, second)
    eps0 = selection_epsilon(CLAIMED, 8)
    exact = smallest_epsilon(lambda e: averaged(lambda k: two_point_deltas(eps0, 0.5, k, e), 8), 0.05)
    reached = smallest_epsilon(lambda e: float(-np.expm1(np.minimum(e - ratio, 0.0)).mean()), 0.05)
    assert 0.9 * exact < reached < 1.1 * exact


def test_the_iterate_tells_all_selections() -> None:
    """Every number of steps and every choice of corners leads to another x_R: seeing it is seeing them all."""
    ends = set()
    for length in range(8):
        for corners in itertools.product((-1.0, 1.0), repeat=length):
            x = 0.0
            for s in corners:
                x = 0.7 * x + 0.3 * s
            ends.add(round(x, 12))
    assert len(ends) == sum(2**k for k in range(8))


# The loop ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("where", SETS, ids=repr)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 4), steps=st.integers(2, 12), pace=st.floats(0.05, 1))
@settings(max_examples=10, deadline=None)
def test_iterates_stay_in_the_polytope(where: Any, seed: int, d: int, steps: int, pace: float) -> None:
    problem = bounded_entries(seed, 5, d, where)
    corners = corners_of(where, d)
    solver = DPFWL1(steps=steps, step_size=pace, entry_bound=1.0)
    trace = solver.solve(problem, CLAIMED, seed, trials=20, trace=True).trace
    assert np.all(where.contains(trace.points))
    index = trace.answers[..., 0].astype(int)
    assert np.all(where.contains(corners.at(index[index >= 0])))
    gone = np.abs(np.diff(trace.points, axis=0)).max(axis=2) > 0
    assert np.all(gone <= (index >= 0))  # only a selection moves a trial


@pytest.mark.parametrize("where", SETS, ids=repr)
def test_corners_are_those_of_the_set(where: Any) -> None:
    corners = corners_of(where, 3)
    points = corners.at(np.arange(corners.count))
    assert len(np.unique(points, axis=0)) == corners.count == {L1Ball: 6, Simplex: 3, Box: 8}[type(where)]
    assert corners.largest == pytest.approx(np.abs(points).sum(axis=1).max())
    g = np.random.default_rng(0).standard_normal((4, 3))
    np.testing.assert_allclose(corners.products(g), g @ points.T)
    best = np.einsum("kd,kd->k", where.linear_minimiser(g), g)
    np.testing.assert_allclose(corners.products(g).min(axis=1), best)
    np.testing.assert_allclose(corners.centre(), points.mean(axis=0), atol=1e-12)


def test_stops_are_uniform() -> None:
    """The number of selections is uniform on 0..T-1: chi-square, 1e-6."""
    found = replace(EIGHT, steps=5).solve(balanced_pair(5)[0], CLAIMED, 0, trials=20_000, trace=True)
    lengths = (found.trace.answers[..., 0] >= 0).sum(axis=0)
    np.testing.assert_array_equal(lengths, found.trace.stops)
    np.testing.assert_array_equal(found.w, found.trace.points[lengths, np.arange(20_000)])
    assert stats.chisquare(np.bincount(lengths, minlength=5)).pvalue > 1e-6


def test_refusals_name_what_fails() -> None:
    problem = bounded_entries(0, 5, 2, L1Ball(1.0))
    with pytest.raises(InvalidInput, match="an L1Ball, a Simplex, or a Box"):
        EIGHT.solve(replace(problem, constraint=L2Ball(1.0)), CLAIMED, 0)
    with pytest.raises(InvalidInput, match="Selected noise is known"):
        EIGHT.solve(problem, GaussianDP(1.0), 0)
    assert not EIGHT.release(problem, 8).supports(GaussianDP(1.0))
    with pytest.raises(InvalidInput, match="at least 2"):
        DPFWL1(steps=1).solve(problem, CLAIMED, 0)
    far = Problem(problem.X, problem.y, Squared(), constraint=L1Ball(1.0), row_bound=2.0)
    assert DPFWL1(steps=2).solve(far, CLAIMED, 0).steps == 2  # Lipschitz over a bounded set


def test_defaults_are_those_of_the_theorem() -> None:
    problem = bounded_entries(0, 200, 3, L1Ball(1.0))
    solver = DPFWL1(entry_bound=1.0)
    found = solver.solve(problem, ApproxDP(2.0, 1e-3), 0, trials=4)
    wanted = 200 * 2 / (math.sqrt(math.log(1e3)) * math.log(6 * 200 / 0.05))
    assert found.steps == round(wanted)
    assert solver.pace(problem, found.steps) == pytest.approx(
        math.sqrt(2 / (found.steps * problem.smoothness * 4)), rel=1e-9
    )
    kinds: dict[Noise, str] = {"gumbel": "dwang20.algorithm4.1.19.range", "laplace": "wangxu19.algorithm4.noisy_max"}
    for kind, claim in kinds.items():
        assert claim in replace(EIGHT, selection=kind).calibrated(EIGHT.worst_pair()[0], CLAIMED).rests_on


# Utility -------------------------------------------------------------------------------------------
@given(
    n=st.integers(2, 10), d=st.integers(1, 6), seed=st.integers(0, 10**6), simplex=st.integers(0, 1),
    radius=st.floats(0.3, 3), T=st.integers(1, 15), pace=st.floats(0.05, 1), eps0=st.floats(0.05, 5),
)  # fmt: skip
@settings(max_examples=10, deadline=None)
def test_runs_keep_the_explicit_bound(**case: Any) -> None:
    measured, bound = solvers.explicit_gap(case)
    assert not exceeds(measured, bound)


def test_selections_come_close_to_the_best_corner_as_eps_grows() -> None:
    """The gap falls with eps, and without noise it is that of Frank-Wolfe."""
    problem = bounded_entries(1, 50, 5, L1Ball(1.0))
    means = []
    for eps0 in (1e-3, 3.0, 1e5):
        released = Release(0.01, Selected(2 * 0.01 / eps0), steps=40)
        last = solvers.all_steps(problem, 0.2, released, 0, 50).points[-1]
        means.append(float(solvers.frank_wolfe_gap(problem, last).mean()))
    assert means[0] > 1.5 * means[1] > 1.5 * means[2]


@given(n=st.integers(2, 10), d=st.integers(1, 6), seed=st.integers(0, 10**6), radius=st.floats(0.3, 3))
@settings(max_examples=30, deadline=None)
def test_the_gap_bounds_the_excess_of_a_convex_risk(**case: Any) -> None:
    assert not exceeds(*solvers.convex_excess(case))


def test_the_gap_does_not_bound_that_of_sigmoids() -> None:
    """They are not convex: far out they are flat, and the gap with them."""
    cases = [{"n": 1, "d": 1, "seed": seed, "radius": 30.0} for seed in range(20)]
    assert any(exceeds(*solvers.convex_excess(case, Sigmoid())) for case in cases)
    assert not any(exceeds(*solvers.convex_excess(case)) for case in cases)
