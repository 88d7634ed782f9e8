"""DP-FW-L1: exact laws of its selections; their account; certified never flagged, planted bugs are; iterates.

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
from dpcheck.bounds.language.guarantees import ZCDP, ApproxDP, GaussianDP, PureDP
from dpcheck.bounds.privacy.random_iterate import averaged
from dpcheck.bounds.privacy.selections import bounded_range_deltas, selection_epsilon, two_point_deltas
from dpcheck.evidence.nonconvex.dp_fw_l1 import bounded_entries
from dpcheck.kernels.selection import Noise, select, selection_logs
from dpcheck.problems.constraints import Box, L1Ball, L2Ball, Simplex
from dpcheck.problems.extreme_pairs import balanced_pair
from dpcheck.problems.losses import Squared
from dpcheck.problems.polytopes import corners_of
from dpcheck.problems.problem import Problem
from dpcheck.solvers.nonconvex.dp_fw_l1 import DPFWL1, Plan
from dpcheck.testing.planting import with_noise_times

CLAIMED = ApproxDP(1.0, 1e-2)
EIGHT = DPFWL1(steps=8, step_size=0.3)
KINDS: tuple[Noise, ...] = ("gumbel", "exponential", "laplace")
SETS = [L1Ball(1.5), Simplex(), Box(-0.5, 1.0)]


def flagged(mechanism: Any, pair: tuple[Any, Any]) -> bool:
    return audit(mechanism, pair=pair, guarantee=CLAIMED, max_trials=10_000, alpha=1e-6, seed=1).violated


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


def test_a_sensitivity_in_the_wrong_norm_is_flagged() -> None:
    """False alarms: 1e-6. Rows of l-infinity norm 1 treated as if their entries were at most 1/4."""
    first, second = balanced_pair(5)
    solver = replace(EIGHT, entry_bound=1.0)
    assert solver.release(first, Plan(8, exact=False)).sensitivity == pytest.approx(2 / 5)
    with pytest.raises(InvalidInput, match=r"entry_bound=0\.25"):
        replace(EIGHT, entry_bound=0.25).solve(first, CLAIMED, 0)
    assert flagged(with_noise_times(0.25, solver, CLAIMED), (first, second))


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
