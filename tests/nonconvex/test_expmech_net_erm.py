"""The exponential mechanism on a net: the net covers its ball, the law is exact, and Langevin at the same eps.

Chi-square tests have a fixed seed and a false-alarm rate of 1e-6, and see the bug planted beside them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, PureDP
from dpcheck.bounds.library.nonconvex import expmech_net_erm as theory
from dpcheck.evidence.nonconvex.expmech_net_erm import log_law, random_pair
from dpcheck.evidence.nonconvex.langevin import three_wells
from dpcheck.problems.constraints import L2Ball
from dpcheck.solvers.nonconvex.dp_gld import DPGLD
from dpcheck.solvers.nonconvex.expmech_net_erm import NetERM, net

CASE = {"seed": 1, "n": 4, "d": 1, "ridge": 0.5}


@given(d=st.integers(1, 3), radius=st.floats(0.1, 10), share=st.floats(0.2, 1.5), seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_a_net_comes_near_to_every_point_of_its_ball(d: int, radius: float, share: float, seed: int) -> None:
    points = net(d, radius, share * radius)
    assert np.linalg.norm(points, axis=1).max() <= radius * (1 + 1e-12)
    anywhere = L2Ball(radius).project(radius * np.random.default_rng(seed).standard_normal((300, d)))
    near = np.linalg.norm(anywhere[:, None] - points, axis=2).min(axis=1)
    assert near.max() <= share * radius * (1 + 1e-9)


def test_draws_follow_the_exact_law() -> None:
    """Chi-square; planted: weights with ε for 2ε in the exponent."""
    problem, _ = random_pair(CASE)
    asked = PureDP(20.0)
    done = NetERM(mesh=0.1).calibrated(problem, asked, "stated")
    found = NetERM(mesh=0.1).performed(problem, done, 0, 20_000).w[:, 0]
    law = np.exp(log_law(problem, done.plan, 20.0))
    counts = (found[:, None] == done.plan[:, 0]).sum(axis=0)
    assert stats.chisquare(counts, 20_000 * law).pvalue > 1e-6
    wrong = np.exp(log_law(problem, done.plan, 10.0))
    assert stats.chisquare(counts, 20_000 * wrong).pvalue < 1e-6


def test_certified_draws_are_those_of_the_claim_but_for_the_lattice() -> None:
    problem, _ = random_pair(CASE)
    scales = [NetERM(mesh=0.1).calibrated(problem, PureDP(1.0), how).noise_std for how in ("certified", "stated")]
    assert scales[1] < scales[0] < scales[1] * (1 + 1e-8)


def test_the_net_is_not_held_by_a_well_and_langevin_is() -> None:
    """On three wells with many records, at ε = 1: from 2π the chain has no time to leave; the net knows no start."""
    problem = three_wells(4000)
    found = NetERM(mesh=0.05).solve(problem, PureDP(1.0), 0, trials=200).w
    assert problem.value(found).mean() < 0.1
    bound = theory.explicit.evaluate(L=1.0, ridge=0.05, n=4000, d=1, eps=1.0, gamma=0.01, mesh=0.05)
    assert (problem.value(found) > bound).mean() <= 0.05
    done = DPGLD(steps=200, heat=80.0).calibrated(problem, ApproxDP(1.0, 1e-5))
    held = replace(DPGLD(steps=200, heat=80.0).method(problem, 200, done.released), begin=np.array([2 * np.pi]))
    assert held.etas.sum() > 100  # a long time, and yet
    w = held.start(50)[0]
    rng = np.random.default_rng(0)
    for t in range(200):
        w = held.update((w,), problem.gradient(w) + done.noise_std * rng.standard_normal(w.shape), t)[0]
    assert problem.value(w).min() > 0.2


def test_refusals_name_what_fails() -> None:
    problem, _ = random_pair(CASE)
    with pytest.raises(InvalidInput, match="PureDP"):
        NetERM(mesh=0.1).solve(problem, ApproxDP(1.0, 1e-5), 0)
    with pytest.raises(InvalidInput, match="none"):
        NetERM(mesh=0.1).solve(replace(problem, constraint=L2Ball(1.0)), PureDP(1.0), 0)
    with pytest.raises(InvalidInput, match="no ball holds"):
        NetERM(mesh=0.1).solve(replace(problem, l2=0.0), PureDP(1.0), 0)
    with pytest.raises(InvalidInput, match="at most 262144"):
        NetERM(mesh=1e-9).solve(problem, PureDP(1.0), 0)
